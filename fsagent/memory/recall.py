"""Recall memory: everything said and done, append-only, one JSONL file a day.

An append is on disk before it returns. One lock orders all writers; `seq` orders all lines. Where
the log ends is kept in `.fsagent/recall.json` and checked against the file at every append, so
losing it costs one scan of the files' last lines and nothing else.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import Any

from fsagent.config import Settings, zone
from fsagent.errors import PathRejected
from fsagent.types import Clock, Role, ToolCall
from fsagent.workspace.records import Record, decode, encode
from fsagent.workspace.tree import Tree
from fsagent.workspace.view import raw_lines

_LOCK = "recall"
_STATE = "recall.json"
_TAIL_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Draft:
    """A line to be written; recall gives it its `seq`, and its time where `ts` is None."""

    role: Role
    name: str
    content: str
    turn: str = ""
    ts: datetime | None = None
    session: str | None = None
    kind: str | None = None
    model: str | None = None
    source: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    usage: Mapping[str, Any] | None = None
    images: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reference:
    """Where a line stands: the file, its 1-based line number, and its `seq`."""

    path: str
    line: int
    seq: int

    def citation(self) -> str:
        """Return the citation, e.g. `[2026-11-29:14]`."""
        return f"[{self.path.rpartition('/')[2].removesuffix('.jsonl')}:{self.line}]"


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is not a record: skipped, counted and reported, never dropped or rewritten."""

    path: str
    line: int
    reason: str


@dataclass
class _End:
    """Where the log ended after the last append."""

    path: str = ""
    size: int = 0
    lines: int = 0
    seq: int = 0
    ts: str = ""


class Recall:
    """The log of a workspace: appends, and reads by day and from the end."""

    def __init__(self, tree: Tree, settings: Settings, clock: Clock) -> None:
        self._tree, self._clock = tree, clock
        self._zone: tzinfo | None = zone(settings.timezone)
        self._day_start = timedelta(hours=settings.day_start)

    def append(self, draft: Draft) -> Reference:
        """Write one line durably and return where it stands."""
        return self.append_many([draft])[0]

    def append_many(self, drafts: Iterable[Draft]) -> list[Reference]:
        """Write lines durably, one sync a day file, in their order; return where they stand.

        Raises `WorkspaceError` where the disk refuses; what that day's write had begun is undone.
        """
        with self._tree.lock(_LOCK):
            end = self._load_end()
            references: list[Reference] = []
            for path, group in _by_path(self._stamped(draft, end) for draft in drafts):
                references += self._append_group(path, group, end)
            return references

    def days(self) -> list[str]:
        """Return the paths of all day files, oldest first."""
        if not self._tree.is_dir("recall"):
            return []
        years = [entry.path for entry in self._tree.list("recall") if entry.is_dir]
        return [
            entry.path
            for year in years
            for entry in self._tree.list(year)
            if not entry.is_dir and entry.path.endswith(".jsonl")
        ]

    def read(self, path: str, bad: list[BadLine] | None = None) -> Iterator[tuple[int, Record]]:
        """Yield a day's records with their line numbers; bad lines go into `bad`."""
        for number, line in enumerate(raw_lines(self._tree.read_bytes(path)), 1):
            try:
                yield number, decode(line)
            except ValueError as err:
                if bad is not None:
                    bad.append(BadLine(path, number, str(err)))

    def tail(self, count: int) -> list[tuple[str, int, Record]]:
        """Return the last `count` lines as (path, line, record), oldest first, newest days read only."""
        found: list[tuple[str, int, Record]] = []
        for path in reversed(self.days()):
            found = [(path, number, record) for number, record in self.read(path)] + found
            if len(found) >= count:
                break
        return sorted(found, key=lambda item: item[2].seq)[-count:] if count else []

    def path_of(self, moment: datetime) -> str:
        """Return the day file a moment belongs to."""
        day = (moment - self._day_start).date()
        return f"recall/{day.year:04d}/{day.isoformat()}.jsonl"

    def now(self) -> datetime:
        """Return now in the workspace's zone, to the second."""
        return self._clock().astimezone(self._zone).replace(microsecond=0)

    # Writing, all under the lock.

    def _stamped(self, draft: Draft, end: _End) -> tuple[str, Draft, bool]:
        """Return the draft's file, the draft with its time, and whether the clock had gone back."""
        if draft.ts is not None:
            return self.path_of(draft.ts), draft, False
        now = self.now()
        clamped = bool(end.ts) and now < datetime.fromisoformat(end.ts)
        if clamped:
            now = datetime.fromisoformat(end.ts)
        end.ts = now.isoformat()
        return self.path_of(now), _with_time(draft, now), clamped

    def _append_group(
        self, path: str, group: list[tuple[Draft, bool]], end: _End
    ) -> list[Reference]:
        size, lines = self._ready(path, end)
        references: list[Reference] = []
        data: list[bytes] = []
        for number, (draft, clamped) in enumerate(group, 1):
            record = _record(draft, end.seq + number, clamped)
            data.append(encode(record))
            references.append(Reference(path, lines + number, record.seq))
        block = b"".join(data)
        self._tree.append(path, block)
        end.path, end.size, end.lines = path, size + len(block), lines + len(group)
        end.seq += len(group)
        self._save_end(end)
        return references

    def _ready(self, path: str, end: _End) -> tuple[int, int]:
        """Return the file's size and line count, a torn tail mended first."""
        if path == end.path:
            return end.size, end.lines
        try:
            data = self._tree.read_bytes(path)
        except PathRejected as err:
            if err.code == "MISSING":
                return 0, 0
            raise
        data = self._mend(path, data)
        return len(data), data.count(b"\n")

    def _mend(self, path: str, data: bytes) -> bytes:
        """Complete a last line that lacks only its LF; move any other torn tail to quarantine."""
        if not data or data.endswith(b"\n"):
            return data
        keep = data.rfind(b"\n") + 1
        tail = data[keep:]
        try:
            decode(tail)
        except ValueError:
            self._quarantine(path, tail)
            self._tree.truncate(path, keep)
            return data[:keep]
        self._tree.append(path, b"\n")
        return data + b"\n"

    def _quarantine(self, path: str, tail: bytes) -> None:
        folder = self._tree.derived / "quarantine"
        folder.mkdir(parents=True, exist_ok=True)
        stamp = self._clock().strftime("%Y%m%dT%H%M%S")
        name = f"{path.rpartition('/')[2]}.{stamp}.{len(tail)}.torn"
        with (folder / name).open("wb") as file:
            file.write(tail)
            file.flush()
            os.fsync(file.fileno())

    def _load_end(self) -> _End:
        """Return where the log ends: the saved state if the file still fits it, else by a scan."""
        try:
            end = _End(**json.loads((self._tree.derived / _STATE).read_bytes()))
            if end.path and self._tree.stat(end.path).size == end.size:
                return end
        except (OSError, ValueError, TypeError, PathRejected):
            pass
        return self._scan_end()

    def _scan_end(self) -> _End:
        end = _End()
        for path in self.days():
            last = self._last_record(path)
            if last is not None and last.seq >= end.seq:
                end.seq = last.seq
                if last.source is None:
                    end.ts = max(
                        end.ts, last.ts, key=lambda ts: datetime.fromisoformat(ts) if ts else _EPOCH
                    )
        return end

    def _last_record(self, path: str) -> Record | None:
        """Return the last whole record of a day file, reading its end first."""
        size = self._tree.stat(path).size
        for start in (max(0, size - _TAIL_BYTES), 0):
            lines = raw_lines(self._tree.read_from(path, start))
            for line in reversed(lines if start == 0 else lines[1:]):
                try:
                    return decode(line)
                except ValueError:
                    continue
        return None

    def _save_end(self, end: _End) -> None:
        """Keep the end for the next append. Not synced: a stale state is noticed and scanned anew."""
        with contextlib.suppress(OSError):
            self._tree.derived.mkdir(exist_ok=True)
            (self._tree.derived / _STATE).write_text(json.dumps(vars(end)), encoding="utf-8")


_EPOCH = datetime.fromisoformat("0001-01-02T00:00:00+00:00")


def _by_path(
    stamped: Iterable[tuple[str, Draft, bool]],
) -> Iterator[tuple[str, list[tuple[Draft, bool]]]]:
    """Group consecutive lines of the same day file."""
    path, group = "", list[tuple[Draft, bool]]()
    for next_path, draft, clamped in stamped:
        if group and next_path != path:
            yield path, group
            group = []
        path = next_path
        group.append((draft, clamped))
    if group:
        yield path, group


def _with_time(draft: Draft, ts: datetime) -> Draft:
    import dataclasses

    return dataclasses.replace(draft, ts=ts)


def _record(draft: Draft, seq: int, clamped: bool) -> Record:
    assert draft.ts is not None
    return Record(
        seq=seq,
        ts=draft.ts.isoformat(timespec="seconds"),
        turn=draft.turn,
        role=draft.role,
        name=draft.name,
        content=draft.content,
        session=draft.session,
        kind=draft.kind,
        model=draft.model,
        source=draft.source,
        tool_calls=draft.tool_calls,
        tool_call_id=draft.tool_call_id,
        usage=draft.usage,
        images=draft.images,
        clamped=clamped,
    )
