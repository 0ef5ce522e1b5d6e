"""Fine-tune a model on texts, measure it, and keep the runs."""

import hashlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from evenhand import models, suites
from evenhand.calls.audit import audit, whole_run
from evenhand.core.model import Model
from evenhand.errors import BadInput
from evenhand.run import Run
from evenhand.runs.record import read_record
from evenhand.training import recipe_of as recipe_of
from evenhand.training import train_masked

if TYPE_CHECKING:
    from evenhand.training import loop

Tasks = Mapping[str, Sequence[str]]
"""What to measure: the measures of each dataset."""
Lessons = Callable[[int], Sequence[Any]]
"""Gives the lessons of a draw: texts, or other examples that the training function takes."""
Train = Callable[[str, Sequence[Any], Any, Path], object]
"""Fine-tunes a base model on lessons by a recipe, and saves the model in a folder."""


def check(recipe: "str | loop.Recipe | None" = None, *, draws: int = 1, limit: int | None = None) -> None:
    """Raise an error for an invalid value, before any text is read."""
    if recipe is not None:
        recipe_of(recipe)
    for name, value in (("draws", draws), ("limit", limit)):
        if value is not None and value < 1:
            raise BadInput(f"`{name}` must be at least 1. Got {value}.")


def trained(base: str, texts: Sequence[str], recipe: "loop.Recipe", out: Path, name: str) -> Path:
    """The folder of the model fine-tuned on these texts; a hash of the inputs in its name finds an earlier training."""
    folder = _folder(base, texts, recipe, out, name)
    train_masked(base, texts, recipe, folder)
    return folder


@dataclass(frozen=True)
class Study:
    """Models that are fine-tuned from one base and measured on the same tasks.

    With `limit`, only a random sample of that many items of each dataset is measured, the same for every model. Runs
    are kept in `out` and reused; weights are deleted, since a study makes dozens of them.
    """

    base: str
    out: Path
    tasks: Tasks
    recipe: "str | loop.Recipe" = "default"
    draws: int = 1
    limit: int | None = None
    seed: int = 0
    loading: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the datasets and measures."""

    def __post_init__(self) -> None:
        check(self.recipe, draws=self.draws, limit=self.limit)

    def base_scores(self) -> pd.DataFrame:
        model = models.load(self.base, **self.loading)
        return pd.concat([self._audit(model, dataset).scores for dataset in self.tasks], ignore_index=True)

    def scores(self, name: str, lessons: Lessons) -> pd.DataFrame:
        """Fine-tune a model on the lessons of each draw, and return the scores of all, with a column `draw`."""
        runs = self.train_and_audit(name, lessons)
        return pd.concat([run.scores.assign(draw=draw) for draw, run in runs], ignore_index=True)

    def train_and_audit(self, name: str, lessons: Lessons, train: Train = train_masked) -> list[tuple[int, Run]]:
        """The draw and the run, for each draw and dataset, of models fine-tuned on the lessons of that draw."""
        wanted = {
            name: [suites.record(task).identity for task in suites.tasks_on(name, how, self.options)]
            for name, how in self.tasks.items()
        }
        runs = []
        for draw in range(self.draws):
            recipe, given = recipe_of(self.recipe, draw, self.seed), lessons(draw)
            folder = _folder(self.base, given, recipe, self.out, f"{name}-{draw}")
            paths = {dataset: self._runs(dataset) / folder.name for dataset in self.tasks}
            records = {dataset: read_record(path) if path.is_dir() else None for dataset, path in paths.items()}
            measured = {name: [task.identity for task in record.tasks] for name, record in records.items() if record}
            if missing := [dataset for dataset in paths if measured.get(dataset, []) != wanted[dataset]]:
                train(self.base, given, recipe, folder)
                model = models.load(str(folder), **self.loading)
                for dataset in missing:
                    self._audit(model, dataset)
            shutil.rmtree(folder, ignore_errors=True)
            runs += [(draw, whole_run(path)) for path in paths.values()]
        return runs

    def _audit(self, model: Model, dataset: str) -> Run:
        what: dict[str, Any] = {"measure": self.tasks[dataset], "options": self.options, "limit": self.limit}
        return audit(model, dataset=dataset, out=self._runs(dataset), **what)

    def _runs(self, dataset: str) -> Path:
        options = [f"{name}={value}" for name, value in self.options.items()]
        parts = (dataset, *options, *self.tasks[dataset], *([str(self.limit)] if self.limit else []))
        return self.out / "runs" / "-".join(parts)


def _folder(base: str, lessons: Sequence[Any], recipe: Any, out: Path, name: str) -> Path:
    if not lessons:
        raise BadInput(f"There are no sentences to train '{name}' on.")
    made_of = repr((models.load(base).fingerprint, list(lessons), recipe))
    return out / "models" / f"{name}-{hashlib.sha256(made_of.encode()).hexdigest()[:8]}"
