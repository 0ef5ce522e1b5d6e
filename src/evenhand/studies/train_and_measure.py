"""What texts teach a model: fine-tune it on them, measure it, and keep what was measured."""

import hashlib
import logging
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from evenhand import models, suites
from evenhand.auditing.audit import audit
from evenhand.errors import BadInput, UnknownName
from evenhand.runs.folder import Run
from evenhand.runs.record import TaskRecord, read_record

if TYPE_CHECKING:
    from evenhand.training import loop
    from evenhand.training.mlm import Recipe

log = logging.getLogger(__name__)

Tasks = Mapping[str, Sequence[str]]
"""What to measure: the measures of each dataset."""
Train = Callable[[str, Sequence[Any], Any, Path], object]
"""Fine-tunes a base on lessons by a recipe, and leaves the model in a folder."""
DONE = "README.md"
"""The model card, which training writes when the weights are there."""


def recipe_of(name: str, draw: int = 0, seed: int = 0) -> "Recipe":
    """The recipe of that name; another draw of it, or another seed of the study, has another seed."""
    from evenhand.training.mlm import RECIPES

    if name not in RECIPES:
        raise UnknownName("recipe", name, RECIPES)
    return replace(RECIPES[name], seed=_seed(RECIPES[name].seed, draw, seed))


def check(recipe: str = "default", *, draws: int = 1, limit: int | None = None) -> None:
    """An error where one of these cannot be: to be asked before any text is looked for."""
    recipe_of(recipe)
    if draws < 1:
        raise BadInput(f"draws must be at least 1. Got {draws}.")
    if limit is not None and limit < 1:
        raise BadInput(f"limit must be at least 1. Got {limit}.")


def trained(base: str, texts: Sequence[str], recipe: "Recipe", out: Path, name: str) -> Path:
    """The folder of the model fine-tuned on these texts: made once, and found again by what it is made of."""
    return _made(_folder(base, texts, recipe, out, name), base, texts, recipe, _masked)


def train_and_audit(
    base: str,
    lessons: Callable[[int], Sequence[Any]],
    out: Path,
    name: str,
    tasks: Tasks,
    *,
    recipe: "str | loop.Recipe" = "default",
    train: Train | None = None,
    draws: int = 1,
    limit: int | None = None,
    seed: int = 0,
    **loading: Any,
) -> list[tuple[int, Run]]:
    """The draw and the run, for each draw and dataset, of models fine-tuned on the lessons of that draw.

    Lessons are texts, unless `train` takes something else. With `limit` only a random sample of so many items of each
    dataset is measured, the same for every model. Runs are kept and found again; weights are not, since a study makes
    dozens of them.
    """
    check(draws=draws, limit=limit)
    wanted = {name: [suites.record(t) for t in suites.tasks_on(name, how)] for name, how in tasks.items()}
    found = []
    for draw in range(draws):
        if isinstance(recipe, str):
            how: Any = recipe_of(recipe, draw, seed)
        else:
            how = replace(recipe, seed=_seed(recipe.seed, draw, seed))
        given = lessons(draw)
        folder = _folder(base, given, how, out, f"{name}-{draw}")
        runs = {dataset: _runs(out, dataset, measures, limit) for dataset, measures in tasks.items()}
        if missing := [name for name, path in runs.items() if not _measured(path / folder.name, wanted[name])]:
            model = models.load(str(_made(folder, base, given, how, train or _masked)), **loading)
            for dataset in missing:
                audit(model, dataset=dataset, measure=tasks[dataset], limit=limit, out=runs[dataset])
        shutil.rmtree(folder, ignore_errors=True)
        found += [(draw, Run.load(path / folder.name)) for path in runs.values()]
    return found


def audit_base(base: str, out: Path, tasks: Tasks, *, limit: int | None = None, **loading: Any) -> pd.DataFrame:
    """The scores on `tasks` of a model as it is."""
    model = models.load(base, **loading)
    runs = [
        audit(model, dataset=dataset, measure=measures, limit=limit, out=_runs(out, dataset, measures, limit))
        for dataset, measures in tasks.items()
    ]
    return pd.concat([run.scores for run in runs], ignore_index=True)


def scores(runs: Sequence[tuple[int, Run]]) -> pd.DataFrame:
    """The scores of taught models, with a column that says which draw they are of."""
    return pd.concat([run.scores.assign(draw=draw) for draw, run in runs], ignore_index=True)


def _masked(base: str, texts: Sequence[str], recipe: Any, out: Path) -> None:
    from evenhand.training.mlm import finetune

    finetune(base, texts, recipe, out)


def _made(folder: Path, base: str, lessons: Sequence[Any], recipe: Any, train: Train) -> Path:
    if train is _masked and (folder / DONE).exists():  # other trainings know by themselves
        log.info(f"Fine-tuned before, from the same model, texts and recipe: {folder}")
    else:
        train(base, lessons, recipe, folder)
    return folder


def _folder(base: str, lessons: Sequence[Any], recipe: Any, out: Path, name: str) -> Path:
    if not lessons:
        raise BadInput(f"There are no sentences to train '{name}' on.")
    made_of = repr((models.load(base).fingerprint, list(lessons), recipe))
    return out / "models" / f"{name}-{hashlib.sha256(made_of.encode()).hexdigest()[:8]}"


def _measured(path: Path, tasks: Sequence[TaskRecord]) -> bool:
    """Is there a run of these very tasks, in these versions?"""
    record = read_record(path) if path.is_dir() else None
    return record is not None and [task.what for task in record.tasks] == [task.what for task in tasks]


def _seed(start: int, draw: int, seed: int) -> int:
    return start + draw + 1_000 * seed


def _runs(out: Path, dataset: str, measures: Sequence[str], limit: int | None) -> Path:
    return out / "runs" / "-".join((dataset, *measures, *([str(limit)] if limit else [])))
