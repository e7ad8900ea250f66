"""The three-way merge by lines: nothing of either side is lost, or it is a conflict."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsagent.memory.merge import Conflict, merge_lines

# id: base, ours, theirs, merged (None: a conflict)
CASES = {
    "only ours": ("a b", "a x b", "a b", "a x b"),
    "only theirs": ("a b", "a b", "a y b", "a y b"),
    "both add at the end": ("a", "a x", "a y", "a y x"),
    "both add to nothing": ("", "x", "y", "y x"),
    "neighbours changed": ("a b c", "a B c", "A b c", "A B c"),
    "both change one line": ("a b", "a x", "a y", None),
    "one changes what the other deletes": ("a b", "a", "a y", None),
    "both did the same": ("a b", "a x", "a x", "a x"),
    "both deleted the same": ("a b c", "a c", "a c", "a c"),
    "added behind what is gone": ("a b c", "a b x c", "a c", "a x c"),
    "added where all around is gone": ("a b c d", "a b x c d", "", None),
    "deleted apart": ("a b c d", "b c d", "a b c", "b c"),
    "added inside what theirs split": ("a b", "x y", "a q b", "x y q"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_merge_keeps_both_or_refuses(case: str) -> None:
    base, ours, theirs, merged = CASES[case]
    if merged is None:
        with pytest.raises(Conflict):
            merge_lines(base.split(), ours.split(), theirs.split())
    else:
        assert merge_lines(base.split(), ours.split(), theirs.split()) == merged.split()


lines = st.lists(st.sampled_from("abcdef"), max_size=8)


@given(lines, lines)
def test_one_side_alone_is_taken_as_it_is(base: list[str], side: list[str]) -> None:
    assert merge_lines(base, side, base) == side
    assert merge_lines(base, base, side) == side
    assert merge_lines(base, side, side) == side


unique = st.lists(st.integers(0, 30), max_size=8, unique=True)


@settings(max_examples=300)
@given(unique, st.data())
def test_what_either_side_added_is_there_and_what_it_deleted_is_gone(
    base: list[int], data: st.DataObject
) -> None:
    def side(name: str) -> list[int | str]:
        kept: list[int | str] = [n for n in base if data.draw(st.booleans())]
        for number in range(data.draw(st.integers(0, 3))):
            kept.insert(data.draw(st.integers(0, len(kept))), f"{name}{number}")
        return kept

    ours, theirs = side("o"), side("t")
    try:
        merged = merge_lines(base, ours, theirs)
    except Conflict:
        return
    assert {line for line in ours if isinstance(line, str)} <= set(merged)
    assert {line for line in theirs if isinstance(line, str)} <= set(merged)
    assert {line for line in merged if isinstance(line, int)} == set(base) & set(ours) & set(theirs)
    assert len(merged) == len(set(merged))
