"""One rule: interval and adjusted p, enough clusters, a model that is fit."""

import math
from dataclasses import replace

import numpy as np
import pytest

from evenhand.stats.estimate import Estimate
from evenhand.stats.intervals import clustered_interval
from evenhand.stats.significance import sign_flip_test
from evenhand.stats.verdict import ALPHA, FEWEST_CROSSED, adjust, change_side, clusters_needed, decide
from helpers.simulated import fewer_draws

LEANS = Estimate(0.3, 0.1, 0.5, 20, p=0.01, p_holm=0.04, clusters=20, needed=7, detectable=0.2)


def test_a_value_leans_where_its_interval_and_its_adjusted_p_say_so() -> None:
    assert decide(LEANS).side == 1
    assert decide(replace(LEANS, value=-0.3, low=-0.5, high=-0.1)).side == -1
    assert decide(LEANS, 0.6).side == -1
    assert [decide(LEANS, neutral).word for neutral in (0.0, 0.3, 0.6)] == ["above", "not shown", "below"]


@pytest.mark.parametrize(
    "change",
    [{"low": -0.1}, {"low": 0.0}, {"p_holm": 0.05}, {"p_holm": math.nan}],
)
def test_neither_alone_is_enough(change: dict[str, float]) -> None:
    found = decide(replace(LEANS, **change))  # type: ignore[arg-type]
    assert (found.side, found.why) == (0, "")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"value": math.nan}, "no value"),
        ({"clusters": 6}, "too few"),
        ({"needed": 0}, "untested"),
        ({"low": math.nan}, "no interval"),
        ({"low": 0.3, "high": 0.3}, "no interval"),
    ],
)
def test_where_the_rule_cannot_be_applied_it_says_why(change: dict[str, float], why: str) -> None:
    found = decide(replace(LEANS, **change))  # type: ignore[arg-type]
    assert (found.side, found.why, found.word) == (0, why, why)


def test_an_unfit_model_and_a_level_have_numbers_and_no_verdict() -> None:
    assert decide(LEANS, objection="unfit").why == "unfit"
    assert decide(LEANS, objection="not examined").word == "not examined"
    assert decide(LEANS, math.nan).why == "untested"


@pytest.mark.parametrize(("rows", "clusters"), [(1, 6), (2, 7), (3, 7), (4, 8), (6, 8), (10, 9)])
def test_enough_clusters_are_those_with_which_every_sign_flipped_passes(rows: int, clusters: int) -> None:
    assert clusters_needed(rows) == clusters
    assert rows * 2.0 ** (1 - clusters) < ALPHA <= rows * 2.0 ** (2 - clusters)


def test_adjusting_is_over_the_rows_that_have_a_p() -> None:
    rows = [replace(LEANS, p=p) for p in (0.01, math.nan, 0.04)]
    first, without, last = adjust(rows)
    assert (first.p_holm, last.p_holm) == pytest.approx((0.02, 0.04))
    assert math.isnan(without.p_holm)
    assert without.needed == clusters_needed(2)  # it may have too few clusters, and is not "untested"
    assert first.needed == clusters_needed(2)
    assert first.detectable > adjust(rows[:1])[0].detectable
    assert adjust(rows, crossed=True)[0].needed == FEWEST_CROSSED
    assert adjust([]) == []


def test_a_change_follows_the_same_rule() -> None:
    assert change_side(-0.3, -0.1, 0.01, 20, 6) == -1
    assert change_side(0.1, 0.3, 0.01, 20, 6) == 1
    assert change_side(0.1, 0.3, 0.06, 20, 6) == 0
    assert change_side(-0.1, 0.3, 0.01, 20, 6) == 0
    assert change_side(0.1, 0.3, 0.01, 5, 6) == 0


@pytest.mark.parametrize(("rows", "words"), [(4, 5), (4, 8), (3, 20), (10, 12)])
def test_a_table_of_nothing_makes_a_claim_in_at_most_one_case_of_twenty(rows: int, words: int) -> None:
    """Families of rows, each of words with effects of their own around 0."""
    draw, tries, claims = np.random.default_rng(rows * words), 100, 0
    clusters = [str(i) for i in np.repeat(range(words), 3)]
    with fewer_draws():
        for _ in range(tries):
            family = []
            for _ in range(rows):
                values = np.repeat(draw.normal(size=words), 3) + 0.3 * draw.normal(size=3 * words)
                interval = clustered_interval(values, clusters, draw)
                p = sign_flip_test(values, clusters, draw, draws=999)
                family.append(Estimate(float(values.mean()), *interval, len(values), p=p, clusters=words))
            claims += any(decide(found).side for found in adjust(family))
    assert claims / tries <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / tries)
    if words < clusters_needed(rows):
        assert claims == 0
