"""Whether the files of an index still are what a commit wrote.

A commit notes size and time of its files, and a CRC of each column. A file whose stamp is as noted is
trusted, the way the workspace's own files are; another one is checked byte by byte: columns by the
noted CRC of their first part (a writer may be adding behind it), tantivy's files by the CRC that each
carries in its footer. What does not hold means a rebuild, never a wrong hit.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path

from fsagent.search.columns import column_sizes
from fsagent.search.manifest import MARK, Manifest

Stamps = dict[str, tuple[int, int]]
_FOOTER_MAGIC = 1337


def stamps_of(folder: Path) -> Stamps:
    """Return size and time of the columns and of tantivy's files."""
    paths = [*folder.glob("tantivy/*"), *(folder / name for name in column_sizes(0, 0, 0))]
    found: Stamps = {}
    for path in paths:
        if path.suffix == ".lock":
            continue
        try:
            info = path.stat()
        except FileNotFoundError:
            continue
        found[path.relative_to(folder).as_posix()] = (info.st_size, info.st_mtime_ns)
    return found


def fault_of(folder: Path, manifest: Manifest) -> str | None:
    """Return what is wrong with an index, None for a sound one."""
    now = stamps_of(folder)
    sizes = column_sizes(manifest.count, manifest.terms, manifest.links)
    for name, size in sizes.items():
        if name not in now or now[name][0] < size:
            return f"{name} is shorter than its manifest says"
        if (
            now[name] != manifest.stamps.get(name)
            and _crc(folder / name, size) != manifest.crcs[name]
        ):
            return f"{name} holds other bytes than were written"
    for name in now.keys() - sizes.keys():
        if now[name] != manifest.stamps.get(name) and not _holds(folder, name):
            return f"{name} holds other bytes than were written"
    return None


def _holds(folder: Path, name: str) -> bool:
    """Say whether a file of tantivy's that was changed since the commit is whole."""
    if name.endswith(".json"):
        # What lists the segments has no checksum: only a writer at work may have changed it.
        return (folder / MARK).exists()
    try:
        data = (folder / name).read_bytes()
    except FileNotFoundError:
        return True  # merged away meanwhile
    return _has_its_crc(data)


def _has_its_crc(data: bytes) -> bool:
    """Check tantivy's footer: JSON with the CRC of what stands before it, its length, a magic number."""
    if len(data) < 8 or int.from_bytes(data[-4:], "little") != _FOOTER_MAGIC:
        return False
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    try:
        return start >= 0 and json.loads(data[start:-8])["crc"] == zlib.crc32(data[:start])
    except (ValueError, KeyError, TypeError):
        return False


def _crc(path: Path, size: int) -> int:
    crc = 0
    with path.open("rb") as file:
        while size > 0 and (piece := file.read(min(size, 1 << 20))):
            crc = zlib.crc32(piece, crc)
            size -= len(piece)
    return crc
