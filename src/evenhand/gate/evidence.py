"""What rules are applied to: the values of a run, and how much worse they are than another run's."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from evenhand.analysis.change import FEMALE_MALE, differences
from evenhand.core.contrasts import has_contrast
from evenhand.core.loop import Task
from evenhand.runs.folder import Run
from evenhand.stats.estimate import Estimate

ALL, EACH = "all", "each"


class Labels(NamedTuple):
    """What there are values of: all items, each group, and the parts within groups."""

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


def values(run: Run, dataset: str, measure: str) -> dict[str, Estimate]:
    """The values of a measure, by group; for female - male, those of the pairs."""
    if measure.endswith(FEMALE_MALE):
        rows = run.contrasts_of(dataset, measure.removesuffix(FEMALE_MALE))
    else:
        rows = run.values_of(dataset, measure)
    return {_label(row.groups.values()): row.estimate for row in rows}


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
        if task.genders:
            labels = [_label(row.groups.values()) for row in run.contrasts_of(*task.name)]
            known |= {(task.dataset, task.measure + FEMALE_MALE): Labels(False, labels, [])} if labels else {}
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
        pairs = data.partners if data.partners is not None and data.partners.group == "gender" else None
        if pairs and has_contrast(task.measure.summarise, pairs):
            level = next((group for group in data.by if group != "gender"), "")
            labels = sorted({of[level] if level else ALL for of in items})
            known[data.name, measure + FEMALE_MALE] = Labels(False, labels, [])
    return known


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


def _label(labels: Iterable[str]) -> str:
    return ", ".join(labels) or ALL
