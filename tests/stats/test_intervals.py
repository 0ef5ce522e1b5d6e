"""Intervals cover the truth as often as they say, whatever the clusters are, and are NaN where data cannot say."""

import math

import numpy as np
import pytest
from scipy import stats

from evenhand.stats import intervals
from evenhand.stats.intervals import agreed_interval, clustered_interval, percentiles, proportion_interval

ENOUGH_DRAWS = 2_000
"""For a simulation: the noise of its percentiles is far below that of the trials."""


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def crossing(g: int, h: int) -> tuple[list[str], list[str]]:
    """Each of g clusters with each of h others."""
    return [str(i) for i in np.repeat(range(g), h)], [str(i) for i in np.tile(range(h), g)]


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


def test_many_clusters_get_the_interval_that_a_bootstrap_would_give() -> None:
    values, clusters = rng().normal(size=2100), [str(i) for i in range(2100)]
    few = clustered_interval(values[:2000], clusters[:2000], rng())
    many = clustered_interval(values, clusters, rng())
    assert many[1] - many[0] == pytest.approx(few[1] - few[0], rel=0.1)


@pytest.mark.parametrize(("g", "tolerance"), [(7, 1e-9), (12, 0.05)])  # jackknife; bootstrap, with fewer draws
def test_a_summary_of_ones_own_gives_what_the_fast_mean_gives(g: int, tolerance: float) -> None:
    values = rng().normal(size=60)
    clusters = [str(i % g) for i in range(60)]
    fast = clustered_interval(values, clusters, rng())
    slow = clustered_interval(values, clusters, rng(), summary=lambda indices: float(values[indices].mean()))
    assert fast == pytest.approx(slow, abs=tolerance)


def test_unequal_clusters_are_weighed_by_their_size() -> None:
    values = np.array([0.0] * 81 + [1.0] * 9)
    low, high = clustered_interval(values, ["a"] * 81 + [str(i) for i in range(9)], rng())
    assert 0 <= low < 0.1 < high <= 1


def test_one_cluster_has_no_interval() -> None:
    assert np.isnan(clustered_interval(np.array([1.0, 2.0]), ["a", "a"], rng())).all()
    assert np.isnan(clustered_interval(np.array([]), [], rng())).all()


def test_a_few_clusters_that_agree_are_no_proof_that_all_would() -> None:
    assert np.isnan(clustered_interval(np.ones(7), list("abcdefg"), rng())).all()
    assert np.isnan(clustered_interval(np.ones(8), list("abcdabcd"), rng(), crossed=list("xxxxyyyy"))).all()


def test_a_higher_level_gives_a_wider_interval() -> None:
    values, clusters = rng().normal(size=50), [str(i) for i in range(50)]
    low, high = clustered_interval(values, clusters, rng(), level=0.8)
    lower, higher = clustered_interval(values, clusters, rng(), level=0.99)
    assert lower < low < high < higher


def test_the_same_seed_gives_the_same_interval() -> None:
    values, clusters = rng().normal(size=50), [str(i % 10) for i in range(50)]
    assert clustered_interval(values, clusters, rng()) == clustered_interval(values, clusters, rng())


@pytest.mark.parametrize(("g", "h", "rows", "columns"), [(15, 5, 1.0, 1.0), (16, 20, 1.0, 1.5), (12, 8, 0.2, 1.0)])
def test_crossed_clusters_cover_what_either_alone_would_miss(
    g: int, h: int, rows: float, columns: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each profession in each template, both samples: one-way intervals are too narrow, the crossed one is not."""
    monkeypatch.setattr(intervals, "DRAWS", ENOUGH_DRAWS // 2)
    rng, (one, other), tries = np.random.default_rng(0), crossing(g, h), 150
    hits = {"crossed": 0, "one": 0, "other": 0}
    for _ in range(tries):
        table = rng.normal(0, rows, g)[:, None] + rng.normal(0, columns, h)[None] + rng.normal(0, 1, (g, h))
        values = table.ravel()
        for name, found in (
            ("crossed", clustered_interval(values, one, rng, crossed=other)),
            ("one", clustered_interval(values, one, rng)),
            ("other", clustered_interval(values, other, rng)),
        ):
            hits[name] += found[0] <= 0 <= found[1]
    assert hits["crossed"] >= 0.92 * tries
    assert min(hits["one"], hits["other"]) < 0.9 * tries


@pytest.mark.parametrize("h", [3, 4])
def test_crossed_clusters_with_three_or_four_on_a_side_cover_the_truth_too(h: int) -> None:
    rng, (one, other), tries = np.random.default_rng(0), crossing(15, h), 600
    hits = 0
    for _ in range(tries):
        values = (rng.normal(size=(15, 1)) + rng.normal(size=(1, h)) + rng.normal(size=(15, h))).ravel()
        low, high = clustered_interval(values, one, rng, crossed=other)
        hits += low <= 0 <= high
    assert 0.915 <= hits / tries <= 0.985


def test_crossed_clusters_with_few_on_a_side_add_the_variances_of_both() -> None:
    """By hand: of means of rows and of columns, with Satterthwaite's degrees of freedom for their sum."""
    one, other = crossing(15, 2)
    table = rng().normal((-1, 1), 1, size=(15, 2))
    of_rows, of_columns = table.mean(axis=1).var(ddof=1) / 15, table.mean(axis=0).var(ddof=1) / 2
    freedom = (of_rows + of_columns) ** 2 / (of_rows**2 / 14 + of_columns**2 / 1)
    half = stats.t.ppf(0.975, freedom) * math.sqrt(of_rows + of_columns)
    found = clustered_interval(table.ravel(), one, rng(), crossed=other)
    assert found == pytest.approx((table.mean() - half, table.mean() + half))


def test_crossing_with_a_single_cluster_changes_nothing() -> None:
    values, clusters = np.random.default_rng(0).normal(size=60), [str(i % 12) for i in range(60)]
    alone = clustered_interval(values, clusters, np.random.default_rng(1))
    assert clustered_interval(values, clusters, np.random.default_rng(1), crossed=["same"] * 60) == alone
    assert clustered_interval(values, ["same"] * 60, np.random.default_rng(1), crossed=clusters) == alone


def test_the_same_clusters_by_another_name_cross_nothing() -> None:
    values, clusters = rng().normal(size=60), [str(i % 12) for i in range(60)]
    renamed = [f"another {name}" for name in clusters]
    assert clustered_interval(values, clusters, rng(), crossed=renamed) == clustered_interval(values, clusters, rng())


def test_the_interval_of_a_share_is_wilsons() -> None:
    """(p + z²/2n ± z sqrt(p (1 - p) / n + z²/4n²)) / (1 + z²/n); of none in n, from 0 to z² / (n + z²)."""
    z, n, p = 1.959964, 20, 0.35
    middle, half = p + z**2 / (2 * n), z * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    ends = [(middle + side * half) / (1 + z**2 / n) for side in (-1, 1)]
    assert proportion_interval(7, 20) == pytest.approx(tuple(ends), abs=1e-6)
    assert proportion_interval(0, 10) == pytest.approx((0, z**2 / (10 + z**2)), abs=1e-6)


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
