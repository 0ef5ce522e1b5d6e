import math

import numpy as np
import pytest
from scipy import stats

from evenhand.stats.correlation import correlation
from evenhand.stats.intervals import clustered_interval
from evenhand.stats.significance import detectable, holm, sign_flip_test, signed_rank


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.mark.parametrize("g", [2, 3, 5, 8, 20])
def test_an_interval_covers_the_truth_as_often_as_it_says(g: int) -> None:
    """Clusters of nine alike items: taking items for the units would cover far less than 95 %."""
    draw, covered, naive, trials = np.random.default_rng(g), 0, 0, 400
    clusters = np.repeat([f"c{i}" for i in range(g)], 9).tolist()
    alone = [str(i) for i in range(9 * g)]
    for _ in range(trials):
        values = np.repeat(draw.normal(size=g), 9) + 0.3 * draw.normal(size=9 * g)
        low, high = clustered_interval(values, clusters, draw)
        covered += low <= 0 <= high
        low, high = clustered_interval(values, alone, draw)
        naive += low <= 0 <= high
    assert 0.915 <= covered / trials <= 0.985  # three standard errors around 0.95
    assert naive / trials < 0.7


def test_many_clusters_get_the_interval_that_a_bootstrap_would_give() -> None:
    values, clusters = rng().normal(size=2100), [str(i) for i in range(2100)]
    few = clustered_interval(values[:2000], clusters[:2000], rng())
    many = clustered_interval(values, clusters, rng())
    assert many[1] - many[0] == pytest.approx(few[1] - few[0], rel=0.1)
    own = clustered_interval(values[:7], clusters[:7], rng(), summary=lambda i: float(values[i].mean()))
    assert own == pytest.approx(clustered_interval(values[:7], clusters[:7], rng()))


def test_a_summary_of_ones_own_gives_what_the_fast_mean_gives() -> None:
    values = rng().normal(size=60)
    clusters = [str(i % 12) for i in range(60)]
    fast = clustered_interval(values, clusters, rng())
    slow = clustered_interval(values, clusters, rng(), summary=lambda indices: float(values[indices].mean()))
    assert fast == pytest.approx(slow, abs=0.05)  # fewer draws


def test_unequal_clusters_are_weighed_by_their_size() -> None:
    values = np.array([0.0] * 81 + [1.0] * 9)
    low, high = clustered_interval(values, ["a"] * 81 + [str(i) for i in range(9)], rng())
    assert 0 <= low < 0.1 < high <= 1


def test_one_cluster_has_no_interval() -> None:
    assert np.isnan(clustered_interval(np.array([1.0, 2.0]), ["a", "a"], rng())).all()
    assert np.isnan(clustered_interval(np.array([]), [], rng())).all()


def test_a_higher_level_gives_a_wider_interval() -> None:
    values, clusters = rng().normal(size=50), [str(i) for i in range(50)]
    low, high = clustered_interval(values, clusters, rng(), level=0.8)
    lower, higher = clustered_interval(values, clusters, rng(), level=0.99)
    assert lower < low < high < higher


def test_the_same_seed_gives_the_same_interval() -> None:
    values, clusters = rng().normal(size=50), [str(i % 10) for i in range(50)]
    assert clustered_interval(values, clusters, rng()) == clustered_interval(values, clusters, rng())


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
    assert np.isnan(signed_rank(np.zeros(3)).r)


def test_sign_flips_are_exact_for_few_clusters() -> None:
    """Three clusters all of one sign: 2 of the 8 sign patterns are as extreme, so p is near 1/4."""
    p = sign_flip_test(np.array([1.0, 2.0, 3.0]), ["a", "b", "c"], rng())
    assert p == pytest.approx(0.25, abs=0.02)
    assert sign_flip_test(np.array([1.0, -1.0]), ["a", "b"], rng()) == 1.0


def test_sign_flips_of_many_clusters_are_as_a_normal_distribution_has_them() -> None:
    n = 1_000_003
    differences = np.random.default_rng(1).normal(size=n)
    differences += 1.5 / math.sqrt(n) - differences.mean()
    z = differences.sum() / math.sqrt((differences**2).sum())
    p = sign_flip_test(differences, [str(i) for i in range(n)], rng(), draws=999)
    assert p == pytest.approx(2 * stats.norm.sf(z), abs=0.03)


def test_sign_flips_know_about_clusters() -> None:
    """Ninety alike differences in one cluster are one observation, not ninety."""
    clusters = ["a"] * 90 + ["b"]
    assert sign_flip_test(np.ones(91), clusters, rng()) > 0.4
    assert sign_flip_test(np.ones(91), [str(i) for i in range(91)], rng()) < 0.001


def test_p_is_uniform_where_there_is_nothing() -> None:
    draw = np.random.default_rng(3)
    ps = [sign_flip_test(draw.normal(size=20), [str(i) for i in range(20)], draw, draws=199) for _ in range(400)]
    assert 0.02 < np.mean(np.array(ps) <= 0.05) < 0.09


def test_the_detectable_difference_is_detected_four_times_in_five() -> None:
    draw, clusters = np.random.default_rng(5), [str(i) for i in range(20)]
    sample = draw.normal(size=20)
    effect = detectable((sample - sample.mean()) / sample.std(ddof=1), clusters)  # at a standard deviation of 1
    hits = [stats.ttest_1samp(draw.normal(loc=effect, size=20), 0).pvalue < 0.05 for _ in range(800)]
    assert np.mean(hits) == pytest.approx(0.8, abs=0.05)
    assert np.isnan(detectable(np.ones(3), ["a"] * 3))


def test_holm_is_rs() -> None:
    """R: p.adjust(c(0.01, 0.04, 0.03), "holm") gives 0.03 0.06 0.06."""
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []


def test_correlations_are_rs() -> None:
    """R: cor(c(1,2,3,4,5), c(2,1,4,3,7)) is 0.8242; method = "spearman" gives 0.8."""
    x, y = np.arange(1.0, 6), np.array([2.0, 1, 4, 3, 7])
    assert correlation(x, y, rng(), kind="pearson").value == pytest.approx(0.8242, abs=5e-5)
    found = correlation(x, y, rng(), kind="spearman")
    assert found.value == pytest.approx(0.8)
    assert np.isnan([found.low, found.high]).all()  # five points are too few


@pytest.mark.parametrize("kind", ["pearson", "spearman"])
def test_a_correlation_of_twenty_points_is_covered_as_often_as_it_says(kind: str) -> None:
    draw, covered, trials = np.random.default_rng(2), 0, 150
    truth = 0.5 if kind == "pearson" else 6 / math.pi * math.asin(0.25)  # of a bivariate normal
    for _ in range(trials):
        x = draw.normal(size=20)
        found = correlation(x, 0.5 * x + math.sqrt(0.75) * draw.normal(size=20), draw, kind=kind)
        assert -1 <= found.low <= found.value <= found.high <= 1
        covered += found.low <= truth <= found.high
    assert covered / trials > 0.89


def test_what_does_not_vary_has_no_correlation() -> None:
    found = correlation(np.ones(5), np.arange(5.0), rng(), kind="pearson")
    assert np.isnan([found.value, found.low, found.high, found.p]).all()


@pytest.mark.parametrize(("g", "h", "rows", "columns"), [(15, 5, 1.0, 1.0), (16, 20, 1.0, 1.5), (12, 8, 0.2, 1.0)])
def test_crossed_clusters_cover_what_either_alone_would_miss(g: int, h: int, rows: float, columns: float) -> None:
    """Each profession in each template, both samples: one-way intervals are too narrow, the crossed one is not."""
    rng = np.random.default_rng(0)
    names = [str(i) for i in np.repeat(range(g), h)], [str(i) for i in np.tile(range(h), g)]
    hits = {"crossed": 0, "one": 0, "other": 0}
    tries = 80
    for _ in range(tries):
        table = rng.normal(0, rows, g)[:, None] + rng.normal(0, columns, h)[None] + rng.normal(0, 1, (g, h))
        values = table.ravel()
        for name, found in (
            ("crossed", clustered_interval(values, names[0], rng, crossed=names[1])),
            ("one", clustered_interval(values, names[0], rng)),
            ("other", clustered_interval(values, names[1], rng)),
        ):
            hits[name] += found[0] <= 0 <= found[1]
    assert hits["crossed"] >= 0.92 * tries
    assert min(hits["one"], hits["other"]) < 0.9 * tries


def test_crossing_with_a_single_cluster_changes_nothing() -> None:
    values, clusters = np.random.default_rng(0).normal(size=60), [str(i % 12) for i in range(60)]
    alone = clustered_interval(values, clusters, np.random.default_rng(1))
    assert clustered_interval(values, clusters, np.random.default_rng(1), crossed=["same"] * 60) == alone
    assert clustered_interval(values, ["same"] * 60, np.random.default_rng(1), crossed=clusters) == alone


def test_crossed_clusters_with_few_on_a_side_still_get_an_interval() -> None:
    rng = np.random.default_rng(0)
    low, high = clustered_interval(
        rng.normal(size=30), [str(i // 2) for i in range(30)], rng, crossed=[str(i % 2) for i in range(30)]
    )
    assert low < high
