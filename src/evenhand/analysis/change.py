"""What differs between two models, or one before and after a change: measure by measure, item by item."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from evenhand.analysis.paired import first_group
from evenhand.core.contrasts import pairs
from evenhand.core.measure import Traits
from evenhand.core.scores import FAST, MacroMean, Summarise, generator, share
from evenhand.errors import UnknownName
from evenhand.measures import MEASURES
from evenhand.runs.comparable import in_common, of_two_kinds, same_task
from evenhand.runs.folder import Run
from evenhand.runs.record import TaskRecord
from evenhand.stats.intervals import Floats, agreed_interval
from evenhand.stats.mean_intervals import fewest, mean_test
from evenhand.stats.significance import detectable, holm, sign_flip_test
from evenhand.stats.verdict import FEWEST_CROSSED, enough, moved

NUMBERS = ("before", "after", "change", "low", "high", "p", "worse", "worse_low", "worse_high", "worse_p")


@dataclass(frozen=True)
class PairedScores:
    """The numbers whose mean is a value, before and after, for some items; NaN where one of the two has no score."""

    before: Floats
    after: Floats
    clusters: Sequence[str]
    neutral: float
    better: float
    """1 where higher is better, -1 where lower is, 0 where nearer to neutral is, NaN where one cannot say."""
    crossed: Sequence[str] | None = None
    sets: Sequence[str] | None = None
    """The sets that count equally, however large; without them, each item counts equally."""
    every: Sequence[str] = ()
    """The sets that must all be there for a value."""
    shares: bool = False
    """Whether the value is the share of items that score 1."""
    unit: bool = False
    """Whether values lie between 0 and 1."""

    def row(self, rng: np.random.Generator, same: bool) -> dict[str, Any]:
        """Both values, their difference and what follows; `same`: of the same model, so that 0 is exact."""
        scored = ~np.isnan(self.before - self.after)
        both = self._of(scored)
        counts: dict[str, Any] = {"n": int(scored.sum()), "left_out": int((~scored).sum()), "neutral": self.neutral}
        goal = "what is right" if self.better else "neutral"
        counts |= {"clusters": fewest(both.clusters, both.crossed), "goal": goal}
        if not counts["n"] or set(self.every) - set(both.sets or ()):
            return dict.fromkeys(NUMBERS, math.nan) | counts
        before, after = both._mean(both.before), both._mean(both.after)
        difference = both.after - both.before
        if same and not difference.any():
            low, high, p = 0.0, 0.0, 1.0
        else:
            low, high, p = both._tested(difference, rng)
        worse = both._worse((before, after), (low, high, p), rng)
        return dict(zip(NUMBERS, (before, after, after - before, low, high, p, *worse), strict=True)) | counts

    @property
    def distance(self) -> float:
        """How far the value before is from where it should be."""
        value = self._mean(self.before)
        return -self.better * value if self.better else abs(value - self.neutral)

    def _of(self, which: Any) -> "PairedScores":
        labels = {name: getattr(self, name) for name in ("clusters", "crossed", "sets")}
        chosen = {k: np.asarray(v, dtype=str)[which].tolist() for k, v in labels.items() if v is not None}
        return replace(self, before=self.before[which], after=self.after[which], **chosen)

    def _weights(self) -> Floats:
        """The weight of each item, with mean 1, so that each set counts equally."""
        if self.sets is None:
            return np.ones(len(self.before))
        sets = pd.Series(self.sets)
        return np.asarray(len(sets) / (sets.nunique() * sets.map(sets.value_counts())), dtype=np.float64)

    def _mean(self, values: Floats) -> float:
        return float((values * self._weights()).mean())

    def _tested(
        self, values: Floats, rng: np.random.Generator, neutral: float = 0.0, *, signed: bool = True
    ) -> tuple[float, float, float]:
        """Interval and p of the mean of these values; `signed` ones are differences."""
        n = len(set(self.clusters))
        if self.sets is None and self.shares and n > 1 and np.ptp(values) == 0 and abs(values[0]) in (0.0, 1.0):
            ends = agreed_interval(float(values[0]), n, signed=signed)
            return *ends, sign_flip_test(values - neutral, self.clusters, rng)
        unit = self.unit and not signed
        return mean_test(values, self.clusters, rng, crossed=self.crossed, sets=self.sets, unit=unit, neutral=neutral)

    def _worse(
        self, ends: tuple[float, float], change: tuple[float, float, float], rng: np.random.Generator
    ) -> tuple[float, float, float, float]:
        """The growth of the distance from where the value should be, with its interval and p.

        With c = after - before and u = before + after - 2 neutral, the distance |after - neutral| grows by sign(u c)
        min(|u|, |c|). Both have intervals, and the interval is all that they allow: which side of neutral a value is on
        is as uncertain as the value. The distance changes only if neither is 0, so its p is the larger of theirs (an
        intersection-union test; Berger 1982, Technometrics 24:295-300).
        """
        (before, after), (low, high, p) = ends, change
        if math.isnan(self.better) or math.isnan(self.neutral):
            return math.nan, math.nan, math.nan, math.nan
        if self.better:
            least, most = sorted((-self.better * low, -self.better * high))
            return -self.better * (after - before), least, most, p
        middle = (self.before + self.after) / 2
        least, most, p_middle = self._tested(middle, rng, self.neutral, signed=False)
        corners = [_farther(2 * (where - self.neutral), end) for where in (least, most) for end in (low, high)]
        whole = _farther(before + after - 2 * self.neutral, after - before)
        return whole, float(np.min(corners)), float(np.max(corners)), float(np.maximum(p, p_middle))


def _farther(total: float, difference: float) -> float:
    """|a| - |b|, from a + b and a - b."""
    if difference == 0 or total == 0:
        return 0.0
    if math.isnan(total) or math.isnan(difference):
        return math.nan
    return min(abs(total), abs(difference)) * (1 if (total > 0) == (difference > 0) else -1)


COLUMNS = (
    *("dataset", "measure", "group", "before", "after", "change", "low", "high", "p", "p_holm"),
    *("detectable", "n", "left_out", "clusters", "needed", "neutral"),
    *("worse", "worse_low", "worse_high", "worse_p", "worse_p_holm", "moved"),
)
INTERNAL = ("goal", "crossed", "unfit")
"""What `adjusted` needs to know of a row, and leaves out of the table."""
FEMALE_MALE = ", female - male"
"""Added to the name of a measure whose female and male items are compared as pairs."""
SIDES = {"she": -1.0, "he": 1.0}
"""Where P(he) - P(she) should be for words that call for one gender."""


def changed(before: Run, after: Run) -> pd.DataFrame:
    """For each measure and group that both runs have: both values, their difference with its 95 % interval, and p.

    `change` = after - before, item by item, with an interval clustered as the values' own. Associations are compared by
    their difference female - male, for each profession group. `p` flips the signs of whole clusters, or goes with the
    interval where clusters cross; `p_holm` is adjusted over the rows of the same dataset and measure. `detectable` is
    the smallest change that such data would show four times in five. Items (for associations: pairs) that one run could
    not score are `left_out`.

    `worse` is the change of the distance from `neutral`, below 0 if it shrank, with its interval and p; for words that
    call for one gender, from what they call for. `moved` says so in words where the rule of stats.verdict holds: the
    interval of `worse` leaves out 0, and its adjusted p is below .05.
    """
    rows = [row for task in in_common([before, after]) for row in differences(before, after, *task) if row["n"]]
    return adjusted(rows)


def adjusted(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The rows of one or several comparisons with what depends on their families: adjusted p, detectable, moved."""
    more = [key for key in (rows[0] if rows else ()) if key not in (*COLUMNS, *INTERNAL)]
    frame = pd.DataFrame(rows, columns=[*more, *COLUMNS, *INTERNAL])
    frame = frame.astype({"p_holm": float, "worse_p_holm": float, "detectable": float, "needed": object})
    for _, family in frame.groupby(["dataset", "measure"], sort=False, dropna=False):
        for p in ("p", "worse_p"):
            known = family.index[family[p].notna()]
            frame.loc[known, f"{p}_holm"] = holm(family.loc[known, p].tolist())
        n = max(1, int(family["p"].notna().sum()))
        frame.loc[family.index, "needed"] = FEWEST_CROSSED if family["crossed"].eq(True).any() else enough(n)
        frame.loc[family.index, "detectable"] = [
            detectable(row["low"], row["high"], row["clusters"], rows=n) for _, row in family.iterrows()
        ]
    frame["moved"] = [_moved(row) for row in frame.to_dict("records")]
    return frame.drop(columns=list(INTERNAL))


def _moved(row: Mapping[Any, Any]) -> str:
    """What happened, in words: nothing where it is not shown, or the two models allow no verdict."""
    ends = (row["worse_low"], row["worse_high"], row["worse_p_holm"])
    way = moved(*ends, row["clusters"], row["needed"], unfit=row["unfit"])
    return f"{'towards' if way < 0 else 'away from'} {row['goal']}" if way else ""


def differences(before: Run, after: Run, dataset: str, measure: str) -> Iterator[dict[str, Any]]:
    """A row of `changed` for all items of one dataset, and for each group; `adjusted` adds `p_holm`."""
    task = same_task([before, after], dataset, measure)
    if measure not in MEASURES:
        raise UnknownName("measure", measure, MEASURES)
    same = before.record.fingerprint == after.record.fingerprint
    one, other = (run.scores_of(dataset, measure) for run in (before, after))
    name, find = (measure + FEMALE_MALE, _pairs) if task.genders else (measure, _items)
    unfit = of_two_kinds([before, after]) or any(run.record.unfit(task) for run in (before, after))
    for label, part, rng in find(one, other, task):
        found = part.row(rng, same) | {"crossed": part.crossed is not None, "unfit": unfit}
        yield {"dataset": dataset, "measure": name, "group": label} | found


Found = Iterator[tuple[str, PairedScores, np.random.Generator]]


def _pairs(one: pd.DataFrame, other: pd.DataFrame, task: TaskRecord) -> Found:
    """Female - male of each pair, by the first group."""
    one, by = first_group(one, task.by)
    assert task.partners is not None
    ids = ["id_female", "id_male"]
    both = pairs(one, task.partners).merge(pairs(other, task.partners)[[*ids, "difference"]], on=ids)
    for label, part in both.groupby(by):
        before, after = (part[name].to_numpy(dtype=float) for name in ("difference_x", "difference_y"))
        clusters = part[task.cluster or "id_female"].astype(str).tolist()
        found = PairedScores(before, after, clusters, neutral=0.0, better=0.0)
        yield str(label), found, generator(task.seed, {by: str(label), "gender": "female - male"})


def _items(one: pd.DataFrame, other: pd.DataFrame, task: TaskRecord) -> Found:
    """The scores of all items, then of each group."""
    joined = joined_by_item(one, other)
    by = list(task.by)
    yield "all", item_scores(joined, task), generator(task.seed, {"change": "all"})
    for labels, part in joined.groupby(by) if by else ():
        label = ", ".join(map(str, labels))
        yield label, item_scores(part, task, by), generator(task.seed, {"change": label})


def joined_by_item(one: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """The scores of two runs, with the second one's as `score_after`."""
    return one.merge(other[["id", "score"]], on="id", suffixes=("", "_after"), validate="one_to_one")


def item_scores(joined: pd.DataFrame, task: TaskRecord, groups: Collection[str] = ()) -> PairedScores:
    """The numbers whose mean is the value of these items, in two runs; the items share the labels of `groups`."""
    how = MEASURES[task.measure]
    summarise: Summarise = how.summarise  # type: ignore[assignment]
    sets, every = None, tuple[str, ...]()
    if isinstance(summarise, MacroMean):
        if summarise.by not in groups:
            sets, every = joined[summarise.by].astype(str).tolist(), summarise.sets
        summarise = summarise.within
    before, after = (FAST[summarise](joined[name].to_numpy(dtype=float)) for name in ("score", "score_after"))
    return PairedScores(
        before,
        after,
        joined[task.cluster or "id"].astype(str).tolist(),
        how.neutral,
        _better(task, joined),
        crossed=joined[task.crossed].astype(str).tolist() if task.crossed else None,
        sets=sets,
        every=every,
        shares=summarise is share,
        unit=Traits.of(how).bounds == (0.0, 1.0),
    )


def _better(task: TaskRecord, part: pd.DataFrame) -> float:
    """Which way is better: see PairedScores.better."""
    if task.better == "higher":
        return 1.0
    wanted = {SIDES.get(word, 0.0) for word in part["calls_for"]} if "calls_for" in part else {0.0}
    return wanted.pop() if len(wanted) == 1 else math.nan
