"""A number with its interval."""

import math
from dataclasses import dataclass


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

    @property
    def known(self) -> bool:
        """Whether there is a value."""
        return not math.isnan(self.value)

    @property
    def spans(self) -> bool:
        """Whether there is an interval."""
        return not (math.isnan(self.low) or math.isnan(self.high))

    def side(self, neutral: float = 0.0) -> int:
        """Which side of `neutral` it is on: see `side`."""
        return side(self.low, self.high, neutral)

    def shown(self, form: str = "+.3f") -> str:
        """The value, then its interval; a dash for what there is none of."""
        return f"{self.number(form)} {self.interval(form)}"

    def number(self, form: str = "+.3f") -> str:
        """The value alone."""
        return format(self.value, form) if self.known else "–"

    def interval(self, form: str = "+.3f") -> str:
        """The interval alone."""
        return f"[{self.low:{form}}, {self.high:{form}}]" if self.spans else "–"
