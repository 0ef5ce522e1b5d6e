"""A number with its interval: which side of neutral it is on, and how it is printed."""

import math
from typing import Any

import pytest

from evenhand.stats.estimate import Estimate, side

NAN = math.nan


@pytest.mark.parametrize(
    ("low", "high", "neutral", "where"),
    [
        (0.1, 0.3, 0.0, 1),
        (-0.3, -0.1, 0.0, -1),
        (-0.1, 0.3, 0.0, 0),
        (0.0, 0.3, 0.0, 0),  # an end that touches neutral does not leave it out
        (-0.3, 0.0, 0.0, 0),
        (0.4, 0.49, 0.5, -1),
        (0.51, 0.6, 0.5, 1),
        (NAN, NAN, 0.0, 0),
        (0.1, 0.3, NAN, 0),
    ],
)
def test_a_side_is_where_the_whole_interval_lies(low: float, high: float, neutral: float, where: int) -> None:
    assert side(low, high, neutral) == where
    assert Estimate((low + high) / 2, low, high).side(neutral) == where


def test_what_there_is_none_of_is_a_dash() -> None:
    assert Estimate(0.25, 0.125, 0.5).shown("+.2f") == "+0.25 [+0.12, +0.50]"
    assert Estimate(0.25).shown(".2f") == "0.25 –"
    assert Estimate(NAN, note="no item was scored").shown() == "– –"


def test_in_brief_a_missing_interval_is_left_out() -> None:
    assert Estimate(0.25, 0.125, 0.5).brief("+.2f") == "+0.25 [+0.12, +0.50]"
    assert Estimate(0.25).brief(".2f") == "0.25"
    assert Estimate(NAN, 0.0, 1.0).brief() == "–"


def test_a_value_and_its_interval_may_each_be_missing() -> None:
    assert [(e.known, e.spans) for e in (Estimate(1.0, 0.0, 2.0), Estimate(1.0, 0.0), Estimate(NAN))] == [
        (True, True),
        (True, False),
        (False, False),
    ]


@pytest.mark.parametrize(
    "numbers",
    [
        {"low": 9.0, "high": -9.0},
        {"low": 1.5, "high": 9.0},
        {"value": NAN, "low": 0.0, "high": 1.0},
        {"value": math.inf},
        {"value": -1e300},
        {"high": math.inf, "low": 0.0},
        {"p": 7.0},
        {"p": -1.0},
        {"p_holm": 1.1},
        {"freedom": math.inf},
        {"detectable": math.inf},
    ],
)
def test_numbers_that_no_value_can_have_are_a_fault(numbers: dict[str, Any]) -> None:
    assert Estimate(**{"value": 1.0} | numbers).fault


@pytest.mark.parametrize("value", [0.0, 0.3, 1e60, -1e60, 1e-300])
def test_rounding_is_no_fault(value: float) -> None:
    up, down = math.nextafter(value, math.inf), math.nextafter(value, -math.inf)
    assert not Estimate(value, up, up, p=math.nextafter(1.0, 2.0), p_holm=-1e-17).fault
    assert not Estimate(value, down, down).fault
    assert not Estimate(NAN, note="no value").fault
