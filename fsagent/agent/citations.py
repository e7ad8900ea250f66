"""Resolve the citations of an answer to lines of memory; what does not resolve is dropped."""

from __future__ import annotations

from fsagent.errors import FsagentError
from fsagent.types import Citation
from fsagent.workspace.references import references_in
from fsagent.workspace.tree import Tree
from fsagent.workspace.view import is_text_path, view_lines

MAX_CITATIONS = 50


def citations_of(text: str, tree: Tree) -> tuple[Citation, ...]:
    """Return the lines that an answer's `[2026-11-29:14]` and `[archival/x.md:12]` stand for.

    In the order of the text, each once; a bracket may hold several, parted by commas.
    """
    found: dict[tuple[str, int], Citation] = {}
    views: dict[str, list[str] | None] = {}
    for path, line in references_in(text):
        if path not in views:
            views[path] = _view(tree, path)
        lines = views[path]
        if lines is not None and 1 <= line <= len(lines) and len(found) < MAX_CITATIONS:
            found.setdefault((path, line), Citation(path, line, lines[line - 1]))
    return tuple(found.values())


def _view(tree: Tree, path: str) -> list[str] | None:
    if not is_text_path(path):
        return None
    try:
        return view_lines(path, tree.read_bytes(path))
    except FsagentError:
        return None
