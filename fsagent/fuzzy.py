"""How alike two texts are: the one module that uses rapidfuzz."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def closest(
    text: str, known: Iterable[str], *, min_similarity: float, limit: int
) -> list[tuple[str, float]]:
    """Return the known texts that are nearest letter by letter, best first, with 0 to 100."""
    from rapidfuzz import fuzz, process

    found = process.extract(
        text, known, scorer=fuzz.ratio, score_cutoff=min_similarity, limit=limit
    )
    return [(str(name), float(score)) for name, score, _ in found]


def closest_keys(
    text: str, known: Mapping[str, str], *, min_similarity: float, limit: int
) -> list[str]:
    """Return the keys whose values are nearest to `text`, whatever the order of the words."""
    from rapidfuzz import fuzz, process

    found = process.extract(
        text, known, scorer=fuzz.token_sort_ratio, score_cutoff=min_similarity, limit=limit
    )
    return [str(key) for _, _, key in found]


def similarity(a: str, b: str) -> float:
    """Return how alike two words are letter by letter, 0 to 100."""
    from rapidfuzz import fuzz

    return float(fuzz.ratio(a, b))
