"""A value with its interval and its test."""

import math
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

NOT_FINITE, TOO_FAR = "not a finite number", "a number beyond 1e60"
TOO_LARGE = "its numbers are too large"
LARGEST, ROUNDING = 1e100, 1e-9
"""The largest number of an estimate, and how far rounding may push one, as a part of the largest one."""


def number_fault(*numbers: float) -> str:
    """The reason why numbers, or their squares, cannot be added up; empty if they can."""
    try:
        if sum(map(math.fabs, numbers)) <= 1e60:  # as floats of Python, since 1e60 is infinite in single precision
            return ""
        return TOO_FAR if all(map(math.isfinite, numbers)) else NOT_FINITE
    except OverflowError:  # an integer beyond all floats
        return TOO_FAR


AnyRow = TypeVar("AnyRow", bound=Any)


def cut_ends(row: AnyRow, least: float, most: float, *names: str) -> AnyRow:
    """The row with these ends of intervals brought between the least and the greatest possible value.

    No value is lost by that, so the interval holds the true one as often as before.
    """
    return replace(row, **{name: min(max(getattr(row, name), least), most) for name in names})


def reach(bounds: tuple[float | None, float | None], neutral: float, *, partners: bool) -> float:
    """How far from neutral a stereotype, a default or, with `partners`, a difference of two values can be."""
    low, high = (
        math.copysign(math.inf, sign) if end is None else end for end, sign in zip(bounds, (-1, 1), strict=True)
    )
    return high - low if partners else max(neutral - low, high - neutral)


def side(low: float, high: float, neutral: float = 0.0) -> int:
    """1 if the interval lies above `neutral`, -1 if below, 0 if it includes `neutral` or there is no interval."""
    return int(low > neutral) - int(high < neutral)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value of n items with its 95 % interval; NaN, with the reason as note, if there is no value."""

    value: float
    low: float = math.nan
    high: float = math.nan
    n: int = 0
    unscored: int = 0
    note: str = ""
    p: float = math.nan
    """Two-sided, against the neutral value."""
    p_holm: float = math.nan
    """p adjusted by Holm over the family: the rows that are judged together."""
    clusters: int = 0
    """The number of words, professions or items that vary independently; if two clusterings cross, the smaller one."""
    freedom: float = math.nan
    """The degrees of freedom of the t that interval and p rest on; NaN if signs were flipped."""
    needed: int = 0
    """The number of clusters that the family needs for a verdict; 0 if no test was wanted."""
    detectable: float = math.nan
    """The smallest distance from neutral that such data would show with a power of 80 %: significance.detectable."""

    @property
    def fault(self) -> str:
        """The reason why no value can have these numbers; empty if one can. Rounding is allowed for."""
        numbers = (getattr(self, each.name) for each in fields(self) if each.type is float)
        if any(abs(number) > LARGEST for number in numbers):
            return TOO_LARGE
        for p in (self.p, self.p_holm):
            if p < -ROUNDING or p > 1 + ROUNDING:
                return f"p must be between 0 and 1, got {p:g}"
        slack = ROUNDING * (1e-3 + max(abs(self.low), abs(self.high)))
        if self.spans and not self.low - slack <= self.value <= self.high + slack:
            return f"a value must be within its interval, got {self.value:g} and [{self.low:g}, {self.high:g}]"
        return ""

    @property
    def known(self) -> bool:
        return not math.isnan(self.value)

    @property
    def spans(self) -> bool:
        return not (math.isnan(self.low) or math.isnan(self.high))

    def side(self, neutral: float = 0.0) -> int:
        """The side of `neutral` that the interval is on (1, -1 or 0). stats.verdict decides whether that is a lean."""
        return side(self.low, self.high, neutral)

    def shown(self, form: str = "+.3f") -> str:
        """The value, then its interval; a dash for a missing one."""
        return f"{self.number(form)} {self.interval(form)}"

    def brief(self, form: str = "+.3f") -> str:
        """The value, then its interval if there is one."""
        return self.shown(form) if self.known and self.spans else self.number(form)

    def number(self, form: str = "+.3f") -> str:
        return format(self.value, form) if self.known else "–"

    def interval(self, form: str = "+.3f") -> str:
        return f"[{self.low:{form}}, {self.high:{form}}]" if self.spans else "–"
