"""grep: pages, caps, flags, order, refusals."""

from __future__ import annotations

import time

import pytest

from fsagent.errors import BadArguments, PathRejected
from fsagent.memory.workspace import Workspace
from fsagent.search.globs import glob_filter
from fsagent.search.grep import grep
from fsagent.search.patterns import required_literals


def test_recall_comes_newest_day_first(memory: Workspace, say) -> None:
    say("2026-11-28", "Ann: one fox", "Bob: no")
    say("2026-11-29", "Bob: two fox", "Ann: fox three")
    page = grep(memory.tree, "fox")
    assert [(hit.path[-16:], hit.line) for hit in page.hits] == [
        ("2026-11-29.jsonl", 1),
        ("2026-11-29.jsonl", 2),
        ("2026-11-28.jsonl", 1),
    ]
    assert (page.hits[0].speaker, page.hits[0].ts) == ("Bob", "2026-11-29T13:56:00+08:00")
    assert page.hits[0].text == "2026-11-29 13:56 Bob: two fox"
    assert (page.total, page.next, page.clipped_hits) == (3, None, False)


def test_words_of_the_record_are_not_text(memory: Workspace, say) -> None:
    say("2026-11-29", "Ann: hello")
    for word in ("role", "content", "session", "turn", "crc"):
        assert grep(memory.tree, word, path="recall").total == 0


def test_the_next_page_is_a_literal_call(memory: Workspace, say) -> None:
    say("2026-11-29", *[f"Ann: fox {n}" for n in range(5)])
    first = grep(memory.tree, "f[o]x", path="recall", limit=2)
    assert first.next == 'grep(pattern="f[o]x", path="recall", limit=2, offset=2)'
    assert (first.total, first.clipped_hits) == (None, True)
    last = grep(memory.tree, "f[o]x", path="recall", limit=2, offset=4)
    assert ([hit.line for hit in last.hits], last.next, last.total) == ([5], None, 5)
    assert grep(memory.tree, "fox", limit=2, count_all=True).total == 5


def test_a_long_line_is_clipped_around_the_match(memory: Workspace, say) -> None:
    say("2026-11-29", "Ann: " + "x" * 9000 + "needle" + "y" * 9000)
    [hit] = grep(memory.tree, "needle").hits
    assert hit.clipped_line
    assert len(hit.text) == 400
    assert abs(hit.text.index("needle") - 197) < 5


def test_a_page_of_long_lines_stays_under_its_limit(memory: Workspace, say) -> None:
    say("2026-11-29", *["Ann: fox " + "x" * 5000] * 60)
    page = grep(memory.tree, "fox", limit=100)
    assert len(page.hits) == 40
    assert page.clipped_hits
    assert page.next is not None
    assert page.next.endswith("offset=40)")
    rest = grep(memory.tree, "fox", limit=100, offset=40)
    assert (len(rest.hits), rest.next) == (20, None)


def test_context_lines_stand_around_a_hit(memory: Workspace, say) -> None:
    say("2026-11-29", "Ann: a", "Bob: fox", "Ann: c")
    [hit] = grep(memory.tree, "fox", context=3).hits
    assert hit.before == ((1, "2026-11-29 13:56 Ann: a"),)
    assert hit.after == ((3, "2026-11-29 13:56 Ann: c"),)


def test_literal_mode_takes_the_text_as_it_stands(memory: Workspace, say) -> None:
    say("2026-11-29", "Ann: costs $5 (or more)", "Bob: costs 5")
    assert grep(memory.tree, "$5 (or", literal=True).total == 1
    assert grep(memory.tree, "$5 (OR", literal=True, ignore_case=True).total == 1


def test_word_classes_are_ascii_and_it_is_said(memory: Workspace, say) -> None:
    say("2026-11-29", "Ann: un été ici")
    page = grep(memory.tree, r"\bété\b")
    assert page.total == 0
    assert page.notes == ("\\w and \\b know ASCII letters only; \\pL is any letter",)
    assert grep(memory.tree, r"(^|\PL)été(\PL|$)").total == 1


@pytest.mark.parametrize(
    ("pattern", "advice"),
    [
        ("foo(?=bar)", "look-around"),
        ("(?<!x)foo", "look-around"),
        (r"(a)\1", "back-references"),
        ("a++", "possessive"),
        ("(unclosed", "literal=true"),
        ("x" * 1001, "1000"),
        ("", "empty"),
        ("a\nb", "line by line"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused_with_advice(
    memory: Workspace, pattern: str, advice: str
) -> None:
    with pytest.raises(BadArguments, match=advice):
        grep(memory.tree, pattern)


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|a)*b", "(.*a){12}", "(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+$"]
)
def test_no_pattern_hangs(memory: Workspace, say, pattern: str) -> None:
    say("2026-11-29", "Ann: " + "a" * 20_000 + "!", "Bob: " + "x" * 20_000)
    started = time.monotonic()
    grep(memory.tree, pattern)
    assert time.monotonic() - started < 3


def test_the_time_limit_is_kept_and_said(memory: Workspace, say) -> None:
    say("2026-11-29", "Ann: fox")
    page = grep(memory.tree, "fox", deadline_s=0)
    assert (page.timed_out, page.total) == (True, None)


def test_a_binary_file_is_skipped_and_counted(memory: Workspace) -> None:
    (memory.root / "archival" / "a.txt").write_bytes(b"fox\0fox")
    page = grep(memory.tree, "fox", path="archival")
    assert (page.hits, page.notes) == ((), ("1 binary files skipped",))


def test_a_path_outside_is_refused(memory: Workspace) -> None:
    with pytest.raises(PathRejected):
        grep(memory.tree, "x", path="../other")
    with pytest.raises(PathRejected):
        grep(memory.tree, "x", path="missing/folder")


@pytest.mark.parametrize(
    ("globs", "path", "allowed"),
    [
        (["*.md"], "archival/notes/a.md", True),
        (["*.md"], "recall/2026/x.jsonl", False),
        (["archival/*.md"], "archival/notes/a.md", False),
        (["archival/**"], "archival/notes/a.md", True),
        (["**/notes/*"], "archival/notes/a.md", True),
        (["!notes"], "archival/notes/a.md", False),
        (["!notes/"], "archival/notes/a.md", False),
        (["!*.md"], "recall/x.jsonl", True),
        (["*.md", "!a*"], "archival/a.md", False),
        (["!a*", "*.md"], "core/a.md", True),
        (["*.{md,txt}"], "x/b.txt", True),
        (["[!a]*.md"], "x/a.md", False),
        (["/core/*"], "core/human.md", True),
        (["core"], "core/human.md", False),
    ],
)
def test_globs_mean_what_ripgrep_means(globs: list[str], path: str, allowed: bool) -> None:
    assert glob_filter(globs)(path) is allowed


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("fox", ("fox",)),
        ("fox|dog", ("dog", "fox")),
        ("(kick|box)ing", ("box", "kick")),
        ("adopt(ion|ed)?s", ("adopt",)),
        ("colou?r", ("colo",)),
        ("ab*cde", ("cde",)),
        (r"\bthe quick\b", ("quick",)),
        (r"[fox]+", None),
        (r"fox|\d+", None),
        ("a{0,3}", None),
        ("(abc){2}x", ("abc",)),
        (r"\Qa\E", None),
        ("x*", None),
    ],
)
def test_the_words_a_match_must_hold(pattern: str, words: tuple[str, ...] | None) -> None:
    assert required_literals(pattern) == words
