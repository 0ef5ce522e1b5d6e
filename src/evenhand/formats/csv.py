"""Values or scores of runs as csv, with exact numbers; an empty cell means no value."""

from collections.abc import Sequence

import pandas as pd

from evenhand.formats.facts import Fact, facts
from evenhand.runs.folder import StoredRun
from evenhand.runs.record import TaskRecord

VALUES = (
    *("model", "fingerprint", "dataset", "dataset_version", "measure", "measure_version"),
    *("value", "low", "high", "n", "unscored", "neutral", "note"),
    *("p", "p_holm", "clusters", "needed", "detectable", "lean", "size", "contrast", "estimand", "kind", "doctor"),
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
        {key: getattr(fact, key) for key in VALUES}
        | _sample(fact)
        | {f"group_{group}": label for group, label in fact.groups.items()}
        for fact in facts(run)
    )


def _sample(of: Fact | TaskRecord) -> dict[str, str]:
    return {"partial": "yes" if of.partial else "no", "limit": "" if of.limit is None else str(of.limit)}


def _scores(run: StoredRun) -> pd.DataFrame:
    tasks = {task.name: task for task in run.record.tasks}
    audits = {name: run.record.audit_of(task) for name, task in tasks.items()}
    scores = run.scores
    names = list(zip(scores["dataset"], scores["measure"], strict=True))
    of = [tasks[name] for name in names]
    front = pd.DataFrame(
        {
            "model": run.record.model,
            "fingerprint": run.record.fingerprint,
            "dataset": scores["dataset"],
            "dataset_version": [task.dataset_version for task in of],
            "measure": scores["measure"],
            "measure_version": [task.measure_version for task in of],
            "id": scores["id"],
            "score": scores["score"],
            "kind": [audits[name].kind for name in names],
            "doctor": [audits[name].diagnosis for name in names],
            **pd.DataFrame([_sample(task) for task in of], columns=["partial", "limit"]),
        }
    )
    groups = scores.drop(columns=list(COLUMNS)).add_prefix("group_")
    return pd.concat([front, groups], axis=1)
