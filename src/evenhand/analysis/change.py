"""A model before and after, or two models: what differs, measure by measure, item by item."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evenhand.analysis.findings import of_dataset
from evenhand.analysis.paired import pairs
from evenhand.analysis.twice import Twice
from evenhand.core.scores import FAST, MacroMean, Summarise, generator, share
from evenhand.errors import UnknownName
from evenhand.measures import MEASURES
from evenhand.runs.comparable import in_common, same_task
from evenhand.runs.folder import Run
from evenhand.stats.significance import holm

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
    seed, same = before.about["seed"], before.about["fingerprint"] == after.about["fingerprint"]
    one, other = (of_dataset(run, dataset, measure) for run in (before, after))
    name, find = (measure + FEMALE_MALE, _pairs) if {"gender", "slot"} <= set(one) else (measure, _items)
    for label, part, rng in find(one, other, task, seed):
        yield {"dataset": dataset, "measure": name, "group": label} | part.row(rng, same)


Found = Iterator[tuple[str, Twice, np.random.Generator]]


def _pairs(one: pd.DataFrame, other: pd.DataFrame, task: Mapping[str, Any], seed: int) -> Found:
    """Female - male of each pair, by the first group."""
    by = task["by"][0]
    both = pairs(one).merge(pairs(other)[["id_female", "id_male", "difference"]], on=["id_female", "id_male"])
    for label, part in both.groupby(by):
        before, after = (part[name].to_numpy(dtype=float) for name in ("difference_x", "difference_y"))
        found = Twice(before, after, part[task["cluster"]].astype(str).tolist(), None, None, (), False, 0.0, 0.0)
        yield str(label), found, generator(seed, {by: str(label), "gender": "female - male"})


def _items(one: pd.DataFrame, other: pd.DataFrame, task: Mapping[str, Any], seed: int) -> Found:
    """Each item's score, or what the value is the mean of: of all, then of each group."""
    joined = one.merge(other[["id", "score"]], on="id", suffixes=("", "_after"), validate="one_to_one")
    how = MEASURES[task["measure"]]
    by: list[str] = task["by"]
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
            Twice(
                before,
                after,
                part[task["cluster"] or "id"].astype(str).tolist(),
                part[task["crossed"]].astype(str).tolist() if task["crossed"] else None,
                sets,
                every,
                summarise is share,
                how.neutral,
                _better(task["measure"], part),
            ),
            generator(seed, {"change": label}),
        )


def _better(measure: str, part: pd.DataFrame) -> float:
    """Which way is better: see Twice.better."""
    if measure == "gender-agreement":
        return 1.0
    wanted = {SIDES.get(word, 0.0) for word in part["calls_for"]} if "calls_for" in part else {0.0}
    return wanted.pop() if len(wanted) == 1 else math.nan
