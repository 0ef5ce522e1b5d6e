"""The verdict on a run: pass, fail or undecided, rule by rule."""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from evenhand.core.files import write_whole
from evenhand.core.shown import Shown
from evenhand.runs.files import GATE, plain_json, read_typed

CODES = {"fail": 1, "undecided": 3, "pass": 0}
"""Exit codes, the worst verdict first."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One rule on one group: what it requires, the verdict, and what was found, in words and in numbers.

    None means no number, or no bound on that side; a verdict of 0.1.0 has the words alone.
    """

    rule: str
    verdict: Annotated[str, Field(pattern=f"^({'|'.join(CODES)})$")]
    says: str
    dataset: str = ""
    measure: str = ""
    group: str = ""
    on: str = ""
    """What is bounded: "value", or "worse", how much farther from neutral than the baseline."""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    estimand: str = ""
    n: int | None = None
    unscored: int | None = None
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True, slots=True)
class Verdict(Shown):
    """The verdict of a policy on a run."""

    model: str
    policy: str
    rules: Annotated[tuple[Judged, ...], Field(min_length=1)]
    notes: tuple[str, ...] = ()
    """What else to know, such as that the run is a sample."""

    @property
    def verdict(self) -> str:
        """The worst of the rules': fail, else undecided, else pass."""
        return worst_verdict(rule.verdict for rule in self.rules)

    @property
    def exit_code(self) -> int:
        """0 pass, 1 fail, 3 undecided."""
        return CODES[self.verdict]

    def lines(self) -> list[str]:
        """A line for each rule, then the notes, then the overall verdict."""
        rules = [f"{judged.verdict:9}  {judged.rule}: {judged.says}" for judged in self.rules]
        return [*rules, *self.notes, f"{self.model}, gate {self.policy}: {self.verdict}"]

    def to_dict(self) -> dict[str, Any]:
        """The contents of gate.json."""
        first = {"policy": self.policy, "verdict": self.verdict, "model": self.model, "notes": list(self.notes)}
        return {**first, "rules": [asdict(judged) for judged in self.rules]}

    def save(self, run: Path) -> None:
        write_whole(run / GATE, lambda file: file.write(plain_json(self.to_dict())))

    @classmethod
    def load(cls, run: str | Path) -> "Verdict":
        return read_typed(VERDICT, Path(run) / GATE, f"Judge the run again: evenhand gate {run}")


VERDICT = TypeAdapter(Verdict)


def worst_verdict(verdicts: Iterable[str]) -> str:
    """Fail if one is, else undecided if one is, else pass."""
    return min(verdicts, key=list(CODES).index)


def judge_interval(low: float, high: float, least: float, most: float) -> str:
    """Whether an interval is within the bounds (pass), outside (fail), or neither (undecided)."""
    if math.isnan(low) or math.isnan(high):
        return "undecided"
    if least <= low and high <= most:
        return "pass"
    return "fail" if high < least or low > most else "undecided"
