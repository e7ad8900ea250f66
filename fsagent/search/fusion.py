"""Fuse the ranker's score with the likeness of sentence vectors: a weighted sum of z-scores.

Both are taken over the pool, the ranker's candidates and the documents most alike, so that neither's
unit matters. `python benchmarks/fit_fusion.py` chose the weight with one conversation left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import fmean, pstdev

from fsagent.search.vectors import Likeness

WEIGHT = 0.5
MOST_ALIKE = 200
_LOOKED_AT = 20_000


@dataclass(frozen=True, slots=True)
class Fused:
    """The fused scores of a pool, and what the likeness adds to each."""

    mean: float
    spread: float
    added: tuple[float, ...]
    scores: tuple[float, ...]


def widen(pool: list[int], likeness: Likeness, allows: Callable[[int], bool]) -> list[int]:
    """Return the pool and the documents most alike, those that pass the filters."""
    alike = (o for o in islice(likeness.best(), _LOOKED_AT) if allows(o))
    return list(dict.fromkeys([*pool, *islice(alike, MOST_ALIKE)]))


def fuse(scores: Sequence[float], alike: Sequence[float]) -> Fused:
    """Return the fused scores."""
    mean, spread = _scale(scores)
    like_mean, like_spread = _scale(alike)
    added = tuple(WEIGHT * (value - like_mean) / like_spread for value in alike)
    total = tuple((s - mean) / spread + more for s, more in zip(scores, added, strict=True))
    return Fused(mean, spread, added, total)


def _scale(values: Sequence[float]) -> tuple[float, float]:
    return fmean(values), pstdev(values) or 1.0
