"""What a run says, for whoever writes it down: each value with all that must go with it."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.errors import BadInput, RunError
from evenhand.runs.folder import Run

NEEDED = (
    "model",
    "fingerprint",
    "dataset",
    "measure",
    "version",
    "groups",
    "value",
    "low",
    "high",
    "n",
    "unscored",
    "neutral",
)
"""Without one of these a value is not written, in any format."""
ALIKE = ("dataset_builder", "dataset_version", "dataset_options", "measure_version", "measure_options")
"""What must be the same where two runs stand in one table."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A value with its interval, n, unscored, versions and fingerprint; NaN, with the reason as note, where none is."""

    model: str
    fingerprint: str
    dataset: str
    dataset_version: Any
    measure: str
    measure_version: int
    groups: Mapping[str, str]
    value: float
    low: float
    high: float
    n: int
    unscored: int
    neutral: float
    note: str
    part: bool
    """Whether it is of a part within a group: a single profession, say."""

    @property
    def known(self) -> bool:
        """Whether there is a value at all."""
        return not math.isnan(self.value)

    @property
    def of(self) -> str:
        """Which items, in words."""
        return ", ".join(f"{group} {label}" for group, label in self.groups.items()) or "all items"


def facts(run: Run) -> list[Fact]:
    """Every value of the run. One without an interval counts as none: it could be chance, and nobody could tell."""
    tasks = tasks_of(run)
    return [_fact(run, row, tasks) for row in run.results]


def headlines(run: Run) -> list[Fact]:
    """The values over all items and by group, without the parts within groups."""
    return [fact for fact in facts(run) if not fact.part]


def tasks_of(run: Run) -> dict[tuple[str, str], Mapping[str, Any]]:
    """What was measured, by dataset and measure."""
    return {(task["dataset"], task["measure"]): task for task in run.about["tasks"]}


def partial(run: Run) -> str:
    """A sentence that says that the run is of a sample; empty where it is whole."""
    return f"Partial: a sample of {run.about['limit']} items of each dataset." if run.about["partial"] else ""


def check_alike(runs: Sequence[Run]) -> None:
    """An error where runs that are to share a table measured something else under the same name."""
    first: dict[tuple[str, str], tuple[Run, Any]] = {}
    for run in runs:
        sample = (run.about["limit"], run.about["seed"]) if run.about["partial"] else None
        for name, task in tasks_of(run).items():
            mine = {key: task.get(key) for key in ALIKE} | {"sample": sample}
            earlier, theirs = first.setdefault(name, (run, mine))
            if mine != theirs:
                other = ", ".join(key for key in mine if mine[key] != theirs[key])
                raise BadInput(
                    f"'{earlier.path}' and '{run.path}' were not measured alike by {name[1]} on {name[0]}: {other} "
                    "differ. Audit them with the same command, or export them one by one."
                )


def column_names(runs: Sequence[Run]) -> list[str]:
    """The runs' models; those of one name are told apart by fingerprint."""
    names = [str(run.about["model"]) for run in runs]
    return [
        f"{name} ({run.about['fingerprint'][:8]})" if names.count(name) > 1 else name
        for name, run in zip(names, runs, strict=True)
    ]


def number(value: float) -> str:
    """Three digits, as on the scorecard; a dash where there is none."""
    return "–" if math.isnan(value) else f"{value:.3f}"


def interval(fact: Fact) -> str:
    """Low and high, as on the scorecard; a dash where there is none."""
    return f"[{number(fact.low)}, {number(fact.high)}]" if fact.known else "–"


def short(value: float) -> str:
    """A neutral value in words: the number, or that there is none."""
    return "none" if math.isnan(value) else f"{value:g}"


def of_tasks(run: Run, found: Sequence[Fact]) -> Iterator[tuple[Mapping[str, Any], list[Fact]]]:
    """Each task with its facts, in the run's order."""
    for (dataset, measure), task in tasks_of(run).items():
        yield task, [fact for fact in found if (fact.dataset, fact.measure) == (dataset, measure)]


def _fact(run: Run, row: Any, tasks: Mapping[tuple[str, str], Mapping[str, Any]]) -> Fact:
    missing = [key for key in NEEDED if key not in row] if isinstance(row, dict) else list(NEEDED)
    if missing or (row["dataset"], row["measure"]) not in tasks:
        what = f"lacks {', '.join(missing)}" if missing else f"is of no task of the run: {row['dataset']}"
        raise RunError(
            f"A value in '{run.path / 'results.json'}' {what}. Put it right with: evenhand rescore {run.path}"
        )
    task = tasks[row["dataset"], row["measure"]]
    numbers = {key: math.nan if row[key] is None else float(row[key]) for key in ("value", "low", "high", "neutral")}
    note = row.get("note", "")
    if not all(math.isfinite(numbers[key]) for key in ("value", "low", "high")):
        note = note or ("no item was scored" if not row["n"] else "too few clusters for an interval")
        numbers |= dict.fromkeys(("value", "low", "high"), math.nan)
    return Fact(
        model=str(row["model"]),
        fingerprint=str(row["fingerprint"]),
        dataset=str(row["dataset"]),
        dataset_version=task["dataset_version"],
        measure=str(row["measure"]),
        measure_version=row["version"],
        groups=row["groups"],
        n=row["n"],
        unscored=row["unscored"],
        note=note,
        part=bool(task.get("within")) and task["within"] in row["groups"],
        **numbers,
    )
