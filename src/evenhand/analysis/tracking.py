"""How a model's values change from checkpoint to checkpoint: a curve for each headline value, neighbours compared."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand.analysis.change import FEMALE_MALE, Change, adjust_families, changes_frame, differences
from evenhand.core.files import CHECKPOINT, public_path
from evenhand.core.shown import Shown
from evenhand.errors import BadInput
from evenhand.runs.comparable import distinct_names, in_common, same_task
from evenhand.runs.folder import StoredRun
from evenhand.runs.record import TaskRecord
from evenhand.runs.rows import Row

SHOWN = ("lost", "gained", "changed")
"""What analysis.change.Change.way calls a change that is shown."""


@dataclass(frozen=True)
class Curve:
    """A main row at each checkpoint: stereotype or default, female - male of a group, or the value of all items."""

    task: TaskRecord
    group: str
    values: tuple[Row, ...]

    @property
    def key(self) -> tuple[str, str, str]:
        """Dataset, measure and group, as the rows of the changes have them."""
        paired = bool(self.values[0].contrast)
        return self.task.dataset, self.task.measure + (FEMALE_MALE if paired else ""), self.group


@dataclass(frozen=True)
class Track(Shown):
    """The runs of a model's checkpoints in their order, and what changed between them."""

    runs: tuple[StoredRun, ...]
    curves: tuple[Curve, ...] = field(repr=False)
    changes: pd.DataFrame = field(repr=False)
    """A row for each curve and two neighbours, then for the first and the last checkpoint: `start`, `end`, `neighbours`
    (False for first and last), the columns of analysis.change.changed, and `way`.

    p is adjusted by Holm over all rows of the same dataset and measure.
    """
    left_out: tuple[str, ...] = ()
    """Datasets that some of the runs do not have."""
    page: Path | None = None

    @property
    def labels(self) -> list[str]:
        """What the checkpoints are called: checkpoint-500, step-000500, a revision, or the name of the model."""
        tails = [run.path.name.rpartition("--")[2] for run in self.runs]
        both = zip(tails, self.runs, strict=True)
        names = [tail if CHECKPOINT.fullmatch(tail) else run.record.model for tail, run in both]
        owners = {name.rpartition("@")[0] for name in names}
        if len(owners) == 1 and owners != {""}:
            names = [name.rpartition("@")[2] for name in names]
        return names if len(set(names)) == len(names) else distinct_names(self.runs)

    @property
    def short_labels(self) -> list[str]:
        """The labels without what they have in common: the numbers of checkpoint-100 and checkpoint-200."""
        numbered = [label for label in self.labels if CHECKPOINT.fullmatch(label) and label[-1].isdigit()]
        starts = {label.rstrip("0123456789") for label in numbered}
        if len(starts) != 1:
            return self.labels
        (start,) = starts
        return [label.removeprefix(start).lstrip("0") or "0" if label in numbered else label for label in self.labels]

    @property
    def values(self) -> pd.DataFrame:
        """A row for each curve and checkpoint: the value with its interval and the neutral value."""
        columns = ["checkpoint", "dataset", "measure", "group", "value", "low", "high", "n", "neutral"]
        rows = [
            (label, *curve.key, value.value, value.low, value.high, value.n, value.neutral)
            for curve in self.curves
            for label, value in zip(self.labels, curve.values, strict=True)
        ]
        return pd.DataFrame(rows, columns=columns).astype({"value": float, "low": float, "high": float})

    @property
    def shown(self) -> pd.DataFrame:
        """The changes between neighbours that are shown, in the order of the checkpoints; what got worse first."""
        return self._shown(self.changes["neighbours"].astype(bool))

    @property
    def overall(self) -> pd.DataFrame:
        """What is shown to have changed from the first to the last checkpoint, where they are not neighbours."""
        return self._shown(~self.changes["neighbours"].astype(bool))

    def _shown(self, which: "pd.Series[bool]") -> pd.DataFrame:
        found = self.changes[which & self.changes["way"].isin(SHOWN)]
        orders = {"start": self.labels.index, "way": SHOWN.index}
        return found.sort_values(list(orders), key=lambda one: one.map(orders[str(one.name)]), kind="stable")

    @property
    def same_weights(self) -> list[list[str]]:
        """The names of checkpoints that are one and the same model, by fingerprint."""
        found: dict[str, list[str]] = {}
        for label, run in zip(self.labels, self.runs, strict=True):
            found.setdefault(run.record.fingerprint, []).append(label)
        return [labels for labels in found.values() if len(labels) > 1]

    def curve(self, row: Any) -> Curve:
        """The curve that a row of the changes is about."""
        return next(curve for curve in self.curves if curve.key == (row["dataset"], row["measure"], row["group"]))

    def as_json(self) -> dict[str, Any]:
        """Everything as plain data; a missing number is None."""
        runs = [
            {"checkpoint": label, "path": public_path(run.path)}
            | {key: getattr(run.record, key) for key in ("model", "fingerprint", "partial")}
            for label, run in zip(self.labels, self.runs, strict=True)
        ]
        tables = {name: _plain(getattr(self, name)) for name in ("values", "changes")}
        return {"checkpoints": runs, "same_weights": self.same_weights, "left_out": list(self.left_out), **tables}


def tracked(runs: Sequence[StoredRun]) -> Track:
    """The curves of these runs, in this order, with every neighbour compared item by item, and the first and the last.

    A curve is what a dataset is judged by: stereotype and default, or else the value of all items. A
    change is shown by the one rule of stats.verdict, whose family is here the whole training: every two neighbours, and
    the first with the last, on every curve.
    """
    if len(runs) < 2:
        raise BadInput(f"A curve needs two checkpoints or more. Got {len(runs)}.")
    shared = in_common(runs)
    chiefs = [task for dataset in runs[0].datasets if (task := runs[0].headline_task(dataset)).name in shared]
    for task in chiefs:
        same_task(runs, *task.name)
    curves = tuple(curve for task in chiefs for curve in _curves(runs, task))
    if not curves:
        raise BadInput("The runs have no headline value in common. Audit all checkpoints with the same suite.")
    every = {dataset for run in runs for dataset in run.datasets}
    left_out = tuple(sorted(every - {curve.task.dataset for curve in curves}))
    made = Track(tuple(runs), curves, pd.DataFrame(), left_out)
    return replace(made, changes=neighbours(made))


def neighbours(track: Track) -> pd.DataFrame:
    """The rows of `Track.changes`, from the scores of the runs on the tasks of the curves."""
    tasks = {curve.task.name: curve.task for curve in track.curves}
    found = [each for task in tasks.values() for each in _changes(track, task)]
    rows = adjust_families([row for _, row in found], family=lambda row: "training")
    ends = {name: [each[place] for each, _ in found] for place, name in enumerate(("start", "end", "neighbours"))}
    return changes_frame(rows, ends).assign(way=["unfit" if row.unfit else row.way for row in rows])


def _curves(runs: Sequence[StoredRun], task: TaskRecord) -> Iterator[Curve]:
    found = [_values(run, task) for run in runs]
    for group in found[0]:
        if all(group in values for values in found):
            yield Curve(task, group, tuple(values[group] for values in found))


def _values(run: StoredRun, task: TaskRecord) -> dict[str, Row]:
    return {row.label: row for row in run.main_rows(*task.name)}


def _changes(track: Track, task: TaskRecord) -> Iterator[tuple[tuple[str, str, bool], Change]]:
    wanted = {curve.key for curve in track.curves if curve.task == task}
    last = len(track.runs) - 1
    steps = [(n, n + 1) for n in range(last)] + ([(0, last)] if last > 1 else [])
    for start, end in steps:
        ends = (track.labels[start], track.labels[end], end == start + 1)
        left = set(wanted)
        for row in differences(track.runs[start], track.runs[end], *task.name):
            if (key := (row.dataset, row.name, row.group)) in left:
                yield ends, row
                left.remove(key)
            if not left:
                break


def _plain(frame: pd.DataFrame) -> object:
    return json.loads(frame.to_json(orient="records", double_precision=15))
