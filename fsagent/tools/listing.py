"""List a folder as a tree with sizes, dates and descriptions, capped and saying so."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from fsagent.errors import CorruptFile, PathRejected
from fsagent.workspace import frontmatter
from fsagent.workspace.tree import Entry, Tree
from fsagent.workspace.view import decode_text

MAX_ENTRIES = 30
"""How many names of one folder are shown."""

MAX_DEPTH = 4
_MAX_HEAD_BYTES = 256 * 1024


def list_tree(tree: Tree, path: str, limit_bytes: int) -> str:
    """Return the text of a folder's tree, at most `limit_bytes` long."""
    lines: list[str] = []
    used = 0
    for line in _lines(tree, path, 0):
        used += len(line.encode("utf-8", "replace")) + 1
        if used > limit_bytes and lines:
            lines.append("(more follows; list one folder at a time)")
            break
        lines.append(line)
    return "\n".join(lines) or f"{path} is empty."


def _lines(tree: Tree, path: str, depth: int) -> Iterator[str]:
    entries = tree.list(path)
    for entry in _shown(entries, path):
        indent = "  " * depth
        if not entry.is_dir:
            yield f"{indent}{_name(entry)}  {_size(entry.size)}  {_day(entry)}{_about(tree, entry)}"
        elif depth + 1 >= MAX_DEPTH:
            yield f"{indent}{_name(entry)}/"
        else:
            yield f"{indent}{_name(entry)}/"
            yield from _lines(tree, entry.path, depth + 1)
    if len(entries) > MAX_ENTRIES:
        yield f"{'  ' * depth}({len(entries) - MAX_ENTRIES} more in {path})"


def _shown(entries: list[Entry], path: str) -> list[Entry]:
    """Return the names to show: the newest days of recall, the first names elsewhere."""
    if path.startswith("recall"):
        return entries[-MAX_ENTRIES:]
    return entries[:MAX_ENTRIES]


def _about(tree: Tree, entry: Entry) -> str:
    """Return what a Markdown file's front matter says it is."""
    if not entry.path.endswith(".md") or entry.size > _MAX_HEAD_BYTES:
        return ""
    try:
        meta = frontmatter.parse(entry.path, decode_text(tree.read_bytes(entry.path))).meta
    except (CorruptFile, PathRejected):
        return ""
    about = str(meta.get("description") or meta.get("title") or "")
    return f"  {' '.join(about.split())[:200]}" if about else ""


def _name(entry: Entry) -> str:
    return entry.path.rpartition("/")[2]


def _size(size: int) -> str:
    return f"{size} B" if size < 1024 else f"{size / 1024:.1f} kB"


def _day(entry: Entry) -> str:
    return datetime.fromtimestamp(entry.mtime_ns / 1e9, UTC).date().isoformat()
