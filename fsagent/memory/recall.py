"""Recall memory: everything said and done, append-only, one JSONL file a day.

An append is on disk before it returns. One lock orders all writers; `seq` orders all lines; a torn
tail is mended before the next append to its file.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from itertools import islice
from typing import Any, NamedTuple

from fsagent.config import Settings, zone
from fsagent.errors import WorkspaceError
from fsagent.memory.recall_end import End, EndKeeper, day_paths
from fsagent.types import Clock, Role, ToolCall
from fsagent.workspace.records import Record, decode, encode
from fsagent.workspace.references import citation_name
from fsagent.workspace.secrets.secrets import Secrets
from fsagent.workspace.tree import Tree
from fsagent.workspace.view import raw_lines

_LOCK = "recall"
_TAIL_BYTES = 64 * 1024
_FEW_LINES = 256
_GROUP_CHARS = 8_000_000
# A clock set right after it ran ahead must not date everything into its future for ever: beyond a
# day back the clock is believed, and the line only flagged.
_CLAMP = timedelta(days=1)

_logger = logging.getLogger(__name__)


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
        return f"[{citation_name(self.path, self.line)}]"


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is not a record: skipped, counted and reported, never dropped or rewritten."""

    path: str
    line: int
    reason: str


class Recall:
    """The log of a workspace: appends, and reads by day and from the end."""

    def __init__(self, tree: Tree, settings: Settings, clock: Clock) -> None:
        self._tree, self._clock = tree, clock
        self._zone: tzinfo | None = zone(settings.timezone)
        self._day_start = timedelta(hours=settings.day_start)
        self._ends = EndKeeper(tree)

    def append(self, draft: Draft) -> Reference:
        """Write one line durably and return where it stands."""
        return self.append_many([draft])[0]

    def append_many(self, drafts: Iterable[Draft]) -> list[Reference]:
        """Write lines durably in their order, one sync a day file; return where they stand.

        Raises `WorkspaceError` where the disk refuses: the day file is as it was before, the files
        written before it in the same call stand.
        """
        with self._tree.lock(_LOCK):
            end = self._ends.load()
            references: list[Reference] = []
            try:
                cleaned = (_cleaned(draft, self._tree.secrets) for draft in drafts)
                for path, group in _by_path(self._stamped(draft, end) for draft in cleaned):
                    references += self._append_group(path, group, end)
            except (WorkspaceError, OSError) as err:
                self._ends.forget()
                reason = err.strerror if isinstance(err, OSError) else str(err)
                raise WorkspaceError(f"This turn is not saved: {reason}") from err
            except BaseException:
                self._ends.forget()
                raise
            return references

    def days(self) -> list[str]:
        """Return the paths of all day files, oldest first."""
        return list(day_paths(self._tree))

    def read(
        self, path: str, bad: list[BadLine] | None = None, *, after: int = 0
    ) -> Iterator[tuple[int, Record]]:
        """Yield a day's records behind line `after` with their line numbers; bad lines go into `bad`."""
        for number, line in islice(enumerate(self._lines(path), 1), after, None):
            try:
                yield number, decode(line)
            except ValueError as err:
                if bad is not None:
                    bad.append(BadLine(path, number, str(err)))

    def tail(self, count: int) -> list[tuple[str, int, Record]]:
        """Return the last `count` lines as (path, line, record), oldest first.

        Reads back from the newest day's end; the time taken does not depend on what lies before.
        """
        days: list[list[tuple[str, int, Record]]] = []
        missing = count
        for path in day_paths(self._tree, newest_first=True):
            if missing <= 0:
                break
            days.append(self._tail_of(path, missing))
            missing -= len(days[-1])
        return [found for day in reversed(days) for found in day]

    def last_seq(self) -> int:
        """Return the highest `seq` of the log; where it is as it was left no day file is read."""
        with self._tree.lock(_LOCK):
            return self._ends.load().seq

    def since(self, path: str, seq: int) -> list[tuple[int, Record]]:
        """Return a day's records behind a `seq` with their line numbers, oldest first.

        Reads back from the file's end, since a file's lines stand in the order of their `seq`.
        """
        if self._ends.last_seq(path) <= seq:
            return []
        count = _FEW_LINES
        while True:
            found = self._tail_of(path, count)
            if len(found) < count or found[0][2].seq <= seq:
                return [(number, record) for _, number, record in found if record.seq > seq]
            count *= 8

    def path_of(self, moment: datetime) -> str:
        """Return the day file a moment belongs to."""
        day = (moment - self._day_start).date()
        return f"recall/{day.year:04d}/{day.isoformat()}.jsonl"

    def now(self) -> datetime:
        """Return now in the workspace's zone, to the second."""
        return self._clock().astimezone(self._zone).replace(microsecond=0)

    # Writing, all under the lock.

    def _stamped(self, draft: Draft, end: End) -> _Stamped:
        """Return the draft with its file, its time, and whether the clock had gone back."""
        if draft.ts is not None:
            moment = draft.ts if draft.ts.tzinfo else self._in_zone(draft.ts)
            return _Stamped(self.path_of(moment), draft, moment.isoformat(timespec="seconds"))
        now, back = self.now(), False
        if end.ts:
            latest = datetime.fromisoformat(end.ts)
            back = now < latest
            if back and latest - now <= _CLAMP:
                now = latest
        end.ts = now.isoformat()
        return _Stamped(self.path_of(now), draft, end.ts, back)

    def _in_zone(self, moment: datetime) -> datetime:
        return moment.replace(tzinfo=self._zone) if self._zone else moment.astimezone()

    def _append_group(self, path: str, group: list[_Stamped], end: End) -> list[Reference]:
        self._ends.leave(end, path)
        lines = end.lines if path == end.path else self._mended_lines(path)
        references: list[Reference] = []
        data: list[bytes] = []
        for number, stamped in enumerate(group, 1):
            record = _record(stamped, end.seq + number)
            data.append(encode(record))
            references.append(Reference(path, lines + number, record.seq))
        block = b"".join(data)
        stat = self._tree.append(path, block)
        end.path, end.lines, end.seq = path, lines + len(group), end.seq + len(group)
        self._ends.save(end, stat, block)
        return references

    def _mended_lines(self, path: str) -> int:
        """Return a file's line count, its torn tail mended first."""
        stat = self._tree.peek(path)
        if stat is None:
            return 0
        self._mend(path, stat.size)
        return self._line_ends(path)

    def _mend(self, path: str, size: int) -> None:
        """Complete a last line that lacks only its LF; move any other torn tail to quarantine."""
        tail = self._unfinished(path, size)
        if not tail:
            return
        try:
            decode(tail)
        except ValueError:
            stamp = self._clock().strftime("%Y%m%dT%H%M%S")
            name = f"{path.rpartition('/')[2]}.{stamp}.torn"
            kept = self._tree.state.keep("quarantine", name, tail)
            self._tree.truncate(path, size - len(tail))
            _logger.warning("%s: a torn last line of %d bytes is in %s", path, len(tail), kept)
        else:
            self._tree.append(path, b"\n")

    def _unfinished(self, path: str, size: int) -> bytes:
        """Return what stands behind the last LF."""
        window = 1
        while True:
            start = max(0, size - window)
            data = self._tree.read_from(path, start)
            at = data.rfind(b"\n")
            if at >= 0 or start == 0:
                return data[at + 1 :]
            window *= 256

    # Reading.

    def _lines(self, path: str) -> Iterator[bytes]:
        rest = b""
        for chunk in self._tree.chunks(path):
            *whole, rest = (rest + chunk).split(b"\n")
            yield from whole
        if rest:
            yield rest

    def _line_ends(self, path: str) -> int:
        return sum(chunk.count(b"\n") for chunk in self._tree.chunks(path))

    def _tail_of(self, path: str, count: int) -> list[tuple[str, int, Record]]:
        """Return a day's last `count` records, read back from the end in growing windows."""
        size, window = self._tree.stat(path).size, _TAIL_BYTES
        while True:
            start = max(0, size - window)
            data = self._tree.read_from(path, start, size - start)
            whole = raw_lines(data if start == 0 else data[data.find(b"\n") + 1 :])
            found = list(islice(_decoded(whole), count))
            if len(found) == count or start == 0:
                break
            window *= 8
        first = 1
        if start:
            count_all = self._ends.lines(path) if data.endswith(b"\n") else None
            if count_all is None:
                count_all = self._line_ends(path) + (not data.endswith(b"\n"))
            first = count_all - len(whole) + 1
        return [(path, first + index, record) for index, record in reversed(found)]


def _decoded(lines: list[bytes]) -> Iterator[tuple[int, Record]]:
    """Yield the readable records with their index, the last first."""
    for index in range(len(lines) - 1, -1, -1):
        with contextlib.suppress(ValueError):
            yield index, decode(lines[index])


def _cleaned(draft: Draft, secrets: Secrets) -> Draft:
    """Return a draft without secrets: replaced in its words, names, captions and arguments.

    An intent holds a call's id and hashes alone, and they must stay what they are.
    """
    if draft.kind == "intent":
        return draft
    content = (secrets.clean if draft.kind is None else secrets.clean_json)(draft.content)
    name, images = secrets.clean(draft.name), secrets.clean_all(draft.images)
    arguments = [secrets.clean_json(call.arguments) for call in draft.tool_calls]
    calls = tuple(
        call if call.arguments == clean else replace(call, arguments=clean)
        for call, clean in zip(draft.tool_calls, arguments, strict=True)
    )
    if (content, name, images, calls) == (
        draft.content,
        draft.name,
        draft.images,
        draft.tool_calls,
    ):
        return draft
    return replace(draft, content=content, name=name, images=images, tool_calls=calls)


class _Stamped(NamedTuple):
    """A draft with its file and time; `back`: the clock had gone back."""

    path: str
    draft: Draft
    ts: str
    back: bool = False


def _by_path(stamped: Iterable[_Stamped]) -> Iterator[tuple[str, list[_Stamped]]]:
    """Group consecutive lines of the same day file, at most about 8 MB a group."""
    path, group, size = "", list[_Stamped](), 0
    for item in stamped:
        if group and (item.path != path or size > _GROUP_CHARS):
            yield path, group
            group, size = [], 0
        path = item.path
        group.append(item)
        size += len(item.draft.content)
    if group:
        yield path, group


def _record(stamped: _Stamped, seq: int) -> Record:
    draft = stamped.draft
    return Record(
        seq=seq,
        ts=stamped.ts,
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
        clamped=stamped.back,
    )
