"""Values or scores of runs as csv, with exact numbers; an empty cell means no value."""

from collections.abc import Sequence

import pandas as pd

from evenhand.formats.facts import facts
from evenhand.runs.folder import StoredRun
from evenhand.runs.record import TaskRecord

NUMBERS = (
    *("value", "low", "high", "n", "unscored", "neutral", "note"),
    *("p", "p_holm", "clusters", "needed", "detectable"),
)
COLUMNS = ("dataset", "id", "measure", "score")
"""Columns of the scores that are not groups."""


def csv(runs: Sequence[StoredRun], *, scores: bool = False) -> str:
    """A row for each value of the runs, or, with `scores`, for each item's score.

    Numbers have all their digits, so that reading them back gives the same numbers. Groups are columns `group_...`.
    Text is not changed: a spreadsheet may take a name that begins with = for a formula.
    """
    frames = [_scores(run) if scores else _values(run) for run in runs]
    frame = pd.concat(frames, ignore_index=True)
    groups = [column for column in frame.columns if str(column).startswith("group_")]
    frame = frame[[column for column in frame.columns if column not in groups] + groups]
    return str(frame.to_csv(index=False, lineterminator="\n"))


def _values(run: StoredRun) -> pd.DataFrame:
    return pd.DataFrame(
        _task(run, row.task)
        | {name: getattr(row, name) for name in NUMBERS}
        | {"lean": row.verdict.word, "size": row.size, "contrast": row.contrast, "estimand": row.estimand}
        | _how(run, row.task)
        | {f"group_{group}": label for group, label in row.groups.items()}
        for row in facts(run)
    )


def _scores(run: StoredRun) -> pd.DataFrame:
    scores = run.scores
    of = [run.task(*name) for name in zip(scores["dataset"], scores["measure"], strict=True)]
    known = {task.name: (_task(run, task), _how(run, task)) for task in run.record.tasks}
    front = pd.DataFrame([known[task.name][0] for task in of])
    how = pd.DataFrame([known[task.name][1] for task in of])
    groups = scores.drop(columns=list(COLUMNS)).add_prefix("group_")
    return pd.concat([front, scores[["id", "score"]], how, groups], axis=1)


def _task(run: StoredRun, task: TaskRecord) -> dict[str, object]:
    names = {"dataset": task.dataset, "dataset_version": task.dataset_version}
    names |= {"measure": task.measure, "measure_version": task.measure_version}
    return {"model": run.record.model, "fingerprint": run.record.fingerprint, **names}


def _how(run: StoredRun, task: TaskRecord) -> dict[str, object]:
    audit = run.record.audit_of(task)
    sample = {"partial": "yes" if task.partial else "no", "limit": "" if task.limit is None else str(task.limit)}
    return {"kind": audit.kind, "doctor": audit.diagnosis, **sample}
