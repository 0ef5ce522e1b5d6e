"""Intervals cover the truth as often as they say, whatever the clusters are, and are NaN where data cannot say."""

import math

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from evenhand.stats import intervals
from evenhand.stats.intervals import agreed_interval, clustered_interval, percentiles, proportion_interval

ENOUGH_DRAWS = 2_000
"""For a simulation: the noise of its percentiles is far below that of the trials."""


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.mark.parametrize("g", [2, 3, 5, 8, 20])
def test_an_interval_covers_the_truth_as_often_as_it_says(g: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clusters of nine alike items: taking items for the units would cover far less than 95 %."""
    monkeypatch.setattr(intervals, "DRAWS", ENOUGH_DRAWS)
    draw, trials = np.random.default_rng(g), 400
    clusters = np.repeat([f"c{i}" for i in range(g)], 9).tolist()
    alone = [str(i) for i in range(9 * g)]
    samples = [np.repeat(draw.normal(size=g), 9) + 0.3 * draw.normal(size=9 * g) for _ in range(trials)]
    covered = [low <= 0 <= high for low, high in (clustered_interval(s, clusters, draw) for s in samples)]
    naive = [low <= 0 <= high for low, high in (clustered_interval(s, alone, draw) for s in samples[:100])]
    assert 0.915 <= np.mean(covered) <= 0.985  # three standard errors around 0.95
    assert np.mean(naive) < 0.7  # a half in truth


def test_levels_are_expanded_for_few_clusters_alone() -> None:
    draws = rng().normal(size=100_000)
    plain = np.quantile(draws, [0.025, 0.975])
    assert percentiles(draws, 100_000, 0.95) == pytest.approx(tuple(plain), abs=1e-3)
    low, high = percentiles(draws, 8, 0.95)
    assert (low, high) == pytest.approx((-2.53, 2.53), abs=0.05)  # sqrt(8 / 7) times t(0.975; 7) = 2.365


def test_many_clusters_get_the_interval_that_a_bootstrap_would_give(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals, "DRAWS", ENOUGH_DRAWS)  # with which a width varies by 2 %
    values, clusters = rng().normal(size=2100), [str(i) for i in range(2100)]
    few = clustered_interval(values[:2000], clusters[:2000], rng())
    many = clustered_interval(values, clusters, rng())
    assert many[1] - many[0] == pytest.approx(few[1] - few[0], rel=0.1)


def test_unequal_clusters_are_weighed_by_their_size() -> None:
    values = np.array([0.0] * 81 + [1.0] * 9)
    low, high = clustered_interval(values, ["a"] * 81 + [str(i) for i in range(9)], rng())
    assert 0 <= low < 0.1 < high <= 1


def test_one_cluster_has_no_interval() -> None:
    assert np.isnan(clustered_interval(np.array([1.0, 2.0]), ["a", "a"], rng())).all()
    assert np.isnan(clustered_interval(np.array([]), [], rng())).all()


def test_a_few_clusters_that_agree_are_no_proof_that_all_would() -> None:
    assert np.isnan(clustered_interval(np.ones(7), list("abcdefg"), rng())).all()


def test_a_higher_level_gives_a_wider_interval() -> None:
    values, clusters = rng().normal(size=50), [str(i) for i in range(50)]
    low, high = clustered_interval(values, clusters, rng(), level=0.8)
    lower, higher = clustered_interval(values, clusters, rng(), level=0.99)
    assert lower < low < high < higher


def test_the_same_seed_gives_the_same_interval() -> None:
    values, clusters = rng().normal(size=50), [str(i % 10) for i in range(50)]
    assert clustered_interval(values, clusters, rng()) == clustered_interval(values, clusters, rng())


def test_the_interval_of_a_share_is_wilsons() -> None:
    """(p + z²/2n ± z sqrt(p (1 - p) / n + z²/4n²)) / (1 + z²/n); of none in n, from 0 to z² / (n + z²)."""
    z, n, p = 1.959964, 20, 0.35
    middle, half = p + z**2 / (2 * n), z * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    ends = [(middle + side * half) / (1 + z**2 / n) for side in (-1, 1)]
    assert proportion_interval(7, 20) == pytest.approx(tuple(ends), abs=1e-6)
    assert proportion_interval(0, 10) == pytest.approx((0, z**2 / (10 + z**2)), abs=1e-6)


@pytest.mark.parametrize(("count", "n"), [(0, 7), (1, 3), (7, 20), (33.5, 90), (1463, 1463)])
def test_the_interval_of_a_share_is_that_of_statsmodels(count: float, n: int) -> None:
    low, high = proportion_confint(count, n, method="wilson")
    assert proportion_interval(count, n) == (min(float(low), count / n), max(float(high), count / n))


@pytest.mark.parametrize(
    ("value", "signed", "low", "high"),
    [
        (0.0, False, 0.0, 0.2775328),
        (1.0, False, 0.7224672, 1.0),
        (0.0, True, -0.2775328, 0.2775328),
        (1.0, True, 0.7224672, 1.0),
        (-1.0, True, -1.0, -0.7224672),
    ],
)
def test_ten_that_agree_leave_room_for_doubt_on_every_side_that_there_is(
    value: float, signed: bool, low: float, high: float
) -> None:
    assert agreed_interval(value, 10, signed=signed) == pytest.approx((low, high), abs=1e-6)
