"""Three-way merge by lines: put one writer's change onto what another wrote meanwhile.

Memory is lists of facts, so two lines that were added or changed side by side do not depend on each
other (git's own merge calls that a conflict); a line that both changed does.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher
from typing import TypeVar

Line = TypeVar("Line", bound=Hashable)
_Hunk = tuple[int, int, int, int]


class Conflict(Exception):
    """Both sides changed the same place. `index` is the line of the base that is gone in theirs."""

    def __init__(self, index: int) -> None:
        self.index = index
        super().__init__(f"both changed line {index + 1}")


def merge_lines(base: Sequence[Line], ours: Sequence[Line], theirs: Sequence[Line]) -> list[Line]:
    """Return `theirs` with the change from `base` to `ours` made in it. Raises `Conflict`.

    What both sides did alike is done once. Of lines that both added at the end, theirs stand first.
    """
    where = _where(base, theirs)
    done = {_content(hunk, theirs) for hunk in _hunks(base, theirs)}
    dropped: set[int] = set()
    put: dict[int, list[Line]] = {}
    for hunk in _hunks(base, ours):
        if _content(hunk, ours) in done:
            continue
        i1, i2, j1, j2 = hunk
        for index in range(i1, i2):
            if index not in where:
                raise Conflict(index)
            dropped.add(where[index])
        if j2 > j1:
            at = where[i1] if i2 > i1 else _anchor(where, i1, len(base), len(theirs))
            put.setdefault(at, []).extend(ours[j1:j2])
    merged: list[Line] = []
    for index in range(len(theirs) + 1):
        merged += put.get(index, [])
        if index < len(theirs) and index not in dropped:
            merged.append(theirs[index])
    return merged


def _where(base: Sequence[Line], theirs: Sequence[Line]) -> dict[int, int]:
    """Return where each line of the base that still stands is in theirs."""
    blocks = SequenceMatcher(None, base, theirs, autojunk=False).get_matching_blocks()
    return {block.a + step: block.b + step for block in blocks for step in range(block.size)}


def _hunks(base: Sequence[Line], side: Sequence[Line]) -> list[_Hunk]:
    """Return what a side changed: spans of the base, and the spans that took their place."""
    codes = SequenceMatcher(None, base, side, autojunk=False).get_opcodes()
    return [(i1, i2, j1, j2) for tag, i1, i2, j1, j2 in codes if tag != "equal"]


def _content(hunk: _Hunk, side: Sequence[Line]) -> tuple[int, int, tuple[Line, ...]]:
    i1, i2, j1, j2 = hunk
    return i1, i2, tuple(side[j1:j2])


def _anchor(where: dict[int, int], at: int, size: int, end: int) -> int:
    """Return where added lines go: behind the line before them, else ahead of the one after."""
    if at == size:
        return end
    if at > 0 and at - 1 in where:
        return where[at - 1] + 1
    if at in where:
        return where[at]
    raise Conflict(at)
