"""What is known of a candidate for a question: the named features that re-ranking weighs.

Term features are BM25 sums (k1 .9, b .3) divided by the most the question could reach, so that one
set of weights serves short and long questions, small and large workspaces.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from fsagent.search.analysis import (
    ENDS_ASKING,
    PROPER_1,
    PROPER_2,
    QUESTION,
    TIME_WORD,
)
from fsagent.search.chunks import BEFORE, BEHIND, Chunk, Chunks
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
_SHARE = {distance: 1.0 / (1 + abs(distance)) for distance in range(-BEFORE, BEFORE + 1)}
_NONE: list[int] = []
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
        self.speakers, self.name_hashes = speakers, name_hashes
        self.chunks = Chunks(documents, numbers)
        idf = statistics.idf
        self._most = sum(idf) or 1.0
        self._most_session = sum(statistics.session_idf) or 1.0
        self._rarest = idf.index(max(idf)) if idf else -1
        self._sessions: dict[int, float] = {}

    def __call__(self, ordinal: int) -> tuple[float, ...]:
        """Return the features of a document, in the order of FEATURES."""
        chunk, place = self.chunks.of(ordinal)
        own = chunk.hits.get(place, _NONE)
        counts = _counts(own)
        near: dict[int, float] = {}
        wide = counts.copy()
        for distance, terms in self.chunks.window(chunk, place):
            weight, share = _NEAR.get(distance, 0.0), _SHARE[distance]
            for term in terms:
                wide[term] = wide.get(term, 0.0) + share
                if weight:
                    near[term] = near.get(term, 0.0) + weight
        flags = self.documents.flags(ordinal)
        previous = self.chunks.previous(chunk, place)
        asked = previous is not None and bool(self.documents.flags(previous[0]) & QUESTION)
        talk = flags >> KIND_SHIFT != _DOCUMENT
        asks = self.query.asks
        month, day = self._dates(ordinal)
        answers = _counts(previous[1]) if asked and previous is not None else {}
        return (
            self._sum(counts, chunk.length(place), K1),
            self._sum(near, None, K1),
            self._sum(wide, None, _WIDE_K1),
            self._speaker(ordinal, talk),
            month,
            day,
            float(asked),
            self._sum(answers, None, K1),
            float(talk and not flags & ENDS_ASKING),
            float(talk and not flags & QUESTION),
            float(talk and place < 2 and chunk.after is None),
            self._session(chunk),
            float(asks == "when" and bool(flags & TIME_WORD)),
            _proper(flags) if asks == "who" else 0.0,
            float(self._rarest in counts or self._rarest in near),
        )

    def rough(self, found: list[int]) -> dict[int, float]:
        """Return a first score of what was found and of the turns around it.

        An answer need not hold a word of its question: the turns around one that does are lent its
        terms, the nearer the more.
        """
        scores: dict[int, float] = {}
        idf = self.statistics.idf
        for chunk in self.chunks.touched(found):
            size, own = len(chunk.ends), [0.0] * (len(chunk.ends) + BEFORE)
            for place, terms in chunk.hits.items():
                own[place] += self._sum(_counts(terms), chunk.length(place), K1)
                lent = 0.5 * sum([idf[term] for term in set(terms)]) / self._most
                for other in range(max(0, place - BEHIND), place + BEFORE + 1):
                    if other != place:
                        own[other] += lent * _SHARE[other - place]
            for other, value in enumerate(own[:size]):
                if value:
                    scores[chunk.start + other] = scores.get(chunk.start + other, 0.0) + value
            if chunk.onward is not None:
                behind, first = self.chunks.of(chunk.onward)
                room = len(behind.ends) - first
                for step, value in enumerate(own[size : size + room]):
                    scores[chunk.onward + step] = scores.get(chunk.onward + step, 0.0) + value
        return scores

    def _sum(self, counts: dict[int, float], length: int | None, k1: float) -> float:
        """Return the BM25 sum of term frequencies; a length of None counts as the mean."""
        if not counts:
            return 0.0
        mean = self.statistics.document_length
        norm = k1 if length is None else k1 * (1 - B + B * length / mean)
        idf = self.statistics.idf
        total = sum([idf[term] * n * (k1 + 1) / (n + norm) for term, n in counts.items()])
        return total / self._most

    def _session(self, chunk: Chunk) -> float:
        known = self._sessions.get(chunk.start)
        if known is None:
            counts = _counts(chain.from_iterable(chunk.hits.values()))
            share = chunk.total_length / self.statistics.chunk_length
            norm = _SESSION_K1 * (1 - _SESSION_B + _SESSION_B * share)
            idf = self.statistics.session_idf
            total = sum(idf[t] * n * (_SESSION_K1 + 1) / (n + norm) for t, n in counts.items())
            known = self._sessions[chunk.start] = total / self._most_session
        return known

    def _speaker(self, ordinal: int, talk: bool) -> float:
        if talk:
            return float(self.documents.speaker(ordinal) in self.speakers)
        if not self.name_hashes:
            return 0.0
        return float(not self.name_hashes.isdisjoint(self.documents.terms(ordinal)))

    def _dates(self, ordinal: int) -> tuple[float, float]:
        """Return the features month and day."""
        query = self.query
        minute = self.documents.minute(ordinal) if query.has_dates else NO_DATE
        if minute == NO_DATE:
            return 0.0, 0.0
        year, month, day = day_of(minute)
        in_year = not query.years or year in query.years
        named = month in query.months if query.months else bool(query.years)
        number = minute // 1440
        near = max((1 / (1 + abs(day - d) / 2) for d in query.days), default=0.0)
        inside = any(first.toordinal() <= number <= last.toordinal() for first, last in query.spans)
        return float((named and in_year) or inside), near if month in query.months else 0.0


def _counts(terms: Iterable[int]) -> dict[int, float]:
    counts: dict[int, float] = {}
    for term in terms:
        counts[term] = counts.get(term, 0.0) + 1
    return counts


def _proper(flags: int) -> float:
    return 2.0 if flags & PROPER_2 else 1.0 if flags & PROPER_1 else 0.0
