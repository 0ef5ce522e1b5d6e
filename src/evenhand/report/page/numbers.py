"""A number as the page shows it: value, interval, number of items, and format."""

import math
from dataclasses import asdict, dataclass

from evenhand.runs.record import RunRecord, TaskRecord
from evenhand.runs.values import ValueRecord
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


def number(row: ValueRecord, task: TaskRecord, run: RunRecord) -> Number:
    """A value of a run as a number, signed where it can be of either sign."""
    return Number(**asdict(row.estimate), neutral=row.at, signed=row.at == 0 and task.signed, unfit=run.unfit(task))


def probability(p: float) -> str:
    """A p-value as in papers: p = .012, p < .001."""
    if math.isnan(p):
        return NONE
    return "p < .001" if p < 0.001 else f"p = {p:.3f}".replace("0.", ".", 1)
