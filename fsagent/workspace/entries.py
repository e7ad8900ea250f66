"""What the tree says of files: their status, a folder's entries, a write that came too late."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import NamedTuple

from fsagent.errors import ToolError


@dataclass(frozen=True, slots=True)
class FileStat:
    """What the tree knows of a file without reading it."""

    size: int
    mtime_ns: int
    inode: int
    ctime_ns: int = 0

    @classmethod
    def of(cls, info: os.stat_result) -> FileStat:
        """Return what is kept of a system's status."""
        return cls(info.st_size, info.st_mtime_ns, info.st_ino, info.st_ctime_ns)


class Entry(NamedTuple):
    """One name in a folder. `path` is workspace-relative with `/`.

    A tuple, since a walk makes one a file: a frozen dataclass takes four times as long to make.
    """

    path: str
    size: int
    mtime_ns: int
    is_dir: bool


class StaleWrite(ToolError):
    """The file changed since it was read; nothing was written. `path` names it."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(
            f"Not written: {path} changed since it was read. Read it again and repeat the edit."
        )
