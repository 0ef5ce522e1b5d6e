"""Before and after: what was gained, what was lost, beside each other."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from evenhand.analysis.change import FEMALE_MALE, changed
from evenhand.analysis.ranking import mixed
from evenhand.core.measure import LAST, Better
from evenhand.report.page.numbers import Number, probability
from evenhand.runs.folder import Run
from evenhand.runs.record import TaskRecord

SURE = 0.05


@dataclass(frozen=True)
class Move:
    """A change with its interval, its p, adjusted by Holm over all of them, and which way it went."""

    dataset: str
    measure: str
    group: str
    before: Number
    after: Number
    change: Number
    p: float
    p_holm: float
    rank: int
    better: Better
    way: str
    """gained, lost, changed (a level that moved), or same (no change shown)."""

    @property
    def main(self) -> bool:
        """Does it say by itself whether bias shrank or grew? The table has the others, too."""
        return self.rank < LAST and not self.knows

    @property
    def knows(self) -> bool:
        """Is it about what a model should know, rather than about bias?"""
        return self.better == "higher"

    @property
    def short(self) -> str:
        """What happened, in a few words."""
        if self.way == "same":
            return "no change shown"
        if self.better == "higher":
            return "knows more than before" if self.way == "gained" else "knows less than before"
        if self.way == "changed":
            return "rose" if self.change.value > 0 else "fell"
        return "nearer to neutral" if self.way == "gained" else "farther from neutral"

    @property
    def says(self) -> str:
        """The same with its ground."""
        return f"{self.short}: the interval {'includes' if self.way == 'same' else 'leaves out'} 0"

    @property
    def sure(self) -> bool:
        """Is it beyond chance among all comparisons, too?"""
        return self.p_holm < SURE

    @property
    def chance(self) -> str:
        """The p over all comparisons, where a change is shown at all."""
        return "" if self.way == "same" or math.isnan(self.p_holm) else f"{probability(self.p_holm)}, adjusted"


def moves(changes: pd.DataFrame, run: Run) -> dict[tuple[str, ...], Move]:
    """The rows of analysis.change.changed by dataset, measure and group; `run` is one of the two."""
    found: dict[tuple[str, ...], Move] = {}
    neutral = {task.name: _neutral(run, task) for task in run.record.tasks}
    for row in changes.to_dict("records"):
        dataset, measure, group = (str(row[name]) for name in ("dataset", "measure", "group"))
        task = run.task(dataset, measure.removesuffix(FEMALE_MALE))
        paired = measure.endswith(FEMALE_MALE)
        change = Number(float(row["change"]), float(row["low"]), float(row["high"]))
        zero = 0.0 if paired else neutral[task.name]
        signed = zero != 0.5 and (paired or task.signed)
        before, after = (Number(float(row[name]), neutral=zero, signed=signed) for name in ("before", "after"))
        way = _way(task.better, before.value, after.value, change, zero)
        numbers = (before, after, change, float(row["p"]), float(row["p_holm"]))
        found[dataset, measure, group] = Move(dataset, measure, group, *numbers, task.rank, task.better, way)
    return found


def _neutral(run: Run, task: TaskRecord) -> float:
    """The value that nearer and farther refer to; NaN where they have no meaning."""
    neutral = run.values_of(*task.name)[0].neutral
    return math.nan if neutral is None or mixed(run.scores_of(*task.name), task) else neutral


def _way(better: Better, before: float, after: float, change: Number, neutral: float) -> str:
    if change.leans == 0:
        return "same"
    if better == "higher":
        return "gained" if change.leans > 0 else "lost"
    if math.isnan(neutral):
        return "changed"
    return "gained" if abs(after - neutral) < abs(before - neutral) else "lost"


@dataclass(frozen=True)
class Language:
    """The pseudo-perplexity before and after; the change of its logarithm."""

    before: float
    after: float
    change: Number
    p: float
    sentences: int

    @property
    def percent(self) -> str:
        """By how much the perplexity rose."""
        return f"{100 * (math.exp(self.change.value) - 1):+.0f} %"

    @property
    def says(self) -> str:
        """What happened, in a few words."""
        if self.change.leans > 0:
            return "its language got worse"
        return "its language got better" if self.change.leans < 0 else "no loss shown: the interval includes 0"


class Changed:
    """All moves between two runs, and the record of the debiasing between them, where there is one."""

    def __init__(self, runs: Sequence[Run], record: Mapping[str, Any] | None):
        self.moves = moves(changed(runs[0], runs[1]), runs[0])
        self.record = record

    @property
    def gained(self) -> list[Move]:
        """Main measures that are nearer to neutral now."""
        return self._main("gained")

    @property
    def lost(self) -> list[Move]:
        """Main measures that are farther from neutral now."""
        return self._main("lost")

    @property
    def same(self) -> list[Move]:
        """Main measures of which no change is shown."""
        return self._main("same")

    @property
    def knows(self) -> list[Move]:
        """What happened to words that call for one gender: all of them, then each group that lost."""
        rows = [move for move in self.moves.values() if move.knows]
        return [move for move in rows if move.group == "all" or move.way == "lost"]

    @property
    def says(self) -> str:
        """How many main numbers went which way."""
        gained, lost, same = self.gained, self.lost, self.same
        sure = sum(move.sure for move in gained)
        return (
            f"Of {len(gained) + len(lost) + len(same)} main numbers, {len(gained)} came nearer to neutral "
            f"({sure} beyond chance among all comparisons), {len(lost)} went farther away, "
            f"and {len(same)} show no change."
        )

    @property
    def language(self) -> Language | None:
        """What happened to its language, if the record has it."""
        found = dict((self.record or {}).get("language") or {})
        try:
            change = Number(float(found["change"]), float(found["low"]), float(found["high"]))
            return Language(
                float(found["before"]), float(found["after"]), change, float(found["p"]), int(found["sentences"])
            )
        except (KeyError, TypeError, ValueError):
            return None

    def _main(self, way: str) -> list[Move]:
        found = [
            move
            for move in self.moves.values()
            if move.way == way and move.main and (move.group == "all" or move.measure.endswith(FEMALE_MALE))
        ]
        return sorted(found, key=lambda move: not move.sure)
