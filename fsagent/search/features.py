"""What is known of a candidate for a question: the named features that re-ranking weighs.

Term features are BM25 sums (k1 .9, b .3) divided by the most the question could reach, so that one
set of weights serves short and long questions, small and large workspaces.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fsagent.search.analysis import (
    ENDS_ASKING,
    PROPER_1,
    PROPER_2,
    QUESTION,
    TIME_WORD,
)
from fsagent.search.columns import Documents
from fsagent.search.documents import KINDS, NO_DATE, day_of
from fsagent.search.query import Query
from fsagent.search.rows import KIND_SHIFT

FEATURES = {
    "own": "BM25 of the document's own terms",
    "context": "terms lent by the turns around it: an answer follows its question",
    "wide": "terms of the wider neighbourhood, 8 turns before to 5 after",
    "speaker": "the query names the one who speaks; a document holds the name",
    "month": "said in a month (and year) that the query names, or in a time it speaks of",
    "day": "near a day that the query names",
    "after_question": "the turn before asks",
    "answers_question": "the turn before asks, with the query's terms",
    "ends_flat": "a turn that does not end in a question mark",
    "no_question": "a turn that asks nothing at all",
    "opens": "one of the first two turns of its conversation",
    "session": "BM25 of the conversation around it",
    "time_words": "the query asks when, and the document speaks of a time",
    "names": "the query asks who or where, and the document holds proper names",
    "rarest": "the query's rarest term stands here or close by",
}
"""Every feature by name, with what it means."""

K1, B = 0.9, 0.3
_SESSION_K1, _SESSION_B = 1.2, 0.5
_WIDE_K1 = 1.5
_NEAR = {-3: 0.2, -2: 0.4, -1: 1.0, 1: 0.2, 2: 0.1}
BEFORE, BEHIND = 8, 5
_DOCUMENT = KINDS.index("document")


@dataclass(frozen=True, slots=True)
class Statistics:
    """What BM25 needs: each term's idf, by its place in the query, and mean lengths in terms."""

    idf: list[float]
    session_idf: list[float]
    document_length: float
    chunk_length: float


class FeatureMaker:
    """Computes features for one question, remembering the terms found in each document.

    `numbers` maps a term's hash to its place in the query; `speakers` are the numbers of those the
    question names, `name_hashes` their names as terms, for documents without a speaker.
    """

    def __init__(
        self,
        documents: Documents,
        query: Query,
        statistics: Statistics,
        numbers: dict[int, int],
        *,
        speakers: frozenset[int],
        name_hashes: frozenset[int],
    ) -> None:
        self.documents, self.query, self.statistics = documents, query, statistics
        self.numbers, self.speakers, self.name_hashes = numbers, speakers, name_hashes
        idf = statistics.idf
        self._most = sum(idf) or 1.0
        self._rarest = idf.index(max(idf)) if idf else -1
        self._found: dict[int, tuple[list[int], int]] = {}
        self._sessions: dict[int, float] = {}

    def __call__(self, ordinal: int) -> dict[str, float]:
        """Return the features of a document."""
        documents = self.documents
        own, length = self.found(ordinal)
        before, behind = self.around(ordinal)
        near: dict[int, float] = {}
        wide: dict[int, float] = dict.fromkeys(own, 0.0)
        for term in own:
            wide[term] += 1.0
        for distance, other in (*before, *behind):
            terms = self.found(other)[0]
            if terms:
                weight = _NEAR.get(distance, 0.0)
                for term in terms:
                    wide[term] = wide.get(term, 0.0) + 1.0 / (1 + abs(distance))
                    if weight:
                        near[term] = near.get(term, 0.0) + weight
        flags = documents.flags(ordinal)
        previous = before[0][1] if before else None
        asked = previous is not None and bool(documents.flags(previous) & QUESTION)
        talk = (flags >> KIND_SHIFT) & 0xFF != _DOCUMENT
        asks = self.query.asks
        asked_terms = self.found(previous)[0] if asked and previous is not None else []
        return {
            "own": self._sum(_counts(own), length, K1),
            "context": self._sum(near, None, K1),
            "wide": self._sum(wide, None, _WIDE_K1),
            "speaker": self._speaker(ordinal, talk),
            **self._dates(ordinal),
            "after_question": float(asked),
            "answers_question": self._sum(_counts(asked_terms), None, K1),
            "ends_flat": float(talk and not flags & ENDS_ASKING),
            "no_question": float(talk and not flags & QUESTION),
            "opens": float(talk and len(before) < 2),
            "session": self._session(ordinal),
            "time_words": float(asks == "when" and bool(flags & TIME_WORD)),
            "names": _proper(flags) if asks == "who" else 0.0,
            "rarest": float(self._rarest in own or self._rarest in near),
        }

    def found(self, ordinal: int) -> tuple[list[int], int]:
        """Return the query's terms in a document (their places, repeated), and its length."""
        known = self._found.get(ordinal)
        if known is None:
            hashes, numbers = self.documents.terms(ordinal), self.numbers
            known = self._found[ordinal] = (
                [numbers[item] for item in hashes if item in numbers],
                len(hashes),
            )
        return known

    def around(
        self, ordinal: int, *, before: int = BEFORE, behind: int = BEHIND
    ) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Return the neighbours before and behind as (distance, ordinal), the nearest first."""
        documents = self.documents
        found: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
        at = documents.before(ordinal)
        while at is not None and len(found[0]) < before:
            found[0].append((-len(found[0]) - 1, at))
            at = documents.before(at)
        at = documents.behind(ordinal)
        while at is not None and len(found[1]) < behind:
            found[1].append((len(found[1]) + 1, at))
            at = documents.behind(at)
        return found

    def rough(self, ordinal: int) -> float:
        """Return BM25 of a document's own terms, not divided."""
        terms, length = self.found(ordinal)
        return self._sum(_counts(terms), length, K1)

    def lends(self, ordinal: int) -> float:
        """Return what a document's terms are worth to its neighbours, each counted once."""
        return sum(self.statistics.idf[term] for term in set(self.found(ordinal)[0])) / self._most

    def _sum(self, counts: dict[int, float], length: int | None, k1: float) -> float:
        """Return the BM25 sum of term frequencies; a length of None counts as the mean."""
        mean = self.statistics.document_length
        norm = k1 if length is None else k1 * (1 - B + B * length / mean)
        idf = self.statistics.idf
        total = sum(idf[term] * count * (k1 + 1) / (count + norm) for term, count in counts.items())
        return total / self._most

    def _session(self, ordinal: int) -> float:
        start = ordinal - self.documents.place(ordinal)
        known = self._sessions.get(start)
        if known is None:
            counts: dict[int, float] = {}
            length = 0
            for member in self.documents.chunk(ordinal):
                terms, size = self.found(member)
                length += size
                for term in terms:
                    counts[term] = counts.get(term, 0.0) + 1
            norm = _SESSION_K1 * (
                1 - _SESSION_B + _SESSION_B * length / self.statistics.chunk_length
            )
            idf = self.statistics.session_idf
            total = sum(idf[t] * n * (_SESSION_K1 + 1) / (n + norm) for t, n in counts.items())
            known = self._sessions[start] = total / (sum(idf) or 1.0)
        return known

    def _speaker(self, ordinal: int, talk: bool) -> float:
        if talk:
            return float(self.documents.speaker(ordinal) in self.speakers)
        if not self.name_hashes:
            return 0.0
        return float(not self.name_hashes.isdisjoint(self.documents.terms(ordinal)))

    def _dates(self, ordinal: int) -> dict[str, float]:
        query = self.query
        minute = self.documents.minute(ordinal) if query.has_dates else NO_DATE
        if minute == NO_DATE:
            return {"month": 0.0, "day": 0.0}
        year, month, day = day_of(minute)
        in_year = not query.years or year in query.years
        named = month in query.months if query.months else bool(query.years)
        number = minute // 1440
        near = max((1 / (1 + abs(day - d) / 2) for d in query.days), default=0.0)
        inside = any(first.toordinal() <= number <= last.toordinal() for first, last in query.spans)
        return {
            "month": float((named and in_year) or inside),
            "day": near if month in query.months else 0.0,
        }


def _counts(terms: Iterable[int]) -> dict[int, float]:
    counts: dict[int, float] = {}
    for term in terms:
        counts[term] = counts.get(term, 0.0) + 1
    return counts


def _proper(flags: int) -> float:
    return 2.0 if flags & PROPER_2 else 1.0 if flags & PROPER_1 else 0.0
