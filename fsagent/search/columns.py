"""Columns beside the index: what re-ranking must know of every document, at its ordinal.

Plain arrays, read through mmap. A document's terms stand as 32-bit hashes, so that a neighbour's
term frequencies cost a slice instead of a decoded document: 26 bytes and 4 a term for a message.
Messages of one session stand together as a chunk of at most 64; `links` joins the chunks of a
session that was cut or went on later.
"""

from __future__ import annotations

import mmap
import os
import zlib
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

CHUNK = 64
_TYPES = {
    "ends": "I",
    "files": "I",
    "lines": "I",
    "minutes": "i",
    "speakers": "H",
    "flags": "H",
    "places": "H",
    "terms": "I",
    "links": "I",
}
_PER_DOCUMENT = ("ends", "files", "lines", "minutes", "speakers", "flags", "places")


class Columns(Protocol):
    """The arrays. `ends[i]` is where document i's terms end; `places[i]` its place in its chunk."""

    @property
    def ends(self) -> Sequence[int]: ...
    @property
    def files(self) -> Sequence[int]: ...
    @property
    def lines(self) -> Sequence[int]: ...
    @property
    def minutes(self) -> Sequence[int]: ...
    @property
    def speakers(self) -> Sequence[int]: ...
    @property
    def flags(self) -> Sequence[int]: ...
    @property
    def places(self) -> Sequence[int]: ...
    @property
    def terms(self) -> Sequence[int]: ...
    @property
    def links(self) -> Sequence[int]: ...


@dataclass(frozen=True, slots=True)
class Mapped:
    """Columns as they stand on disk."""

    ends: Sequence[int]
    files: Sequence[int]
    lines: Sequence[int]
    minutes: Sequence[int]
    speakers: Sequence[int]
    flags: Sequence[int]
    places: Sequence[int]
    terms: Sequence[int]
    links: Sequence[int]


@dataclass(slots=True)
class Growing:
    """Columns in memory, being filled."""

    ends: array[int] = field(default_factory=lambda: array("I"))
    files: array[int] = field(default_factory=lambda: array("I"))
    lines: array[int] = field(default_factory=lambda: array("I"))
    minutes: array[int] = field(default_factory=lambda: array("i"))
    speakers: array[int] = field(default_factory=lambda: array("H"))
    flags: array[int] = field(default_factory=lambda: array("H"))
    places: array[int] = field(default_factory=lambda: array("H"))
    terms: array[int] = field(default_factory=lambda: array("I"))
    links: array[int] = field(default_factory=lambda: array("I"))


class Row(NamedTuple):
    """One document's values, on their way into the columns."""

    hashes: list[int]
    file: int
    line: int
    minute: int
    speaker: int
    flags: int
    place: int
    after: int | None
    """The ordinal this one follows in its session, where that is not the one before it."""


class Appender:
    """Collects rows behind `base` documents; gives them their ordinals."""

    def __init__(
        self, base: int = 0, base_terms: int = 0, crcs: dict[str, int] | None = None
    ) -> None:
        self.base, self.base_terms = base, base_terms
        self.crcs = dict(crcs or {})
        self.columns = Growing()
        self.term_count = base_terms

    @property
    def count(self) -> int:
        """The ordinal that the next row gets."""
        return self.base + len(self.columns.ends)

    def add(self, row: Row) -> int:
        """Append a row and return its ordinal."""
        ordinal = self.count
        columns = self.columns
        self.term_count += len(row.hashes)
        columns.terms.extend(row.hashes)
        columns.ends.append(self.term_count)
        columns.files.append(row.file)
        columns.lines.append(row.line)
        columns.minutes.append(row.minute)
        columns.speakers.append(row.speaker)
        columns.flags.append(row.flags)
        columns.places.append(row.place)
        if row.after is not None:
            columns.links.extend((row.after, ordinal))
        return ordinal

    def write(self, folder: Path) -> None:
        """Append what was collected to the files of `folder` and start anew behind it."""
        count = self.count
        for name in _TYPES:
            data = getattr(self.columns, name).tobytes()
            with (folder / name).open("ab") as file:
                file.write(data)
            self.crcs[name] = zlib.crc32(data, self.crcs.get(name, 0))
        self.base, self.base_terms = count, self.term_count
        self.columns = Growing()


def column_sizes(count: int, terms: int, links: int) -> dict[str, int]:
    """Return the bytes that each column takes."""
    lengths = dict.fromkeys(_PER_DOCUMENT, count) | {"terms": terms, "links": links}
    return {name: lengths[name] * array(code).itemsize for name, code in _TYPES.items()}


def cut(folder: Path, *, count: int, terms: int, links: int) -> None:
    """Cut the files to what a manifest knows; what a crash left behind it is dropped."""
    for name, size in column_sizes(count, terms, links).items():
        path = folder / name
        if not path.exists():
            path.touch()
        if path.stat().st_size > size:
            os.truncate(path, size)


def load(folder: Path, *, count: int, terms: int, links: int) -> Columns:
    """Map the first `count` documents' columns. Raises ValueError where the files are shorter."""
    sizes = column_sizes(count, terms, links)
    return Mapped(**{name: _map(folder / name, _TYPES[name], size) for name, size in sizes.items()})


def _map(path: Path, code: str, size: int) -> Sequence[int]:
    if size == 0:
        return array(code)
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size < size:
            raise ValueError(f"{path.name} is shorter than its manifest says")
        mapped = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
    view: Sequence[int] = memoryview(mapped).cast(code)  # type: ignore[call-overload]
    return view


class Documents:
    """The columns of the index and behind them those of what is not indexed yet, as one."""

    def __init__(self, disk: Columns, tail: Columns) -> None:
        self._disk, self._tail = disk, tail
        self.base = len(disk.ends)
        self.count = self.base + len(tail.ends)
        self._disk_terms = disk.ends[-1] if self.base else 0
        self._before: dict[int, int] = {}
        self._behind: dict[int, int] = {}
        for links in (disk.links, tail.links):
            self._before.update(zip(links[1::2], links[::2], strict=True))
        self._behind = {before: after for after, before in self._before.items()}

    def _at(self, ordinal: int) -> tuple[Columns, int]:
        return (self._disk, ordinal) if ordinal < self.base else (self._tail, ordinal - self.base)

    def terms(self, ordinal: int) -> list[int]:
        """Return the term hashes of a document."""
        columns, i = self._at(ordinal)
        if columns is self._disk:
            start, shift = (columns.ends[i - 1] if i else 0), 0
        else:
            shift = self._disk_terms
            start = columns.ends[i - 1] if i else shift
        return list(columns.terms[start - shift : columns.ends[i] - shift])

    def place(self, ordinal: int) -> int:
        """Return a document's place in its chunk, 0 for the first."""
        columns, i = self._at(ordinal)
        return columns.places[i]

    def all_places(self) -> tuple[Sequence[int], Sequence[int]]:
        """Return the places of the documents on disk, and of those behind them."""
        return self._disk.places, self._tail.places

    def flags(self, ordinal: int) -> int:
        """Return a document's shape and kind."""
        columns, i = self._at(ordinal)
        return columns.flags[i]

    def speaker(self, ordinal: int) -> int:
        """Return the number of a document's speaker."""
        columns, i = self._at(ordinal)
        return columns.speakers[i]

    def minute(self, ordinal: int) -> int:
        """Return a document's time in minutes, -1 where it has none."""
        columns, i = self._at(ordinal)
        return columns.minutes[i]

    def position(self, ordinal: int) -> tuple[int, int]:
        """Return the file's number and the line."""
        columns, i = self._at(ordinal)
        return columns.files[i], columns.lines[i]

    def after(self, ordinal: int) -> int | None:
        """Return the document that a chunk's first one goes on from, in an earlier chunk."""
        return self._before.get(ordinal)

    def onward(self, ordinal: int) -> int | None:
        """Return the document that goes on from a chunk's last one, in a later chunk."""
        return self._behind.get(ordinal)

    def chunk(self, start: int) -> tuple[int, list[int], list[int]]:
        """Return where a chunk's terms start, where those of each document end, and the terms."""
        columns, i = self._at(start)
        places = list(columns.places[i + 1 : i + CHUNK])
        size = places.index(0) + 1 if 0 in places else len(places) + 1
        ends = list(columns.ends[i : i + size])
        shift = 0 if columns is self._disk else self._disk_terms
        first = columns.ends[i - 1] if i else shift
        return first, ends, list(columns.terms[first - shift : ends[-1] - shift])


def chunked(sessions: Sequence[str]) -> Iterator[tuple[int, int, int | None]]:
    """Order documents by session and cut each into chunks.

    Yields (index, place, index of the one before where a chunk was cut). Sessions come in the
    order of their first document, so that one conversation stands together.
    """
    groups: dict[str, list[int]] = {}
    for index, session in enumerate(sessions):
        groups.setdefault(session, []).append(index)
    for members in groups.values():
        for n, index in enumerate(members):
            yield index, n % CHUNK, members[n - 1] if n and n % CHUNK == 0 else None
