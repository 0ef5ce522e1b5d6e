"""The one rule behind every verdict: terminal, page, comparison and exports ask it, and nothing else decides.

A value leans if its 95 % interval excludes the neutral value and its p, adjusted by Holm over its family, is
below .05. Stereotype and default of all items are one family, the rows below them another; if stereotype and default
cannot be told apart, all rows of one dataset and measure are a family. A change counts if the same holds for the change
in distance from neutral. If too few words were tested for any result to pass, half of the items or more have no score,
the model is unfit, or the doctor was left out, there is no verdict.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from evenhand.stats.estimate import Estimate, side
from evenhand.stats.significance import detectable, holm

ALPHA = 0.05
FEWEST_CROSSED = 3
"""The fewest clusters on a side of a crossed design: with two, t has one degree of freedom and decides nothing."""
FAMILY = "p, adjusted by Holm over the rows that are judged together"
RULE = (
    "the 95 % interval excludes the neutral value, even allowing for the number of rows judged together (p, adjusted "
    "by Holm, below .05)"
)

TESTS = ("p", "p_holm", "clusters", "freedom", "needed", "detectable")
"""The fields of an estimate that its verdict rests on, besides the value and its interval."""

MOST_UNSCORED = 0.5
"""From this share of items without a score on there is no verdict: the others may be of another sort."""

AnyEstimate = TypeVar("AnyEstimate", bound=Estimate)
Objection = Literal["", "unfit", "not examined"]
"""What the doctor says against a verdict: the model is unfit, or the doctor was left out."""
Reason = Literal[Objection, "no value", "unscored", "untested", "no interval", "too few"]


@dataclass(frozen=True, slots=True)
class Lean:
    """The side of neutral that a value leans to: 1 above, -1 below, 0 for none; `why` says why there is no verdict."""

    side: int
    why: Reason = ""

    @property
    def word(self) -> str:
        """above, below, not shown; or why there is no verdict."""
        return self.why or {-1: "below", 0: "not shown", 1: "above"}[self.side]


def decide(estimate: Estimate, neutral: float = 0.0, *, objection: Objection = "") -> Lean:
    """Apply the rule to an estimate whose p was adjusted by `adjust`."""
    if not estimate.known:
        return Lean(0, "no value")
    if objection:
        return Lean(0, objection)
    if not estimate.needed or math.isnan(neutral):
        return Lean(0, "untested")
    if estimate.unscored and estimate.unscored >= MOST_UNSCORED * (estimate.n + estimate.unscored):
        return Lean(0, "unscored")
    if estimate.clusters < estimate.needed:
        return Lean(0, "too few")
    if not estimate.spans or estimate.low == estimate.high:  # an interval of no width: all scores were the same
        return Lean(0, "no interval")
    return Lean(estimate.side(neutral) if estimate.p_holm < ALPHA else 0)


def change_side(low: float, high: float, p_holm: float, clusters: int, needed: int, *, unfit: bool = False) -> int:
    """The rule for a change with the interval `low` to `high`: 1 if it is shown to be above 0, -1 if below, else 0.

    For a change of the distance from neutral, 1 is farther and -1 nearer. `unfit`: a model is unfit to be measured.
    """
    return side(low, high) if clusters >= needed and p_holm < ALPHA and not unfit else 0


def clusters_needed(rows: int, *, crossed: bool = False) -> int:
    """How many clusters a family of `rows` rows needs: flipping the signs of g clusters gives p = 2^(1 - g) at best.

    `crossed`: its p are of a t.
    """
    return FEWEST_CROSSED if crossed else math.floor(math.log2(2 * rows / ALPHA)) + 1


def adjust(family: Sequence[AnyEstimate], *, crossed: bool = False) -> list[AnyEstimate]:
    """The estimates of one family with p adjusted, what they could have detected, and how many clusters they need."""
    rows = max(1, sum(not math.isnan(row.p) for row in family))
    needed = clusters_needed(rows, crossed=crossed)
    adjusted = list(family)
    for place, (row, p) in enumerate(zip(family, holm([row.p for row in family]), strict=True)):
        if row.known:
            least = detectable(row.low, row.high, row.freedom, row.clusters, rows=rows)
            adjusted[place] = replace(row, p_holm=p, needed=needed, detectable=least)
    return adjusted


MARKS = {"negligible": "◔", "small": "◑", "clear": "◕", "large": "●"}
"""The sizes in ascending order, each with its sign: a fuller circle is a larger size."""
NO_SIZE = "■"
SHARES, ODDS = (0.02, 0.05, 0.15), (1.05, 1.2, 2.0)
"""The limits between sizes: distances of shares and probabilities from neutral, and ratios of odds."""
OF_SHARES = ("proportion", "probability", "difference of shares", "difference of probabilities")
"""Units of values that lie between 0 and 1, and of their differences."""
SIZES = (
    f"{', '.join(f'{sign} {word}' for word, sign in MARKS.items())}: how large at least, by the interval's end nearer "
    f"to neutral. The limits are evenhand's own: {', '.join(f'{limit:g}'[1:] for limit in SHARES)} for shares, odds "
    f"times {', '.join(f'{limit:g}' for limit in ODDS)}; {NO_SIZE} in other units"
)


def size(estimate: Estimate, neutral: float, unit: str) -> str:
    """The size, in a word, of a value whose interval excludes neutral; empty if it does not, or the unit has no sizes.

    It is the least size that the data support: the end of the interval that is nearer to neutral decides.
    """
    side = estimate.side(neutral) if estimate.spans else 0
    if not side:
        return ""
    near = estimate.low if side > 0 else estimate.high
    if unit in OF_SHARES:
        return list(MARKS)[bisect_right(SHARES, abs(near - neutral))]
    if unit not in ("nats", "ratio"):
        return ""
    near = math.log(max(near, 1e-300) / neutral) + neutral if unit == "ratio" and neutral else near
    return list(MARKS)[bisect_right([math.log(limit) for limit in ODDS], abs(near - neutral))]
