"""Before and after: what was gained, what was lost, beside each other."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.analysis.change import changed
from evenhand.report.page import readings
from evenhand.report.page.moves import Move, moves
from evenhand.report.page.numbers import Number
from evenhand.runs.folder import Run

MAIN = (readings.DIFFERENCE, "pronoun", "stereotype-share", "likelihood-difference", "nli-coal", "log-probability-bias")
"""Measures that say by themselves whether bias shrank or grew; the table has the others, too."""
KNOWS = "gender-agreement"


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
        if self.change.side > 0:
            return "its language got worse"
        return "its language got better" if self.change.side < 0 else "no loss shown: the interval includes 0"


class Changed:
    """All moves between two runs, and the record of the debiasing between them, where there is one."""

    def __init__(self, runs: Sequence[Run], neutral: Mapping[tuple[str, str], float], record: Mapping[str, Any] | None):
        self.moves = moves(changed(runs[0], runs[1]), neutral)
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
        rows = [move for move in self.moves.values() if move.measure == KNOWS]
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
            if move.way == way and move.measure in MAIN and (move.group == "all" or move.measure == readings.DIFFERENCE)
        ]
        return sorted(found, key=lambda move: not move.sure)
