"""The guarded tree: the only thing that opens a file by a name somebody gave.

The root is pinned once as a descriptor. Below it a name is opened through `openat2` with
RESOLVE_BENEATH and no links (Linux 5.6), else component by component with O_NOFOLLOW; nothing is
resolved first and opened later, so a link swapped in between cannot lead outside.
"""

from __future__ import annotations

import logging
import os
import stat as stat_module
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from pathlib import Path

from fsagent.errors import PathRejected, printable
from fsagent.workspace import durable, openat
from fsagent.workspace.derived import Derived
from fsagent.workspace.entries import Entry, FileStat, StaleWrite
from fsagent.workspace.journal import announce
from fsagent.workspace.paths import (
    MAX_DEPTH,
    MAX_PATH_BYTES,
    canonical,
    canonical_dir,
    legal_name,
)
from fsagent.workspace.secrets.secrets import Secrets
from fsagent.workspace.view import decode_text

MAX_READ_BYTES = 64 * 1024 * 1024
MAX_WRITE_BYTES = 8 * 1024 * 1024
LOCK_TIMEOUT_S = 10.0

__all__ = ["Entry", "FileStat", "StaleWrite", "Tree", "sha256"]

_logger = logging.getLogger(__name__)


class Tree:
    """A folder whose files are opened only through it.

    Paths are workspace-relative text with `/`. Every method raises `PathRejected` for a name that
    may not be opened (its `code` says why) and `WorkspaceError` for a fault of the disk. What a
    model may write is narrower: `policy.check_model_write`. `derived` is the folder of derived
    state, `state` its locks and state files; neither can be named as a path. `announced_as` stands
    before a path where a write is announced, since another tree may have a file of that name.
    """

    def __init__(self, root: Path, *, announced_as: str = "") -> None:
        self.root = openat.resolved_root(root)
        self._announced_as = announced_as
        self._fd = openat.open_root(self.root)
        self._written: set[str] = set()
        self._leftovers = durable.Leftovers()
        try:
            self.state = Derived(self.root, self._fd)
        except BaseException:
            os.close(self._fd)
            raise
        self.derived = self.state.path

    @cached_property
    def secrets(self) -> Secrets:
        """What finds and replaces secrets here. Raises `ConfigError` for a bad file of own rules."""
        return Secrets(self.root)

    def close(self) -> None:
        """Let go of the root's descriptor and of the locks' files."""
        if self._fd >= 0:
            self.state.close()
            os.close(self._fd)
            self._fd = -1

    def take_written(self) -> frozenset[str]:
        """Return the files replaced or removed through this tree since the last call (appends not)."""
        written, self._written = self._written, set()
        return frozenset(written)

    def read_bytes(self, path: str, *, limit: int = MAX_READ_BYTES) -> bytes:
        """Return a regular file's bytes; a file larger than `limit` is refused (LIM)."""
        with self._reading(path) as (fd, info):
            openat.check_size(path, info.st_size, limit)
            return durable.read_all(fd, info.st_size, limit)

    def read_text(self, path: str) -> str:
        """Return a file as text: UTF-8, or UTF-16 with its mark; invalid bytes become U+FFFD."""
        return decode_text(self.read_bytes(path))

    def read_from(self, path: str, offset: int, size: int = MAX_READ_BYTES) -> bytes:
        """Return at most `size` of a regular file's bytes from `offset` on."""
        with self._reading(path) as (fd, info):
            os.lseek(fd, offset, os.SEEK_SET)
            return durable.read_all(fd, max(0, info.st_size - offset), size)

    def chunks(self, path: str, *, size: int = 1 << 20) -> Iterator[bytes]:
        """Yield a regular file's bytes in pieces, up to the size it had when it was opened."""
        with self._reading(path) as (fd, info):
            left = info.st_size
            while left > 0 and (piece := os.read(fd, min(size, left))):
                left -= len(piece)
                yield piece

    def stat(self, path: str) -> FileStat:
        """Return size, time and inode of a regular file."""
        with self._reading(path) as (_, info):
            return FileStat.of(info)

    def peek(self, path: str) -> FileStat | None:
        """Return the status of a file or folder without opening it, None where it is not there.

        It takes 2 us and serves to notice a change, not to guard: links on the way are followed.
        """
        try:
            return FileStat.of(os.stat(path, dir_fd=self._fd, follow_symlinks=False))
        except OSError:
            return None

    def exists(self, path: str) -> bool:
        """Say whether a regular file of that name is there."""
        try:
            self.stat(path)
        except PathRejected as err:
            if err.code in ("MISSING", "KIND"):
                return False
            raise
        return True

    def list(self, path: str = ".", *, left_out: set[str] | None = None) -> list[Entry]:
        """Return the legal names of one folder, sorted; links, pipes and dot names are left out.

        `left_out` receives, quoted, the names other than dot names that cannot be opened.
        """
        name = canonical_dir(path)
        with self._folder(name) as fd:
            entries = self._entries(fd, "" if name == "." else name + "/", left_out)
            return sorted(entries, key=lambda entry: entry.path)

    def names(self, path: str) -> tuple[str, ...]:
        """Return the legal names in one folder, sorted, without asking the disk what each is."""
        name = canonical_dir(path)
        with self._folder(name) as fd:
            found = os.listdir(fd)  # noqa: PTH208 (of a descriptor)
        legal = {legal_name(item, top=name == ".") for item in found}
        return tuple(sorted(item for item in legal if item is not None))

    def walk(self, path: str = ".", *, suffixes: tuple[str, ...] | None = None) -> Iterator[Entry]:
        """Yield the regular files at or below `path`, sorted by name within each folder.

        `suffixes` keeps the names with one of these endings, in lower case. A folder below that
        cannot be read, or is gone meanwhile, is passed over with a warning in the log.
        """
        name = canonical_dir(path)
        if name != "." and not self.is_dir(name) and self.exists(name):
            info = self.stat(name)
            found = iter([Entry(name, info.size, info.mtime_ns, False)])
        else:
            found = self._below(self.list(name))
        for entry in found:
            if suffixes is None or entry.path.lower().endswith(suffixes):
                yield entry

    def _below(self, entries: Sequence[Entry]) -> Iterator[Entry]:
        for entry in entries:
            if not entry.is_dir:
                yield entry
                continue
            try:
                inner = self.list(entry.path)
            except PathRejected as err:
                _logger.warning("not walked: %s", err)
                continue
            yield from self._below(inner)

    def opened_folder(self, path: str) -> AbstractContextManager[int]:
        """Hold a descriptor of a folder, to ask what is in it."""
        return self._folder(canonical_dir(path))

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
        name = _checked(path, data, MAX_WRITE_BYTES)
        with self.lock(name), self._parent(name, make=True) as (fd, leaf):
            info = self._check_target(name, fd, leaf)
            if expect is not None and self.digest(name) != expect:
                raise StaleWrite(name)
            if expect is not None:
                announce(self._announced_as + name, expect, sha256(data))
            mode = 0o644 if info is None else info.st_mode & 0o777
            durable.replace_at(fd, leaf, data, mode=mode)
            self._leftovers.sweep(fd)
            self._written.add(name)
        return sha256(data)

    def create(self, path: str, data: bytes) -> str:
        """Write a file that is not there yet; an existing one is refused (COL), never overwritten."""
        try:
            return self.replace(path, data, expect="")
        except StaleWrite as err:
            raise PathRejected(path, "COL", "exists already; choose another name") from err

    def make_folder(self, path: str) -> None:
        """Make a folder and those above it; one that is there stays as it is."""
        name = canonical(path)
        with openat.refusals(name, saving=True):
            openat.make_folders(self._fd, openat.as_stored(self._fd, name))
        with self._folder(name):
            pass

    def append(self, path: str, data: bytes) -> FileStat:
        """Append whole lines durably, all or none; return the file's status then."""
        name = _checked(path, data, MAX_READ_BYTES)
        with self.lock(name):
            try:
                with self._writing(name, os.O_APPEND) as fd:
                    durable.append(fd, data)
                    return FileStat.of(os.fstat(fd))
            except PathRejected as err:
                if err.code != "MISSING":
                    raise
            return self._append_new(name, data)

    def _append_new(self, name: str, data: bytes) -> FileStat:
        with self._parent(name, make=True) as (folder_fd, leaf):
            self._check_target(name, folder_fd, leaf)
            with self._writing(name, os.O_APPEND | os.O_CREAT) as fd:
                durable.append(fd, data, new_in=folder_fd)
                return FileStat.of(os.fstat(fd))

    def truncate(self, path: str, size: int) -> None:
        """Cut a file to `size` bytes durably (torn tails only)."""
        name = canonical(path)
        with self.lock(name), self._writing(name, 0) as fd:
            durable.truncate(fd, size)

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
        """Hold the lock of a name between processes and threads, re-entrant within a thread.

        Every write of a file holds the lock of its path. All of `recall/` is one lock, `recall`;
        do not hold two paths at once, and take a named lock (`core`) before a path's. Raises
        `WorkspaceLocked` after `timeout_s` seconds.
        """
        return self.state.lock(name, timeout_s)

    # Opening: every descriptor below is got from the pinned root.

    def _open(self, name: str, flags: int) -> int:
        try:
            return openat.open_beneath(self._fd, name, flags | os.O_NONBLOCK)
        except FileNotFoundError:
            stored = name if name.isascii() else openat.as_stored(self._fd, name)
            if stored == name:
                raise
            return openat.open_beneath(self._fd, stored, flags | os.O_NONBLOCK)

    @contextmanager
    def _reading(self, path: str) -> Iterator[tuple[int, os.stat_result]]:
        name = canonical(path)
        with openat.refusals(path):
            fd = self._open(name, os.O_RDONLY)
            try:
                info = os.fstat(fd)
                openat.check_regular(path, info, to_write=False)
                yield fd, info
            finally:
                os.close(fd)

    @contextmanager
    def _writing(self, name: str, flags: int) -> Iterator[int]:
        with openat.refusals(name, saving=True):
            fd = self._open(name, os.O_WRONLY | flags)
            try:
                openat.check_regular(name, os.fstat(fd), to_write=True)
                yield fd
            finally:
                os.close(fd)

    @contextmanager
    def _folder(self, name: str) -> Iterator[int]:
        with openat.refusals(name):
            fd = self._open(name, os.O_RDONLY | os.O_DIRECTORY)
            try:
                yield fd
            finally:
                os.close(fd)

    @contextmanager
    def _parent(self, name: str, *, make: bool) -> Iterator[tuple[int, str]]:
        """Open the folder of a file to be written, and give the file's name as it is stored there."""
        folder, _, leaf = name.rpartition("/")
        with openat.refusals(name, saving=True):
            if make and folder:
                openat.make_folders(self._fd, openat.as_stored(self._fd, folder))
            fd = self._open(folder or ".", os.O_RDONLY | os.O_DIRECTORY)
            try:
                yield fd, openat.stored_leaf(fd, leaf)
            finally:
                os.close(fd)

    def _entries(self, fd: int, prefix: str, left_out: set[str] | None) -> Iterator[Entry]:
        seen: set[str] = set()
        room = MAX_PATH_BYTES - len(prefix.encode()) if prefix.count("/") < MAX_DEPTH else 0
        with os.scandir(fd) as names:
            for item in names:
                name = legal_name(item.name, top=not prefix)
                if name is None or name in seen or len(name.encode()) > room:
                    if left_out is not None and not item.name.startswith("."):
                        left_out.add(printable(item.name))
                    continue
                seen.add(name)
                try:
                    info = item.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue  # an editor's temporary file, gone meanwhile
                is_dir = stat_module.S_ISDIR(info.st_mode)
                if is_dir or stat_module.S_ISREG(info.st_mode):
                    yield Entry(prefix + name, info.st_size, info.st_mtime_ns, is_dir)
                elif left_out is not None:
                    left_out.add(printable(item.name))

    def _check_target(self, path: str, fd: int, leaf: str) -> os.stat_result | None:
        """Refuse to write over a link or a folder, to a second hard link, or beside a look-alike."""
        info = openat.lstat_at(fd, leaf)
        if info is not None:
            openat.check_regular(path, info, to_write=True)
            return info
        twin = openat.look_alike(fd, leaf)
        if twin is not None:
            raise PathRejected(
                path, "COL", f"would stand beside {twin!r}, which differs only in case or form"
            )
        return None


def _checked(path: str, data: bytes, limit: int) -> str:
    if len(data) > limit:
        raise PathRejected(path, "LIM", f"{len(data)} bytes are over the limit of {limit}")
    return canonical(path)


def sha256(data: bytes) -> str:
    """Return the hex sha256 of `data`."""
    import hashlib  # 2 ms of a start, for OpenSSL

    return hashlib.sha256(data).hexdigest()
