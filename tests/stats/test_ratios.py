"""Means of ratios: by hand, by their derivatives, and by how often their intervals cover the truth."""

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from scipy import special

from evenhand.stats.intervals import Floats
from evenhand.stats.mean_intervals import mean_test
from evenhand.stats.ratios import mean_of_ratios

SUBJECTS, FORMS, TEXTS, DRAWS = 30, 6, 8, 300


def test_it_is_the_mean_over_members_of_weighted_ratios_by_hand() -> None:
    values, weights = np.array([1.0, 0.0, 0.5, 0.2]), np.array([3.0, 1.0, 0.5, 0.1])
    found = mean_of_ratios(values, weights, ["a", "a", "b", "a"])
    a, b = (3 * 1.0 + 1 * 0.0 + 0.1 * 0.2) / 4.1, 0.5
    mean = (a + b) / 2
    assert found.mean() == pytest.approx(mean)
    wanted = [  # N / P = 4 / 2
        mean + 2 * ((a - mean) / 3 + 3 / 4.1 * (1.0 - a)),
        mean + 2 * ((a - mean) / 3 + 1 / 4.1 * (0.0 - a)),
        mean + 2 * (b - mean),
        mean + 2 * ((a - mean) / 3 + 0.1 / 4.1 * (0.2 - a)),
    ]
    assert found == pytest.approx(wanted)


def test_with_equal_weights_it_is_the_plain_mean_of_members() -> None:
    values = np.array([1.0, 0.0, 0.5, 0.2, 0.9])
    members = ["a", "a", "b", "a", "b"]
    for weight in (1.0, 0.3):
        found = mean_of_ratios(values, np.full(5, weight), members)
        assert found.mean() == pytest.approx(((1.0 + 0.0 + 0.2) / 3 + (0.5 + 0.9) / 2) / 2)


def test_with_equal_weights_and_sizes_the_numbers_are_the_values() -> None:
    values = np.array([0.1, 0.9, 0.4, 0.8])
    assert mean_of_ratios(values, np.full(4, 0.7), ["a", "b", "a", "b"]) == pytest.approx(values)


def test_only_the_weights_within_a_member_matter() -> None:
    rng = np.random.default_rng(1)
    values, weights, which = rng.random(12), rng.uniform(0.1, 1, 12), np.repeat([0, 1, 2], 4)
    members = [str(k) for k in which]
    scaled = weights * np.array([1.0, 20.0, 0.05])[which]
    assert mean_of_ratios(values, scaled, members) == pytest.approx(mean_of_ratios(values, weights, members))
    other = weights * np.tile([1.0, 20.0, 0.05, 1.0], 3)
    assert mean_of_ratios(values, other, members).mean() != pytest.approx(
        mean_of_ratios(values, weights, members).mean()
    )


def test_order_does_not_matter_and_a_weight_of_0_leaves_an_item_out() -> None:
    rng = np.random.default_rng(2)
    values, weights = rng.random(10), rng.uniform(0.1, 1, 10)
    members, order = list("aabbbccccc"), rng.permutation(10)
    shuffled = mean_of_ratios(values[order], weights[order], [members[k] for k in order])
    assert shuffled == pytest.approx(mean_of_ratios(values, weights, members)[order])
    weights[1] = 0.0
    without = mean_of_ratios(np.delete(values, 1), np.delete(weights, 1), [*"abbbccccc"]).mean()
    assert mean_of_ratios(values, weights, members).mean() == pytest.approx(without)


def test_each_number_is_what_a_little_more_of_its_item_would_change() -> None:
    """The derivative of the mean by how often an item counts, which also says how much its member counts."""
    rng = np.random.default_rng(3)
    values, weights, members = rng.random(11), rng.uniform(0.1, 1, 11), np.array([*"aabbbbccccc"])

    def mean(times: Floats) -> float:
        shares, ratios = [], []
        for member in "abc":
            mine = members == member
            shares.append(times[mine].mean())
            ratios.append((times * weights * values)[mine].sum() / (times * weights)[mine].sum())
        return float(np.average(ratios, weights=shares))

    found = mean_of_ratios(values, weights, members.tolist())
    for item in range(11):
        step = 1e-6 * (np.arange(11) == item)
        slope = (mean(1 + step) - mean(1 - step)) / 2e-6
        assert found[item] - found.mean() == pytest.approx(11 * slope, abs=1e-6)


def chances(subject: Floats, form: Floats) -> tuple[Floats, Floats]:
    """P(a text is about a woman), and P(it says whether it is): both go up with the same effects."""
    return special.expit(0.4 + 0.8 * subject + 0.4 * form), special.expit(0.3 + 0.8 * subject + 0.8 * form)


class Draw(NamedTuple):
    value: float
    low: float
    high: float
    narrow_low: float
    narrow_high: float


@cache
def draws() -> list[Draw]:
    """Estimates of 30 subjects in 6 forms, with the interval over subjects and forms, and over subjects alone."""
    found = []
    for seed in range(DRAWS):
        rng = np.random.default_rng([seed, 7])
        subject, form = np.repeat(np.arange(SUBJECTS), FORMS), np.tile(np.arange(FORMS), SUBJECTS)
        woman, says = chances(rng.normal(size=SUBJECTS)[subject], rng.normal(size=FORMS)[form])
        told = rng.binomial(TEXTS, says)
        some = told > 0
        scores, weights = rng.binomial(told, woman)[some] / told[some], told[some] / TEXTS
        clusters, crossed = ([str(k) for k in way[some]] for way in (subject, form))
        numbers = mean_of_ratios(scores, weights, clusters)
        wide = mean_test(numbers, clusters, rng, crossed=[crossed], unit=True, neutral=0.5)
        one = mean_test(numbers, clusters, rng, sets=[""] * len(numbers), unit=True, neutral=0.5)
        found.append(Draw(float(numbers.mean()), wide.low, wide.high, one.low, one.high))
    return found


def truths() -> tuple[float, float]:
    """The mean over subjects of the ratio of expectations over forms; and the mean of all shares, without weights."""
    effects = special.ndtri((np.arange(400) + 0.5) / 400)
    woman, says = chances(effects[:, None], effects[None, :])
    return float(((woman * says).mean(axis=1) / says.mean(axis=1)).mean()), float(woman.mean())


def test_intervals_over_subjects_and_forms_cover_the_mean_of_ratios_of_expectations() -> None:
    true, unweighted = truths()
    covered = np.mean([draw.low <= true <= draw.high for draw in draws()])
    assert 0.9 <= covered <= 0.99
    values = np.array([draw.value for draw in draws()])
    error = values.std(ddof=1) / np.sqrt(DRAWS)
    assert abs(values.mean() - true) < 3 * error + 0.005  # a ratio of six forms is a little biased
    assert abs(values.mean() - unweighted) > 5 * error  # and is not what a mean without weights would be


def test_intervals_over_subjects_alone_would_be_too_narrow() -> None:
    true, _ = truths()
    assert np.mean([draw.narrow_low <= true <= draw.narrow_high for draw in draws()]) < 0.88
