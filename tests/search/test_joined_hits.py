"""Hits whose lines meet: written once, in the order of the file, at the place of the best."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from fsagent.memory.trust import Lineage
from fsagent.memory.workspace import Workspace
from fsagent.search.context import with_context
from fsagent.search.merge import passages
from fsagent.search.ranked import Search
from fsagent.tools.render import render_page
from fsagent.tools.taint import Taint
from fsagent.types import Hit, HitPage


def hit(line: int, around: int = 0, path: str = "a.md") -> Hit:
    before = tuple((n, f"line {n}") for n in range(max(1, line - around), line))
    after = tuple((n, f"line {n}") for n in range(line + 1, line + 1 + around))
    return Hit(path, line, f"line {line}", before=before, after=after)


def numbers(hits: list[Hit]) -> list[list[str]]:
    return [[f"{n}{'!' if found else ''}" for n, _, found in one] for one in passages(hits)]


def test_hits_whose_lines_meet_come_in_the_files_order_at_the_best_ones_place() -> None:
    assert numbers([hit(9, 1), hit(20), hit(6, 1), hit(30)]) == [
        ["5", "6!", "7", "8", "9!", "10"],
        ["20!"],
        ["30!"],
    ]


def test_bare_hits_keep_their_rank() -> None:
    assert numbers([hit(9), hit(20), hit(8)]) == [["9!"], ["20!"], ["8!"]]


def test_a_hit_that_closes_a_gap_joins_both_sides() -> None:
    assert numbers([hit(1), hit(5), hit(3, 1)]) == [["1!", "2", "3!", "4", "5!"]]


def test_a_line_around_one_hit_that_is_a_hit_itself_is_one() -> None:
    assert numbers([hit(5, 1), hit(7, 1), hit(6)]) == [["4", "5!", "6!", "7!", "8"]]


def test_other_files_are_not_joined() -> None:
    assert numbers([hit(1), hit(2, path="b.md")]) == [["1!"], ["2!"]]


@given(
    st.lists(st.tuples(st.integers(1, 12), st.integers(0, 3), st.sampled_from("ab")), max_size=9)
)
def test_every_hit_is_written_once_and_no_line_twice(drawn: list[tuple[int, int, str]]) -> None:
    # A search gives no line twice.
    unique = {(line, path): around for line, around, path in drawn}
    hits = [hit(line, around, path) for (line, path), around in unique.items()]
    written = [(one.path, n, found) for one in passages(hits) for n, _, found in one]
    places = [(path, n) for path, n, _ in written]
    assert len(places) == len(set(places))
    assert {(path, n) for path, n, found in written if found} == {(h.path, h.line) for h in hits}
    assert set(places) == {
        (h.path, n) for h in hits for n in (h.line, *dict((*h.before, *h.after)))
    }


def test_a_reply_cut_by_its_size_counts_hits_and_names_the_next_one(memory: Workspace) -> None:
    page = HitPage(hits=tuple(hit(n, path="core/a.md") for n in (9, 3, 8, 4)), total=4)
    text = render_page(
        page,
        tool="search_files",
        arguments={"query": "q"},
        limit_bytes=60,
        taint=Taint(Lineage(memory.tree)),
    )
    assert text.splitlines() == [
        "core/a.md:9: line 9",
        "core/a.md:3: line 3",
        "core/a.md:8: line 8",
        "",
        '(3 of 4 hits; next page: search_files(query="q", offset=3))',
    ]


def test_pages_hold_every_hit_once_however_they_are_joined(
    memory: Workspace, say: Callable[..., None]
) -> None:
    say("2026-11-01", *(f"Ann: the boat number {n} is new" for n in range(9)))
    finder = Search(memory.tree, memory.settings, memory.clock)
    whole = finder.search("boat", limit=9)
    seen = []
    for offset in range(0, 9, 2):
        page = with_context(memory.tree, finder.search("boat", limit=2, offset=offset), 1)
        seen += [(h.path, n) for one in passages(page.hits) for n, _, h in one if h]
        assert page.total == 9
    assert sorted(seen) == sorted((h.path, h.line) for h in whole.hits)


def test_calls_of_tools_take_no_place_in_a_search_and_grep_finds_them(memory: Workspace) -> None:
    from fsagent.memory.recall import Draft
    from fsagent.search.grep import grep
    from fsagent.types import ToolCall

    call = ToolCall("c1", "search_files", '{"query": "zeppelin"}')
    memory.recall.append(Draft("assistant", "assistant", "", turn="t", tool_calls=(call,)))
    memory.recall.append(Draft("tool", "search_files", "zeppelin found", turn="t"))
    finder = Search(memory.tree, memory.settings, memory.clock)
    assert not finder.search("zeppelin search_files called", path="recall").hits
    assert grep(memory.tree, r"\[called search_files\]").total == 1
