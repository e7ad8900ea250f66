"""Where the log ends: kept in `.fsagent/recall.json`, checked against the disk, found anew by a scan.

The saved end may lie behind: what its file holds beyond it is read and counted, after a look that
the bytes before it are still the same. (Writing it at every append doubled an append's time, since
the journal then commits two files.) It counts only while no folder of recall has changed since.
Before an append goes to another file than the last one did, the saved end is taken away: a crash in
between must not leave one that still fits. Losing it costs one look at each day file's last lines.
"""

from __future__ import annotations

import contextlib
import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from fsagent.errors import PathRejected
from fsagent.workspace.records import Record, claimed_seq, decode
from fsagent.workspace.tree import FileStat, Tree
from fsagent.workspace.view import raw_lines

FOLDER = "recall"
STATE = "recall.json"
# The state is written in place and never cut, so it is padded: see Derived.write.
_PAD_BYTES = 1024
_TAIL_BYTES = 4096
_MARK_BYTES = 64
_BEHIND_BYTES = 64 * 1024
_MAX_CATCH_UP_BYTES = 1 << 20


@dataclass(slots=True)
class End:
    """Where the log ended after the last append; `folders` holds the times of recall's folders.

    `mark` is the checksum of the last bytes before the end, `seq` the highest of the workspace,
    `ts` the latest time of a line that was not imported.
    """

    path: str = ""
    size: int = 0
    mtime_ns: int = 0
    inode: int = 0
    mark: int = 0
    lines: int = 0
    seq: int = 0
    ts: str = ""
    folders: dict[str, int] = field(default_factory=dict)


class EndKeeper:
    """Loads and saves the end of a tree's log; the caller holds the lock `recall`."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._known: End | None = None
        self._written = b""
        self._written_size = 0

    def load(self) -> End:
        """Return the end: as this process left it, as another saved it, or by a scan."""
        data = self._tree.state.read(STATE) or b""
        end = self._known if data == self._written else _parsed(data)
        self._known = (end and self._caught_up(end)) or self._scanned()
        return self._known

    def leave(self, end: End, path: str) -> None:
        """Take the saved end away where the next append goes to another file. Raises OSError."""
        if path != end.path:
            self._tree.state.drop(STATE)
            self._written = b""

    def forget(self) -> None:
        """Trust nothing that was known: an append failed."""
        self._known = None

    def save(self, end: End, stat: FileStat, data: bytes) -> None:
        """Note that `data` was appended; write the end down where it lies far behind. Not synced."""
        end.size, end.mtime_ns, end.inode = stat.size, stat.mtime_ns, stat.inode
        end.mark = zlib.crc32(data[-_MARK_BYTES:])
        if self._written and end.size - self._written_size < _BEHIND_BYTES:
            return
        if not self._written:
            end.folders = self._folders()
        shape = {key: getattr(end, key) for key in End.__slots__}
        text = json.dumps(shape, separators=(",", ":")).encode()
        state = b"%08x %s" % (zlib.crc32(text), text)
        self._written = state.ljust(-(-len(state) // _PAD_BYTES) * _PAD_BYTES)
        self._written_size = end.size
        try:
            self._tree.state.write(STATE, self._written)
        except (OSError, PathRejected):
            self._tree.state.drop(STATE)

    def lines(self, path: str) -> int | None:
        """Return a file's count of lines where the end tells it; needs no lock."""
        end = self._known or _parsed(self._tree.state.read(STATE) or b"")
        if end is None or end.path != path:
            return None
        caught_up = self._caught_up(replace(end))
        return None if caught_up is None else caught_up.lines

    def last_seq(self, path: str) -> int:
        """Return the highest `seq` among a day's last lines; needs no lock."""
        return self._last(path)[0]

    def _caught_up(self, end: End) -> End | None:
        """Return the end moved to where its file ends now, None where it no longer fits."""
        stat = self._tree.peek(end.path)
        if stat is None or stat.inode != end.inode or self._changed(end.folders):
            return None
        if stat.size == end.size:
            return end if stat.mtime_ns == end.mtime_ns else None
        if not end.size < stat.size < end.size + _MAX_CATCH_UP_BYTES:
            return None
        start = max(0, end.size - _MARK_BYTES)
        data = self._tree.read_from(end.path, start, stat.size - start)
        known, new = data[: end.size - start], data[end.size - start :]
        if zlib.crc32(known) != end.mark or not new.endswith(b"\n"):
            return None
        lines = raw_lines(new)
        end.size, end.mtime_ns = stat.size, stat.mtime_ns
        end.mark = zlib.crc32(data[-_MARK_BYTES:])
        end.lines += len(lines)
        end.seq = max(end.seq, *map(claimed_seq, lines))
        said = next((record for record in _records(reversed(lines)) if not record.source), None)
        end.ts = said.ts if said else end.ts
        return end

    def _changed(self, folders: dict[str, int]) -> bool:
        seen = ((self._tree.peek(folder), mtime_ns) for folder, mtime_ns in folders.items())
        return any(stat is None or stat.mtime_ns != mtime_ns for stat, mtime_ns in seen)

    def _folders(self) -> dict[str, int]:
        found = [FOLDER, *(f"{FOLDER}/{year}" for year in self._tree.names(FOLDER))]
        stats = ((folder, self._tree.peek(folder)) for folder in found)
        return {folder: stat.mtime_ns for folder, stat in stats if stat is not None}

    def _scanned(self) -> End:
        end = End()
        latest: datetime | None = None
        for path in day_paths(self._tree):
            seq, last = self._last(path)
            end.seq = max(end.seq, seq)
            if last is not None and last.source is None:
                moment = datetime.fromisoformat(last.ts)
                if latest is None or moment > latest:
                    latest, end.ts = moment, last.ts
        return end

    def _last(self, path: str) -> tuple[int, Record | None]:
        """Return the highest `seq` among a day's last lines, and its last whole record.

        A damaged line counts for the `seq` in its header, so that none is given twice.
        """
        size = self._tree.stat(path).size
        window = _TAIL_BYTES
        while True:
            start = max(0, size - window)
            data = self._tree.read_from(path, start)
            whole = raw_lines(data if start == 0 else data[data.find(b"\n") + 1 :])
            record = next(_records(reversed(whole)), None)
            if not data.endswith(b"\n") and not any(_records(whole[-1:])):
                whole = whole[:-1]  # torn, so it was never acknowledged: its seq is free
            if record is not None or start == 0:
                return max(map(claimed_seq, whole), default=0), record
            window *= 16


def _parsed(data: bytes) -> End | None:
    """Return a saved end, None for what is none."""
    try:
        check, text = int(data[:8], 16), data[9:].rstrip()
        shape: dict[str, Any] = json.loads(text) if zlib.crc32(text) == check else {}
        end = End(**shape)
    except (ValueError, TypeError):
        return None
    return end if end.path else None


def _records(lines: Iterable[bytes]) -> Iterator[Record]:
    for line in lines:
        with contextlib.suppress(ValueError):
            yield decode(line)


def day_paths(tree: Tree, *, newest_first: bool = False) -> Iterator[str]:
    """Yield the paths of all day files in the order of their dates; lists a year when it comes to it."""
    if not tree.is_dir(FOLDER):
        return
    step = -1 if newest_first else 1
    for year in tree.names(FOLDER)[::step]:
        if not tree.is_dir(f"{FOLDER}/{year}"):
            continue
        for name in tree.names(f"{FOLDER}/{year}")[::step]:
            path = f"{FOLDER}/{year}/{name}"
            if name.endswith(".jsonl") and tree.exists(path):
                yield path
