"""The manifest of an index: which bytes of which files it holds, and what it knows of them."""

from __future__ import annotations

import json
import os
import zlib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fsagent.search.analysis import VERSION

POINTER = "index.json"
MANIFEST = "manifest.json"
MARK = "writing"


@dataclass(slots=True)
class IndexedFile:
    """What the index holds of one file: its first `size` bytes, whose CRC-32 is `crc`.

    `number` names this version of the file in the columns. `last` is the ordinal and `session` the
    session of its last document, so that lines appended later join it. `checked_ns` is when it was
    read: a file changed within the clock's grain of that is read again.
    """

    number: int
    size: int
    mtime_ns: int
    crc: int
    lines: int
    checked_ns: int
    last: int = -1
    session: str = ""


@dataclass(slots=True)
class Manifest:
    """The state of an index after its last commit. Counts are of the columns, the dead included.

    `live` counts what can be found. `crcs` and `stamps` tell whether the files are as they were.
    """

    version: int = VERSION
    language: str = "en"
    count: int = 0
    terms: int = 0
    links: int = 0
    chunks: int = 0
    next_number: int = 0
    live: int = 0
    files: dict[str, IndexedFile] = field(default_factory=dict)
    speakers: list[str] = field(default_factory=lambda: [""])
    languages: list[str] = field(default_factory=list)
    crcs: dict[str, int] = field(default_factory=dict)
    stamps: dict[str, tuple[int, int]] = field(default_factory=dict)

    def paths(self) -> dict[int, str]:
        """Return the path of each live file number."""
        return {entry.number: path for path, entry in self.files.items()}


def read_pointer(derived: Path) -> Path | None:
    """Return the folder of the index in force, None where there is none."""
    try:
        name = json.loads((derived / POINTER).read_bytes())["folder"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    folder = derived / Path(str(name)).name
    return folder if folder.is_dir() else None


def write_pointer(derived: Path, folder: Path) -> None:
    """Put a folder's index in force."""
    write_atomically(derived / POINTER, json.dumps({"folder": folder.name}).encode())


def read_manifest(folder: Path) -> Manifest | None:
    """Return a folder's manifest, None where it is missing, damaged, or not one of this version."""
    try:
        crc, _, text = (folder / MANIFEST).read_bytes().partition(b"\n")
        if int(crc, 16) != checksum(text):
            return None
        shape: dict[str, Any] = json.loads(text)
        if shape.get("version") != VERSION:
            return None
        files = {path: IndexedFile(*values) for path, values in shape.pop("files").items()}
        stamps = {name: tuple(stamp) for name, stamp in shape.pop("stamps").items()}
        return Manifest(files=files, stamps=stamps, **shape)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write a manifest atomically, its CRC first. Not synced: a lost one costs a rebuild, no more."""
    shape = asdict(manifest)
    shape["files"] = {path: list(entry.values()) for path, entry in shape["files"].items()}
    text = json.dumps(shape, ensure_ascii=False, separators=(",", ":"))
    data = text.encode("utf-8", "surrogatepass")
    write_atomically(folder / MANIFEST, b"%08x\n%s" % (checksum(data), data))


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a derived file by a rename."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    temporary.write_bytes(data)
    temporary.replace(path)


def checksum(data: bytes | memoryview) -> int:
    """Return the CRC-32 of a file's bytes."""
    return zlib.crc32(data)
