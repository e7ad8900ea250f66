"""Proof, on the tree, that recall is byte-identical before and after a sleep.

A file whose size, times and inode are as before has not been written (the change time cannot be
set). The newest file may have grown by a conversation under way: what it held before is hashed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from fsagent.errors import WorkspaceError
from fsagent.memory.workspace import Workspace
from fsagent.workspace.tree import FileStat, Tree


@dataclass(frozen=True, slots=True)
class RecallMark:
    """What recall is at a moment: each file's stat, and the hash of the newest."""

    stats: Mapping[str, FileStat]
    newest: str
    newest_sha256: str

    def check(self, tree: Tree, days: list[str]) -> None:
        """Raise `WorkspaceError` naming the file where recall is not what it was, but for its growth."""
        for path, before in self.stats.items():
            if path not in days:
                raise WorkspaceError(f"{path} is gone; nothing of this sleep was written")
            now = tree.stat(path)
            if now == before:
                continue
            grown = path == self.newest and now.size >= before.size
            if not grown or _sha256(tree, path, before.size) != self.newest_sha256:
                raise WorkspaceError(
                    f"{path} changed during the sleep; nothing of it was written. Sleep again"
                )


def mark_recall(workspace: Workspace) -> RecallMark:
    """Return what recall is now."""
    tree, days = workspace.tree, workspace.recall.days()
    stats = {path: tree.stat(path) for path in days}
    newest = max(days, key=lambda path: stats[path].mtime_ns, default="")
    sha256 = _sha256(tree, newest, stats[newest].size) if newest else ""
    return RecallMark(stats, newest, sha256)


def _sha256(tree: Tree, path: str, size: int) -> str:
    digest = hashlib.sha256()
    for chunk in tree.chunks(path):
        digest.update(chunk[:size])
        size -= len(chunk)
        if size <= 0:
            break
    return digest.hexdigest()
