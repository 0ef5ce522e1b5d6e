"""Scores made by hand, and runs that hold them: no model, no files, only the effects that were put in."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evenhand import Run
from evenhand.analysis.change import changes, changes_frame
from evenhand.runs.record import TaskRecord
from helpers.written_runs import record, task

GROUPS = ("balanced", "female", "male")
PAPER = {
    ("balanced", "female"): -0.35,
    ("balanced", "male"): 0.05,
    ("female", "female"): 0.50,
    ("female", "male"): -0.68,
    ("male", "female"): -0.83,
    ("male", "male"): 0.16,
}
"""Means of (prof_gender, gender) like those of Bartl, Nissim and Gatt 2020."""


def scores(effect: Mapping[tuple[str, str], float], *, jobs: int = 8, noise: float = 0.05) -> pd.DataFrame:
    """A small BEC-Pro: `jobs` professions x 3 slots for each (prof_gender, gender), with these means."""
    rng = np.random.default_rng(0)
    rows: list[dict[str, object]] = []
    for (prof_gender, gender), mean in effect.items():
        for job in range(jobs):
            for slot in range(3):
                rows.append(
                    {
                        "dataset": "becpro-en",
                        "measure": "association",
                        "id": str(len(rows)),
                        "score": mean + noise * rng.normal(),
                        "prof_gender": prof_gender,
                        "gender": gender,
                        "profession": f"{prof_gender}{job}",
                        "person": f"{gender}{slot}",
                        "slot": str(slot),
                        "template": "1",
                    }
                )
    return pd.DataFrame(rows)


def crossed(social: float = 0.0, agrees: float = 0.0, form: float = 0.0, level: float = 0.0) -> pd.DataFrame:
    """The same, each person with both German forms, and with these effects for every profession."""
    frames = []
    for form_name, f in (("feminine", 1), ("masculine", -1)):
        for gender, g in (("female", 1), ("male", -1)):
            value = level + social * g / 2 + agrees * g * f / 2 + form * f / 2
            frame = scores({(group, gender): value for group in GROUPS}, noise=0.0)
            frames.append(frame.assign(form=form_name))
    whole = pd.concat(frames, ignore_index=True)
    return whole.assign(id=[str(i) for i in range(len(whole))])


def run(frame: pd.DataFrame, tasks: Iterable[TaskRecord], path: str = "a/run", **more: Any) -> Run:
    """A run that says it was asked these tasks and gave these scores; `more` are other fields of its record."""
    found = Run(Path(path), record(*tasks, **{"model": path, "fingerprint": path} | more))
    found.__dict__ |= {"scores": frame, "unmeasured": {}}  # where a run keeps what it has read
    return found


def associations(frame: pd.DataFrame, path: str = "a/run", **more: Any) -> Run:
    """A run of associations alone."""
    asked = task(str(frame["dataset"].iloc[0]), "association", by=("prof_gender", "gender"))
    return run(frame, [asked], path, **more)


def change_table(before: Run, after: Run) -> pd.DataFrame:
    """What differs between two runs, as a table."""
    return changes_frame(changes(before, after))
