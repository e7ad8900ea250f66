"""Which turns a tool's result showed, in order, and what that cost."""

from fsagent.bench.systems.shown import shown_turns
from fsagent.tokens import estimate_text

DAY = "recall/2024/2024-03-03.jsonl"
DIA_IDS = {(DAY, line): f"D1:{line}" for line in range(1, 10)}

HITS = f"""{DAY}:4: 2024-03-03 18:40 Ines: Look at this wreck
{DAY}-5- 2024-03-03 18:40 Oskar: She has good lines
core/human.md:2: likes boats
{DAY}:2: 2024-03-03 18:40 Oskar: No way: 7: really?

(3 of 17 hits; next page: search_files(query="boat", offset=3))"""

WINDOW = f"""{DAY} lines 1-3 of 12
1: 2024-03-03 18:40 Ines: Oskar!
2: 2024-03-03 18:40 Oskar: No way
3: 2024-03-03 18:40 Ines: I went to look"""


def test_turns_stand_in_the_order_they_were_shown_each_once() -> None:
    ranked = shown_turns([HITS, WINDOW], DIA_IDS)
    assert ranked.dia_ids == ("D1:4", "D1:5", "D1:2", "D1:1", "D1:3")


def test_everything_shown_costs_what_it_is_long() -> None:
    ranked = shown_turns([HITS, WINDOW], DIA_IDS)
    first_line = HITS.split("\n", maxsplit=1)[0]
    assert ranked.tokens[0] == estimate_text(first_line + "\n")
    assert list(ranked.tokens) == sorted(ranked.tokens)
    lines = [*HITS.split("\n"), *WINDOW.split("\n")]
    assert ranked.total_tokens == sum(estimate_text(line + "\n") for line in lines)


def test_numbers_outside_a_window_and_lines_of_other_files_are_no_turns() -> None:
    results = ["3: a list\n4: of things", "archival/x.md lines 1-2 of 2\n1: a\n2: b", "No hits."]
    assert shown_turns(results, DIA_IDS).dia_ids == ()


def test_nothing_called_shows_nothing() -> None:
    assert shown_turns([], DIA_IDS).total_tokens == 0
