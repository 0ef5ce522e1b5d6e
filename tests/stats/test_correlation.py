"""Correlations, lines and spreads are R's, their intervals cover, and what does not vary has none."""

import math
from typing import Any, Literal

import numpy as np
import pytest
from scipy import stats

from evenhand.stats import correlation as module
from evenhand.stats.correlation import correlate, fit_line, ranks, ratio_of_spreads
from evenhand.stats.intervals import Floats


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def test_correlations_are_rs() -> None:
    """R: cor(c(1,2,3,4,5), c(2,1,4,3,7)) is 0.8242; method = "spearman" gives 0.8."""
    x, y = np.arange(1.0, 6), np.array([2.0, 1, 4, 3, 7])
    assert correlate(x, y, rng(), kind="pearson").value == pytest.approx(0.8242, abs=5e-5)
    assert correlate(x, y, rng(), kind="spearman").value == pytest.approx(0.8)


@pytest.mark.parametrize("ties", [False, True])
def test_ranks_values_and_p_are_those_of_scipy_stats(ties: bool) -> None:
    draw = np.random.default_rng(3)
    for n in (3, 9, 60):
        x, y = (draw.integers(4, size=n).astype(float) if ties else draw.normal(size=n) for _ in range(2))
        assert ranks(x, np.arange(n)[None]).tolist() == [stats.rankdata(x).tolist()]
        kinds: Any = (("pearson", stats.pearsonr(x, y)), ("spearman", stats.spearmanr(x, y)))
        for kind, theirs in kinds:
            found = correlate(x, y, draw, kind=kind)
            assert (found.value, found.p) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-9)
        line, theirs = fit_line(x, y, draw), stats.linregress(x, y)
        assert (line.slope, line.intercept, line.r) == pytest.approx((theirs.slope, theirs.intercept, theirs.rvalue))
    values, drawn = draw.integers(5, size=9).astype(float), draw.integers(9, size=(50, 9))
    assert ranks(values, drawn).tolist() == stats.rankdata(values[drawn], axis=1).tolist()


@pytest.mark.parametrize(("n", "known"), [(7, False), (8, True)])
def test_a_correlation_of_fewer_than_eight_points_has_no_interval(n: int, known: bool) -> None:
    found = correlate(np.arange(float(n)), rng().normal(size=n), rng(), kind="pearson")
    assert [math.isfinite(end) for end in (found.low, found.high)] == [known, known]


@pytest.mark.parametrize("kind", ["pearson", "spearman"])
def test_a_correlation_of_twenty_points_is_covered_as_often_as_it_says(
    kind: Literal["pearson", "spearman"], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "DRAWS", 1_000)  # noise far below that of the trials
    draw, covered, trials = np.random.default_rng(2), 0, 200
    truth = 0.5 if kind == "pearson" else 6 / math.pi * math.asin(0.25)  # of a bivariate normal
    for _ in range(trials):
        x = draw.normal(size=20)
        found = correlate(x, 0.5 * x + math.sqrt(0.75) * draw.normal(size=20), draw, kind=kind)
        assert -1 <= found.low <= found.value <= found.high <= 1
        covered += found.low <= truth <= found.high
    assert covered / trials > 0.9


UP, FLAT, ODD = np.arange(20.0), np.ones(20), np.where(np.arange(20) == 3, math.nan, np.arange(20.0))


@pytest.mark.parametrize("kind", ["pearson", "spearman"])
@pytest.mark.parametrize(("x", "y"), [(FLAT, UP), (UP, FLAT), (ODD, UP[::-1])], ids=["flat x", "flat y", "odd x"])
def test_what_does_not_vary_or_is_no_number_has_no_correlation(
    kind: Literal["pearson", "spearman"], x: Floats, y: Floats
) -> None:
    found = correlate(x, y, rng(), kind=kind)
    assert np.isnan([found.value, found.low, found.high, found.p]).all()


@pytest.mark.parametrize("kind", ["pearson", "spearman"])
def test_a_perfect_correlation_has_a_p_of_0(kind: Literal["pearson", "spearman"]) -> None:
    found = correlate(UP, 3 - 0.5 * UP, rng(), kind=kind)
    assert [found.value, found.p] == pytest.approx([-1, 0])


def test_where_x_does_not_vary_there_is_no_line_and_no_ratio() -> None:
    line = fit_line(FLAT, UP, rng())
    assert np.isnan([line.slope, line.slope_low, line.slope_high, line.intercept, line.r]).all()
    assert np.isnan(ratio_of_spreads(FLAT, UP, rng())).all()


def test_points_on_a_line_give_that_line() -> None:
    x = rng().normal(size=12)
    line = fit_line(x, 1 - 2 * x, rng())
    assert (line.slope, line.slope_low, line.slope_high) == pytest.approx((-2, -2, -2))
    assert (line.intercept, line.r, line.n) == pytest.approx((1, -1, 12))


def test_the_spreads_of_what_is_stretched_threefold_are_three_to_one() -> None:
    x = rng().normal(size=12)
    assert ratio_of_spreads(x, 1 - 3 * x, rng()) == pytest.approx((3, 3, 3))


def test_a_ratio_of_spreads_is_covered_as_often_as_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DRAWS", 1_000)
    draw, covered, trials = np.random.default_rng(0), 0, 300
    for _ in range(trials):
        x = draw.normal(size=30)
        _, low, high = ratio_of_spreads(x, 0.3 * x + 0.4 * draw.normal(size=30), draw)
        covered += low <= 0.5 <= high
    assert covered / trials > 0.89
