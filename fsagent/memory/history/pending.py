"""Turns whose commit is not made yet: one small file each, durable, caught up at the next start."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from fsagent.memory.history.messages import TurnNote


class Pending:
    """The markers under `.fsagent/history/pending`."""

    def __init__(self, folder: Path, hide: Callable[[str], str] = str) -> None:
        self._folder, self._hide = folder / "pending", hide

    def put(self, note: TurnNote, paths: frozenset[str] | None = None) -> None:
        """Write a turn's marker durably; a later one of the same turn takes its place."""
        self._folder.mkdir(parents=True, exist_ok=True)
        note = replace(note, why=self._hide(note.why))
        shape = {**asdict(note), "paths": None if paths is None else sorted(paths)}
        temporary = self._folder / ".next"
        with temporary.open("wb") as file:
            file.write(json.dumps(shape).encode())
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self._path(note.turn))

    def all(self) -> list[tuple[TurnNote, frozenset[str] | None]]:
        """Return the turns that wait, oldest first; an unreadable marker is a turn without a name."""
        try:
            files = sorted(self._folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
        except OSError:
            return []
        return [self._read(path) for path in files]

    def drop(self, turn: str) -> None:
        """Take a turn's marker away: its commit is made, or it changed nothing."""
        with contextlib.suppress(OSError):
            self._path(turn).unlink()

    def clear(self) -> None:
        """Take every marker away."""
        for path in self._folder.glob("*.json"):
            path.unlink(missing_ok=True)

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
