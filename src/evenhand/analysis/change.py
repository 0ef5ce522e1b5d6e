"""A model before and after, or two models: what differs, measure by measure, item by item."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from evenhand.analysis.paired import first_group, pairs
from evenhand.core.scores import FAST, MacroMean, Summarise, generator, share
from evenhand.errors import UnknownName
from evenhand.measures import MEASURES
from evenhand.runs.comparable import in_common, same_task
from evenhand.runs.folder import Run
from evenhand.runs.record import TaskRecord
from evenhand.stats.estimate import side
from evenhand.stats.intervals import Floats, agreed_interval, clustered_interval
from evenhand.stats.macro_means import macro_interval
from evenhand.stats.significance import detectable_within, holm, interval_test, sign_flip_test

NUMBERS = ("before", "after", "change", "low", "high", "p", "detectable", "worse", "worse_low", "worse_high")


@dataclass(frozen=True)
class PairedScores:
    """What a value is the mean of, before and after, for some of the items; NaN where one of both has no score."""

    before: Floats
    after: Floats
    clusters: Sequence[str]
    crossed: Sequence[str] | None
    sets: Sequence[str] | None
    """The sets that count alike, however large; without, each item counts alike."""
    every: Sequence[str]
    """The sets that must all be there for a value."""
    shares: bool
    neutral: float
    better: float
    """1 where higher is better, -1 where lower is, 0 where nearer to neutral is, NaN where one cannot say."""

    def row(self, rng: np.random.Generator, same: bool) -> dict[str, Any]:
        """Both values, their difference and what follows; `same`: of the same model, so that no difference is none."""
        scored = ~np.isnan(self.before - self.after)
        counts = {"n": int(scored.sum()), "left_out": int((~scored).sum()), "neutral": self.neutral}
        both = self._of(scored)
        if not counts["n"] or set(self.every) - set(both.sets or ()):
            return dict.fromkeys(NUMBERS, math.nan) | counts | {"moved": ""}
        before, after = both._mean(both.before), both._mean(both.after)
        difference = both.after - both.before
        if same and not difference.any():
            low, high, p = 0.0, 0.0, 1.0
        else:
            low, high = both._interval(difference, rng)
            p = both._p(difference, low, high, rng)
        worse = both._worse(before, after, low, high, rng)
        least = detectable_within(low, high, both._fewest())
        numbers = (before, after, after - before, low, high, p, least, *worse)
        return dict(zip(NUMBERS, numbers, strict=True)) | counts | {"moved": self._moved(*worse[1:])}

    def _of(self, which: Any) -> "PairedScores":
        def chosen(labels: Sequence[str] | None) -> list[str] | None:
            return None if labels is None else np.asarray(labels, dtype=str)[which].tolist()

        return replace(
            self,
            before=self.before[which],
            after=self.after[which],
            clusters=chosen(self.clusters) or [],
            crossed=chosen(self.crossed),
            sets=chosen(self.sets),
        )

    def _weights(self) -> Floats:
        """Of mean 1, so that each set counts alike."""
        if self.sets is None:
            return np.ones(len(self.before))
        sets = pd.Series(self.sets)
        return np.asarray(len(sets) / (sets.nunique() * sets.map(sets.value_counts())), dtype=np.float64)

    def _mean(self, values: Floats) -> float:
        return float((values * self._weights()).mean())

    def _fewest(self) -> int:
        sizes = [len(set(side)) for side in (self.clusters, self.crossed) if side is not None]
        return min([size for size in sizes if size > 1], default=1)

    def _interval(self, values: Floats, rng: np.random.Generator, *, signed: bool = True) -> tuple[float, float]:
        if self.sets is not None:
            return macro_interval(values, self.sets, self.clusters, rng, crossed=self.crossed, signed=signed)
        n = len(set(self.clusters))
        if signed and self.shares and n > 1 and np.ptp(values) == 0 and abs(values[0]) in (0.0, 1.0):
            return agreed_interval(float(values[0]), n, signed=True)
        return clustered_interval(values, self.clusters, rng, crossed=self.crossed)

    def _p(self, difference: Floats, low: float, high: float, rng: np.random.Generator) -> float:
        if self.crossed is not None:
            return interval_test(self._mean(difference), low, high, self._fewest())
        return sign_flip_test(difference * self._weights(), self.clusters, rng)

    def _worse(
        self, before: float, after: float, low: float, high: float, rng: np.random.Generator
    ) -> tuple[float, float, float]:
        """How much farther from where it should be, and the interval of that.

        With c = after - before and u = before + after - 2 neutral, the distance |after - neutral| grows by sign(u c)
        min(|u|, |c|). Both have intervals, and the interval is all that they allow: which side of neutral a value is on
        is as uncertain as the value.
        """
        if math.isnan(self.better) or math.isnan(self.neutral):
            return math.nan, math.nan, math.nan
        if self.better:
            ends = sorted((-self.better * low, -self.better * high))
            return -self.better * (after - before), ends[0], ends[1]
        least, most = self._interval((self.before + self.after) / 2, rng, signed=False)
        ends = [_farther(2 * (middle - self.neutral), end) for middle in (least, most) for end in (low, high)]
        whole = _farther(before + after - 2 * self.neutral, after - before)
        return whole, float(np.min(ends)), float(np.max(ends))

    def _moved(self, low: float, high: float) -> str:
        goal = "what is right" if self.better else "neutral"
        return {-1: f"towards {goal}", 0: "", 1: f"away from {goal}"}[side(low, high)]


def _farther(total: float, difference: float) -> float:
    """|a| - |b|, from a + b and a - b."""
    if difference == 0 or total == 0:
        return 0.0
    if math.isnan(total) or math.isnan(difference):
        return math.nan
    return min(abs(total), abs(difference)) * (1 if (total > 0) == (difference > 0) else -1)


COLUMNS = (
    *("dataset", "measure", "group", "before", "after", "change", "low", "high", "p", "p_holm"),
    *("detectable", "n", "left_out", "neutral", "worse", "worse_low", "worse_high", "moved"),
)
FEMALE_MALE = ", female - male"
"""Added to the name of a measure whose female and male items are compared as pairs."""
SIDES = {"she": -1.0, "he": 1.0}
"""Where P(he) - P(she) should be for words that call for one gender."""


def changed(before: Run, after: Run) -> pd.DataFrame:
    """For each measure and group that both runs have: both values, their difference with its 95 % interval, and p.

    `change` = after - before, item by item, with an interval clustered as the values' own. Of associations the
    difference female - male is compared, by profession group. `p` flips the signs of whole clusters, or goes with the
    interval where clusters cross; `p_holm` is adjusted over all rows. `detectable` is the smallest change that such
    data would show four times in five. Items (of associations: pairs) that one run could not score are `left_out`.

    `worse` is the change of the distance from `neutral`, below 0 if it shrank, with its interval; for words that call
    for one gender, from what they call for. `moved` says so in words where that interval leaves out 0.
    """
    rows = [row for task in in_common([before, after]) for row in differences(before, after, *task) if row["n"]]
    return adjusted(rows)


def adjusted(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The rows of one or several comparisons, p adjusted by Holm over all that have one."""
    frame = pd.DataFrame(rows, columns=[*(key for key in (rows[0] if rows else ()) if key not in COLUMNS), *COLUMNS])
    tested = frame["p"].notna()
    frame.loc[tested, "p_holm"] = holm(frame.loc[tested, "p"].tolist())
    return frame.astype({"p_holm": float})


def differences(before: Run, after: Run, dataset: str, measure: str) -> Iterator[dict[str, Any]]:
    """A row of `changed` for all items of one dataset, and for each group; `p_holm` is for `adjusted` to add."""
    task = same_task([before, after], dataset, measure)
    if measure not in MEASURES:
        raise UnknownName("measure", measure, MEASURES)
    seed, same = before.record.seed, before.record.fingerprint == after.record.fingerprint
    one, other = (run.scores_of(dataset, measure) for run in (before, after))
    name, find = (measure + FEMALE_MALE, _pairs) if {"gender", "slot"} <= set(one) else (measure, _items)
    for label, part, rng in find(one, other, task, seed):
        yield {"dataset": dataset, "measure": name, "group": label} | part.row(rng, same)


Found = Iterator[tuple[str, PairedScores, np.random.Generator]]


def _pairs(one: pd.DataFrame, other: pd.DataFrame, task: TaskRecord, seed: int) -> Found:
    """Female - male of each pair, by the first group."""
    one, by = first_group(one, task.by)
    both = pairs(one).merge(pairs(other)[["id_female", "id_male", "difference"]], on=["id_female", "id_male"])
    for label, part in both.groupby(by):
        before, after = (part[name].to_numpy(dtype=float) for name in ("difference_x", "difference_y"))
        found = PairedScores(
            before, after, part[task.cluster or "id_female"].astype(str).tolist(), None, None, (), False, 0.0, 0.0
        )
        yield str(label), found, generator(seed, {by: str(label), "gender": "female - male"})


def _items(one: pd.DataFrame, other: pd.DataFrame, task: TaskRecord, seed: int) -> Found:
    """Each item's score, or what the value is the mean of: of all, then of each group."""
    joined = one.merge(other[["id", "score"]], on="id", suffixes=("", "_after"), validate="one_to_one")
    how = MEASURES[task.measure]
    by = list(task.by)
    parts: list[tuple[str, dict[str, str], pd.DataFrame]] = [("all", {}, joined)]
    for labels, part in joined.groupby(by) if by else ():
        parts.append((", ".join(map(str, labels)), dict(zip(by, map(str, labels), strict=True)), part))
    for label, groups, part in parts:
        summarise: Summarise = how.summarise  # type: ignore[assignment]
        sets, every = None, tuple[str, ...]()
        if isinstance(summarise, MacroMean):
            if summarise.by not in groups:
                sets, every = part[summarise.by].astype(str).tolist(), summarise.sets
            summarise = summarise.within
        before, after = (FAST[summarise](part[name].to_numpy(dtype=float)) for name in ("score", "score_after"))
        yield (
            label,
            PairedScores(
                before,
                after,
                part[task.cluster or "id"].astype(str).tolist(),
                part[task.crossed].astype(str).tolist() if task.crossed else None,
                sets,
                every,
                summarise is share,
                how.neutral,
                _better(task, part),
            ),
            generator(seed, {"change": label}),
        )


def _better(task: TaskRecord, part: pd.DataFrame) -> float:
    """Which way is better: see PairedScores.better."""
    if task.better == "higher":
        return 1.0
    wanted = {SIDES.get(word, 0.0) for word in part["calls_for"]} if "calls_for" in part else {0.0}
    return wanted.pop() if len(wanted) == 1 else math.nan
