"""Values or scores of runs as csv, with exact numbers; an empty cell means no value."""

from collections.abc import Sequence

import pandas as pd

from evenhand.formats.facts import facts
from evenhand.runs.folder import Run

VALUES = (
    *("model", "fingerprint", "dataset", "dataset_version", "measure", "measure_version"),
    *("value", "low", "high", "n", "unscored", "neutral", "note"),
    *("p", "p_holm", "clusters", "needed", "detectable", "lean"),
)
COLUMNS = ("dataset", "id", "measure", "score")
"""Columns of the scores that are not groups."""


def csv(runs: Sequence[Run], *, scores: bool = False) -> str:
    """A row for each value of the runs, or, with `scores`, for each item's score.

    Numbers have all their digits, so that reading them back gives the same numbers. Groups are columns `group_...`.
    Text is not changed: a spreadsheet may take a name that begins with = for a formula.
    """
    frames = [_scores(run) if scores else _values(run) for run in runs]
    frame = pd.concat(frames, ignore_index=True)
    groups = [column for column in frame.columns if str(column).startswith("group_")]
    frame = frame[[column for column in frame.columns if column not in groups] + groups]
    return str(frame.to_csv(index=False, lineterminator="\n"))


def _values(run: Run) -> pd.DataFrame:
    return pd.DataFrame(
        {key: getattr(fact, key) for key in VALUES}
        | _sample(run)
        | {f"group_{group}": label for group, label in fact.groups.items()}
        for fact in facts(run)
    )


def _sample(run: Run) -> dict[str, str]:
    limit = run.record.limit
    return {"partial": "yes" if run.record.partial else "no", "limit": "" if limit is None else str(limit)}


def _scores(run: Run) -> pd.DataFrame:
    versions = {task.name: (task.dataset_version, task.measure_version) for task in run.record.tasks}
    scores = run.scores
    of = [versions[pair] for pair in zip(scores["dataset"], scores["measure"], strict=True)]
    front = pd.DataFrame(
        {
            "model": run.record.model,
            "fingerprint": run.record.fingerprint,
            "dataset": scores["dataset"],
            "dataset_version": [dataset for dataset, _ in of],
            "measure": scores["measure"],
            "measure_version": [measure for _, measure in of],
            "id": scores["id"],
            "score": scores["score"],
            **_sample(run),
        }
    )
    groups = scores.drop(columns=list(COLUMNS)).add_prefix("group_")
    return pd.concat([front, groups], axis=1)
