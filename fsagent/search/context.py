"""Put the lines around each hit beside it."""

from __future__ import annotations

import dataclasses

from fsagent.types import HitPage
from fsagent.workspace.tree import Tree
from fsagent.workspace.view import view_lines


def with_context(tree: Tree, page: HitPage, count: int) -> HitPage:
    """Return the page with `count` lines of the file before and after each hit."""
    views = {
        path: view_lines(path, tree.read_bytes(path)) for path in {hit.path for hit in page.hits}
    }
    hits = []
    for hit in page.hits:
        lines = views[hit.path]
        numbered = list(enumerate(lines, 1))
        before = tuple(numbered[max(0, hit.line - 1 - count) : hit.line - 1])
        after = tuple(numbered[hit.line : hit.line + count])
        hits.append(dataclasses.replace(hit, before=before, after=after))
    return dataclasses.replace(page, hits=tuple(hits))
