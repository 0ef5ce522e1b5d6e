import numpy as np
import pytest

from evenhand.stats import clustered_interval


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def test_an_interval_covers_the_truth_as_often_as_it_says() -> None:
    """Twenty clusters of nine alike items: naive resampling of items would cover far less than 95 %."""
    draw, covered, naive, trials = np.random.default_rng(1), 0, 0, 400
    clusters = np.repeat([f"c{i}" for i in range(20)], 9).tolist()
    alone = [str(i) for i in range(180)]
    for _ in range(trials):
        values = np.repeat(draw.normal(size=20), 9) + 0.3 * draw.normal(size=180)
        low, high = clustered_interval(values, clusters, draw)
        covered += low <= 0 <= high
        low, high = clustered_interval(values, alone, draw)
        naive += low <= 0 <= high
    assert 0.92 <= covered / trials <= 0.98  # 0.945 to 0.955 expected; 0.92 and 0.98 are three standard errors away
    assert naive / trials < 0.7


def test_a_summary_of_ones_own_gives_what_the_fast_mean_gives() -> None:
    values = rng().normal(size=60)
    clusters = [str(i % 12) for i in range(60)]
    fast = clustered_interval(values, clusters, rng())
    slow = clustered_interval(values, clusters, rng(), summary=lambda indices: float(values[indices].mean()))
    assert fast == pytest.approx(slow, abs=0.03)  # fewer draws


def test_unequal_clusters_are_weighed_by_their_size() -> None:
    values = np.array([0.0] * 8 + [1.0] * 2)
    low, high = clustered_interval(values, ["a"] * 8 + ["b"] * 2, rng())
    assert (low, high) == (0.0, 1.0)


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
