"""Intervals and tests of summaries that are not means: equal to the mean's where the summary is a mean."""

import math

import numpy as np
import pytest

from evenhand.stats.intervals import Floats, Indices, Paired, Resampled, by_calls, by_totals, clustered_interval
from evenhand.stats.significance import sign_flip_test


def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def ratio(totals: Floats) -> Floats:
    return np.asarray(totals[:, 0] / totals[:, 1])


def mean_of(values: Floats, clusters: list[str]) -> tuple[Resampled, Resampled]:
    """The mean, as a function of totals and as a function to call."""
    parts = np.column_stack([values, np.ones(len(values))])
    return by_totals(parts, clusters, ratio), by_calls(lambda indices: float(values[indices].mean()), clusters)


@pytest.mark.parametrize(("g", "tolerance"), [(7, 1e-9), (12, 0.05)])  # jackknife; bootstrap, with fewer draws
def test_a_mean_has_the_interval_of_the_fast_mean(g: int, tolerance: float) -> None:
    values, clusters = rng().normal(size=60), [str(i % g) for i in range(60)]
    fast = clustered_interval(values, clusters, rng())
    totals, calls = mean_of(values, clusters)
    assert [totals.value, calls.value] == pytest.approx([values.mean()] * 2)
    assert totals.interval(rng()) == pytest.approx(fast, abs=1e-9)  # the same draws
    assert calls.interval(rng()) == pytest.approx(fast, abs=tolerance)


def test_with_very_many_clusters_too() -> None:
    values = rng().normal(size=2_500)
    clusters = [str(i) for i in range(2_500)]
    totals, _ = mean_of(values, clusters)
    assert totals.interval(rng()) == pytest.approx(clustered_interval(values, clusters, rng()), abs=1e-9)


def test_too_few_clusters_have_no_interval() -> None:
    for g, values in ((1, rng().normal(size=10)), (7, np.ones(14))):
        totals, calls = mean_of(values, [str(i % g) for i in range(len(values))])
        assert np.isnan(totals.interval(rng())).all()
        assert np.isnan(calls.interval(rng())).all()


def paired(before: Floats, after: Floats, clusters: list[str]) -> Paired:
    both = np.concatenate([before, after])
    parts = np.column_stack([both, np.ones(len(both))])
    return Paired(by_totals(parts, [f"{n}\0{c}" for n in (0, 1) for c in clusters], ratio))


def test_two_means_have_the_interval_and_about_the_p_of_the_mean_difference() -> None:
    clusters = [str(i % 15) for i in range(60)]
    before = rng().normal(size=60)
    after = before + rng().normal(0.1, 0.6, size=60)
    found = paired(before, after, clusters)
    assert found.before.value == pytest.approx(before.mean())
    assert found.after.value == pytest.approx(after.mean())
    assert found.middle.value == pytest.approx((before + after).mean() / 2)
    assert found.difference.interval(rng()) == pytest.approx(clustered_interval(after - before, clusters, rng()))
    p = sign_flip_test(after - before, clusters, rng())
    assert 0.02 < p < 0.9
    assert found.swap_test(rng()) == pytest.approx(p, abs=0.02)


def test_swapping_finds_no_difference_of_equal_runs_and_never_a_p_of_0() -> None:
    clusters = [str(i) for i in range(40)]
    values = rng().normal(size=40)
    assert paired(values, values, clusters).swap_test(rng()) == 1
    assert 0 < paired(values, values + 5, clusters).swap_test(rng()) < 0.001


def test_a_ratio_is_covered_by_its_interval_about_as_often_as_it_should_be() -> None:
    """exp(mean), as in GEST: 95 % of the intervals of 20 clusters include the truth, 1."""
    draw = rng()
    clusters = [str(i) for i in range(20)]
    covered = 0
    for _ in range(200):
        values = draw.normal(0, 1, size=20)
        parts = np.column_stack([values, np.ones(20)])
        found = by_totals(parts, clusters, lambda totals: np.exp(ratio(totals)))
        low, high = Resampled(20, found.values, 1_000).interval(draw)
        covered += low <= 1 <= high
    assert 178 <= covered <= 199


def test_where_most_swaps_have_no_value_there_is_no_p() -> None:
    clusters = [str(i) for i in range(10)]
    before, after = np.zeros(10), np.ones(10)
    whole = paired(before, after, clusters)

    def extremes_only(counts: Floats) -> Floats:
        found = whole.both.values(counts)
        return np.where(np.isin(found, (0.0, 1.0)), found, math.nan)

    assert math.isnan(Paired(Resampled(20, extremes_only)).swap_test(rng()))


def test_an_interval_of_resampled_values_includes_the_value() -> None:
    values = np.array([-1.0, 1.0] * 10)

    def size(indices: Indices) -> float:
        return float(abs(values[indices].mean()))

    low, high = by_calls(size, [str(n) for n in range(20)]).interval(np.random.default_rng(0))
    assert low == 0.0  # all other samples have a larger mean
    assert high > 0
