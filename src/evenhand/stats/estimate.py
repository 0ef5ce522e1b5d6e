"""A number with its interval and its test."""

import math
from dataclasses import dataclass

NOT_FINITE, TOO_FAR = "not a finite number", "a number beyond 1e60"


def number_fault(*numbers: float) -> str:
    """Why the numbers, or their squares, cannot be added up; empty where they can."""
    if float(sum(map(abs, numbers))) <= 1e60:  # a float, as 1e60 is infinite among numpy's float32
        return ""
    return TOO_FAR if all(map(math.isfinite, numbers)) else NOT_FINITE


def side(low: float, high: float, neutral: float = 0.0) -> int:
    """1 where the interval lies above `neutral`, -1 where it lies below, 0 where it includes it or there is none."""
    return int(low > neutral) - int(high < neutral)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95 % interval, of n items; NaN, with the reason as note, where there is none."""

    value: float
    low: float = math.nan
    high: float = math.nan
    n: int = 0
    unscored: int = 0
    note: str = ""
    p: float = math.nan
    """Two-sided, against the neutral value."""
    p_holm: float = math.nan
    """The same, adjusted by Holm over the family: the rows of the same dataset and measure."""
    clusters: int = 0
    """How many words, professions or items vary independently; the smaller count where two sets of clusters cross."""
    freedom: float = math.nan
    """The degrees of freedom of the t that interval and p rest on; NaN where signs were flipped."""
    needed: int = 0
    """How many clusters the family needs for a verdict; 0 where no test was wanted."""
    detectable: float = math.nan
    """The smallest distance from neutral that such data show in four cases of five: stats.significance.detectable."""

    @property
    def known(self) -> bool:
        return not math.isnan(self.value)

    @property
    def spans(self) -> bool:
        return not (math.isnan(self.low) or math.isnan(self.high))

    def side(self, neutral: float = 0.0) -> int:
        """Which side of `neutral` the interval is on: see `side`. Whether that is a lean, stats.verdict decides."""
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
