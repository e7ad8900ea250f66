"""Intervals and paired tests, in plain Python: how far a score can be trusted.

Questions of one conversation share its difficulty, so the bootstrap draws conversations, not
questions. With few conversations such an interval can come out too narrow (three give ten different
draws), so what is shown is the wider of it and the one that takes questions as independent.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Z95 = 1.959963984540054
RESAMPLES = 2000
SEED = 20231122


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class McNemar:
    """Discordant pairs: `only_a` right in A alone, `only_b` right in B alone; two-sided exact p."""

    only_a: int
    only_b: int
    p: float


def wilson(successes: float, n: int) -> Interval:
    """Return Wilson's score interval of a proportion; (0, 1) for n = 0.

    `successes` may be fractional: for scores within 0 to 1 the interval is then conservative,
    since no such score varies more than a proportion of the same mean.
    """
    if n == 0:
        return Interval(0.0, 1.0)
    share, z2 = successes / n, Z95 * Z95
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


def wider(a: Interval, b: Interval) -> Interval:
    """Return the interval that holds both."""
    return Interval(min(a.low, b.low), max(a.high, b.high))


def cluster_bootstrap(
    scores: Mapping[str, Sequence[float]], *, resamples: int = RESAMPLES, seed: int = SEED
) -> Interval:
    """Return the percentile interval of the mean over questions, drawing whole clusters."""
    clusters = [(sum(values), len(values)) for _, values in sorted(scores.items()) if values]
    if not clusters:
        return Interval(0.0, 0.0)
    draw = random.Random(seed)
    means = []
    for _ in range(resamples):
        drawn = draw.choices(clusters, k=len(clusters))
        means.append(sum(total for total, _ in drawn) / sum(n for _, n in drawn))
    means.sort()
    return Interval(percentile(means, 2.5), percentile(means, 97.5))


def paired_cluster_bootstrap(
    a: Mapping[str, Sequence[float]],
    b: Mapping[str, Sequence[float]],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Interval:
    """Return the interval of mean(b) - mean(a) over the same questions in the same order.

    It holds both the bootstrap that draws clusters and the one that draws questions.
    """
    differences = {
        cluster: [after - before for before, after in zip(a[cluster], b[cluster], strict=True)]
        for cluster in a
    }
    alone = {
        f"{cluster} {place:06d}": [value]
        for cluster, values in differences.items()
        for place, value in enumerate(values)
    }
    return wider(
        cluster_bootstrap(differences, resamples=resamples, seed=seed),
        cluster_bootstrap(alone, resamples=resamples, seed=seed),
    )


def mcnemar(a: Sequence[bool], b: Sequence[bool]) -> McNemar:
    """Return McNemar's exact test on paired verdicts."""
    pairs = list(zip(a, b, strict=True))
    only_a = sum(first and not second for first, second in pairs)
    only_b = sum(second and not first for first, second in pairs)
    return McNemar(only_a, only_b, _binomial_two_sided(min(only_a, only_b), only_a + only_b))


def percentile(ordered: Sequence[float], q: float) -> float:
    """Return the `q`-th percentile of sorted values, interpolated linearly; 0 for none."""
    if not ordered:
        return 0.0
    place = (len(ordered) - 1) * q / 100
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def mean(values: Sequence[float]) -> float:
    """Return the mean; 0 for no values."""
    return sum(values) / len(values) if values else 0.0


def _binomial_two_sided(k: int, n: int) -> float:
    # Integers throughout: 0.5 ** n is 0 for a thousand pairs and more.
    tail = sum(math.comb(n, i) for i in range(k + 1))
    return min(1.0, 2 * tail / (1 << n)) if n else 1.0
