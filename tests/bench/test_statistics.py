"""Intervals and paired tests against known values and against numpy."""

import random

import pytest

from fsagent.bench.metrics.statistics import (
    cluster_bootstrap,
    mcnemar,
    mean,
    paired_cluster_bootstrap,
    percentile,
    wilson,
)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        # Newcombe (1998), table I: the score method without continuity correction.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (29, 29, 0.8830, 1.0),
    ],
)
def test_wilson_gives_the_published_intervals(
    successes: int, n: int, low: float, high: float
) -> None:
    interval = wilson(successes, n)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=5e-5)


def test_wilson_of_nothing_says_nothing() -> None:
    assert (wilson(0, 0).low, wilson(0, 0).high) == (0, 1)


def test_percentile_is_numpys() -> None:
    numpy = pytest.importorskip("numpy")
    draw = random.Random(3)
    values = sorted(draw.random() for _ in range(101))
    for q in (0, 2.5, 33, 50, 97.5, 100):
        assert percentile(values, q) == pytest.approx(float(numpy.percentile(values, q)))


def test_cluster_bootstrap_agrees_with_numpy() -> None:
    numpy = pytest.importorskip("numpy")
    draw = random.Random(5)
    scores = {
        f"c{i}": [min(1.0, max(0.0, draw.gauss(i / 10, 0.2))) for _ in range(20 + 5 * i)]
        for i in range(10)
    }
    ours = cluster_bootstrap(scores, resamples=8000)
    rng = numpy.random.default_rng(7)
    sums = numpy.array([sum(v) for v in scores.values()])
    sizes = numpy.array([len(v) for v in scores.values()])
    drawn = rng.integers(0, 10, size=(8000, 10))
    means = sums[drawn].sum(1) / sizes[drawn].sum(1)
    low, high = numpy.percentile(means, [2.5, 97.5])
    assert (ours.low, ours.high) == pytest.approx((low, high), abs=0.01)


def test_cluster_bootstrap_is_wider_than_one_over_questions() -> None:
    scores = {"easy": [1.0] * 50, "hard": [0.0] * 50}
    interval = cluster_bootstrap(scores)
    assert (interval.low, interval.high) == (0, 1)
    assert wilson(50, 100).high < 0.6


def test_bootstrap_repeats_itself() -> None:
    scores = {"a": [0.1, 0.9], "b": [0.4], "c": [1.0, 0.0, 0.5]}
    assert cluster_bootstrap(scores) == cluster_bootstrap(dict(reversed(scores.items())))


def test_paired_bootstrap_of_a_constant_gain_has_no_width() -> None:
    a = {"x": [0.1, 0.2], "y": [0.3]}
    b = {"x": [0.2, 0.3], "y": [0.4]}
    interval = paired_cluster_bootstrap(a, b)
    assert (interval.low, interval.high) == pytest.approx((0.1, 0.1))


def test_few_clusters_do_not_narrow_a_paired_interval() -> None:
    draw = random.Random(2)
    noise = {c: [draw.choice([0.0, 1.0]) for _ in range(40)] for c in "ab"}
    zero = {c: [0.5] * 40 for c in "ab"}
    paired = paired_cluster_bootstrap(zero, noise)
    alone = cluster_bootstrap({f"{c}{i}": [v - 0.5] for c in "ab" for i, v in enumerate(noise[c])})
    assert paired.high - paired.low > 0.9 * (alone.high - alone.low)


def test_paired_bootstrap_refuses_pairs_that_do_not_match() -> None:
    with pytest.raises(ValueError, match="zip"):
        paired_cluster_bootstrap({"x": [0.1]}, {"x": [0.1, 0.2]})


def test_mcnemar_counts_discordant_pairs() -> None:
    a = [True] * 9 + [False] * 1 + [True] * 40
    b = [False] * 9 + [True] * 1 + [True] * 40
    result = mcnemar(a, b)
    # Binomial(10, 1/2): 2 * (1 + 10) / 1024.
    assert (result.only_a, result.only_b, result.p) == (9, 1, pytest.approx(22 / 1024))


def test_mcnemar_without_discordant_pairs_finds_nothing() -> None:
    assert mcnemar([True, False], [True, False]).p == 1


def test_mcnemar_of_thousands_of_pairs_does_not_underflow() -> None:
    assert 0 < mcnemar([True] * 1100 + [False] * 900, [False] * 1100 + [True] * 900).p < 0.001


def test_mean_of_nothing_is_zero() -> None:
    assert mean([]) == 0
