"""Intervals on a scale with the neutral value: the coordinates of the SVG that the template draws."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.runs.rows import Number
from evenhand.show.page.readings import WordedVerdict

WIDTH, MARGIN, LINE, FOOT = 320.0, 10.0, 18.0, 20.0
RADII = {"◔": 3, "◑": 4, "◕": 5, "●": 7}


@dataclass(frozen=True)
class Mark:
    """A value, as a dot at x, with its interval from `left` to `right`."""

    x: float
    left: float
    right: float
    y: float
    spans: bool
    number: int
    """The number of its run, from 1."""
    tone: str
    radius: int
    """The larger the lean, the larger its dot."""


@dataclass(frozen=True)
class IntervalScale:
    """A scale with the marks that the template draws on it, and its text for screen readers."""

    marks: tuple[Mark, ...]
    neutral: float | None
    at: str
    ends: tuple[str, str]
    height: float
    alt: str
    width: float = WIDTH

    @property
    def base(self) -> float:
        return self.height - FOOT

    @property
    def anchor(self) -> str:
        """The SVG text-anchor of the neutral value's label."""
        if self.neutral is None:
            return "middle"
        return "start" if self.neutral < WIDTH / 4 else "end" if self.neutral > WIDTH * 3 / 4 else "middle"


def domain(numbers: Sequence[Number], scale: tuple[float, float] | None, neutral: float) -> tuple[float, float]:
    """The ends of the scale: the measure's own, or round numbers that hold every interval, symmetric about neutral."""
    if scale is not None:
        return scale
    middle = 0.0 if math.isnan(neutral) else neutral
    known = [v for n in numbers for v in (n.value, n.low, n.high) if math.isfinite(v)]
    one_sided = not any(n.form[0] == "+" for n in numbers)
    reach = _round_up(max((abs(v - middle) for v in known), default=1.0))
    return (middle if known and min(known) >= middle and one_sided else middle - reach), middle + reach


def strip(
    numbers: Sequence[Number],
    ends: tuple[str, str],
    between: tuple[float, float],
    alt: str,
    verdicts: Sequence[WordedVerdict] = (),
) -> IntervalScale:
    """The values of one or more runs on one scale; each is marked by its verdict."""
    low, high = between

    def x(value: float) -> float:
        share = min(max((value - low) / (high - low), 0.0), 1.0)
        return round(MARGIN + share * (WIDTH - 2 * MARGIN), 1)

    marks = []
    for row, number in enumerate(numbers):
        if number.known and math.isfinite(number.value):
            y = LINE * row + LINE / 2
            left, right = (number.low, number.high) if number.spans else (number.value, number.value)
            verdict = verdicts[row] if verdicts else WordedVerdict("leans", "")
            radius = RADII.get(verdict.mark, 5)
            marks.append(Mark(x(number.value), x(left), x(right), y, number.spans, row + 1, verdict.tone, radius))
    neutral = next((n.neutral for n in numbers if not math.isnan(n.neutral)), math.nan)
    where, at = (x(neutral), f"{neutral:g}") if low <= neutral <= high else (None, "")
    return IntervalScale(tuple(marks), where, at, ends, LINE * len(numbers) + FOOT, alt)


def _round_up(value: float) -> float:
    """The next of 1, 2, 3, 5, 8 with zeros: 0.37 gives 0.5."""
    if value <= 0 or not math.isfinite(value):
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 3, 5, 8, 10) if step * power >= value * (1 - 1e-9))
