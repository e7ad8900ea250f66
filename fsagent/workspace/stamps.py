"""Size and time of every file, again and again: a folder is listed anew only where it changed.

A new, removed or renamed name changes its folder's time, a write into a file does not. So a second
look costs one stat a file and none of the listing, which is two thirds of a walk.
"""

from __future__ import annotations

import os
import stat as stat_module
import time
from dataclasses import dataclass

from fsagent.errors import PathRejected
from fsagent.workspace.tree import Tree

CLOCK_GRAIN_NS = 50_000_000
"""Two changes within this time may leave the same time on a file or a folder."""

Stamp = tuple[int, int]
"""Size and time of the last change (ns) of a file."""


@dataclass(frozen=True, slots=True)
class _Folder:
    mtime_ns: int
    seen_ns: int
    files: tuple[str, ...]
    folders: tuple[str, ...]

    def still(self, mtime_ns: int) -> bool:
        """Say whether a folder of that time has the names it had."""
        return mtime_ns == self.mtime_ns and mtime_ns + CLOCK_GRAIN_NS < self.seen_ns


class Stamps:
    """The stamps of a tree's legal regular files, links and dot names left out."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._folders: dict[str, _Folder] = {}

    def look(self) -> dict[str, Stamp]:
        """Return the stamps as they are now."""
        found: dict[str, Stamp] = {}
        self._visit(".", found)
        return found

    def _visit(self, name: str, found: dict[str, Stamp]) -> None:
        known = self._folders.get(name)
        prefix = "" if name == "." else name + "/"
        try:
            with self._tree.opened_folder(name) as fd:
                seen = time.time_ns()
                mtime = os.fstat(fd).st_mtime_ns
                if known is None or not known.still(mtime):
                    known = self._folders[name] = self._list(name, mtime, seen)
                for leaf in known.files:
                    try:
                        info = os.stat(leaf, dir_fd=fd, follow_symlinks=False)
                    except FileNotFoundError:
                        continue  # gone since the folder was opened; the next look lists it anew
                    if stat_module.S_ISREG(info.st_mode):
                        found[prefix + leaf] = (info.st_size, info.st_mtime_ns)
        except (PathRejected, OSError):
            self._folders.pop(name, None)
            return
        for folder in known.folders:
            self._visit(prefix + folder, found)

    def _list(self, name: str, mtime: int, seen: int) -> _Folder:
        entries = self._tree.list(name)
        leaves = {entry.path.rpartition("/")[2]: entry.is_dir for entry in entries}
        return _Folder(
            mtime,
            seen,
            tuple(leaf for leaf, is_dir in leaves.items() if not is_dir),
            tuple(leaf for leaf, is_dir in leaves.items() if is_dir),
        )
