"""A run folder without a model: small, and with all that is awkward to write down."""

import math
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from evenhand import Result, Run, Score
from evenhand.core.dataset import FEMALE_MALE
from evenhand.core.measure import Traits
from evenhand.core.model import Work
from evenhand.core.scores import Value
from evenhand.measures import MEASURES
from evenhand.runs import folder
from evenhand.runs.record import SAMPLE, AuditRecord, RunRecord, TaskRecord
from evenhand.runs.rows import Row
from evenhand.stats.estimate import Estimate
from evenhand.stats.verdict import decide

HOSTILE = 'a_b%$&#<x>|"{}\\^~`*[@]'
NAN = math.nan
Made = Callable[..., Run]


def task(dataset: str, measure: str, **more: Any) -> TaskRecord:
    """The record of a task, with the measure's traits if it is ours; `more` are other fields of it."""
    known: dict[str, Any] = Traits.of(MEASURES[measure]).recorded if measure in MEASURES else {}
    known |= {
        "dataset_version": 3,
        "measure_version": 2,
        "by": ("gender",),
        "cluster": "profession",
        "reading": "neutral at 0",
        "dataset_builder": dataset,
        "within": "profession",
        "flaws": "Two genders only.",
        "about": "Sentences.",
        "seed": 0,
        "limit": None,
        "partners": FEMALE_MALE if measure == "association" else None,
    }
    return TaskRecord(dataset=dataset, measure=measure, **known | more)


def record(*tasks: TaskRecord, **more: Any) -> RunRecord:
    """The record of a run with one audit of these tasks; `more` are other fields of it, of the audit or the tasks."""
    known: dict[str, Any] = {
        "evenhand": "0.1.0",
        "loaded": {"dtype": "float32", "transformers": "5.0", "revision": None},
        "work": Work(),
        "tokens": {},
        "warnings": (),
        "started": "2026-01-02T03:04:05+00:00",
        "seconds": 1.0,
    }
    whole: dict[str, Any] = {"model": "mini", "fingerprint": "f" * 32, "sha256": {}}
    whole |= {name: more.pop(name) for name in tuple(whole) if name in more}
    sample = {name: more.pop(name) for name in SAMPLE if name in more}
    audited = AuditRecord(tasks=tuple(replace(task, **sample) for task in tasks), **known | more)
    return RunRecord(audits=(audited,), **whole)


def named(run: Run, name: str) -> Run:
    """The run, as if its model had another name."""
    return Run(run.path, replace(run.record, model=name))


def with_fields(record: RunRecord, **more: Any) -> RunRecord:
    """The record with other fields of its only audit."""
    (audited,) = record.audits
    return replace(record, audits=(replace(audited, **more),))


def row(
    value: float,
    low: float = NAN,
    high: float = NAN,
    *,
    neutral: float = 0.0,
    unfit: bool = False,
    unit: str = "",
    **more: Any,
) -> Row:
    """A row of a run: value, low and high, and other fields of its estimate."""
    of = task("tgb", "pronoun", unit=unit)
    found = Estimate(value, low, high, **more)
    plain: dict[str, Any] = {"groups": {}, "contrast": "", "estimand": "", "prior": NAN, "main": True}
    return Row(
        **asdict(found),
        **plain,
        task=of,
        audit=record(of).audits[0],
        model="mini",
        fingerprint="f",
        neutral=neutral,
        verdict=decide(found, neutral, objection="unfit" if unfit else ""),
        judging=lambda dataset: of,
    )


def make(
    path: Path,
    model: str = "mini",
    dataset: str = "tgb",
    measure: str = "likelihood-lean",
    label: str = "female",
    tasks: tuple[TaskRecord, ...] = (),
    neutral: float = 0.0,
    **more: Any,
) -> Run:
    """A run with a value over all items, of a group, of two groups whose value is none, and of a part in a group.

    It is of the one task that is measured, unless `tasks` are given; `more` are other fields of its record.
    """
    path.mkdir(exist_ok=True)
    groups = {"gender": label, "profession": "nurse"}
    values = (
        Value(-1 / 3, -0.5, 1e-17, 7, 1),
        Value(0.25, 0.125, 0.5, 3, groups={"gender": label}),
        Value(NAN, n=0, unscored=4, groups={"gender": "male"}),
        Value(0.75, n=1, groups={"gender": "single"}),
        Value(2.0, 1.0, 3.0, 2, groups=groups),
    )
    scores = (Score("a", 0.1 + 0.2, groups), Score("b", NAN, groups, "unknown word"))
    result = Result(model, "f" * 32, dataset, measure, 2, neutral, scores, values)
    tasks = tasks or (task(dataset, measure, partial=more.get("partial", False)),)
    return Run.load(folder.write(path, record(*tasks, model=model, **more), [result], {dataset: []}))
