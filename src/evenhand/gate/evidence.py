"""What rules are applied to: the values of a run, and how much worse they are than another run's."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pandas as pd

from evenhand.analysis.change import differences
from evenhand.core.design import Design
from evenhand.core.estimands import ItemRow, SummaryRow, rows
from evenhand.core.loop import Task
from evenhand.gate.policy import Rule
from evenhand.runs.folder import StoredRun
from evenhand.runs.rows import FEMALE_MALE, Row, row_label
from evenhand.stats.estimate import Estimate

ALL, EACH = "all", "each"


class Labels(NamedTuple):
    """The labels that a measure has values of: all items, each group, and the parts within groups."""

    whole: bool
    each: list[str]
    within: list[str]

    def named(self, group: str | None) -> list[str]:
        """The labels that a rule is about; a rule that names no group is about all items, or else about each group."""
        if group is None:
            group = ALL if self.whole else EACH
        return self.each or [EACH] if group == EACH else [group]


Known = dict[tuple[str, str], Labels]
"""By dataset and measure."""
NONE = Estimate(math.nan, note="no such items in this sample")


def values(run: StoredRun, dataset: str, measure: str, estimand: str = "") -> dict[str, Estimate]:
    """The values that a rule is about, by group: the measure's own, female - male, stereotype or default."""
    rows, base = run.values_of(dataset, measure), measure.removesuffix(FEMALE_MALE)
    if estimand:
        rows = [row for row in run.rows_of(dataset, measure) if row.estimand == estimand]
    elif base != measure:
        rows = run.contrasts_of(dataset, base)
    return {row_label(row.groups): row for row in rows}


def worse(baseline: StoredRun, run: StoredRun, dataset: str, rule: Rule) -> dict[str, Estimate]:
    """How much farther from neutral the run is than the baseline, by group: `worse` of analysis.change."""
    found = {}
    for row in differences(baseline, run, dataset, rule.base):
        if (row.estimand, row.name) == (rule.estimand, rule.measure):
            mixed = math.isnan(row.worse) and not math.isnan(row.change)
            note = "some words call for she, some for he: choose a group" if mixed else ""
            label = row.group.removesuffix(rule.estimand).removesuffix(", ") or ALL
            found[label] = Estimate(row.worse, row.worse_low, row.worse_high, row.n, row.left_out, note)
    return found


def known_of_run(run: StoredRun) -> Known:
    """The labels that a run has values of."""
    known: Known = {}
    for task in run.record.tasks:
        by = task.by
        rows = [row.groups for row in run.values_of(*task.name)]
        each, within = ([row_label(of) for of in rows if len(of) == n] for n in (len(by), len(by) + 1))
        known[task.name] = Labels(True, each if by else [], within)
        known |= _labels_of_rows(*task.name, run.rows_of(*task.name), task.by_gender)
    return known


def known_of_tasks(tasks: Sequence[Task]) -> Known:
    """The labels that a run of these tasks will have values of."""
    known: Known = {}
    for task in tasks:
        data, measure = task.dataset, task.measure.name
        items = [item.groups for item in data.items]
        levels = [data.by, (*data.by, data.within) if data.within else ()]
        each, within = (
            sorted({row_label({g: of[g] for g in level}) for of in items}) if level else [] for level in levels
        )
        known[data.name, measure] = Labels(True, each, within)
        frame = pd.DataFrame({"id": item.id, "score": 1.0, **item.groups} for item in data.items)
        by_gender = data.partners is not None and not set(data.partners.differ) & set(data.by)
        known |= _labels_of_rows(data.name, measure, rows(frame, Design.of(data), task.measure), by_gender)
    return known


def _labels_of_rows(dataset: str, measure: str, found: Iterable[ItemRow | SummaryRow | Row], by_gender: bool) -> Known:
    """The labels of stereotype, default, and female - male where women and men have values of their own."""
    labels: dict[str, list[str]] = {}
    for row in found:
        if row.estimand or by_gender:
            name = f"{measure}, {row.estimand}" if row.estimand else measure + FEMALE_MALE
            labels.setdefault(name, []).append(row_label(row.groups))
    return {
        (dataset, name): Labels(ALL in rows and FEMALE_MALE not in name, [r for r in rows if r != ALL] or rows, [])
        for name, rows in labels.items()
    }


def undecidable(found: Estimate, most: float) -> str:
    """Why nothing can be decided, whatever the bounds; empty if something can."""
    if found.note or not found.n:
        return found.note or "no scored items"
    whole = found.n + found.unscored
    if found.unscored / whole > most:
        return f"{found.unscored / whole:.1%} of {whole:,} items unscored, more than {most:.1%}"
    if math.isnan(found.value):
        return "no value"
    return "" if found.spans else "no interval: too few clusters, or all scores are the same"
