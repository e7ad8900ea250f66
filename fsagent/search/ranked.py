"""Ranked search over all tiers: candidates by terms and their neighbours', then a linear re-ranker."""

from __future__ import annotations

import dataclasses
import heapq
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from fsagent.config import Settings
from fsagent.search.corpus import Corpus, Doc, moment_of
from fsagent.search.features import WIDE_KERNEL, Statistics, features, saturated, statistics
from fsagent.search.query import Query, read_query
from fsagent.search.typos import nearest_terms
from fsagent.search.weights import WEIGHTS
from fsagent.types import Clock, Hit, HitPage
from fsagent.workspace.paths import canonical_dir
from fsagent.workspace.tree import Tree

CANDIDATES = 400
MAX_LIMIT = 500
MAX_LINE_CHARS = 400


@dataclass(frozen=True, slots=True)
class _Filter:
    """What a hit must be. Moments are inclusive."""

    path: str
    speaker: str | None
    since: datetime | None
    until: datetime | None
    roles: Collection[str] | None
    exclude_turn: str | None

    def allows(self, doc: Doc) -> bool:
        if self.path not in (".", doc.path) and not doc.path.startswith(self.path + "/"):
            return False
        if self.speaker is not None and self.speaker.casefold() not in doc.speaker.casefold():
            return False
        if self.roles is not None and doc.role not in self.roles:
            return False
        if self.exclude_turn and doc.turn == self.exclude_turn:
            return False
        return self._in_time(doc)

    def _in_time(self, doc: Doc) -> bool:
        if self.since is None and self.until is None:
            return True
        said = moment_of(doc)
        if said is None:
            return False
        after = self.since is None or said >= _comparable(self.since, said)
        return after and (self.until is None or said <= _comparable(self.until, said))


class Search:
    """The ranked search of one workspace. What was written before a call is found by it."""

    def __init__(self, tree: Tree, settings: Settings, clock: Clock) -> None:
        self._settings = settings
        self._corpus = Corpus(tree, settings.language)

    def search(
        self,
        query: str,
        *,
        path: str = ".",
        speaker: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        roles: Collection[str] | None = None,
        limit: int = 10,
        offset: int = 0,
        explain: bool = False,
        exclude_turn: str | None = None,
    ) -> HitPage:
        """Return the lines that fit `query` best, words OR-ed and stemmed.

        `path` is a folder or file, `speaker` a (part of a) name, `since` and `until` inclusive
        moments of recall. `total` counts every line that holds a term and passes the filters.
        `explain` puts each feature's contribution into `Hit.features`. Terms that stand nowhere are
        named in `notes`, with the near terms searched in their place.
        """
        wanted = _Filter(canonical_dir(path), speaker, since, until, roles, exclude_turn)
        corpus = self._corpus
        corpus.refresh()
        asked, notes = self._with_near_terms(
            read_query(query, corpus.speakers, self._settings.language)
        )
        ranked, total = self._rank(asked, wanted, max(1, min(limit, MAX_LIMIT)) + max(0, offset))
        page = ranked[max(0, offset) :]
        hits = tuple(_hit(doc, score, parts if explain else None) for score, parts, doc in page)
        more = total > offset + len(hits) and bool(hits)
        return HitPage(hits, total, more, notes=tuple(notes))

    def _with_near_terms(self, query: Query) -> tuple[Query, list[str]]:
        """Put the nearest known terms in the place of those that stand nowhere."""
        known = self._corpus.postings
        missing = [term for term in query.terms if term not in known]
        near = {term: nearest_terms(term, known) for term in missing} if len(known) else {}
        notes = [
            f"no line holds {term!r}; searched {', '.join(map(repr, others))} instead"
            for term, others in near.items()
            if others
        ]
        nowhere = [term for term in missing if not near.get(term)]
        if nowhere:
            notes.append(f"no line holds: {', '.join(nowhere)}")
        added = [other for others in near.values() for other in others if other not in query.terms]
        return dataclasses.replace(query, terms=(*query.terms, *dict.fromkeys(added))), notes

    def _rank(
        self, query: Query, wanted: _Filter, count: int
    ) -> tuple[list[tuple[float, dict[str, float], Doc]], int]:
        corpus = self._corpus
        stats = statistics(corpus, query)
        rough = rough_scores(corpus, stats)
        docs = corpus.docs
        matching = {number for term in stats.idf for number, _ in corpus.postings[term]}
        total = sum(1 for number in matching if wanted.allows(docs[number]))
        pool: Iterable[tuple[float, int]] = (
            (score, -number) for number, score in rough.items() if wanted.allows(docs[number])
        )
        best = heapq.nlargest(max(CANDIDATES, count), pool)
        scored = []
        for _, negative in best:
            doc = docs[-negative]
            parts = {
                name: WEIGHTS.get(name, 0.0) * value
                for name, value in features(corpus, query, stats, doc).items()
            }
            scored.append((sum(parts.values()), parts, doc))
        # Ties go by path and line, so that the same query gives the same page everywhere.
        scored.sort(key=lambda item: (-item[0], item[2].path, item[2].line))
        return scored[:count], max(total, len(scored))


def rough_scores(corpus: Corpus, stats: Statistics) -> dict[int, float]:
    """Return a first score for every document that holds a term or stands near one that does."""
    rough: dict[int, float] = {}
    for term, weight in stats.idf.items():
        for number, count in corpus.postings[term]:
            doc = corpus.docs[number]
            value = weight * saturated(count, doc.length, stats.mean_length)
            rough[number] = rough.get(number, 0.0) + value
            members = corpus.sessions[doc.session]
            for offset, share in WIDE_KERNEL.items():
                # A neighbour at `offset` lends to me: I lend to the one at minus `offset`.
                place = doc.place - offset
                if 0 <= place < len(members):
                    near = members[place]
                    rough[near] = rough.get(near, 0.0) + 0.5 * share * weight
    return rough


def _hit(doc: Doc, score: float, parts: dict[str, float] | None) -> Hit:
    clipped = len(doc.text) > MAX_LINE_CHARS
    return Hit(
        path=doc.path,
        line=doc.line,
        text=doc.text[:MAX_LINE_CHARS] + ("..." if clipped else ""),
        ts=doc.ts or None,
        speaker=doc.speaker or None,
        score=round(score, 6),
        clipped_line=clipped,
        features=parts,
    )


def _comparable(bound: datetime, said: datetime) -> datetime:
    return bound if bound.tzinfo is not None else bound.replace(tzinfo=said.tzinfo)
