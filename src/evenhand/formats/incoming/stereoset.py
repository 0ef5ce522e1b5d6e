"""Predictions as StereoSet's code writes them: a score for each sentence of each task."""

from pathlib import Path
from typing import Any

from evenhand.core.files import from_json, read_given
from evenhand.errors import BadInput
from evenhand.stats.estimate import uncountable

TASKS = ("intrasentence", "intersentence")
SHAPE = '{"intrasentence": [{"id": ..., "score": ...}, ...], "intersentence": [...]}'


def predictions(path: str | Path) -> dict[str, dict[str, float]]:
    """The score of each sentence, higher being likelier, by task and sentence id; a task may be missing.

    Such files come from eval_discriminative_models.py and eval_generative_models.py of moinnadeem/StereoSet, and from
    bias-bench, which keeps their form.
    """
    path = Path(path).expanduser()
    found = read_given(path, from_json, "StereoSet's predictions", "Give a whole file, in JSON.")
    if not isinstance(found, dict) or not set(found) & set(TASKS):
        keys = ", ".join(map(str, found)) if isinstance(found, dict) else type(found).__name__
        raise BadInput(f"'{path}' is no file of StereoSet's predictions, which looks like {SHAPE}. Got: {keys[:200]}.")
    return {task: _scores(path, task, found[task]) for task in TASKS if task in found}


def _scores(path: Path, task: str, rows: Any) -> dict[str, float]:
    if not isinstance(rows, list):
        raise BadInput(f"'{path}': {task} must be a list of sentences with id and score. Got {type(rows).__name__}.")
    scores: dict[str, float] = {}
    for number, row in enumerate(rows, start=1):
        where = f"'{path}', sentence {number} of {task}"
        if not isinstance(row, dict) or not isinstance(row.get("id"), str):
            raise BadInput(f"{where}: it needs the id of a sentence and a score. Got {str(row)[:100]!r}.")
        score = row.get("score")
        if not isinstance(score, int | float) or isinstance(score, bool) or uncountable(score):
            raise BadInput(f"{where}: the score of '{row['id']}' must be a number. Got {score!r}.")
        if row["id"] in scores:
            raise BadInput(f"{where}: the id '{row['id']}' occurred before. Each sentence has one score.")
        scores[row["id"]] = float(score)
    return scores
