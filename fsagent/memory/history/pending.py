"""Turns whose commit is not made yet: one small file each, durable, caught up at the next start."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from fsagent.memory.history.messages import TurnNote

_LEFT_NS = 60_000_000_000
"""After so long a file that was to become a marker is one that a killed write left."""


class Pending:
    """The markers under `.fsagent/history/pending`."""

    def __init__(self, folder: Path, hide: Callable[[str], str] = str) -> None:
        self._folder, self._hide = folder / "pending", hide

    def put(self, note: TurnNote, paths: frozenset[str] | None = None) -> None:
        """Write a turn's marker durably; a later one of the same turn takes its place."""
        self._folder.mkdir(parents=True, exist_ok=True)
        note = replace(note, why=self._hide(note.why))
        shape = {**asdict(note), "paths": None if paths is None else sorted(paths)}
        # A name of its own: a chat and the sleep beside it write markers at the same moment.
        temporary = self._folder / f".next-{os.getpid()}-{threading.get_ident()}"
        with temporary.open("wb") as file:
            file.write(json.dumps(shape).encode())
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self._path(note.turn))

    def all(self) -> list[tuple[TurnNote, frozenset[str] | None]]:
        """Return the turns that wait, oldest first; an unreadable marker is a turn without a name."""
        aged = [(age, path) for path in self._files("*.json") if (age := _written_ns(path))]
        return [self._read(path) for _, path in sorted(aged)]

    def drop(self, turn: str) -> None:
        """Take a turn's marker away: its commit is made, or it changed nothing."""
        with contextlib.suppress(OSError):
            self._path(turn).unlink()

    def clear(self) -> None:
        """Take the markers away that cannot be read, and what a killed write left.

        A marker that was put meanwhile stays.
        """
        for path in self._files("*.json"):
            if self._read(path)[0] == TurnNote():
                path.unlink(missing_ok=True)
        before_ns = time.time_ns() - _LEFT_NS
        for path in self._files(".next*"):
            if _written_ns(path) < before_ns:
                path.unlink(missing_ok=True)

    def _files(self, pattern: str) -> list[Path]:
        try:
            return list(self._folder.glob(pattern))
        except OSError:
            return []

    def _path(self, turn: str) -> Path:
        return self._folder / f"{turn.encode().hex()[:120] or 'none'}.json"

    def _read(self, path: Path) -> tuple[TurnNote, frozenset[str] | None]:
        try:
            shape: dict[str, Any] = json.loads(path.read_bytes())
            paths = shape.pop("paths")
            shape["tools"] = tuple(shape["tools"])
            return TurnNote(**shape), None if paths is None else frozenset(paths)
        except (OSError, ValueError, KeyError, TypeError):
            return TurnNote(), None


def _written_ns(path: Path) -> int:
    """Return when a file was written, 0 for one that is gone meanwhile."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
