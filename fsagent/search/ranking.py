"""Rank: the index's candidates for a question and the turns around them, weighed by their features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from math import exp, log
from operator import mul
from typing import TYPE_CHECKING

from fsagent.config import Settings
from fsagent.search.analysis import term_hash
from fsagent.search.features import FEATURES, FeatureMaker, Statistics
from fsagent.search.filters import Filters
from fsagent.search.query import NO_NAMES, Query, QueryTerm, read_query, speaks_of_self
from fsagent.search.snapshot import Snapshot
from fsagent.search.text import terms as terms_of
from fsagent.search.typos import MIN_LENGTH, nearest_terms
from fsagent.search.weights import WEIGHTS

if TYPE_CHECKING:
    from fsagent.search.vectors import Likeness

FOUND = 200
CANDIDATES = 400
_WEIGHTS = [WEIGHTS.get(name, 0.0) for name in FEATURES]


@dataclass
class Plan:
    """A question with the terms the index knows, numbered, and their idf."""

    query: Query
    terms: list[QueryTerm] = field(default_factory=list)
    idf: list[float] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    speakers: set[str] = field(default_factory=set)

    def add(self, term: QueryTerm, count: int, total: int) -> None:
        """Take in a term that `count` of `total` documents hold."""
        self.terms.append(term)
        self.counts.append(count)
        self.idf.append(_idf(total, count))

    def numbers(self) -> dict[int, int]:
        """Return each form's hash with the place of its term."""
        return {
            term_hash(form): place for place, term in enumerate(self.terms) for form in term.forms
        }


@dataclass
class Ranked:
    """Documents in their order, each with its score, its features and what vectors add to it.

    With vectors the ranker's score is scaled: `(score - mean) / spread`.
    """

    order: list[tuple[float, int, tuple[float, ...], float | None]] = field(default_factory=list)
    total: int = 0
    mean: float = 0.0
    spread: float = 1.0

    def contributions(self, values: tuple[float, ...], added: float | None) -> dict[str, float]:
        """Return what each feature adds to the score."""
        weighed = (value / self.spread for value in map(mul, _WEIGHTS, values))
        found = dict(zip(FEATURES, weighed, strict=True))
        if added is not None:
            found |= {"vectors": added, "(mean)": -self.mean / self.spread}
        return found


def make_plan(
    snapshot: Snapshot, text: str, settings: Settings, now: datetime, notes: list[str]
) -> Plan:
    """Read a question against what the snapshot holds; `notes` are told what stands nowhere."""
    names = {name.lower() for name in snapshot.speakers} - NO_NAMES
    query = read_query(
        text, names=names, languages=snapshot.languages, default=settings.language, now=now
    )
    plan = Plan(query, speakers=set(query.speakers))
    if speaks_of_self(text):
        plan.speakers.add(settings.user_name.lower())
    missing: list[str] = []
    for term in query.terms:
        count = _count(snapshot, term)
        near = None if count else _nearest(snapshot, term)
        if near is not None:
            notes.append(_instead(term, near))
            count = _count(snapshot, near)
        if count:
            plan.add(near or term, count, snapshot.live_count)
        else:
            missing.append(term.word)
    if missing:
        notes.append(f"no line holds: {', '.join(missing)}")
    if not query.terms and text.strip():
        notes.append("every word of the query is too common; name a thing, a place or a person")
    return plan


def rank(
    snapshot: Snapshot,
    plan: Plan,
    filters: Filters,
    wanted: int,
    *,
    likeness: Likeness | None = None,
) -> Ranked:
    """Return candidates in their order, `wanted` of them at least, and how many documents match."""
    if not plan.terms and likeness is None:
        return Ranked()
    features = feature_maker(snapshot, plan)
    pool, total = candidates(snapshot, plan, filters, features, wanted) if plan.terms else ([], 0)
    if likeness is not None:
        from fsagent.search.fusion import widen

        pool = widen(pool, likeness, lambda ordinal: filters.allows(snapshot, ordinal))
    if not pool:
        return Ranked(total=total)
    values = [features(ordinal) for ordinal in pool]
    scores = [sum(map(mul, _WEIGHTS, row)) for row in values]
    ranked = Ranked(total=total)
    added: Sequence[float | None] = [None] * len(pool)
    if likeness is not None:
        from fsagent.search.fusion import fuse

        fused = fuse(scores, likeness.of(pool))
        scores, added = list(fused.scores), fused.added
        ranked.mean, ranked.spread = fused.mean, fused.spread
    ranked.order = list(zip(scores, pool, values, added, strict=True))
    documents, paths = snapshot.documents, snapshot.paths
    places = {ordinal: documents.position(ordinal) for ordinal in pool}
    # Ties go by path and line, so that the same query gives the same page everywhere.
    ranked.order.sort(key=lambda row: (-row[0], paths[places[row[1]][0]], places[row[1]][1]))
    return ranked


def candidates(
    snapshot: Snapshot, plan: Plan, filters: Filters, features: FeatureMaker, wanted: int
) -> tuple[list[int], int]:
    """Return what is worth weighing, and how many documents hold a term and pass the filters."""
    found, total = _found(snapshot, plan, filters, max(FOUND, 2 * wanted))
    tail = sorted({o for item in plan.numbers() for o in snapshot.tail_postings.get(item, ())})
    tail = [ordinal for ordinal in tail if filters.allows(snapshot, ordinal)]
    found = [ordinal for ordinal in found if filters.allows(snapshot, ordinal)]
    pool = _neighbourhood(snapshot, features, found + tail, filters, max(CANDIDATES, wanted))
    return pool, total + len(tail)


def _neighbourhood(
    snapshot: Snapshot, features: FeatureMaker, found: list[int], filters: Filters, count: int
) -> list[int]:
    """Return the `count` best of what was found and of the turns around it, by a first score."""
    rough = features.rough(found)
    best = sorted(rough, key=rough.__getitem__, reverse=True)
    taken = (ordinal for ordinal in best if filters.allows(snapshot, ordinal))
    return list(islice(taken, count))


def _found(snapshot: Snapshot, plan: Plan, filters: Filters, depth: int) -> tuple[list[int], int]:
    """Return the index's best documents for the terms, and how many match."""
    commit = snapshot.commit
    if commit.searcher is None:
        return [], 0
    import tantivy

    query, occur = tantivy.Query, tantivy.Occur
    forms = [form for term in plan.terms for form in term.forms]
    any_term = query.boolean_query(
        [(occur.Should, query.term_query(commit.schema, "body", form, "freq")) for form in forms]
    )
    must = [(occur.Must, item) for item in (any_term, *filters.queries(commit.schema))]
    dead = snapshot.dead_files
    if dead:
        must.append((occur.MustNot, query.term_set_query(commit.schema, "file", dead)))
    if commit.searcher.num_docs != commit.manifest.live:
        # A writer is at work, or was killed at it: what it added does not count yet.
        last = commit.manifest.count - 1
        integer = tantivy.FieldType.Integer
        within = query.range_query(commit.schema, "ordinal", integer, upper_bound=last)
        must.append((occur.Must, within))
    whole = query.boolean_query(must) if len(must) > 1 else any_term
    result = commit.searcher.search(whole, limit=depth, count=True)
    addresses = [address for _, address in result.hits]
    ordinals = commit.searcher.fast_field_values("ordinal", addresses)
    # A commit between reading the manifest and opening tantivy: the manifest decides.
    return [o for o in ordinals if o is not None and o < commit.manifest.count], result.count or 0


def feature_maker(snapshot: Snapshot, plan: Plan) -> FeatureMaker:
    """Return what computes the features of any document for a question."""
    manifest = snapshot.commit.manifest
    documents = max(1, snapshot.documents.count)
    terms = manifest.terms + snapshot.tail_terms
    chunks = max(1, manifest.chunks + snapshot.tail_chunks)
    session_idf = [_idf(chunks, chunks * (1 - exp(-count / chunks))) for count in plan.counts]
    statistics = Statistics(
        plan.idf, session_idf, max(1.0, terms / documents), max(1.0, terms / chunks)
    )
    lowered = enumerate(name.lower() for name in snapshot.speakers)
    names = {term for name in plan.query.speakers for term in terms_of(name)}
    return FeatureMaker(
        snapshot.documents,
        plan.query,
        statistics,
        plan.numbers(),
        speakers=frozenset(number for number, name in lowered if name in plan.speakers),
        name_hashes=frozenset(map(term_hash, names)),
    )


def _idf(total: float, holding: float) -> float:
    return log(1 + (max(0.0, total - holding) + 0.5) / (holding + 0.5))


def _count(snapshot: Snapshot, term: QueryTerm) -> int:
    """Return how many documents hold a term in one of its forms (the most frequent form counts)."""
    searcher = snapshot.commit.searcher
    counts = []
    for form in term.forms:
        count = len(snapshot.tail_postings.get(term_hash(form), ()))
        counts.append(count + (searcher.doc_freq("body", form) if searcher else 0))
    return max(counts, default=0)


def _nearest(snapshot: Snapshot, term: QueryTerm) -> QueryTerm | None:
    """Return the term a mistyped word was to be, None where nothing is near."""
    if len(term.word) < MIN_LENGTH or not term.word.isalpha():
        return None
    searcher = snapshot.commit.searcher
    vocabulary = list(snapshot.tail_words)
    if searcher is not None:
        vocabulary += (w for w, _ in searcher.terms_with_prefix("body", term.word[0]))
    near = nearest_terms(term.forms[0], vocabulary)
    return QueryTerm(term.word, tuple(near)) if near else None


def _instead(term: QueryTerm, near: QueryTerm) -> str:
    words = ", ".join(repr(form) for form in near.forms)
    return f"no line holds {term.word!r}; searched {words} instead"
