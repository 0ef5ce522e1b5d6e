"""A run folder without a model: small, and with all that is awkward to write down."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evenhand import Result, Run, Score
from evenhand.core.scores import Value
from evenhand.runs import folder

HOSTILE = 'a_b%$&#<x>|"{}\\^~`*[@]'
Made = Callable[..., Run]


def task(dataset: str, measure: str, **more: Any) -> dict[str, Any]:
    return {
        "dataset": dataset,
        "dataset_builder": dataset,
        "dataset_version": 3,
        "dataset_options": {},
        "measure": measure,
        "measure_version": 2,
        "measure_options": {},
        "by": ["gender"],
        "within": "profession",
        "cluster": "profession",
        "crossed": "",
        "reading": "neutral at 0",
        "flaws": "Two genders only.",
        "about": "Sentences.",
        **more,
    }


def make(
    path: Path,
    model: str = "mini",
    dataset: str = "tgb",
    measure: str = "likelihood-lean",
    label: str = "female",
    **about: Any,
) -> Run:
    """A run with a value over all items, of a group, of two groups whose value is none, and of a part in a group."""
    path.mkdir()
    groups = {"gender": label, "profession": "nurse"}
    values = (
        Value({}, -1 / 3, -0.5, 1e-17, 7, 1),
        Value({"gender": label}, 0.25, 0.125, 0.5, 3, 0),
        Value({"gender": "male"}, math.nan, math.nan, math.nan, 0, 4),
        Value({"gender": "single"}, 0.75, math.nan, math.nan, 1, 0),
        Value(groups, 2.0, 1.0, 3.0, 2, 0),
    )
    scores = (Score("a", 0.1 + 0.2, groups), Score("b", math.nan, groups, "unknown word"))
    result = Result(model, "f" * 32, dataset, measure, 2, 0.0, scores, values)
    whole = {
        "evenhand": "0.1.0",
        "model": model,
        "fingerprint": "f" * 32,
        "loaded": {"dtype": "float32", "transformers": "5.0", "revision": None},
        "seed": 0,
        "limit": None,
        "partial": False,
        "tasks": [task(dataset, measure)],
        "work": {},
        "seconds": 1.0,
        "started": "2026-01-02T03:04:05+00:00",
        "warnings": [],
        "pieces": {},
        **about,
    }
    return folder.write(path, whole, [result], {dataset: []})
