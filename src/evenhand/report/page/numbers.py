"""A number as the page shows it: value, interval, number of items, and format."""

import math
from dataclasses import dataclass, field, fields, replace
from typing import Any

from evenhand.runs.rows import Row
from evenhand.stats.estimate import Estimate
from evenhand.stats.verdict import Verdict, decide

NONE = "–"


@dataclass(frozen=True)
class Number(Estimate):
    """An estimate as the page shows it, with its neutral value."""

    neutral: float = 0.0
    signed: bool = True
    unfit: bool = False
    """Whether the model is unfit to be measured, so that its numbers allow no verdict."""
    here: Estimate = field(default_factory=lambda: Estimate(math.nan))
    """The same with the interval in these sentences, where its own covers others."""
    unit: str = ""
    prior: float = math.nan
    """The mean log odds without the attribute: core.scores.Value."""

    @property
    def narrow(self) -> str:
        """The interval in these sentences, in words; empty where the number's own is no wider."""
        return f"in these sentences {self.here.interval(self._form)}" if self.here.spans else ""

    @property
    def text(self) -> str:
        """The value; a dash where there is none."""
        return self.number(self._form)

    @property
    def brackets(self) -> str:
        """Low and high in brackets; a dash where there is no interval."""
        return self.interval(self._form)

    @property
    def verdict(self) -> Verdict:
        """Which side of the neutral value it leans to, by the one rule."""
        return decide(self, self.neutral, unfit=self.unfit)

    @property
    def _form(self) -> str:
        return "+.3f" if self.signed else ".3f"


def number(row: Row) -> Number:
    """A row of a run as a number."""
    known: Any = {each.name: getattr(row, each.name) for each in fields(Estimate)}
    found = replace(Number(**known), neutral=row.neutral, signed=row.form[0] == "+", unfit=row.unfit)
    return replace(found, here=row.narrow, prior=row.prior, unit=row.task.unit)


def probability(p: float) -> str:
    """A p-value as in papers: p = .012, p < .001."""
    if math.isnan(p):
        return NONE
    return "p < .001" if p < 0.001 else f"p = {p:.3f}".replace("0.", ".", 1)
