"""Locks between processes and threads: the system's file locks, which die with their holder.

The descriptor stays open between holds: taking a lock costs 4 us, where `filelock`'s FileLock,
which opens its file each time, costs 76 us (kept) or 168 us (made anew) beside a 120 us append
with its sync. `filelock` serves where Python has no flock; both hold the same system lock.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from fsagent.errors import WorkspaceLocked

_FIRST_PAUSE_S = 0.0005
_LONGEST_PAUSE_S = 0.02


class FileLock:
    """One lock: exclusive between processes and threads, re-entrant within a thread.

    `open_file` opens (and makes) the lock's file; `same_file` says whether a descriptor still is
    that file, since somebody may delete the folder of locks while the program runs.
    """

    def __init__(
        self, name: str, open_file: Callable[[], int], same_file: Callable[[int], bool]
    ) -> None:
        self._name, self._open, self._same = name, open_file, same_file
        self._threads = threading.RLock()
        self._fd = -1
        self._depth = 0

    @contextmanager
    def held(self, timeout_s: float) -> Iterator[None]:
        """Hold the lock. Raises `WorkspaceLocked` after `timeout_s` seconds of waiting."""
        deadline = time.monotonic() + timeout_s
        if not self._threads.acquire(timeout=max(timeout_s, 0)):
            raise locked(self._name, timeout_s)
        try:
            if self._depth == 0:
                self._take(deadline, timeout_s)
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    _unlock(self._fd)
        finally:
            self._threads.release()

    @contextmanager
    def spare(self) -> Iterator[bool]:
        """Hold the lock where nobody does, this thread included; yield whether it is held."""
        if not self._threads.acquire(blocking=False):
            yield False
            return
        try:
            if self._depth or not self._take_now():
                yield False
                return
            try:
                yield True
            finally:
                _unlock(self._fd)
        finally:
            self._threads.release()

    def _take_now(self) -> bool:
        try:
            self._take(0.0, 0.0)
        except WorkspaceLocked:
            return False
        return True

    def close(self) -> None:
        """Let go of the lock's file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _take(self, deadline: float, timeout_s: float) -> None:
        pause = _FIRST_PAUSE_S
        while True:
            if self._fd < 0:
                self._fd = self._open()
            if _try_lock(self._fd):
                if self._same(self._fd):
                    return
                self.close()
                continue
            if time.monotonic() >= deadline:
                raise locked(self._name, timeout_s)
            time.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(2 * pause, _LONGEST_PAUSE_S)


def has_flock() -> bool:
    """Say whether Python offers flock here; Windows has its own locks, through `filelock`."""
    return find_spec("fcntl") is not None


@contextmanager
def filelock_held(path: Path, name: str, timeout_s: float) -> Iterator[None]:
    """Hold the lock at `path` through `filelock`, where there is no flock."""
    from filelock import FileLock as LibraryLock
    from filelock import Timeout

    try:
        with LibraryLock(path, is_singleton=True).acquire(timeout=timeout_s, poll_interval=0.01):
            yield
    except Timeout as err:
        raise locked(name, timeout_s) from err


def locked(name: str, timeout_s: float) -> WorkspaceLocked:
    """Return the error that says who waits for what."""
    return WorkspaceLocked(
        f"{name} is held by another process for more than {timeout_s:g} s; end that one or try again"
    )


def _try_lock(fd: int) -> bool:
    import fcntl

    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _unlock(fd: int) -> None:
    import fcntl

    fcntl.flock(fd, fcntl.LOCK_UN)
