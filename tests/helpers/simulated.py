"""Runs of models that were never there: scores drawn for real items from effects of their words, templates and noise.

In these worlds nothing leans and nothing changes, so that every verdict is a false claim.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from evenhand import Answer, Run, suites
from evenhand.analysis.comparison import comparable_tasks, side_by_side
from evenhand.core.dataset import ESTIMANDS
from evenhand.core.loop import Task, result
from evenhand.core.model import Work
from evenhand.core.questions import Question
from evenhand.core.scores import Score
from evenhand.papers.findings import findings
from evenhand.runs import folder
from evenhand.runs.record import AuditRecord, RunRecord, TaskRecord
from evenhand.runs.rows import FEMALE_MALE
from evenhand.stats.estimate import side
from helpers.made_scores import change_table

Numbers = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


@dataclass(frozen=True)
class World:
    """A suite, and how far its words, templates and single items vary; `squash` makes their sum a score."""

    suite: str
    datasets: tuple[str, ...]
    effects: Mapping[tuple[str, ...], float]
    """Standard deviations of the effect of each label, or of each combination of labels."""
    noise: float
    kind: str = "masked"
    squash: Callable[[Numbers], Numbers] = lambda values: values


WORLDS = {
    "professions": World(
        "becpro", ("becpro-en",), {("profession",): 0.4, ("profession", "gender"): 0.3, ("person",): 0.0}, 0.5
    ),
    "emotions": World("emotions", ("emotions-en",), {("attribute",): 0.5, ("attribute", "gender"): 0.3}, 0.4),
    "pairs": World("gbef", ("tgb",), {}, 2.4),
    "pronouns": World("gbef", ("tbd",), {("profession",): 0.3, ("template",): 0.2}, 0.3, squash=np.tanh),
    "inference": World("nli", ("nli-en",), {("word",): 0.7, ("template",): 0.5}, 1.0, kind="nli"),
}


@dataclass(frozen=True)
class Simulated:
    """A model that is only a name: its scores are drawn, not asked for."""

    name: str
    fingerprint: str

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """Nothing to say."""
        return [Answer.none("simulated") for _ in questions]


@contextmanager
def fewer_draws() -> Iterator[None]:
    """Bootstraps and tests of a tenth of their draws, for simulations that make many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evenhand.stats.significance.MOST_SIGNS", 0)
        patch.setattr("evenhand.stats.intervals.DRAWS", 1_000)
        yield


@cache
def tasks(name: str) -> tuple[Task, ...]:
    """What the world's suite measures on its datasets."""
    world = WORLDS[name]
    return tuple(
        task for task in suites.tasks(world.suite, "en", {}, world.kind) if task.dataset.name in world.datasets
    )


def simulate(name: str, path: Path, seed: int, shift: float = 0.0, share: float = 0.0) -> Run:
    """A run in that world, written to `path`; `shift` is added to every score, of partners to the woman's alone.

    Runs with the same `share` > 0 and seed // 1000 have this share of their variance in common, as a model has before
    and after training.
    """
    world, model, found = WORLDS[name], Simulated(f"simulated-{seed}", f"{seed:064d}"), []
    draws: dict[str, Numbers] = {}
    for task in tasks(name):
        items = task.dataset.items
        if task.dataset.name not in draws:
            own, common = (_drawn(world, items, np.random.default_rng(s)) for s in (seed, [seed // 1000, 7]))
            draws[task.dataset.name] = math.sqrt(1 - share) * own + math.sqrt(share) * common + shift * _shifted(task)
        values = draws[task.dataset.name]
        scores = tuple(
            Score(item.id, float(value), item.groups)
            for item, value in zip(items, _scores(world, task, values), strict=True)
        )
        found.append(result(model, task, scores))
    records = tuple(suites.record(task) for task in tasks(name))
    audited = AuditRecord(kind=world.kind, tasks=records, work=Work(), tokens={}, warnings=(), seconds=0.0)
    record = RunRecord(model=model.name, fingerprint=model.fingerprint, audits=(audited,), sha256={})
    path.mkdir(parents=True, exist_ok=True)
    return Run.load(folder.write(path, record, found, {task.dataset.name: task.dataset.items for task in tasks(name)}))


def _drawn(world: World, items: Sequence[object], rng: np.random.Generator) -> Numbers:
    total: Numbers = world.noise * rng.standard_t(4, size=len(items)) / math.sqrt(2)  # heavier tails than normal
    for groups, sd in world.effects.items():
        labels = np.array(["\0".join(item.groups.get(group, "") for group in groups) for item in items])  # type: ignore[attr-defined]
        names, index = np.unique(labels, return_inverse=True)
        total += (sd * rng.normal(size=len(names)))[index]
    return total


def _shifted(task: Task) -> Numbers:
    """1 for each item that a shift is added to, 0 for the others."""
    partners = task.dataset.partners
    shifted = [not partners or item.groups[partners.group] == partners.one for item in task.dataset.items]
    return np.array(shifted, dtype=np.float64)


def _scores(world: World, task: Task, values: Numbers) -> Numbers:
    if world.kind == "nli":  # the label by the value alone: wrong in a third of all pairs, whatever the gender
        return np.array([task.measure.score(i, [_label(v)]) for i, v in zip(task.dataset.items, values, strict=True)])
    measure = task.measure.name
    if measure in ("stereotype-share", "crows-pairs"):
        return (values > 0).astype(np.float64)
    return 1 / (1 + np.exp(2 - values)) if measure == "singular-they" else world.squash(values)


def _label(value: float) -> Answer:
    likely, rest = math.log(0.8), math.log(0.1)
    return Answer((likely, rest, rest) if value > 1 else (rest, rest, likely) if value < -1 else (rest, likely, rest))


def false_claims(name: str, folder: Path, seed: int) -> dict[str, list[tuple[bool, bool]]]:
    """For each kind of verdict, family by family: whether the rule made a claim, and whether intervals alone would."""
    first, second, third = (simulate(name, folder / str(n), 1000 * seed + n, share=0.5) for n in range(3))
    families: dict[tuple[str, str], list[tuple[int, int]]] = {}

    def add(kind: str, family: str, ruled: int, alone: int) -> None:
        families.setdefault((kind, family), []).append((ruled, alone))

    for task in first.record.tasks:
        for value in first.values_of(*task.name):
            part = bool(task.within) and task.within in value.groups
            if value.needed and not (part and task.within == task.crossed):  # a single profession does lean here
                at = 0.0 if math.isnan(value.neutral) else value.neutral
                add("a value leans", f"{task.name}{part}", value.verdict.side, value.side(at))
        for row in first.rows_of(*task.name):
            main = bool(row.estimand and not row.groups)
            kind = "stereotype or default leans" if main else "a row leans"
            if row.needed:
                add(kind, _family(task), row.verdict.side, row.side(row.neutral))
    for told in findings(first):
        for claim in told.claims:
            wrong = claim.verdict == "refuted" if claim.hypothesis == "H3" else claim.verdict != "undecided"
            add("H1 to H3 decided", told.dataset, wrong, claim.estimate.side())
    leaning = [simulate(name, folder / f"leaning{n}", 1000 * seed + n, shift=0.3, share=0.5) for n in range(2)]
    for change in change_table(*leaning).to_dict("records"):  # both equally far from neutral, on the same side
        task = first.task(change["dataset"], change["measure"].removesuffix(FEMALE_MALE))
        if change["needed"]:
            alone, main = side(change["worse_low"], change["worse_high"]), change["group"] in ESTIMANDS
            add("nearer or farther", f"{_family(task)} {main}", change["moved"] != "", alone)
    for dataset, measure in comparable_tasks(first):
        marks = side_by_side([first, second, third], dataset, measure)["mark"]
        add("best or worst of three", dataset, bool((marks != "").any()), 0)
    found: dict[str, list[tuple[bool, bool]]] = {}
    for (kind, _), rows in families.items():
        found.setdefault(kind, []).append((any(a for a, _ in rows), any(b for _, b in rows)))
    return found


def _family(task: TaskRecord) -> str:
    """What p is adjusted over together: the labels of a classifier, or else one measure."""
    return f"{task.dataset} {task.family or task.measure}"
