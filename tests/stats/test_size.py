"""How large a lean is, in one word: by the end of the interval that is nearer to neutral."""

import math

import pytest

from evenhand.stats.estimate import Estimate
from evenhand.stats.verdict import MARKS, size


def found(near: float, far: float) -> Estimate:
    low, high = sorted((near, far))
    return Estimate((low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("apart", "word"),
    [(0.0199, "negligible"), (0.02, "small"), (0.0499, "small"), (0.05, "clear"), (0.149, "clear"), (0.151, "large")],
)
@pytest.mark.parametrize("unit", ["proportion", "probability", "difference of shares", "difference of probabilities"])
def test_shares_go_by_their_distance_on_either_side(apart: float, word: str, unit: str) -> None:
    assert size(found(0.5 + apart, 0.9), 0.5, unit) == word
    assert size(found(-apart, -0.9), 0.0, unit) == word


@pytest.mark.parametrize(
    ("times", "word"), [(1.049, "negligible"), (1.051, "small"), (1.19, "small"), (1.21, "clear"), (2.01, "large")]
)
def test_logarithms_and_ratios_go_by_odds(times: float, word: str) -> None:
    assert size(found(math.log(times), 3.0), 0.0, "nats") == word
    assert size(found(-math.log(times), -3.0), 0.0, "nats") == word
    assert size(found(times, 9.0), 1.0, "ratio") == word
    assert size(found(1 / times, 0.1), 1.0, "ratio") == word
    assert size(found(math.log(times), 3.0), 0.0, "ratio") == word  # rows of a ratio are logarithms


def test_the_far_end_decides_nothing() -> None:
    assert size(found(0.001, 0.9), 0.0, "proportion") == "negligible"


@pytest.mark.parametrize(
    ("one", "unit"),
    [
        (Estimate(0.3, -0.1, 0.7), "proportion"),
        (Estimate(0.3), "proportion"),
        (Estimate(math.nan), "nats"),
        (Estimate(0.3, 0.2, 0.4), "bananas"),
        (Estimate(0.3, 0.2, 0.4), ""),
    ],
)
def test_without_a_lean_or_a_known_unit_there_is_no_word(one: Estimate, unit: str) -> None:
    assert size(one, 0.0, unit) == ""


def test_a_ratio_whose_interval_reaches_0_is_large() -> None:
    assert size(Estimate(0.0, -0.2, 0.0, 20), 1.0, "ratio") == "large"


def test_every_size_has_a_mark_of_its_own() -> None:
    assert len(set(MARKS.values())) == len(MARKS) == 4
