"""Where a question's terms stand in the conversations around its candidates.

A chunk is read from the columns in one slice and keeps only the messages that hold a term: most
hold none, and what follows (lending, windows, sums) then costs by the few that do.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from fsagent.search.columns import Documents

BEFORE, BEHIND = 8, 5
"""A turn is lent the terms of so many turns before it, and behind it."""


@dataclass(slots=True)
class Chunk:
    """A run of turns of one session. `hits` maps a place to the question's terms there, repeated."""

    start: int
    ends: list[int]
    first: int
    hits: dict[int, list[int]]
    after: int | None
    """The ordinal this chunk goes on from, where it continues a session."""
    onward: int | None
    """The ordinal that goes on from this chunk."""

    def length(self, place: int) -> int:
        """Return how many terms a turn has."""
        return self.ends[place] - (self.ends[place - 1] if place else self.first)

    @property
    def total_length(self) -> int:
        """How many terms the chunk has."""
        return self.ends[-1] - self.first


class Chunks:
    """The chunks that one question has touched. `numbers` maps term hashes to places in the query."""

    def __init__(self, documents: Documents, numbers: dict[int, int]) -> None:
        self._documents, self._numbers = documents, numbers
        self._known: dict[int, Chunk] = {}

    def of(self, ordinal: int) -> tuple[Chunk, int]:
        """Return a document's chunk and its place there."""
        place = self._documents.place(ordinal)
        start = ordinal - place
        known = self._known.get(start)
        if known is None:
            known = self._known[start] = self._read(start)
        return known, place

    def window(self, chunk: Chunk, place: int) -> Iterator[tuple[int, list[int]]]:
        """Yield (distance, terms) of the turns around a place that hold terms, its own left out."""
        for other, terms in chunk.hits.items():
            distance = other - place
            if distance and -BEFORE <= distance <= BEHIND:
                yield distance, terms
        if chunk.after is not None and place < BEFORE:
            before, last = self.of(chunk.after)
            for other, terms in before.hits.items():
                distance = other - last - 1 - place
                if other <= last and distance >= -BEFORE:
                    yield distance, terms
        if chunk.onward is not None and place + BEHIND >= len(chunk.ends):
            behind, first = self.of(chunk.onward)
            for other, terms in behind.hits.items():
                distance = other - first + len(chunk.ends) - place
                if other >= first and distance <= BEHIND:
                    yield distance, terms

    def previous(self, chunk: Chunk, place: int) -> tuple[int, list[int]] | None:
        """Return the ordinal and the terms of the turn before; None where a session begins."""
        if place:
            return chunk.start + place - 1, chunk.hits.get(place - 1, [])
        if chunk.after is None:
            return None
        before, last = self.of(chunk.after)
        return chunk.after, before.hits.get(last, [])

    def touched(self, found: list[int]) -> list[Chunk]:
        """Return the chunks that hold one of `found`, each once, in their order."""
        chunks = {chunk.start: chunk for chunk in (self.of(ordinal)[0] for ordinal in found)}
        return list(chunks.values())

    def _read(self, start: int) -> Chunk:
        documents, numbers = self._documents, self._numbers
        first, ends, hashes = documents.chunk(start)
        hits: dict[int, list[int]] = {}
        for at, item in [pair for pair in enumerate(hashes, first) if pair[1] in numbers]:
            hits.setdefault(bisect_right(ends, at), []).append(numbers[item])
        last = start + len(ends) - 1
        return Chunk(start, ends, first, hits, documents.after(start), documents.onward(last))
