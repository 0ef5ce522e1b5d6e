"""What a number says, in plain words."""

import math
from dataclasses import dataclass

from evenhand.report.page.numbers import Number
from evenhand.report.page.readings import Reading

MARKS = {"leans": "●", "undecided": "○", "right": "✓", "level": "◇", "none": "–"}


@dataclass(frozen=True)
class Verdict:
    """A tone, by which it is marked, and what to say."""

    tone: str
    short: str
    because: str = ""
    much: str = ""

    @property
    def says(self) -> str:
        """The verdict and its ground."""
        return f"{self.short}: {self.because}" if self.because else self.short

    @property
    def mark(self) -> str:
        """A sign beside the words, so that a glance is enough."""
        return MARKS[self.tone]


def verdict(number: Number, reading: Reading) -> Verdict:
    """The verdict is read off the interval: it leaves the neutral value out, or it does not decide."""
    if not number.known:
        return Verdict("none", "no value", number.note or "no item could be scored")
    much = reading.how_much(number.value)
    if reading.kind == "mixed":
        return Verdict("level", "mixed by design", "some of these words call for he, others for she; read it by group")
    if reading.kind == "size":
        return Verdict("level", "no model reaches 0", "compare with other models", much)
    if reading.kind == "level" or math.isnan(number.neutral):
        return Verdict("level", "a level", "no value is the neutral one", much)
    at = f"{number.neutral:g}"
    if not number.spans:
        return Verdict("undecided", "no interval", "there is too little to say how sure this is", much)
    below, above = reading.leans
    if number.side == 0:
        nothing = "not shown to know it" if reading.kind == "knowledge" else "no lean shown"
        return Verdict("undecided", nothing, f"the interval includes {at}", much)
    says = above if number.side > 0 else below
    tone = "right" if reading.kind == "knowledge" and number.side > 0 else "leans"
    return Verdict(tone, says or "beyond the neutral value", f"the interval leaves out {at}", much)
