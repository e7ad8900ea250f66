"""Derived and protective state: locks, small state files, the quarantine, all under `.fsagent`.

A workspace may come from elsewhere (a clone, an archive), so nothing here is written through a
link: `.fsagent` and what lies in it are opened beneath the pinned root like every other file.
"""

from __future__ import annotations

import os
import re
import threading
from contextlib import AbstractContextManager
from pathlib import Path

from fsagent.errors import WorkspaceError
from fsagent.workspace import durable, locks, openat

FOLDER = ".fsagent"
MAX_STATE_BYTES = 1 << 20
MAX_KEPT_BYTES = 64 << 20
"""How much is read of what is kept or grows: a proposal, a log."""

_BUCKETS = 64
_ONE_TIME = re.compile(r"(?:session-[\w-]+|[0-9a-f]{16})\.lock")
"""The files of locks for names that do not come again."""


class Derived:
    """The `.fsagent` folder of an open workspace; made when first written to.

    Raises `WorkspaceError` at once where it, or a name in it, is a link.
    """

    def __init__(self, root: Path, root_fd: int) -> None:
        self.path = root / FOLDER
        self._root_fd = root_fd
        self._locks: dict[str, locks.FileLock] = {}
        self._guard = threading.Lock()
        self._pid = os.getpid()
        self._refuse_links()

    def close(self) -> None:
        """Let go of the locks' files."""
        for lock in self._locks.values():
            lock.close()
        self._locks.clear()

    def lock(self, name: str, timeout_s: float) -> AbstractContextManager[None]:
        """Hold the lock of a name or path between processes and threads, re-entrant in a thread.

        All of `recall/` shares the lock `recall`; other paths share 64 locks, so nobody holds two
        paths at once. Raises `WorkspaceLocked` after `timeout_s` seconds.
        """
        file = lock_name(name)
        if not locks.has_flock():
            self._make("locks")
            return locks.filelock_held(self.path / "locks" / file, name, timeout_s)
        return self._lock(file, name).held(timeout_s)

    def drop_spare_locks(self) -> int:
        """Delete the files of one-time locks (a session's) that nobody holds; return how many.

        Who takes such a lock at the same time finds that its file is gone and makes it anew.
        """
        if not locks.has_flock():
            return 0
        files = [file for file in self.names("locks") if _ONE_TIME.fullmatch(file)]
        return sum(self._drop_spare(file) for file in files)

    def _drop_spare(self, file: str) -> bool:
        lock = self._lock(file, file)
        with lock.spare() as held:
            if held:
                fd = openat.open_beneath(self._root_fd, f"{FOLDER}/locks", os.O_RDONLY)
                try:
                    os.unlink(file, dir_fd=fd)  # not synced: one that comes back is dropped again
                finally:
                    os.close(fd)
        if held:
            lock.close()
        return held

    def read(self, name: str, *, limit: int = MAX_STATE_BYTES) -> bytes | None:
        """Return a state file's first `limit` bytes, None where there is none or it cannot be read."""
        try:
            fd = openat.open_beneath(self._root_fd, f"{FOLDER}/{name}", os.O_RDONLY | os.O_NONBLOCK)
        except OSError:
            return None
        try:
            return durable.read_all(fd, os.fstat(fd).st_size, limit)
        except OSError:
            return None
        finally:
            os.close(fd)

    def write(self, name: str, data: bytes) -> None:
        """Write a state file in place, neither atomic nor synced: its reader checks what it finds.

        Not truncated first, since ext4 flushes a file that was cut and rewritten (80 us); so write
        the same length each time. Raises OSError.
        """
        flags = os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK
        fd = self._open(name, flags)
        try:
            os.pwrite(fd, data, 0)
        finally:
            os.close(fd)

    def append(self, name: str, data: bytes) -> None:
        """Add bytes to a state file's end with one write, durably. Raises OSError."""
        fd = self._open(name, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK)
        try:
            durable.write_all(fd, data)
            os.fdatasync(fd)
        finally:
            os.close(fd)

    def names(self, folder: str) -> list[str]:
        """Return the names of the files kept in a folder, sorted; none where it is not there."""
        try:
            fd = openat.open_beneath(
                self._root_fd, f"{FOLDER}/{folder}", os.O_RDONLY | os.O_DIRECTORY
            )
        except (FileNotFoundError, NotADirectoryError):
            return []
        try:
            with os.scandir(fd) as found:
                return sorted(item.name for item in found if item.is_file(follow_symlinks=False))
        finally:
            os.close(fd)

    def drop(self, name: str) -> None:
        """Delete a state file durably, if it is there. Raises OSError."""
        folder, _, leaf = f"{FOLDER}/{name}".rpartition("/")
        try:
            fd = openat.open_beneath(self._root_fd, folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            return
        try:
            os.unlink(leaf, dir_fd=fd)
            os.fsync(fd)
        except (FileNotFoundError, IsADirectoryError):
            pass  # nothing that could be read as a state
        finally:
            os.close(fd)

    def keep(self, folder: str, name: str, data: bytes) -> str:
        """Keep bytes durably under a name of their own; return their path in the workspace."""
        for number in range(1, 10_000):
            leaf = f"{folder}/{name}" if number == 1 else f"{folder}/{name}-{number}"
            try:
                self._keep(folder, leaf, data)
            except FileExistsError:
                continue
            return f"{FOLDER}/{leaf}"
        raise WorkspaceError(f"{FOLDER}/{folder} is full of {name}; empty it")

    # Below: opening beneath the root, folders made as needed.

    def _keep(self, folder: str, leaf: str, data: bytes) -> None:
        fd = self._open(leaf, os.O_WRONLY | os.O_CREAT | os.O_EXCL, folder)
        try:
            durable.write_all(fd, data)
            os.fsync(fd)
        finally:
            os.close(fd)

    def _open(self, name: str, flags: int, folder: str = "") -> int:
        try:
            return openat.open_beneath(self._root_fd, f"{FOLDER}/{name}", flags, 0o600)
        except FileNotFoundError:
            self._make(folder)
            return openat.open_beneath(self._root_fd, f"{FOLDER}/{name}", flags, 0o600)

    def _make(self, folder: str) -> None:
        openat.make_folders(self._root_fd, f"{FOLDER}/{folder}".rstrip("/"))

    def _lock(self, file: str, name: str) -> locks.FileLock:
        with self._guard:
            if self._pid != os.getpid():
                # A forked child shares the parent's open files, and a flock belongs to the open file.
                self._locks, self._pid = {}, os.getpid()
            if file not in self._locks:
                self._locks[file] = locks.FileLock(
                    name, lambda: self._open_lock(file), lambda fd: self._is_lock(file, fd)
                )
            return self._locks[file]

    def _open_lock(self, file: str) -> int:
        with openat.refusals(f"{FOLDER}/locks", saving=True):
            return self._open(f"locks/{file}", os.O_RDWR | os.O_CREAT | os.O_NONBLOCK, "locks")

    def _is_lock(self, file: str, fd: int) -> bool:
        here = openat.lstat_at(self._root_fd, f"{FOLDER}/locks/{file}")
        return here is not None and os.path.samestat(here, os.fstat(fd))

    def _refuse_links(self) -> None:
        info = openat.lstat_at(self._root_fd, FOLDER)
        if info is None:
            return
        if openat.is_link(info):
            raise _linked(FOLDER)
        with openat.refusals(FOLDER):
            fd = openat.open_beneath(self._root_fd, FOLDER, os.O_RDONLY | os.O_DIRECTORY)
            try:
                with os.scandir(fd) as names:
                    linked = next((item.name for item in names if item.is_symlink()), None)
            finally:
                os.close(fd)
        if linked is not None:
            raise _linked(f"{FOLDER}/{linked}")


def lock_name(name: str) -> str:
    """Return the lock's file for a name or path: a few readable names, and 64 for all paths."""
    top, slash, _ = name.partition("/")
    if not slash or top == "recall":
        known = top.isascii() and top.replace("-", "").isalnum()
        return f"{top if known else _sha256(top).hex()[:16]}.lock"
    # Case is folded: where the disk ignores it, two spellings are one file.
    return f"path-{_sha256(name.casefold())[0] % _BUCKETS:02d}.lock"


def _sha256(text: str) -> bytes:
    from hashlib import sha256  # 2 ms of a start, for OpenSSL

    return sha256(text.encode()).digest()


def _linked(name: str) -> WorkspaceError:
    return WorkspaceError(
        f"{name} is a link; derived state stays inside the workspace. Remove the link, "
        "what was there is rebuilt"
    )
