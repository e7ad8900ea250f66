"""List a folder as a tree with sizes, dates and descriptions, capped and saying so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from fsagent.errors import CorruptFile, PathRejected
from fsagent.memory.workspace import Workspace
from fsagent.workspace import frontmatter
from fsagent.workspace.entries import Entry
from fsagent.workspace.tree import Tree
from fsagent.workspace.view import decode_text

MAX_ENTRIES = 30
"""How many names of one folder are shown to a model."""

MAX_DEPTH = 4
_MAX_HEAD_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Row:
    """One name of a listing. `day` is the file's last change, `more` how many names are not shown."""

    path: str
    depth: int
    is_dir: bool
    size: int = 0
    day: str = ""
    description: str = ""
    more: int = 0

    def line(self) -> str:
        """Return the row as a line of the tree."""
        indent, name = "  " * self.depth, self.path.rpartition("/")[2]
        if self.more:
            return f"{indent}({self.more} more in {self.path})"
        if self.is_dir:
            return f"{indent}{name}/"
        about = f"  {self.description}" if self.description else ""
        return f"{indent}{name}  {_size(self.size)}  {self.day}{about}"

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON shape."""
        return {
            "path": self.path,
            "is_dir": self.is_dir,
            "size": self.size,
            "day": self.day,
            "description": self.description,
        }


def list_rows(workspace: Workspace, path: str = ".") -> list[Row]:
    """Return every name below a folder, or a file's own row, for a person."""
    tree = workspace.tree
    if not tree.is_dir(path):
        tree.stat(path)  # says what is wrong with the name
        beside = tree.list(path.rpartition("/")[0] or ".")
        return [_file_row(tree, entry, 0) for entry in beside if entry.path == path]
    return list(_rows(tree, path, 0, max_entries=None, max_depth=None))


def list_tree(
    tree: Tree, path: str, limit_bytes: int, *, shown: Callable[[str, int, str], str]
) -> list[str]:
    """Return a folder's tree in lines for a model, at most `limit_bytes` long.

    `shown` gets each file's path, a line's number and the text of its row: a document's name and
    title are text of others too.
    """
    lines: list[str] = []
    used = 0
    for row in _rows(tree, path, 0, max_entries=MAX_ENTRIES, max_depth=MAX_DEPTH):
        line = row.line() if row.is_dir else shown(row.path, 1, row.line())
        used += len(line.encode("utf-8", "replace")) + 1
        if used > limit_bytes and lines:
            lines.append("(more follows; list one folder at a time)")
            break
        lines.append(line)
    return lines or [f"{path} is empty."]


def _file_row(tree: Tree, entry: Entry, depth: int) -> Row:
    day = datetime.fromtimestamp(entry.mtime_ns / 1e9, UTC).date().isoformat()
    return Row(entry.path, depth, False, entry.size, day, _about(tree, entry))


def _rows(
    tree: Tree, path: str, depth: int, *, max_entries: int | None, max_depth: int | None
) -> Iterator[Row]:
    entries = tree.list(path)
    shown = entries if max_entries is None else _shown(entries, path, max_entries)
    for entry in shown:
        if not entry.is_dir:
            yield _file_row(tree, entry, depth)
            continue
        yield Row(entry.path, depth, True)
        if max_depth is None or depth + 1 < max_depth:
            yield from _rows(
                tree, entry.path, depth + 1, max_entries=max_entries, max_depth=max_depth
            )
    if len(shown) < len(entries):
        yield Row(path, depth, True, more=len(entries) - len(shown))


def _shown(entries: list[Entry], path: str, count: int) -> list[Entry]:
    """Return the names to show: the newest days of recall, the first names elsewhere."""
    return entries[-count:] if path.startswith("recall") else entries[:count]


def _about(tree: Tree, entry: Entry) -> str:
    """Return what a Markdown file's front matter says it is."""
    if not entry.path.endswith(".md") or entry.size > _MAX_HEAD_BYTES:
        return ""
    try:
        meta = frontmatter.parse(entry.path, decode_text(tree.read_bytes(entry.path))).meta
    except (CorruptFile, PathRejected):
        return ""
    about = str(meta.get("description") or meta.get("title") or "")
    return " ".join(about.split())[:200]


def _size(size: int) -> str:
    return f"{size} B" if size < 1024 else f"{size / 1024:.1f} kB"
