"""The values of a model from checkpoint to checkpoint: a curve for each headline value, and the changes along it."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand.analysis.change import Change, adjust_families, changes_frame, differences
from evenhand.core.files import CHECKPOINT, public_path
from evenhand.core.shown import Shown
from evenhand.errors import BadInput
from evenhand.runs.comparable import distinct_names, in_common, same_task
from evenhand.runs.folder import StoredRun
from evenhand.runs.record import TaskRecord
from evenhand.runs.rows import Row

SHOWN = ("lost", "gained", "changed")
"""The values of analysis.change.Change.way that are a change: the worst first."""


@dataclass(frozen=True)
class Curve:
    """A main row at each checkpoint: stereotype or default, female - male of a group, or the value of all items."""

    values: tuple[Row, ...]

    @property
    def task(self) -> TaskRecord:
        return self.values[0].task

    @property
    def key(self) -> tuple[str, str, str]:
        first = self.values[0]
        return first.dataset, first.name, first.label


@dataclass(frozen=True)
class Track(Shown):
    """The runs of a model's checkpoints in their order, and what changed between them."""

    runs: tuple[StoredRun, ...]
    curves: tuple[Curve, ...] = field(repr=False)
    rows: tuple[Change, ...] = field(default=(), repr=False)
    """For each curve, a row for every two neighbours (`start` and `end`), and one for the first and last checkpoint.

    p is adjusted by Holm over the whole training.
    """
    left_out: tuple[str, ...] = ()
    """Datasets that some of the runs do not have."""
    page: Path | None = None

    @cached_property
    def labels(self) -> list[str]:
        """The names of the checkpoints: checkpoint-500, step-000500, a revision, or the name of the model."""
        tails = [run.path.name.rpartition("--")[2] for run in self.runs]
        both = zip(tails, self.runs, strict=True)
        names = [tail if CHECKPOINT.fullmatch(tail) else run.record.model for tail, run in both]
        owners = {name.rpartition("@")[0] for name in names}
        if len(owners) == 1 and owners != {""}:
            names = [name.rpartition("@")[2] for name in names]
        return names if len(set(names)) == len(names) else distinct_names(self.runs)

    @property
    def short_labels(self) -> list[str]:
        """The labels without their common beginning: for checkpoint-100 and checkpoint-200, the numbers."""
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

    @cached_property
    def changes(self) -> pd.DataFrame:
        """The rows as a table: `start`, `end`, `neighbours`, analysis.change.COLUMNS, and `way`."""
        frame = changes_frame(self.rows, start="start", end="end").assign(way=[way_of(row) for row in self.rows])
        frame.insert(2, "neighbours", [self.neighbours(row) for row in self.rows])
        return frame

    def neighbours(self, row: Change) -> bool:
        """Whether a row is about two checkpoints next to each other."""
        return self.labels.index(row.end) == self.labels.index(row.start) + 1

    @cached_property
    def shown(self) -> list[Change]:
        """The changes between neighbours that are shown, in the order of the checkpoints; for each, the worst first."""
        return self._shown_changes(neighbours=True)

    @cached_property
    def overall(self) -> list[Change]:
        """The changes from the first to the last checkpoint that are shown, if the two are not neighbours."""
        return self._shown_changes(neighbours=False)

    def _shown_changes(self, neighbours: bool) -> list[Change]:
        rows = [row for row in self.rows if way_of(row) in SHOWN and self.neighbours(row) == neighbours]
        return sorted(rows, key=lambda row: (self.labels.index(row.start), SHOWN.index(row.way)))

    @property
    def same_weights(self) -> list[list[str]]:
        """The names of checkpoints that have the same fingerprint, and so are the same model, a list for each model."""
        by_model: dict[str, list[str]] = {}
        for label, run in zip(self.labels, self.runs, strict=True):
            by_model.setdefault(run.record.fingerprint, []).append(label)
        return [labels for labels in by_model.values() if len(labels) > 1]

    def curve(self, row: Change) -> Curve:
        return next(curve for curve in self.curves if curve.key == (row.dataset, row.name, row.group))

    def as_json(self) -> dict[str, Any]:
        """Everything as plain data; a missing number is None."""
        runs = [
            {"checkpoint": label, "path": public_path(run.path)}
            | {key: getattr(run.record, key) for key in ("model", "fingerprint", "partial")}
            for label, run in zip(self.labels, self.runs, strict=True)
        ]
        data = {"checkpoints": runs, "same_weights": self.same_weights, "left_out": list(self.left_out)}
        for name in ("values", "changes"):
            data[name] = json.loads(getattr(self, name).to_json(orient="records", double_precision=15))
        return data


def way_of(row: Change) -> str:
    """What a change shows, in a word: `Change.way`, or "unfit" if one of the two models is unfit to be measured."""
    return "unfit" if row.unfit else row.way


def make_track(runs: Sequence[StoredRun]) -> Track:
    """The curves of these runs, in this order, and the changes between neighbours and from the first to the last.

    Each number that a dataset is judged by is a curve: stereotype and default, or else the value of all items. A change
    is shown if it passes the rule of stats.verdict. Its family is the whole training: every two neighbours, and the
    first and last checkpoint, on every curve.
    """
    if len(runs) < 2:
        raise BadInput(f"A curve needs two checkpoints or more. Got {len(runs)}.")
    shared = in_common(runs)
    tasks = [task for dataset in runs[0].datasets if (task := runs[0].headline_task(dataset)).name in shared]
    for task in tasks:
        same_task(runs, *task.name)
    curves = tuple(curve for task in tasks for curve in _curves(runs, task))
    if not curves:
        raise BadInput("The runs have no headline value in common. Audit all checkpoints with the same suite.")
    datasets = {dataset for run in runs for dataset in run.datasets}
    left_out = tuple(sorted(datasets - {curve.task.dataset for curve in curves}))
    track = Track(tuple(runs), curves, left_out=left_out)
    return replace(track, rows=tuple(compare_checkpoints(track)))


def compare_checkpoints(track: Track) -> list[Change]:
    """The rows of a track, computed from the scores of its runs on the tasks of its curves."""
    tasks = {curve.task.name: curve.task for curve in track.curves}
    rows = [row for task in tasks.values() for row in _changes(track, task)]
    return adjust_families(rows, family=lambda row: "training")


def _curves(runs: Sequence[StoredRun], task: TaskRecord) -> Iterator[Curve]:
    by_run = [{row.label: row for row in run.main_rows(*task.name)} for run in runs]
    for group in by_run[0]:
        if all(group in rows for rows in by_run):
            yield Curve(tuple(rows[group] for rows in by_run))


def _changes(track: Track, task: TaskRecord) -> Iterator[Change]:
    last = len(track.runs) - 1
    steps = [(n, n + 1) for n in range(last)] + ([(0, last)] if last > 1 else [])
    for start, end in steps:
        keys = {curve.key for curve in track.curves if curve.task == task}
        for row in differences(track.runs[start], track.runs[end], *task.name):
            if (key := (row.dataset, row.name, row.group)) in keys:
                yield replace(row, start=track.labels[start], end=track.labels[end])
                keys.remove(key)
            if not keys:
                break
