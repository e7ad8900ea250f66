"""Put the lines around each hit beside it."""

from __future__ import annotations

from dataclasses import replace

from fsagent.errors import PathRejected
from fsagent.search.clip import MAX_CONTEXT, MAX_LINE_CHARS
from fsagent.types import HitPage
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
