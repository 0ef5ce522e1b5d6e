"""Values or scores of runs as csv, with exact numbers; an empty cell means no value."""

from collections.abc import Sequence

import pandas as pd

from evenhand.formats.cells import exported_rows
from evenhand.runs.folder import StoredRun
from evenhand.runs.record import TaskRecord

NUMBERS = (
    *("value", "low", "high", "n", "unscored", "neutral", "note"),
    *("p", "p_holm", "clusters", "needed", "detectable"),
)


def csv(runs: Sequence[StoredRun], *, scores: bool = False) -> str:
    """A row for each value of the runs, or, with `scores`, for each item's score.

    Numbers have all their digits, so that reading them back gives the same numbers. Columns of groups are called
    `group_...`. Texts are written unchanged, so a spreadsheet may take a name that begins with = for a formula.
    """
    frames = [_scores(run) if scores else _values(run) for run in runs]
    frame = pd.concat(frames, ignore_index=True)
    groups = [column for column in frame.columns if str(column).startswith("group_")]
    frame = frame[[column for column in frame.columns if column not in groups] + groups]
    return str(frame.to_csv(index=False, lineterminator="\n"))


def _values(run: StoredRun) -> pd.DataFrame:
    known = {task.name: _columns(run, task) for task in run.record.tasks}
    return pd.DataFrame(
        known[row.task.name][0]
        | {name: getattr(row, name) for name in NUMBERS}
        | {"lean": row.verdict.word, "size": row.size, "contrast": row.contrast, "estimand": row.estimand}
        | known[row.task.name][1]
        | {f"group_{group}": label for group, label in row.groups.items()}
        for row in exported_rows(run)
    )


def _scores(run: StoredRun) -> pd.DataFrame:
    scores = run.scores
    known = {task.name: _columns(run, task) for task in run.record.tasks}
    columns = [known[run.task(*name).name] for name in zip(scores["dataset"], scores["measure"], strict=True)]
    front, back = (pd.DataFrame([both[side] for both in columns]) for side in (0, 1))
    groups = scores.drop(columns=["dataset", "id", "measure", "score"]).add_prefix("group_")
    return pd.concat([front, scores[["id", "score"]], back, groups], axis=1)


def _columns(run: StoredRun, task: TaskRecord) -> tuple[dict[str, object], dict[str, object]]:
    """The columns of a task's rows that stand before the numbers, and those that stand after them."""
    names = {"dataset": task.dataset, "dataset_version": task.dataset_version}
    names |= {"measure": task.measure, "measure_version": task.measure_version}
    audit = run.record.audit_of(task)
    sample = {"partial": "yes" if task.partial else "no", "limit": "" if task.limit is None else str(task.limit)}
    return (
        {"model": run.record.model, "fingerprint": run.record.fingerprint, **names},
        {"kind": audit.kind, "doctor": audit.diagnosis, **sample},
    )
