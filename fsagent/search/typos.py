"""The nearest known terms to one that stands nowhere: for typos, and only then."""

from __future__ import annotations

from collections.abc import Iterable

MIN_LENGTH = 4
MIN_SIMILARITY = 80
MAX_TERMS = 3


def nearest_terms(term: str, known: Iterable[str]) -> list[str]:
    """Return at most three known terms that are close to `term` by edit distance, best first."""
    if len(term) < MIN_LENGTH or not term.isalpha():
        return []
    from rapidfuzz import fuzz, process

    near = [
        other for other in known if abs(len(other) - len(term)) <= 2 and len(other) >= MIN_LENGTH
    ]
    found = process.extract(
        term, near, scorer=fuzz.ratio, score_cutoff=MIN_SIMILARITY, limit=MAX_TERMS
    )
    return [name for name, _, _ in found]
