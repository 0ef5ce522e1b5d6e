"""The changes between two runs: the gains and losses of a debiasing, or which of two models is nearer to neutral."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evenhand.analysis.change import ONE_TRAINING, Change, changes, has_no_training
from evenhand.runs.folder import StoredRun
from evenhand.show.page import readings
from evenhand.stats.estimate import Estimate
from evenhand.stats.verdict import change_side, clusters_needed


@dataclass(frozen=True)
class Move:
    """A change in words."""

    change: Change
    main: bool
    """Whether its dataset is judged by this number; tables show the moves of other numbers, too."""
    models: tuple[str, ...] = ()
    """The names of the two models, if neither was made from the other: such models differ, and nothing "changed"."""

    @property
    def way(self) -> str:
        return self.change.way

    @property
    def label(self) -> str:
        """The row in words, without the group `better`, which says where its value should be."""
        known = {name: label for name, label in self.change.groups.items() if name != "better"}
        return readings.words_of(replace(self.change, groups=known))

    @property
    def title(self) -> str:
        return readings.reading(self.change.task, contrast=bool(self.change.contrast)).title

    @property
    def before(self) -> str:
        return Estimate(self.change.before).number(self.change.spec)

    @property
    def after(self) -> str:
        return Estimate(self.change.after).number(self.change.spec)

    @property
    def noun(self) -> str:
        return "change" if not self.models else "difference"

    @property
    def mark(self) -> str:
        return {"gained": "▼", "lost": "▲"}.get(self.way, "○") if not self.knows else ""

    @property
    def knows(self) -> bool:
        """Whether the number is about what a model should know, rather than about bias."""
        return self.change.task.better == "higher"

    @property
    def short(self) -> str:
        if self.way == "same":
            return f"no {self.noun} shown"
        if self.way == "few":
            return f"too few words to tell, at least {self.change.needed} needed"
        if self.way == "changed":
            ways = ("rose", "fell") if not self.models else ("higher", "lower")
            rose = ways[self.change.change < 0]
            return rose if self.change.task.better == "none" else f"{rose}, but is not shown to be nearer or farther"
        if self.knows:
            return f"knows {'more' if self.way == 'gained' else 'less'}{' than before' if not self.models else ''}"
        if self.models:
            return f"nearer to neutral in {self.models[self.way == 'gained']}"
        return "nearer to neutral" if self.way == "gained" else "farther from neutral"

    @property
    def chance(self) -> str:
        """The adjusted p of the change; empty if no change is shown."""
        p = self.change.p_holm
        return "" if self.way in ("same", "few") or math.isnan(p) else f"{readings.probability(p)}, adjusted"


@dataclass(frozen=True)
class Language:
    """The pseudo-perplexity before and after a debiasing, and the change of its logarithm."""

    before: float
    after: float
    change: Estimate
    p: float
    sentences: int

    @property
    def percent(self) -> str:
        return f"{100 * (math.exp(min(self.change.value, 300.0)) - 1):+.0f} %"

    @property
    def says(self) -> str:
        return {1: "its language got worse", 0: "no loss shown", -1: "its language got better"}[self.way]

    @property
    def way(self) -> int:
        """1 if the language is shown to be worse, -1 if better, else 0: stats.verdict.change_side for a single row."""
        return change_side(self.change.low, self.change.high, self.p, self.sentences, clusters_needed(1))


class Changed:
    """All moves between two runs, and the record of the debiasing between them, if there is one."""

    def __init__(self, runs: Sequence[StoredRun], names: Sequence[str], record: Mapping[str, Any] | None):
        self.names = names
        self._training = "" if has_no_training(runs) else f" {ONE_TRAINING}"
        main = {(row.dataset, row.name, row.label) for row in runs[0].rows if row.headline}
        keys = {(row.dataset, row.name, row.group): row for row in changes(*runs)}
        models = tuple(names) if record is None else ()
        self.moves: dict[tuple[str, ...], Move] = {key: Move(row, key in main, models) for key, row in keys.items()}
        self.record = record
        self.gained, self.lost = self._main("gained"), self._main("lost")
        self.same = self._main("same", "changed", "few")

    @property
    def knows(self) -> list[Move]:
        """The moves of words that call for one gender: that of all of them, and those of groups that lost."""
        rows = [move for move in self.moves.values() if move.knows]
        return [move for move in rows if not move.change.groups or move.way == "lost"]

    @property
    def says(self) -> str:
        gained, lost, same = len(self.gained), len(self.lost), len(self.same)
        if self.record is None:
            first, second = self.names
            return (
                f"Main numbers: {gained} nearer to neutral in {second} than in {first}, {lost} farther from it, {same} "
                f"not shown to be either.{self._training}"
            )
        return (
            f"{gained + lost + same} main numbers: {gained} came nearer to neutral, {lost} went farther away, "
            f"and {same} are not shown to be nearer or farther.{self._training}"
        )

    @property
    def language(self) -> Language | None:
        numbers = dict((self.record or {}).get("language") or {})
        try:
            change, low, high, before, after, p = (
                float(numbers[name]) for name in ("change", "low", "high", "before", "after", "p")
            )
            return Language(before, after, Estimate(change, low, high), p, int(numbers["sentences"]))
        except (KeyError, TypeError, ValueError):
            return None

    def _main(self, *ways: str) -> list[Move]:
        """The main numbers of bias (not of knowledge) that changed in one of these ways."""
        return [move for move in self.moves.values() if move.way in ways and move.main and not move.knows]
