"""What rules are applied to: the values of a run, and how much worse they are than another run's."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from evenhand.analysis.change import FEMALE_MALE, differences
from evenhand.analysis.paired import compared, first_group, pairs
from evenhand.core.loop import Task
from evenhand.runs.folder import Run
from evenhand.stats.estimate import Estimate

ALL = "all"


class Labels(NamedTuple):
    """What there are values of: all items, each group, and the parts within groups."""

    whole: bool
    each: list[str]
    within: list[str]


Known = dict[tuple[str, str], Labels]
"""By dataset and measure."""
NONE = Estimate(math.nan, note="no such items in this sample")


def values(run: Run, dataset: str, measure: str) -> dict[str, Estimate]:
    """The values of a measure, by group; for female - male, those of the pairs."""
    if measure.endswith(FEMALE_MALE):
        return _of_pairs(run, dataset, measure.removesuffix(FEMALE_MALE))
    return {_label(row.groups.values()): row.estimate for row in run.values_of(dataset, measure)}


def worse(baseline: Run, run: Run, dataset: str, measure: str) -> dict[str, Estimate]:
    """How much farther from neutral the run is than the baseline, by group: `worse` of analysis.change."""
    found = {}
    for row in differences(baseline, run, dataset, measure.removesuffix(FEMALE_MALE)):
        mixed = math.isnan(row["worse"]) and not math.isnan(row["change"])
        note = "some words call for she, some for he: choose a group" if mixed else ""
        ends = (row["worse"], row["worse_low"], row["worse_high"])
        found[row["group"]] = Estimate(*ends, row["n"], row["left_out"], note)
    return found


def known_of_run(run: Run) -> Known:
    """The labels that a run has values of."""
    known: Known = {}
    for task in run.record.tasks:
        by = task.by
        rows = [row.groups for row in run.values_of(*task.name)]
        each, within = ([_label(of.values()) for of in rows if len(of) == n] for n in (len(by), len(by) + 1))
        known[task.name] = Labels(True, each if by else [], within)
        scores = run.scores_of(*task.name)
        if {"gender", "slot"} <= set(scores):
            labels = sorted(scores[by[0]].astype(str).unique()) if by else [ALL]
            known[task.dataset, task.measure + FEMALE_MALE] = Labels(False, labels, [])
    return known


def known_of_tasks(tasks: Sequence[Task]) -> Known:
    """The labels that a run of these tasks will have values of."""
    known: Known = {}
    for task in tasks:
        data, measure = task.dataset, task.measure.name
        items = [item.groups for item in data.items]
        levels = [data.by, (*data.by, data.within) if data.within else ()]
        each, within = (sorted({_label(of[g] for g in level) for of in items}) if level else [] for level in levels)
        known[data.name, measure] = Labels(True, each, within)
        if all({"gender", "slot"} <= set(of) for of in items):
            known[data.name, measure + FEMALE_MALE] = Labels(
                False, sorted({of[data.by[0]] if data.by else ALL for of in items}), []
            )
    return known


def _of_pairs(run: Run, dataset: str, measure: str) -> dict[str, Estimate]:
    task = run.task(dataset, measure)
    scores, by = first_group(run.scores_of(dataset, measure), task.by)
    paired = pairs(scores)
    rows: dict[str, Mapping[Any, Any]] = {
        str(row[by]): row
        for row in compared(paired, by=by, cluster=task.cluster, seed=run.record.seed).to_dict("records")
    }
    found = {}
    for label, part in paired.groupby(by):
        unscored = int(part["difference"].isna().sum())
        row = rows.get(str(label), dict.fromkeys(("difference", "low", "high"), math.nan))
        ends = (row["difference"], row["low"], row["high"])
        found[str(label)] = Estimate(*ends, len(part) - unscored, unscored)
    return found


def _label(labels: Iterable[str]) -> str:
    return ", ".join(labels) or ALL
