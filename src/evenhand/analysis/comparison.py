"""Compares runs with the first of them, item by item."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pandas as pd

from evenhand.analysis.change import Change, adjust_families, changes_frame, differences
from evenhand.core.shown import Shown
from evenhand.runs.comparable import distinct_names, in_common, measured, of_two_kinds, shared_ids
from evenhand.runs.folder import StoredRun


@dataclass(frozen=True)
class Comparison(Shown):
    """What differs between a baseline and other runs."""

    runs: tuple[StoredRun, ...]
    """The baseline first."""
    rows: tuple[Change, ...] = field(repr=False)
    """For each run but the first, measure and group; `end` is the run's name, `before` the baseline's value."""

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The rows as a table: `run`, then analysis.change.COLUMNS."""
        return changes_frame(self.rows, run="end")

    @property
    def names(self) -> list[str]:
        return distinct_names(self.runs)

    @property
    def left_out(self) -> list[dict[str, Any]]:
        """Dataset and measure of what some runs do not have, and `only_in`: the names of those that do."""
        having = {name: measured(run) for name, run in zip(self.names, self.runs, strict=True)}
        tasks = dict.fromkeys(task for tasks in having.values() for task in tasks)
        return [
            {"dataset": task[0], "measure": task[1], "only_in": [name for name in having if task in having[name]]}
            for task in tasks
            if not all(task in tasks for tasks in having.values())
        ]

    @property
    def shared(self) -> dict[str, int]:
        """By dataset, how many items are compared where runs are of different samples."""
        found: dict[str, int] = {}
        for run in self.runs[1:]:
            for task in in_common([self.runs[0], run]):
                if (ids := shared_ids(self.runs[0], run, *task)) is not None:
                    found[task[0]] = min(len(ids), found.get(task[0], len(ids)))
        return found

    @property
    def of_another_kind(self) -> list[str]:
        """The names of causal models among others: for them the same measure is a different quantity."""
        if not of_two_kinds(self.runs):
            return []
        return [name for name, run in zip(self.names, self.runs, strict=True) if run.record.causal]

    def to_json(self) -> str:
        """The comparison as JSON; a missing number is null."""
        runs = [
            {"run": name, "path": str(run.path)}
            | {key: getattr(run.record, key) for key in ("model", "fingerprint", "partial")}
            for name, run in zip(self.names, self.runs, strict=True)
        ]
        rows = self.frame.astype(object).where(self.frame.notna(), None).to_dict("records")
        whole = {"baseline": runs[0], "runs": runs[1:], "left_out": self.left_out}
        whole |= {"of_another_kind": self.of_another_kind, "shared": self.shared, "rows": rows}
        return json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False)

    def to_csv(self) -> str:
        """The rows as csv, with all digits; the baseline's name and the fingerprints are columns."""
        prints = {name: run.record.fingerprint for name, run in zip(self.names, self.runs, strict=True)}
        frame = self.frame.assign(fingerprint=self.frame["run"].map(prints))
        frame = frame.assign(baseline=self.names[0], baseline_fingerprint=prints[self.names[0]])
        return str(frame.to_csv(index=False, lineterminator="\n"))


def compare(runs: Sequence[StoredRun], *, judged: bool = False) -> Comparison:
    """Compare runs with the first one: see `evenhand.compare`."""
    baseline, names = runs[0], distinct_names(runs)
    found = [
        replace(row, end=name)
        for name, run in zip(names[1:], runs[1:], strict=True)
        for task in in_common([baseline, run])
        for row in differences(baseline, run, *task, judged=judged)
    ]
    return Comparison(tuple(runs), tuple(adjust_families(found)))
