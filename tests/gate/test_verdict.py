"""One rule for every bound: an interval is within, outside, or neither."""

import math

import pytest

from evenhand.gate.verdict import judge_interval


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (-0.5, 0.5, "pass"),  # ends that touch the bounds are within
        (-0.2, 0.3, "pass"),
        (0.5, 0.9, "undecided"),
        (-0.9, -0.5, "undecided"),
        (-0.9, 0.2, "undecided"),
        (-0.2, 0.9, "undecided"),
        (-0.9, 0.9, "undecided"),
        (0.51, 0.9, "fail"),
        (-0.9, -0.51, "fail"),
        (math.nan, 0.2, "undecided"),
        (0.1, math.nan, "undecided"),
    ],
)
def test_an_interval_is_judged_by_both_of_its_ends(low: float, high: float, verdict: str) -> None:
    assert judge_interval(low, high, -0.5, 0.5) == verdict
