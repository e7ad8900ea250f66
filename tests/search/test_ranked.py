"""Ranked search: what is found, in what order, with which filters, and when."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime

import pytest
from support import NOW

from fsagent.memory.recall import Draft
from fsagent.memory.workspace import Workspace
from fsagent.search.features import FEATURES
from fsagent.search.ranked import Search
from fsagent.search.weights import WEIGHTS

SAID = [
    ("Ann", "What did you do on Sunday?", datetime(2026, 3, 2, 9, 0, tzinfo=UTC)),
    ("Ben", "I adopted a grey kitten from the shelter.", datetime(2026, 3, 2, 9, 1, tzinfo=UTC)),
    ("Ann", "How lovely, what is her name?", datetime(2026, 3, 2, 9, 2, tzinfo=UTC)),
    ("Ben", "Pepper.", datetime(2026, 3, 2, 9, 3, tzinfo=UTC)),
    ("Ann", "My brother moved to Lisbon.", datetime(2026, 6, 5, 9, 0, tzinfo=UTC)),
    ("Ben", "昨天我去了北京博物馆。", datetime(2026, 6, 5, 9, 1, tzinfo=UTC)),
]


@pytest.fixture
def filled(workspace: Workspace) -> Workspace:
    workspace.recall.append_many(
        Draft("user", name, text, turn="t", ts=ts, session=f"s{ts.month}")
        for name, text, ts in SAID
    )
    return workspace


def searching(workspace: Workspace) -> Search:
    return Search(workspace.tree, workspace.settings, workspace.clock)


def test_a_hit_has_its_place_date_and_speaker(filled: Workspace) -> None:
    hit = searching(filled).search("who adopted a cat or kittens").hits[0]
    assert (hit.path, hit.line, hit.speaker) == ("recall/2026/2026-03-02.jsonl", 2, "Ben")
    assert hit.ts == "2026-03-02T09:01:00+00:00"
    assert hit.text == "2026-03-02 09:01 Ben: I adopted a grey kitten from the shelter."


def test_an_answer_is_found_by_the_words_of_its_question(filled: Workspace) -> None:
    hits = searching(filled).search("What is the name of Ben's kitten?").hits
    assert "Pepper." in [hit.text.rpartition(": ")[2] for hit in hits[:3]]


def test_what_was_appended_is_found_by_the_same_searcher_and_by_a_new_one(
    filled: Workspace,
) -> None:
    finder = searching(filled)
    assert not finder.search("zeppelin").hits
    filled.recall.append(Draft("user", "Ann", "I saw a zeppelin.", turn="t2"))
    assert (
        len(finder.search("zeppelin").hits) == len(searching(filled).search("zeppelin").hits) == 1
    )


def test_an_edited_document_is_found_by_its_new_words_only(filled: Workspace) -> None:
    finder = searching(filled)
    path = filled.archival.import_document("trip.md", b"# Trip\n\nWe sail to Corsica.\n")
    assert finder.search("Corsica").hits[0].path == path
    filled.tree.replace(path, b"# Trip\n\nWe sail to Sardinia instead.\n")
    assert not finder.search("Corsica").hits
    assert finder.search("Sardinia").hits[0].line == 3


def test_a_removed_file_is_found_no_more(filled: Workspace) -> None:
    finder = searching(filled)
    path = filled.archival.import_document("trip.md", b"We sail to Corsica.\n")
    assert finder.search("Corsica").total == 1
    filled.tree.remove(path)
    assert finder.search("Corsica").total == 0


def test_core_lines_are_found(filled: Workspace) -> None:
    filled.core.append("human", "- Plays the bassoon.")
    assert searching(filled).search("bassoon").hits[0].path == "core/human.md"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param({"speaker": "ann"}, {"Ann"}, id="speaker"),
        pytest.param({"path": "archival"}, set(), id="path"),
        pytest.param({"roles": ("assistant",)}, set(), id="roles"),
        pytest.param({"exclude_turn": "t"}, set(), id="turn"),
    ],
)
def test_filters_hold(filled: Workspace, options: dict[str, object], expected: set[str]) -> None:
    page = searching(filled).search("what adopted kitten name brother Lisbon", **options)
    assert {hit.speaker for hit in page.hits} == expected


def test_since_and_until_are_inclusive_moments(filled: Workspace) -> None:
    finder, words = searching(filled), "kitten name brother Lisbon"
    late = finder.search(words, since=datetime(2026, 6, 5, 9, 0, tzinfo=UTC)).hits
    early = finder.search(words, until=datetime(2026, 3, 2, 9, 1)).hits
    assert {hit.ts[:10] for hit in late} == {"2026-06-05"}
    assert max(hit.ts for hit in early) == "2026-03-02T09:01:00+00:00"


def test_a_typo_finds_the_near_term_and_says_so(filled: Workspace) -> None:
    page = searching(filled).search("kiten")
    assert "kitten" in page.hits[0].text
    assert page.notes == ("no line holds 'kiten'; searched 'kitten' instead",)


def test_terms_that_stand_nowhere_are_named(filled: Workspace) -> None:
    page = searching(filled).search("kickboxing kitten")
    assert "no line holds: kickboxing" in page.notes
    assert page.hits


@pytest.mark.parametrize("query", ["北京", "京", "博物馆", "北京 kitten"])
def test_short_chinese_queries_find_their_line(filled: Workspace, query: str) -> None:
    assert any("北京" in hit.text for hit in searching(filled).search(query).hits)


@pytest.mark.parametrize(
    "query", ["", "   ", "the of and", '"', "pre-edit AND (OR", "a" * 20_000, "\ud800"]
)
def test_no_query_breaks_it(filled: Workspace, query: str) -> None:
    assert searching(filled).search(query).timed_out is False


def test_pages_follow_each_other(filled: Workspace) -> None:
    finder = searching(filled)
    whole = finder.search("kitten name shelter", limit=4)
    first = finder.search("kitten name shelter", limit=2)
    second = finder.search("kitten name shelter", limit=2, offset=2)
    assert first.hits + second.hits == whole.hits
    assert first.clipped_hits


def test_explain_adds_up_to_the_score(filled: Workspace) -> None:
    hit = searching(filled).search("kitten", explain=True).hits[0]
    assert hit.features is not None and set(hit.features) == set(FEATURES) == set(WEIGHTS)
    assert sum(hit.features.values()) == pytest.approx(hit.score, abs=1e-5)


def test_tool_results_and_bookkeeping_are_not_found(filled: Workspace) -> None:
    filled.recall.append(Draft("tool", "grep", "marmalade marmalade", turn="t3"))
    filled.recall.append(Draft("system", "fsagent", "marmalade", turn="t3", kind="begin"))
    assert searching(filled).search("marmalade").total == 0


def test_a_damaged_line_hides_no_other(filled: Workspace) -> None:
    day = filled.root / "recall/2026/2026-06-05.jsonl"
    day.write_bytes(b'{"broken\n' + day.read_bytes())
    hit = searching(filled).search("Lisbon").hits[0]
    assert hit.line == 2


def test_lines_lend_nothing_to_another_conversation(workspace: Workspace) -> None:
    drafts = [
        Draft("user", "Ann", "Did you see the regatta?", turn="t", ts=NOW, session="one"),
        Draft("user", "Ben", "Yes.", turn="t", ts=NOW, session="one"),
        Draft("user", "Cem", "Yes.", turn="t", ts=NOW, session="two"),
    ]
    workspace.recall.append_many(dataclasses.replace(draft) for draft in drafts)
    found = [hit.speaker for hit in searching(workspace).search("regatta").hits]
    assert "Ben" in found and "Cem" not in found
