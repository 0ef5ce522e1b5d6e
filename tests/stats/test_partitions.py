"""Effect sizes of two sets: the published formula, all partitions counted by hand, and intervals that cover."""

import math
from itertools import combinations

import numpy as np
import pytest

from evenhand.stats import partitions
from evenhand.stats.intervals import Floats
from evenhand.stats.partitions import SAMPLED, TwoSets, effect_sizes, mean_effect_interval, partition_test


def two_sets(x: Floats, y: Floats, test: str = "") -> TwoSets:
    """Every score is a unit of its own; tests of the same name have the same units."""
    scores = np.concatenate([x, y])
    totals, first = np.stack([np.ones(len(scores)), scores, scores**2], axis=1), [True] * len(x) + [False] * len(y)
    return TwoSets(totals, first, [f"{test}{n}" for n in range(len(scores))])


def effect_size(x: Floats, y: Floats) -> float:
    return float((x.mean() - y.mean()) / np.concatenate([x, y]).std(ddof=1))


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("sizes", [(4, 4), (8, 8), (5, 9)])
def test_an_effect_size_is_the_difference_of_means_in_standard_deviations_of_all(sizes: tuple[int, int]) -> None:
    x, y = (rng(n).normal(size=n) for n in sizes)
    sides = two_sets(x, y).sides
    assert effect_sizes(*(side.sum(axis=0) for side in sides)) == pytest.approx(effect_size(x, y), rel=1e-12)


def test_sets_that_do_not_vary_have_no_effect_size() -> None:
    same = np.full(4, 0.1)
    assert math.isnan(float(effect_sizes(*(side.sum(axis=0) for side in two_sets(same, same).sides))))


@pytest.mark.parametrize("sizes", [(4, 4), (6, 6), (4, 7)])
@pytest.mark.parametrize("one_sided", [False, True])
def test_all_partitions_are_counted_and_ties_count(sizes: tuple[int, int], one_sided: bool) -> None:
    x, y = (rng(n).integers(5, size=n).astype(float) for n in sizes)  # so that there are ties
    x[0] += 1
    scores, value, hits, count = np.concatenate([x, y]), effect_size(x, y), 0, 0
    for chosen in combinations(range(len(scores)), len(x)):
        first = np.isin(np.arange(len(scores)), chosen)
        other = effect_size(scores[first], scores[~first])
        count += 1
        hits += (other if one_sided else abs(other)) >= (value if one_sided else abs(value)) - 1e-9
    assert partition_test([two_sets(x, y)], rng(), one_sided=one_sided) == hits / count


def test_a_test_of_many_units_draws_partitions_and_is_near_the_exact_one() -> None:
    x, y = rng(1).normal(size=10) + 0.6, rng(2).normal(size=10)
    exact = partition_test([two_sets(x, y)], rng())  # 184,756 partitions
    twice = [two_sets(x, y), two_sets(x, y, "other")]
    assert twice[0].partitions == math.comb(20, 10)
    x, y = np.append(x, x.mean()), np.append(y, y.mean())  # 705,432: drawn
    drawn = partition_test([two_sets(x, y)], rng())
    assert drawn == partition_test([two_sets(x, y)], rng())
    assert drawn >= 1 / (1 + SAMPLED)
    assert drawn == pytest.approx(exact, abs=0.03)
    assert 0 < partition_test(twice, rng()) < exact  # two such tests show more than one


def test_units_with_several_scores_are_moved_whole() -> None:
    """Of four words a set, in ten sentences each, there are 70 partitions, however many sentences."""
    words = rng(3).normal(size=8)
    words[:4] += 3
    totals = np.stack([np.full(8, 10.0), 10 * words, 10 * words**2], axis=1)
    assert partition_test([TwoSets(totals, [True] * 4 + [False] * 4, list("abcdefgh"))], rng()) == 2 / 70


@pytest.fixture
def fewer_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a simulation: a standard error from so many varies by 2 %, far less than a share of 150 samples."""
    monkeypatch.setattr(partitions, "DRAWS", 1_000)


@pytest.mark.usefixtures("fewer_draws")
@pytest.mark.parametrize(("n", "effect"), [(8, 0.0), (8, 2.0), (16, 0.8)])
def test_intervals_cover_the_true_effect_as_often_as_they_say(n: int, effect: float) -> None:
    """Of 150 samples; a share of .95 varies by .036 at two standard errors."""
    true, generator, covered = effect / math.sqrt(1 + effect**2 / 4), rng(4), 0
    for _ in range(150):
        x, y = generator.normal(size=n) + effect, generator.normal(size=n)
        low, high = mean_effect_interval([two_sets(x, y)], effect_size(x, y), generator)
        covered += low <= true <= high
    assert 0.91 <= covered / 150 <= 0.99


def test_an_interval_stays_within_the_largest_effect_size() -> None:
    x, y = np.array([1.0, 1.0, 1.0, 1.01]), np.array([0.0, 0.0, 0.0, 0.01])
    test = two_sets(x, y)
    low, high = mean_effect_interval([test], effect_size(x, y), rng())
    assert low < effect_size(x, y) < high <= test.largest == pytest.approx(2 * math.sqrt(7 / 8))


def test_a_test_without_effect_is_seldom_significant() -> None:
    generator = rng(5)
    ps = [partition_test([two_sets(*generator.normal(size=(2, 6)))], generator) for _ in range(400)]
    assert np.mean(np.array(ps) < 0.05) <= 0.08


def test_tests_of_the_same_words_show_no_more_than_one_of_them() -> None:
    x, y = rng(7).normal(size=9) + 0.8, rng(8).normal(size=9)
    one, value = two_sets(x, y), effect_size(x, y)
    assert partition_test([one, one], rng()) == pytest.approx(partition_test([one], rng()), abs=0.005)
    alone, same, others = (
        mean_effect_interval(tests, value, rng()) for tests in ([one], [one, one], [one, two_sets(x, y, "other")])
    )
    assert same == pytest.approx(alone, abs=0.05)
    assert others[1] - others[0] < 0.85 * (alone[1] - alone[0])


@pytest.mark.usefixtures("fewer_draws")
def test_intervals_of_tests_that_share_words_cover_as_often_as_they_say() -> None:
    """Two tests of the same 8 words a set, by attributes of their own, without an effect."""
    generator, covered, significant = rng(9), 0, 0
    for _ in range(150):
        words = generator.normal(size=(2, 8))
        scores = [words + 0.5 * generator.normal(size=(2, 8)) for _ in range(2)]
        tests, value = [two_sets(*of) for of in scores], float(np.mean([effect_size(*of) for of in scores]))
        low, high = mean_effect_interval(tests, value, generator)
        covered += low <= 0 <= high
        significant += partition_test(tests, generator, draws=999) < 0.05
    assert 0.91 <= covered / 150 <= 0.99
    assert significant / 150 <= 0.08


def test_no_p_is_0_however_little_scores_differ() -> None:
    for seed in range(50):
        scores = np.sort(0.3 + 3e-6 * rng(seed).normal(size=8))  # the observed partition is the most extreme one
        assert partition_test([two_sets(scores[4:], scores[:4])], rng(), one_sided=True) > 0


def test_every_partition_is_drawn_equally_often() -> None:
    test = two_sets(np.arange(3.0), np.arange(3.0, 6.0))
    chosen, fair = test.lowest_partitions(rng(6).integers(2**16, size=(40_000, 6), dtype=np.uint16))
    chosen = chosen[fair]
    assert (chosen.sum(axis=1) == 3).all()
    _, counts = np.unique(chosen, axis=0, return_counts=True)
    assert len(counts) == 20
    assert np.abs(counts - len(chosen) / 20).max() < 5 * math.sqrt(len(chosen) / 20)
