"""Lines around hits, and neighbouring hits brought together for reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fsagent.errors import PathRejected
from fsagent.search.clip import MAX_CONTEXT, MAX_LINE_CHARS
from fsagent.types import Hit, HitPage
from fsagent.workspace.tree import Tree
from fsagent.workspace.view import view_lines


def with_context(tree: Tree, page: HitPage, count: int) -> HitPage:
    """Return the page with `count` lines before and after each hit."""
    around = max(0, min(count, MAX_CONTEXT))
    files: dict[str, list[str]] = {}
    hits = []
    for hit in page.hits:
        if hit.path not in files:
            try:
                files[hit.path] = view_lines(hit.path, tree.read_bytes(hit.path))
            except PathRejected:
                files[hit.path] = []
        lines = files[hit.path]
        before = range(max(1, hit.line - around), hit.line)
        after = range(hit.line + 1, min(len(lines), hit.line + around) + 1)
        hits.append(
            replace(
                hit,
                before=tuple((n, lines[n - 1][:MAX_LINE_CHARS]) for n in before if n <= len(lines)),
                after=tuple((n, lines[n - 1][:MAX_LINE_CHARS]) for n in after),
            )
        )
    return replace(page, hits=tuple(hits))


def merge_adjacent(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits for reading: lines that follow each other together, in the file's order.

    A run stands where its best hit stood. No hit is added or lost.
    """
    place = {(hit.path, hit.line): index for index, hit in enumerate(hits)}
    done: set[int] = set()
    merged: list[Hit] = []
    for index, hit in enumerate(hits):
        if index in done:
            continue
        line = hit.line
        while (hit.path, line - 1) in place:
            line -= 1
        while (known := place.get((hit.path, line))) is not None:
            if known not in done:
                done.add(known)
                merged.append(hits[known])
            line += 1
    return merged
