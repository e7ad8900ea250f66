"""The features of the re-ranker: what speaks for one document as the answer to one query.

Each is named and documented in FEATURES; their weights stand in `weights.py` and are fitted by
`benchmarks/fit_ranker.py`. BM25-like parts use k1 0.9 and b 0.3 and are divided by the sum of the
query's idf, so that a long query and a short one give scores of the same size.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from fsagent.search.corpus import Corpus, Doc
from fsagent.search.query import Query

K1, B = 0.9, 0.3
KERNEL = {-1: 1.0, -2: 0.4, -3: 0.2, 1: 0.2, 2: 0.1}
WIDE_KERNEL = {offset: 1 / (1 + abs(offset)) for offset in range(-8, 6) if offset}

FEATURES = {
    "own": "BM25 of the document's own terms",
    "context": "terms lent by the turns around it: an answer follows its question",
    "wide": "terms of the wider neighbourhood, 8 turns before to 5 after",
    "speaker": "the query names the one who speaks",
    "month": "said in a month (and year) that the query names",
    "day": "near a day that the query names",
    "after_question": "the turn before asks",
    "answers_question": "the turn before asks, with the query's terms",
    "ends_flat": "does not end in a question mark",
    "no_question": "asks nothing at all",
    "opens": "one of the first two turns of its conversation",
    "session": "BM25 of the whole conversation",
    "time_words": "the query asks when, and the document speaks of a time",
    "names": "the query asks who or where, and the document holds proper names",
    "rarest": "the query's rarest term stands here or close by",
}


@dataclass(frozen=True, slots=True)
class Statistics:
    """The weights of a query's terms in a corpus."""

    idf: Mapping[str, float]
    session_idf: Mapping[str, float]
    total: float
    session_total: float
    mean_length: float
    mean_session_length: float
    rarest: str | None


def statistics(corpus: Corpus, query: Query) -> Statistics:
    """Return the weights of the query's terms; a term that stands nowhere is left out."""
    count, sessions = len(corpus.docs), len(corpus.sessions)
    idf = {t: _idf(count, len(corpus.postings[t])) for t in query.terms if t in corpus.postings}
    session_idf = {t: _idf(sessions, corpus.session_df[t]) for t in idf}
    return Statistics(
        idf=idf,
        session_idf=session_idf,
        total=sum(idf.values()) or 1.0,
        session_total=sum(session_idf.values()) or 1.0,
        mean_length=corpus.total_length / max(1, count),
        mean_session_length=corpus.total_length / max(1, sessions),
        rarest=max(idf, key=lambda term: idf[term], default=None),
    )


def features(corpus: Corpus, query: Query, stats: Statistics, doc: Doc) -> dict[str, float]:
    """Return the features of one document, by the names of FEATURES."""
    mean = stats.mean_length
    own = {term: doc.counts[term] for term in stats.idf if term in doc.counts}
    lent = _lent(corpus, stats, doc, KERNEL)
    wide = _lent(corpus, stats, doc, WIDE_KERNEL)
    for term, count in own.items():
        wide[term] = wide.get(term, 0.0) + count
    before = corpus.neighbour(doc, -1)
    asked = before is not None and before.asks
    return {
        "own": sum(
            stats.idf[term] * saturated(count, doc.length, mean) for term, count in own.items()
        )
        / stats.total,
        "context": _flat(stats, lent, K1),
        "wide": _flat(stats, wide, 1.5),
        "speaker": float(doc.speaker.casefold() in query.speakers),
        **_dates(query, doc),
        "after_question": float(asked),
        "answers_question": _flat(stats, before.counts, K1)
        if before is not None and asked
        else 0.0,
        "ends_flat": float(not doc.ends_asking),
        "no_question": float(not doc.asks),
        "opens": float(doc.place < 2),
        "session": _session(corpus, stats, doc),
        "time_words": float(query.asks_when and doc.says_time),
        "names": float(query.asks_who) * min(2, doc.names),
        "rarest": float(stats.rarest is not None and (stats.rarest in own or stats.rarest in lent)),
    }


def saturated(count: float, length: float, mean: float, k1: float = K1, b: float = B) -> float:
    """Return BM25's saturated term frequency."""
    return count * (k1 + 1) / (count + k1 * (1 - b + b * length / mean)) if count else 0.0


def _idf(count: int, holding: int) -> float:
    return math.log(1 + (count - holding + 0.5) / (holding + 0.5))


def _lent(
    corpus: Corpus, stats: Statistics, doc: Doc, kernel: Mapping[int, float]
) -> dict[str, float]:
    """Return the query's terms that the neighbours lend, weighted by their distance."""
    lent: dict[str, float] = {}
    for offset, weight in kernel.items():
        near = corpus.neighbour(doc, offset)
        if near is None:
            continue
        for term in stats.idf:
            count = near.counts.get(term)
            if count:
                lent[term] = lent.get(term, 0.0) + weight * count
    return lent


def _flat(stats: Statistics, counts: Mapping[str, float], k1: float) -> float:
    """Return BM25 of weighted counts without regard to length."""
    return (
        sum(stats.idf[t] * saturated(counts[t], 1, 1, k1) for t in stats.idf if counts.get(t))
        / stats.total
    )


def _session(corpus: Corpus, stats: Statistics, doc: Doc) -> float:
    counts = corpus.session_counts[doc.session]
    length = counts.total()
    mean = stats.mean_session_length
    return (
        sum(
            stats.session_idf[term] * saturated(counts[term], length, mean, 1.2, 0.5)
            for term in stats.idf
            if term in counts
        )
        / stats.session_total
    )


def _dates(query: Query, doc: Doc) -> dict[str, float]:
    if not query.months or not doc.ts:
        return {"month": 0.0, "day": 0.0}
    said = datetime.fromisoformat(doc.ts)
    in_month = said.month in query.months
    in_year = not query.years or said.year in query.years
    near = max((1 / (1 + abs(said.day - day) / 2) for day in query.days), default=0.0)
    return {"month": float(in_month and in_year), "day": near if in_month else 0.0}
