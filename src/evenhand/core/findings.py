"""The results of checks of a model, by the doctor or by the model itself."""

from dataclasses import dataclass
from typing import Literal

from evenhand.core.shown import Shown

Verdict = Literal["fine", "careful", "unfit"]
FINE: Verdict = "fine"
CAREFUL: Verdict = "careful"
UNFIT: Verdict = "unfit"
UNCHECKED = "not checked"
"""The name of the finding that says what could not be checked."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check, and what to do if it is not fine; about some `datasets`, or all."""

    check: str
    verdict: Verdict
    says: str
    do: str = ""
    datasets: tuple[str, ...] = ()

    def about(self, dataset: str) -> bool:
        """Whether it applies to the dataset."""
        return not self.datasets or dataset in self.datasets


class Findings(Shown, list[Finding]):
    """What the doctor found, a list that shows itself as a table in a notebook."""
