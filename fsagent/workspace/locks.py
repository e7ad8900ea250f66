"""Locks between processes: the system's file locks, which die with their holder."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fsagent.errors import WorkspaceLocked


@contextmanager
def lock_file(folder: Path, name: str, *, timeout_s: float) -> Iterator[None]:
    """Hold the lock called `name` (any text) in `folder`; re-entrant within a thread.

    Raises `WorkspaceLocked` when another holder does not let go within `timeout_s` seconds.
    """
    from filelock import FileLock, Timeout

    folder.mkdir(parents=True, exist_ok=True)
    slug = hashlib.sha256(name.encode()).hexdigest()[:16]
    lock = FileLock(folder / f"{slug}.lock", is_singleton=True, timeout=timeout_s)
    try:
        lock.acquire()
    except Timeout as err:
        raise WorkspaceLocked(
            f"{name} is held by another process for more than {timeout_s:g} s; end that one or try again"
        ) from err
    try:
        yield
    finally:
        lock.release()
