"""The guarded tree: the only thing that opens a file by a name somebody gave.

The root is pinned once as a descriptor. Below it a name is opened through `openat2` with
RESOLVE_BENEATH and no links (Linux 5.6), else component by component with O_NOFOLLOW; nothing is
resolved first and opened later, so a link swapped in between cannot lead outside.
"""

from __future__ import annotations

import hashlib
import os
import stat as stat_module
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from fsagent.errors import PathRejected, ToolError, WorkspaceError
from fsagent.workspace import durable, openat
from fsagent.workspace.locks import lock_file
from fsagent.workspace.paths import canonical, canonical_dir

MAX_READ_BYTES = 64 * 1024 * 1024
MAX_WRITE_BYTES = 8 * 1024 * 1024
DERIVED = ".fsagent"
LOCK_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class FileStat:
    """What the tree knows of a file without reading it."""

    size: int
    mtime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a folder. `path` is workspace-relative with `/`."""

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


class Tree:
    """A folder whose files are opened only through it.

    Paths are workspace-relative text with `/`. Every method raises `PathRejected` for a name that
    may not be opened (its `code` says why) and `WorkspaceError` for a fault of the disk.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        if not self.root.is_dir():
            raise WorkspaceError(
                f"{root} is not a folder; make a workspace with: fsagent init {root}"
            )
        self.derived = self.root / DERIVED
        self._fd = openat.open_root(self.root)
        self._written: set[str] = set()

    def close(self) -> None:
        """Let go of the root's descriptor."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def take_written(self) -> frozenset[str]:
        """Return the files replaced or removed through this tree since the last call (appends not)."""
        written, self._written = self._written, set()
        return frozenset(written)

    def read_bytes(self, path: str, *, limit: int = MAX_READ_BYTES) -> bytes:
        """Return a regular file's bytes; a file larger than `limit` is refused (LIM)."""
        with self._reading(path) as (fd, info):
            if info.st_size > limit:
                raise PathRejected(
                    path, "LIM", f"is {info.st_size} bytes, over the limit of {limit}"
                )
            return durable.read_all(fd, info.st_size, limit)

    def read_from(self, path: str, offset: int) -> bytes:
        """Return a regular file's bytes from `offset` to its end."""
        with self._reading(path) as (fd, info):
            os.lseek(fd, offset, os.SEEK_SET)
            return durable.read_all(fd, max(0, info.st_size - offset), MAX_READ_BYTES)

    def stat(self, path: str) -> FileStat:
        """Return size, time and inode of a regular file."""
        with self._reading(path) as (_, info):
            return FileStat(info.st_size, info.st_mtime_ns, info.st_ino)

    def exists(self, path: str) -> bool:
        """Say whether a regular file of that name is there."""
        try:
            self.stat(path)
        except PathRejected as err:
            if err.code in ("MISSING", "KIND"):
                return False
            raise
        return True

    def list(self, path: str = ".") -> list[Entry]:
        """Return the legal names of one folder, sorted; links, pipes and dot names are left out."""
        name = canonical_dir(path)
        with self._folder(name) as fd:
            return sorted(
                self._entries(fd, "" if name == "." else name + "/"), key=lambda entry: entry.path
            )

    def walk(self, path: str = ".") -> Iterator[Entry]:
        """Yield the regular files at or below `path`, sorted by name within each folder."""
        name = canonical_dir(path)
        if name != "." and self._is_file(name):
            info = self.stat(name)
            yield Entry(name, info.size, info.mtime_ns, False)
            return
        for entry in self.list(name):
            if entry.is_dir:
                yield from self.walk(entry.path)
            else:
                yield entry

    def is_dir(self, path: str) -> bool:
        """Say whether a folder of that name is there."""
        try:
            with self._folder(canonical_dir(path)):
                return True
        except PathRejected as err:
            if err.code in ("MISSING", "KIND"):
                return False
            raise

    def replace(self, path: str, data: bytes, *, expect: str | None = None) -> str:
        """Write a whole file atomically and durably; return the sha256 of the new bytes.

        `expect` is the sha256 the file had when it was read, `""` for "not there": another content
        raises `StaleWrite` and writes nothing. Folders are made as needed.
        """
        name = self._writable(path, data)
        with self.lock(name), self._parent(name, make=True) as (fd, leaf):
            self._check_target(name, fd, leaf)
            if expect is not None and self._digest_at(fd, leaf) != expect:
                raise StaleWrite(name)
            durable.replace_at(fd, leaf, data)
            self._written.add(name)
        return sha256(data)

    def create(self, path: str, data: bytes) -> str:
        """Write a file that is not there yet; an existing one is refused (COL), never overwritten."""
        try:
            return self.replace(path, data, expect="")
        except StaleWrite as err:
            raise PathRejected(path, "COL", "exists already; choose another name") from err

    def append(self, path: str, data: bytes) -> int:
        """Append whole lines durably; return the size before. The caller holds the file's lock."""
        name = self._writable(path, data)
        with self._parent(name, make=True) as (fd, leaf):
            self._check_target(name, fd, leaf)
            return durable.append_at(fd, leaf, data)

    def truncate(self, path: str, size: int) -> None:
        """Cut a file to `size` bytes durably (torn tails only). The caller holds the file's lock."""
        with self._parent(canonical(path), make=False) as (fd, leaf):
            self._check_target(path, fd, leaf)
            durable.truncate_at(fd, leaf, size)

    def remove(self, path: str) -> None:
        """Delete a file."""
        name = canonical(path)
        with self.lock(name), self._parent(name, make=False) as (fd, leaf):
            self._check_target(name, fd, leaf)
            os.unlink(leaf, dir_fd=fd)
            os.fsync(fd)
            self._written.add(name)

    def digest(self, path: str) -> str:
        """Return the sha256 of a file's bytes, `""` where there is no such file."""
        try:
            return sha256(self.read_bytes(path))
        except PathRejected as err:
            if err.code == "MISSING":
                return ""
            raise

    def lock(self, name: str, *, timeout_s: float = LOCK_TIMEOUT_S) -> AbstractContextManager[None]:
        """Hold the lock of a name between processes; raises `WorkspaceLocked` after `timeout_s`."""
        return lock_file(self.derived / "locks", name, timeout_s=timeout_s)

    # Opening: every descriptor below is got from the pinned root.

    @contextmanager
    def _reading(self, path: str) -> Iterator[tuple[int, os.stat_result]]:
        name = canonical(path)
        with openat.refusals(path):
            fd = openat.open_beneath(self._fd, name, os.O_RDONLY | os.O_NONBLOCK)
        try:
            info = os.fstat(fd)
            if not stat_module.S_ISREG(info.st_mode):
                raise PathRejected(path, "KIND", f"is {_kind(info.st_mode)}, not a file")
            with openat.refusals(path):
                yield fd, info
        finally:
            os.close(fd)

    @contextmanager
    def _folder(self, name: str) -> Iterator[int]:
        with openat.refusals(name):
            fd = openat.open_beneath(self._fd, name, os.O_RDONLY | os.O_DIRECTORY | os.O_NONBLOCK)
        try:
            with openat.refusals(name):
                yield fd
        finally:
            os.close(fd)

    @contextmanager
    def _parent(self, name: str, *, make: bool) -> Iterator[tuple[int, str]]:
        folder, _, leaf = name.rpartition("/")
        if make and folder:
            with openat.refusals(name):
                openat.make_folders(self._fd, folder)
        with self._folder(folder or ".") as fd:
            yield fd, leaf

    def _is_file(self, name: str) -> bool:
        return not self.is_dir(name) and self.exists(name)

    def _entries(self, fd: int, prefix: str) -> Iterator[Entry]:
        with os.scandir(fd) as names:
            for item in names:
                try:
                    canonical(prefix + item.name)
                except PathRejected:
                    continue
                is_dir = item.is_dir(follow_symlinks=False)
                if is_dir or item.is_file(follow_symlinks=False):
                    info = item.stat(follow_symlinks=False)
                    yield Entry(prefix + item.name, info.st_size, info.st_mtime_ns, is_dir)

    def _writable(self, path: str, data: bytes) -> str:
        if len(data) > MAX_WRITE_BYTES:
            raise PathRejected(
                path, "LIM", f"{len(data)} bytes are over the limit of {MAX_WRITE_BYTES}"
            )
        return canonical(path)

    def _check_target(self, path: str, fd: int, leaf: str) -> None:
        """Refuse to write through a link, over a folder, to a second hard link, or beside a look-alike."""
        info = openat.lstat_at(fd, leaf)
        if info is None:
            twin = openat.look_alike(fd, leaf)
            if twin is not None:
                raise PathRejected(
                    path, "COL", f"would stand beside {twin!r}, which differs only in case or form"
                )
            return
        if stat_module.S_ISLNK(info.st_mode):
            raise PathRejected(path, "LNK", "is a link; links are not followed")
        if not stat_module.S_ISREG(info.st_mode):
            raise PathRejected(path, "KIND", f"is {_kind(info.st_mode)}, not a file")
        if info.st_nlink > 1:
            raise PathRejected(path, "LNK", "has more than one hard link; copy it first")

    def _digest_at(self, fd: int, leaf: str) -> str:
        data = durable.read_at(fd, leaf, MAX_READ_BYTES)
        return "" if data is None else sha256(data)


def sha256(data: bytes) -> str:
    """Return the hex sha256 of `data`."""
    return hashlib.sha256(data).hexdigest()


def _kind(mode: int) -> str:
    names = {
        stat_module.S_IFDIR: "a folder",
        stat_module.S_IFIFO: "a pipe",
        stat_module.S_IFSOCK: "a socket",
    }
    return names.get(stat_module.S_IFMT(mode), "a device")
