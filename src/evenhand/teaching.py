"""What texts teach a model: fine-tune it on them, measure it, and keep what was measured."""

import hashlib
import logging
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from evenhand import models
from evenhand.auditing import audit
from evenhand.errors import BadInput, UnknownName
from evenhand.folder import Run

if TYPE_CHECKING:
    from evenhand.training.mlm import Recipe

log = logging.getLogger(__name__)

Task = tuple[str, str]
"""A dataset and a measure."""
DONE = "README.md"
"""The model card, which training writes last."""


def recipe_of(name: str, draw: int = 0) -> "Recipe":
    """The recipe of that name; another draw of it has another seed."""
    from evenhand.training.mlm import RECIPES

    if name not in RECIPES:
        raise UnknownName("recipe", name, RECIPES)
    return replace(RECIPES[name], seed=RECIPES[name].seed + draw)


def trained(base: str, texts: Sequence[str], recipe: "Recipe", out: Path, name: str) -> Path:
    """The folder of the model fine-tuned on these texts: made once, and found again by what it is made of."""
    return _made(_folder(base, texts, recipe, out, name), base, texts, recipe)


def taught(
    base: str,
    texts: Callable[[int], Sequence[str]],
    out: Path,
    name: str,
    tasks: Sequence[Task],
    *,
    recipe: str = "default",
    draws: int = 1,
    limit: int | None = None,
    **loading: Any,
) -> pd.DataFrame:
    """The scores on `tasks` of models fine-tuned on the texts of each draw, with a column that says which.

    With `limit` only a random sample of so many items of each dataset is measured, the same for every model.
    The runs are kept and found again; the weights are not, since a study makes dozens of them.
    """
    if draws < 1:
        raise BadInput(f"draws must be at least 1. Got {draws}.")
    found = []
    for draw in range(draws):
        runs = _taught(base, texts(draw), recipe_of(recipe, draw), out, f"{name}-{draw}", tasks, limit, loading)
        found += [run.scores.assign(draw=draw) for run in runs]
    return pd.concat(found, ignore_index=True)


def _taught(
    base: str,
    texts: Sequence[str],
    recipe: "Recipe",
    out: Path,
    name: str,
    tasks: Sequence[Task],
    limit: int | None,
    loading: Mapping[str, Any],
) -> list[Run]:
    folder = _folder(base, texts, recipe, out, name)
    runs = {task: _runs(out, task, limit) / folder.name for task in tasks}
    if missing := [task for task, path in runs.items() if not (path / "run.json").exists()]:
        model = models.load(str(_made(folder, base, texts, recipe)), **loading)
        for dataset, how in missing:
            audit(model, dataset=dataset, measure=how, limit=limit, out=_runs(out, (dataset, how), limit))
        shutil.rmtree(folder)
    return [Run.load(path) for path in runs.values()]


def untaught(base: str, out: Path, tasks: Sequence[Task], *, limit: int | None = None, **loading: Any) -> pd.DataFrame:
    """The scores on `tasks` of a model as it is."""
    model = models.load(base, **loading)
    runs = [
        audit(model, dataset=dataset, measure=how, limit=limit, out=_runs(out, (dataset, how), limit))
        for dataset, how in tasks
    ]
    return pd.concat([run.scores for run in runs], ignore_index=True)


def _made(folder: Path, base: str, texts: Sequence[str], recipe: "Recipe") -> Path:
    from evenhand.training.mlm import finetune

    if (folder / DONE).exists():
        log.info(f"Fine-tuned before, from the same model, texts and recipe: {folder}")
    else:
        finetune(base, texts, recipe, folder)
    return folder


def _folder(base: str, texts: Sequence[str], recipe: "Recipe", out: Path, name: str) -> Path:
    if not texts:
        raise BadInput(f"There are no sentences to train '{name}' on.")
    made_of = repr((models.load(base).fingerprint, list(texts), recipe))
    return out / "models" / f"{name}-{hashlib.sha256(made_of.encode()).hexdigest()[:8]}"


def _runs(out: Path, task: Task, limit: int | None) -> Path:
    return out / "runs" / "-".join((*task, *([str(limit)] if limit else [])))
