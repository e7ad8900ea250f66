"""What changed since the index was written: a scan of stats, then length and hash of what differs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from fsagent.errors import PathRejected
from fsagent.search.documents import is_indexed
from fsagent.search.manifest import IndexedFile, Manifest, checksum
from fsagent.workspace.stamps import CLOCK_GRAIN_NS, Stamp
from fsagent.workspace.tree import Tree
from fsagent.workspace.view import is_recall

MAX_FILE_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Change:
    """A file whose bytes the index does not hold.

    `data` are the new bytes (None: the file is gone or unreadable, or only its time changed) and
    `first_line` the line they start at. `replaces` is the number of the version that is dead now.
    `entry` is what the manifest is to say after it (its number is -1 for a new version).
    """

    path: str
    data: bytes | None
    first_line: int
    entry: IndexedFile | None
    replaces: int | None


def changes(tree: Tree, manifest: Manifest, found: dict[str, Stamp]) -> Iterator[Change]:
    """Yield what differs between the files and the manifest."""
    files = manifest.files
    for path, stamp in found.items():
        known = files.get(path)
        if known is not None and not _differs(known, stamp):
            continue
        if is_indexed(path):
            change = _change(tree, path, stamp, known)
            if change is not None:
                yield change
    for path in files.keys() - found.keys():
        yield Change(path, None, 1, None, files[path].number)


def _differs(known: IndexedFile, stamp: Stamp) -> bool:
    if stamp != (known.size, known.mtime_ns):
        return True
    # A second write within the clock's grain of the first leaves size and time as they were.
    return known.mtime_ns + CLOCK_GRAIN_NS > known.checked_ns


def _change(tree: Tree, path: str, stamp: Stamp, known: IndexedFile | None) -> Change | None:
    checked = time.time_ns()
    try:
        data = tree.read_bytes(path, limit=MAX_FILE_BYTES)
    except PathRejected:
        # Skipped alone: one bad file must not switch off a folder.
        return Change(path, None, 1, None, known.number) if known else None
    if is_recall(path):
        data = data[: data.rfind(b"\n") + 1]
    fresh = IndexedFile(-1, len(data), stamp[1], checksum(data), data.count(b"\n"), checked)
    if known is None:
        return Change(path, data, 1, fresh, None)
    if len(data) == known.size and fresh.crc == known.crc:
        same = known.mtime_ns == stamp[1]
        touched = replace(known, mtime_ns=stamp[1], checked_ns=checked)
        settled = not _differs(touched, stamp)
        return None if same and not settled else Change(path, None, 1, touched, None)
    grown = is_recall(path) and len(data) > known.size
    if grown and checksum(memoryview(data)[: known.size]) == known.crc:
        joined = replace(fresh, number=known.number, last=known.last, session=known.session)
        return Change(path, data[known.size :], known.lines + 1, joined, None)
    return Change(path, data, 1, fresh, known.number)
