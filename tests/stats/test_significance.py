"""Tests give the p that R gives, or that can be counted by hand, and take clusters for the units."""

import gc
import math
from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from evenhand.stats import intervals
from evenhand.stats.significance import (
    detectable,
    holm,
    interval_test,
    pairing_test,
    sign_flip_test,
    signed_rank,
    signed_rank_z,
)


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def t_interval(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> tuple[float, float]:
    """Student's, at 95 %."""
    found = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    return float(found.low), float(found.high)


def test_signed_rank_is_rs() -> None:
    """R: wilcox.test(x, y, paired = TRUE) on the depression scores of its help page: V = 40, p-value = 0.03906."""
    x = np.array([1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30])
    y = np.array([0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29])
    found = signed_rank(x - y)
    assert found.w == 40
    assert found.p == pytest.approx(0.03906, abs=5e-6)
    assert found.z == pytest.approx((40 - 22.5) / math.sqrt(9 * 10 * 19 / 24))
    assert found.r > 0 > found.r_as_printed


def test_signed_rank_by_hand_with_ties_and_zeros() -> None:
    """|d| = 1, 1, 2, 3 with ranks 1.5, 1.5, 3, 4; positive are 1, 2, 3: W = 8.5. The zero is left out."""
    found = signed_rank(np.array([1.0, -1.0, 2.0, 3.0, 0.0]))
    assert (found.w, found.n) == (8.5, 4)
    assert found.z == pytest.approx((8.5 - 5) / math.sqrt(4 * 5 * 9 / 24 - (2**3 - 2) / 48))


def test_no_differences_at_all_are_no_evidence() -> None:
    found = signed_rank(np.zeros(3))
    assert (found.p, found.n) == (1, 0)
    assert math.isnan(found.r)
    assert math.isnan(signed_rank_z(0, 0))


def test_z_comes_from_a_published_sum_of_ranks_too() -> None:
    """The same differences, none of them tied: from V and n alone."""
    differences = np.random.default_rng(0).normal(0.3, 1, 40)
    found = signed_rank(differences)
    assert signed_rank_z(found.w, found.n) == pytest.approx(found.z)
    assert 2 * stats.norm.sf(abs(found.z)) == pytest.approx(found.p, abs=0.01)


def test_sign_flips_are_exact_for_few_clusters() -> None:
    """Three clusters all of one sign: 2 of the 8 sign patterns are as extreme."""
    assert sign_flip_test(np.array([1.0, 2.0, 3.0]), ["a", "b", "c"], rng()) == 0.25
    assert sign_flip_test(np.array([1.0, -1.0]), ["a", "b"], rng()) == 1.0
    drawn = [
        sign_flip_test(rng().normal(0.3, 1, 16), [str(i) for i in range(16)], rng(), draws=d) for d in (60_000, 70_000)
    ]
    assert drawn[0] == pytest.approx(drawn[1], abs=0.005)  # by chance, and all 65,536 of them


def test_sign_flips_of_many_clusters_are_as_a_normal_distribution_has_them() -> None:
    """So many that their coins are drawn in parts, and no multiple of eight, as many as a byte has bits."""
    n = 20_003
    differences = np.random.default_rng(1).normal(size=n)
    differences += 1.5 / math.sqrt(n) - differences.mean()
    z = differences.sum() / math.sqrt((differences**2).sum())
    p = sign_flip_test(differences, [str(i) for i in range(n)], rng(), draws=999)
    assert p == pytest.approx(2 * stats.norm.sf(z), abs=0.03)


def test_p_does_not_depend_on_how_many_coins_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    differences, clusters = rng().normal(0.2, 1, 32), [str(i) for i in range(32)]
    whole = sign_flip_test(differences, clusters, rng(), draws=9_999)
    monkeypatch.setattr(intervals, "AT_ONCE", 7 * 32)
    assert sign_flip_test(differences, clusters, rng(), draws=9_999) == whole


def test_sign_flips_know_about_clusters() -> None:
    """Ninety alike differences in one cluster are one observation, not ninety."""
    clusters = ["a"] * 90 + ["b"]
    assert sign_flip_test(np.ones(91), clusters, rng()) > 0.4
    assert sign_flip_test(np.ones(91), [str(i) for i in range(91)], rng()) < 0.001


def test_p_is_uniform_where_there_is_nothing() -> None:
    draw = np.random.default_rng(3)
    ps = [sign_flip_test(draw.normal(size=20), [str(i) for i in range(20)], draw, draws=199) for _ in range(400)]
    assert 0.02 < np.mean(np.array(ps) <= 0.05) < 0.09


@pytest.mark.parametrize("rows", [1, 5])
def test_the_detectable_difference_is_detected_four_times_in_five(rows: int) -> None:
    """With p adjusted by Bonferroni over the rows of the family."""
    draw = np.random.default_rng(5)
    half = float(stats.t.ppf(0.975, 19)) / math.sqrt(20)  # of an interval at a standard deviation of 1
    effect = detectable(-half, half, 19, 20, rows=rows)
    hits = stats.ttest_1samp(draw.normal(loc=effect, size=(800, 20)), 0, axis=1).pvalue * rows < 0.05
    assert np.mean(hits) == pytest.approx(0.8, abs=0.05)


@pytest.mark.parametrize(("clusters", "rows"), [(6, 1), (9, 9), (12, 9), (20, 3)])
def test_what_flipping_signs_would_show_is_shown_four_times_in_five(clusters: int, rows: int) -> None:
    """With few clusters only a few sign patterns give a p that is small enough: t promises 60 % as 80."""
    draw = np.random.default_rng(5)
    half = float(stats.t.ppf(0.975, clusters - 1)) / math.sqrt(clusters)
    effect = detectable(-half, half, math.nan, clusters, rows=rows)
    names = [str(i) for i in range(clusters)]
    ps = [sign_flip_test(draw.normal(loc=effect, size=clusters), names, draw, draws=4_999) for _ in range(600)]
    assert np.mean(np.array(ps) * rows < 0.05) == pytest.approx(0.8, abs=0.05)


def test_one_degree_of_freedom_and_very_many_rows_have_a_number() -> None:
    """Where SciPy's noncentrality does not end; the two ways agree where both can be had."""
    assert detectable(-1, 1, 1.0, 3, rows=100_000) > 1_000
    rows = [round(0.025 / float(stats.t.sf(t, 1.5))) for t in (990, 1_010)]
    below, above = (detectable(-1, 1, 1.5, 3, rows=n) for n in rows)
    wanted = (stats.t.isf(0.025 / rows[0], 1.5), stats.t.isf(0.025 / rows[1], 1.5))
    assert above / below == pytest.approx(wanted[1] / wanted[0], rel=1e-3)


def test_the_p_of_an_interval_is_that_of_the_test_it_comes_from() -> None:
    for mean in (-1.0, 0.4):
        sample = rng().normal(mean, 1, 12)
        found = interval_test(float(sample.mean()), *t_interval(sample), 11)
        assert found == pytest.approx(stats.ttest_1samp(sample, 0).pvalue)


@pytest.mark.parametrize(("value", "low", "high"), [(1.0, 0.0, 5.0), (-1.0, -5.0, 0.0)])
def test_an_interval_that_ends_at_0_has_a_p_of_5_percent(value: float, low: float, high: float) -> None:
    """By the end that is nearer to 0: the other one may be anywhere."""
    assert interval_test(value, low, high, 9) == pytest.approx(0.05)
    assert interval_test(value, low + 0.1 * value, high + 0.1 * value, 9) < 0.05


ODD = np.append(np.random.default_rng(1).normal(size=80), math.nan)
WITHOUT: dict[str, Callable[[], float]] = {
    "no cluster": lambda: sign_flip_test(np.array([]), [], rng()),
    "NaN among signs": lambda: sign_flip_test(np.array([math.nan, 1.0, 2.0]), ["a", "b", "c"], rng()),
    "infinity among signs": lambda: sign_flip_test(np.array([math.inf, 1.0, 2.0]), ["a", "b", "c"], rng()),
    "NaN among ranks": lambda: signed_rank(ODD).p,
    "all alike, which proves nothing": lambda: interval_test(0.5, 0.5, 0.5, 9),
    "no interval": lambda: interval_test(0.5, math.nan, math.nan, 9),
    "no degree of freedom": lambda: interval_test(0.5, 0.1, 0.9, 0),
    "nothing to detect with one cluster": lambda: detectable(-1, 1, 0, 1),
    "nor with five": lambda: detectable(-1, 1, math.nan, 5),
    "nor with eight for nine rows": lambda: detectable(-1, 1, math.nan, 8, rows=9),
}


@pytest.mark.parametrize("number", WITHOUT.values(), ids=WITHOUT)
def test_what_cannot_be_tested_has_no_number(number: Callable[[], float]) -> None:
    assert math.isnan(number())


def test_an_interval_around_0_has_a_p_of_1() -> None:
    assert interval_test(0.0, -1.0, 1.0, 9) == 1


def test_holm_is_rs_and_statsmodels(monkeypatch: pytest.MonkeyPatch) -> None:
    """R: p.adjust(c(0.01, 0.04, 0.03), "holm") gives 0.03 0.06 0.06."""
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []
    many = [*np.random.default_rng(0).uniform(0, 0.2, 30), 0.01, 0.01, 1.0]
    expected = multipletests(many, method="holm")[1].tolist()
    monkeypatch.setattr(gc, "collect", lambda: pytest.fail("garbage is collected at every adjustment"))
    assert holm(many) == expected


def test_rows_without_p_do_not_count_in_holms_family() -> None:
    found = holm([0.03, math.nan, 0.01])
    assert found[::2] == holm([0.03, 0.01])
    assert math.isnan(found[1])


def test_the_p_of_pairs_is_the_share_of_choices_that_are_as_near() -> None:
    nearness = np.array([[0.9, 0.2, 0.5, 0.1], [0.3, 0.6, 0.8, 0.2], [0.1, 0.7, 0.4, 0.3]])
    sums = [sum(nearness[row, column] for row, column in enumerate(chosen)) for chosen in permutations(range(4), 3)]
    exact = sum(total >= np.trace(nearness) - 1e-9 for total in sums) / len(sums)
    assert pairing_test(nearness, rng()) == pytest.approx(exact, abs=0.01)


def test_pairs_that_are_no_nearer_have_a_large_p() -> None:
    assert pairing_test(np.ones((5, 9)), rng(), draws=99) == 1
    found = [pairing_test(rng.normal(size=(6, 20)), rng, draws=199) for rng in np.random.default_rng(0).spawn(400)]
    assert np.mean(np.array(found) <= 0.1) == pytest.approx(0.1, abs=0.03)
