"""Intervals of means over crossed clusters and equal sets cover the truth as often as they say, and are no wider."""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evenhand.stats.intervals import Floats, clustered_interval
from evenhand.stats.mean_intervals import IntervalAndTest, fewest_clusters, mean_estimate, mean_interval, mean_test
from evenhand.stats.significance import sign_flip_test


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def crossing(g: int, h: int) -> tuple[list[str], list[str]]:
    """Each of g clusters with each of h others."""
    return [str(i) for i in np.repeat(range(g), h)], [str(i) for i in np.tile(range(h), g)]


def table(draw: np.random.Generator, g: int, h: int, rows: float, columns: float) -> Floats:
    """Values with effects of their row and column, of which the truth is 0."""
    effects = rows * draw.normal(size=(g, 1)) + columns * draw.normal(size=(1, h))
    return np.asarray(effects + draw.normal(size=(g, h))).ravel()


@pytest.mark.parametrize(
    ("g", "h", "rows", "columns"),
    [
        (15, 5, 1.0, 1.0),
        (16, 20, 1.0, 1.5),
        (12, 8, 0.2, 1.0),
        (15, 3, 1.0, 1.0),
        (15, 4, 0.5, 0.2),
        (30, 24, 0.3, 0.3),
    ],
)
def test_crossed_clusters_cover_what_either_alone_would_miss(g: int, h: int, rows: float, columns: float) -> None:
    draw, (one, other), tries = np.random.default_rng(0), crossing(g, h), 300
    hits, naive = 0, 0
    for _ in range(tries):
        values = table(draw, g, h, rows, columns)
        low, high = mean_interval(values, one, draw, crossed=[other])
        hits += low <= 0 <= high
        naive += abs(values.mean()) <= 1.96 * values.std() / math.sqrt(g * h)
    assert 0.91 <= hits / tries <= 0.99  # three standard errors around 0.95, and what a few clusters cost
    assert naive < 0.89 * tries  # in truth 0.83 or less, as the standard errors say; three of 300 tries are 0.065


def test_where_nothing_but_noise_varies_the_interval_is_hardly_too_wide() -> None:
    """A bootstrap of both sides counts the noise three times, and would be 1.7 times as wide."""
    draw, (one, other) = np.random.default_rng(1), crossing(30, 24)
    widths = [np.ptp(mean_interval(table(draw, 30, 24, 0, 0), one, draw, crossed=[other])) for _ in range(50)]
    assert 0.95 < np.mean(widths) / (2 * 1.96 / math.sqrt(30 * 24)) < 1.25


def test_crossed_clusters_by_hand() -> None:
    """Variances of row means and of column means, less that of what is left, on Satterthwaite's degrees of freedom."""
    one, other = crossing(15, 4)
    values = table(rng(), 15, 4, 1, 1).reshape(15, 4)
    of_rows, of_columns = values.mean(axis=1).var(ddof=1) / 15, values.mean(axis=0).var(ddof=1) / 4
    left = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + values.mean()
    of_cells = (left**2).sum() / (14 * 3) / 60
    variance = of_rows + of_columns - of_cells
    freedom = variance**2 / (of_rows**2 / 14 + of_columns**2 / 3 + of_cells**2 / 42)
    half = stats.t.ppf(0.975, freedom) * math.sqrt(variance)
    found = mean_interval(values.ravel(), one, rng(), crossed=[other])
    assert found == pytest.approx((values.mean() - half, values.mean() + half))


def test_with_two_on_a_side_one_degree_of_freedom_is_left() -> None:
    one, other = crossing(15, 2)
    draw = np.random.default_rng(0)
    found = [mean_interval(table(draw, 15, 2, 0.3, 1), one, draw, crossed=[other]) for _ in range(300)]
    assert np.mean([low <= 0 <= high for low, high in found]) > 0.97


def test_shares_stay_between_0_and_1_and_cover_the_truth() -> None:
    draw, (one, other), tries = np.random.default_rng(3), crossing(10, 24), 250
    truth = float(stats.norm.cdf(-1 / math.sqrt(1 + 1 + 0.25)))  # of words with a spread of 1, captions of 0.5
    hits = 0
    for _ in range(tries):
        values = (table(draw, 10, 24, 1.0, 0.5) - 1 > 0).astype(float)
        low, high = mean_interval(values, one, draw, crossed=[other], unit=True)
        assert 0 < low < high < 1
        hits += low <= truth <= high
    assert 0.91 <= hits / tries <= 0.99


def test_what_crosses_nothing_changes_nothing() -> None:
    values, clusters = rng().normal(size=60), [str(i % 12) for i in range(60)]
    alone = clustered_interval(values, clusters, rng())
    assert mean_interval(values, clusters, rng()) == alone
    assert mean_interval(values, clusters, rng(), crossed=[["same"] * 60]) == alone
    assert mean_interval(values, ["same"] * 60, rng(), crossed=[clusters]) == alone
    assert mean_interval(values, clusters, rng(), crossed=[[f"another {name}" for name in clusters]]) == alone


def test_a_few_that_agree_are_no_proof_that_all_would() -> None:
    assert np.isnan(mean_interval(np.ones(8), list("abcdabcd"), rng(), crossed=[list("xxxxyyyy")])).all()


def standard_errors(found: Sequence[IntervalAndTest]) -> Floats:
    return np.array([(one.high - one.low) / 2 / stats.t.ppf(0.975, one.freedom) for one in found])


def test_few_templates_do_not_make_the_variance_between_words_smaller() -> None:
    """A mean of eight words in four templates, which have effects of their own: errors are right on average."""
    draw, (one, other) = rng(), crossing(8, 4)
    tables = [table(draw, 8, 4, 1, 0.5) for _ in range(600)]
    found = [mean_test(values, one, draw, crossed=[other]) for values in tables]
    true = np.std([values.mean() for values in tables])
    assert np.sqrt(np.mean(standard_errors(found) ** 2)) == pytest.approx(true, rel=0.06)


def test_large_clusters_have_fewer_degrees_of_freedom_and_errors_that_are_large_enough() -> None:
    draw, sizes = rng(), [40, 30, 4, 4, 4, 4, 4, 4, 3, 3]
    words = [str(word) for word, n in enumerate(sizes) for _ in range(n)]
    draws = [np.repeat(draw.normal(size=10), sizes) + draw.normal(size=100) for _ in range(600)]
    found = [mean_test(values, words, draw, sets=[""] * 100) for values in draws]
    assert all(1 < one.freedom < 9 for one in found)
    true = np.std([values.mean() for values in draws])
    assert np.sqrt(np.mean(standard_errors(found) ** 2)) > 0.95 * true
    assert np.mean([one.p < 0.05 for one in found]) < 0.1  # a fifth, if clusters were taken as equally large


def test_the_fewest_clusters_are_those_of_the_smaller_side() -> None:
    one, other = crossing(15, 4)
    assert fewest_clusters(one) == 15
    assert fewest_clusters(one, [other]) == 4
    assert fewest_clusters(one, [["same"] * 60]) == 15
    assert fewest_clusters(["same"]) == 1
    assert fewest_clusters(one, sets=["small" if word in ("0", "1") else "large" for word in one]) == 2


@pytest.mark.parametrize("effects", [0.0, 1.0])
def test_three_ways_to_cluster_are_included_and_excluded_and_no_single_one_is_wider(effects: float) -> None:
    draw = rng()
    cells = np.array([(a, b, c) for a in range(6) for b in range(5) for c in range(4)])
    values = draw.normal(size=len(cells))
    values += effects * sum(draw.normal(size=size)[cells[:, way]] for way, size in enumerate((6, 5, 4)))
    ways = [[str(label) for label in column] for column in cells.T]

    frame = pd.DataFrame(cells, columns=range(3)).assign(left=(values - values.mean()) / len(values))

    def variance(*columns: int) -> tuple[float, int]:
        """Of the mean, over the cells of these columns without the mean of each column; and its degrees of freedom."""
        left = frame["left"] - sum(frame.groupby(c)["left"].transform("mean") for c in columns if len(columns) > 1)
        sums = left.groupby([frame[column] for column in columns]).sum()
        freedom = len(sums) - 1 - sum((6, 5, 4)[column] - 1 for column in columns if len(columns) > 1)
        return len(sums) / freedom * float((sums**2).sum()), freedom

    each = {columns: variance(*columns) for n in (1, 2, 3) for columns in combinations(range(3), n)}
    whole = math.fsum(v if len(columns) % 2 else -v for columns, (v, _) in each.items())
    single = max(v for columns, (v, _) in each.items() if len(columns) == 1)
    assert (whole > single) == bool(effects)
    whole = max(whole, single)
    freedom = whole**2 / math.fsum(v**2 / of_v for v, of_v in each.values())
    low, high = mean_interval(values, ways[0], rng(), crossed=ways[1:], sets=[""] * len(values))
    assert (low + high) / 2 == pytest.approx(values.mean())
    assert (high - low) / 2 == pytest.approx(stats.t.ppf(0.975, freedom) * math.sqrt(whole))


def test_a_mean_estimate_has_the_interval_and_the_p_of_its_clusters() -> None:
    values, clusters = np.array([0.5, 0.25, 1.0, 0.75, -0.5, 0.5]), list("aabbcd")
    found, draws = mean_estimate(values, clusters, rng()), rng()
    assert (found.value, found.n, found.clusters) == (values.mean(), 6, 4)
    assert (found.low, found.high) == clustered_interval(values, clusters, draws)
    assert found.p == sign_flip_test(values, clusters, draws)
    assert not mean_estimate(np.array([]), [], rng()).known


class Items(NamedTuple):
    """A value for each item, and the set, word and caption it belongs to."""

    values: Floats
    sets: list[str]
    words: list[str]
    captions: list[str]

    def interval(self, *, crossed: bool = True) -> tuple[float, float]:
        captions = [self.captions] if crossed else []
        return mean_interval(self.values, self.words, rng(), crossed=captions, sets=self.sets)


def drawn(draw: np.random.Generator, words: int = 20, captions: int = 12, odd_captions: float = 0.1) -> Items:
    """Pairs of a world in which the true value is 1/2: words and captions with effects of their own.

    Two words in three are in the sets pro and anti, the others in non, each with every caption.
    """
    kinds = [(word, s) for word in range(words) for s in (("pro", "anti") if word < words * 2 // 3 else ("non",))]
    word = np.repeat([word for word, _ in kinds], captions)
    caption = np.tile(range(captions), len(kinds))
    effects = draw.normal(0, 0.15, words)[word] + draw.normal(0, odd_captions, captions)[caption]
    values = 0.5 + effects + draw.normal(0, 0.1, len(word))
    sets = [s for _, s in kinds for _ in range(captions)]
    return Items(values, sets, word.astype(str).tolist(), caption.astype(str).tolist())


@pytest.mark.parametrize(("words", "odd_captions"), [(30, 0.0), (9, 0.0), (24, 0.1)])
def test_intervals_over_sets_cover_the_truth_as_often_as_they_say(words: int, odd_captions: float) -> None:
    draw = np.random.default_rng(7)
    samples = (drawn(draw, words, 4 if odd_captions == 0 else 12, odd_captions) for _ in range(300))
    found = (sample.interval(crossed=odd_captions > 0) for sample in samples)
    assert 0.91 <= np.mean([low <= 0.5 <= high for low, high in found]) <= 0.985


def test_clusters_go_whole_and_strata_stay() -> None:
    """With words that never differ within a stratum there is nothing to vary."""
    sets = [name for name in ("pro", "anti", "non") for _ in range(10)]
    values = np.array([{"pro": 0.9, "anti": 0.3, "non": 0.6}[name] for name in sets])
    words = [f"{n % 10}{name == 'non'}" for n, name in enumerate(sets)]
    assert mean_interval(values, words, rng(), sets=sets) == pytest.approx((0.6, 0.6))


def test_a_small_set_counts_as_much_as_a_large_one() -> None:
    values = np.concatenate([np.random.default_rng(0).normal(0, 0.1, 400), np.random.default_rng(1).normal(1, 0.1, 10)])
    sets, words = ["large"] * 400 + ["small"] * 10, [str(n) for n in range(410)]
    low, high = mean_interval(values, words, rng(), sets=sets)
    assert values.mean() < low < 0.5 < high


def test_a_stratum_of_one_cluster_leaves_no_interval() -> None:
    values = np.random.default_rng(0).normal(size=21)
    sets, words = ["pro"] * 10 + ["anti"] * 10 + ["non"], [*map(str, range(10)), *map(str, range(10)), "alone"]
    assert np.isnan(mean_interval(values, words, rng(), sets=sets)).all()


def test_odd_captions_make_the_interval_wider_where_they_are_taken_for_a_sample() -> None:
    items = drawn(np.random.default_rng(0), words=60, odd_captions=0.5)
    low, high = items.interval(crossed=False)
    lower, higher = items.interval()
    assert lower < low < high < higher


@pytest.mark.parametrize(
    ("agreed", "unit", "wider"),
    [  # than the interval of a set that agrees on something other than a share: below, above
        (0.0, True, (False, True)),
        (1.0, True, (True, False)),
        (0.0, False, (True, True)),
        (-1.0, False, (False, True)),
    ],
)
def test_a_set_that_agrees_leaves_room_for_doubt(agreed: float, unit: bool, wider: tuple[bool, bool]) -> None:
    other = np.random.default_rng(0).integers(0, 2, 10).astype(float)
    sets, words = ["agreed"] * 10 + ["other"] * 10, [str(n) for n in range(20)]

    def around(value: float) -> tuple[float, float]:
        """How far the ends are from the value."""
        values = np.concatenate([np.full(10, value), other])
        low, high = mean_interval(values, words, rng(), sets=sets, unit=unit)
        return values.mean() - low, high - values.mean()

    (below, above), (least, most) = around(agreed), around(0.4)
    assert (below > least + 0.01, above > most + 0.01) == wider


@pytest.mark.parametrize("agreed", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("g", [2, 8, 60, 3_000])
def test_values_that_are_all_the_same_have_no_interval(agreed: float, g: int) -> None:
    found = mean_estimate(np.full(g, agreed), [str(i) for i in range(g)], np.random.default_rng(0))
    assert found.value == pytest.approx(agreed)
    assert not found.spans
    assert math.isnan(found.p)
    assert found.clusters == g


def test_labels_of_a_set_may_all_agree() -> None:
    clusters = [str(i) for i in range(60)]
    found = mean_estimate(np.ones(60), clusters, np.random.default_rng(0), sets=["pro"] * 60)
    assert found.spans
