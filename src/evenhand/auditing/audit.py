"""Measure a model on a suite or a dataset, and write a run folder."""

import functools
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from inspect import signature
from pathlib import Path
from platform import python_version
from typing import Any

from evenhand import models, suites
from evenhand.auditing.precision import deviations, sampled_tasks, warning
from evenhand.checks.doctor import look_over
from evenhand.checks.fit import fit, flawed
from evenhand.core.files import prepare, slug
from evenhand.core.loop import Task, measure_all
from evenhand.core.model import Model, TokenCounter, about, kind_of
from evenhand.core.scores import Result
from evenhand.errors import BadInput, EvenhandError, RunError
from evenhand.gate.gate import Gate
from evenhand.models.base import Elsewhere, Planned, overflowed
from evenhand.models.cache import Kept, Remembering, fingerprints
from evenhand.models.loading.names import DEFAULT, find
from evenhand.models.loading.names import kind as kind_found
from evenhand.runs import folder
from evenhand.runs.folder import Run
from evenhand.runs.record import Precision, RunRecord, read_record, valid

log = logging.getLogger(__name__)

LOADING = tuple(signature(models.load).parameters)[1:]
"""The parameters of `evenhand.load` other than the name."""


def audit(
    model: str | Path | Model = DEFAULT,
    *,
    suite: str = "all",
    lang: str = "en",
    dataset: str | None = None,
    measure: str | Sequence[str] = (),
    templates: str | Path | None = None,
    pairs: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
    limit: int | None = None,
    seed: int = 0,
    out: str | Path = "runs",
    gate: Gate | str | Path | None = None,
    **loading: Any,
) -> Run:
    """Measure a model and write the run to `out/<model>`; the same call again continues an interrupted one.

    `model` is a bundled name, a folder, a Hub id, or any object with `name`, `fingerprint` and `answer`. What is
    measured: a `suite` in a language (`all` are those that suit the kind of model), or a `dataset` by name, or your own
    file of `templates` or sentence `pairs`, with the measures that suit it or the `measure` named. `options` go to the
    datasets and measures that have them (`{"masks": "words"}`), `loading` to `evenhand.load`. With `limit` each dataset
    is a random sample of that size, and the run is marked partial. A `gate`, or policy file, judges it: gate.json.
    """
    if not isinstance(suite, str):
        raise BadInput(f"A suite is one name, or 'all'. Got {suite!r}.")
    if limit is not None and (not isinstance(limit, int) or limit < 1):
        raise BadInput(f"limit must be a whole number, at least 1. Got {limit!r}.")
    if isinstance(model, list | tuple):
        raise BadInput(f"An audit takes one model. Got {len(model)}: for several, use evenhand.sweep.")
    if seed < 0:
        raise BadInput(f"seed must not be negative. Got {seed}.")
    options = dict(options or {})
    named = (measure,) if isinstance(measure, str) else tuple(measure)
    given = [name for name, value in (("dataset", dataset), ("templates", templates), ("pairs", pairs)) if value]
    if len(given) > 1:
        raise BadInput(f"Choose one of dataset, templates and pairs. Got {' and '.join(given)}.")
    for builder, file in (("templates", templates), ("pairs", pairs)):
        if file is not None:
            dataset, options["file"] = builder, str(file)
    if named and not dataset:
        raise BadInput("`measure` needs `dataset`, `templates` or `pairs`; a suite has its own measures.")
    if isinstance(model, Path):
        model = str(model)
    path = run_folder(model, out)
    gate = Gate.load(gate) if isinstance(gate, str | Path) else gate

    def chosen(kind: str) -> list[Task]:
        tasks = suites.tasks_on(dataset, named, options, kind) if dataset else suites.tasks(suite, lang, options, kind)
        if gate:
            gate.check(tasks, path)
        return tasks

    # Checked before minutes are spent on loading, unless the kind of a Hub model is not known yet.
    kind = kind_found(find(model)) if isinstance(model, str) else kind_of(model)
    whole = chosen(kind) if kind or dataset or suite != "all" else []
    if unknown := set(loading) - set(LOADING if isinstance(model, str) else ()):
        raise TypeError(f"audit() got an unexpected keyword argument '{min(unknown)}'")
    prepare(path)
    try:
        exact = model.exact if isinstance(model, Elsewhere) else None
        if isinstance(model, str):
            exact = functools.partial(models.load, model, **{**loading, "dtype": "float32"})
        model = models.load(model, **loading) if isinstance(model, str) else model
        if not whole or kind != kind_of(model):
            kind = kind_of(model)
            whole = chosen(kind)
        tasks = whole if limit is None else sampled_tasks(whole, limit, seed)
        if isinstance(model, Planned):
            for task in tasks:  # a question that it cannot answer is an error at once
                model.plan(task.measure.ask(task.dataset.items[0]))
        earlier = _earlier(path, model)
        partial = tasks != whole
        if partial and earlier and not earlier.partial:
            raise RunError(f"'{path}' holds a full run, which a sample would replace. Choose another `out`.")
        if partial:
            log.warning(f"A sample of {limit} items: results are partial.")
        records = tuple(valid(suites.record(task, partial=partial)) for task in tasks)
        same = earlier is not None and [one.what for one in earlier.tasks] == [one.what for one in records]
        if earlier and not same:
            log.warning(f"Replacing the results in '{path}', which are of other datasets or options. Answers are kept.")
        examined = _examined(model, tasks, earlier if same else None)
    except BaseException:
        with suppress(OSError):
            path.rmdir()  # fails unless it is empty
        raise

    started, clock = datetime.now(UTC), time.monotonic()
    with folder.locked(path):
        _earlier(path, model)  # once more: another process may have written since
        remembering = Remembering(model, path / folder.ANSWERS)
        before = overflowed(model) if hasattr(model, "overflowed") else None
        results = measure_all(remembering, tasks, seed=seed)
        # If all answers were kept, the model was loaded as in the earlier run.
        loaded = earlier.loaded if earlier and not remembering.work.batches else about(model)
        precision = None
        if exact and loaded.get("dtype") != "float32":
            precision = _precision(exact, model, remembering, tasks, results, seed, before, earlier)
            for line in (line for found in precision.deviations for line in warning(found, str(loaded["dtype"]))):
                log.warning(line)
                examined["warnings"] += (line,)
        record = RunRecord(
            evenhand=version("evenhand"),
            model=model.name,
            fingerprint=model.fingerprint,
            loaded=loaded,
            languages=tuple(sorted({task.dataset.language for task in tasks})),
            seed=seed,
            limit=limit,
            partial=partial,
            tasks=records,
            work=remembering.work,
            suite=None if dataset else suite,
            **examined,
            caveats=tuple(suites.caveats(kind, tasks)),
            started=started.isoformat(timespec="seconds"),
            seconds=round(time.monotonic() - clock, 1),
            precision=precision,
            sha256={},
        )
        return _finish(path, record, tasks, results, gate)


def rescore(path: str | Path) -> Run:
    """Score a run again from its kept answers, without its model."""
    run = Run.load(path, checked=False)
    record = run.record
    tasks = suites.rebuild(record.tasks)
    if record.limit is not None:
        tasks = sampled_tasks(tasks, record.limit, record.seed)
    kept = Kept(run.path / folder.ANSWERS, record.model, record.fingerprint)
    results = measure_all(kept, tasks, seed=record.seed)
    records = tuple(suites.record(task, partial=record.partial) for task in tasks)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return _finish(run.path, replace(record, tasks=records, rescored=now), tasks, results)


def run_folder(model: str | Model, out: str | Path) -> Path:
    """The folder of a model's run, `out/<model>`, with two dashes for the slash of a Hub id."""
    name = find(model).name if isinstance(model, str) else model.name
    return Path(out).expanduser() / slug(name)


def _finish(
    path: Path, record: RunRecord, tasks: Sequence[Task], results: Sequence[Result], gate: Gate | None = None
) -> Run:
    """Write the run, then the gate's verdict, then the page."""
    record = replace(
        record,
        unscored={f"{r.dataset}/{r.measure}": dict(r.unscored) for r in results},
        versions={"python": python_version()} | {name: version(name) for name in ("numpy", "pandas", "scipy")},
    )
    run = folder.write(path, record, results, {task.dataset.name: task.dataset.items for task in tasks})
    if gate:
        gate.judge(run).save(run.path)
    from evenhand.report import page  # here, since drawing libraries take time to load

    page.write([run], run.path / page.FILE)
    return run


def _examined(model: Model, tasks: Sequence[Task], earlier: RunRecord | None) -> dict[str, Any]:
    """The fields of the record that are known before anything is measured; warnings are logged at once."""
    data = {task.dataset.name: task.dataset for task in tasks}
    fits = {name: fit(model, dataset) for name, dataset in data.items() if isinstance(model, TokenCounter)}
    misfits = [line for found in fits.values() for line in found.warnings(model.name)]
    warnings = [*misfits, *(line for dataset in data.values() for line in flawed(dataset))]
    for line in warnings:
        log.warning(line)
    doctored = look_over(model, list(data.values()), earlier, fits)
    for found in doctored:
        if found.verdict != "fine" and not (misfits and found.check == "vocabulary"):  # which would say them again
            log.warning(f"{found.check.capitalize()}, {found.verdict}: {found.says} {found.do}")
    tokens = {name: found.tokens for name, found in fits.items()}
    return {"tokens": tokens, "warnings": tuple(warnings), "doctor": doctored}


def _precision(
    exact: Callable[[], Model],
    model: Model,
    remembering: Remembering,
    tasks: Sequence[Task],
    results: Sequence[Result],
    seed: int,
    before: int | None,
    earlier: RunRecord | None,
) -> Precision:
    """How the run compares with float32, or why that is not known; `before` is the number of overflows before it."""
    if earlier and earlier.precision and not remembering.work.batches:
        return earlier.precision
    redone = None if before is None else overflowed(model) - before  # some models do not count
    asked = about(model).get("dtype_asked")
    try:
        return Precision(asked, redone, tuple(deviations(remembering, exact(), tasks, results, seed)))
    except (EvenhandError, MemoryError) as error:  # the model may fit into memory in half precision only
        why = f"Not compared with float32: {error}"
        log.warning(why)
        return Precision(asked, redone, why=why)


def _earlier(path: Path, model: Model) -> RunRecord | None:
    """The record of the run in this folder, if there is one; an error if it is of another model."""
    record = read_record(path)
    others = fingerprints(path / folder.ANSWERS) | ({record.fingerprint} if record else set())
    if others - {model.fingerprint}:
        whose = f"'{record.model}' ({record.fingerprint[:12]})" if record else "another model"
        raise RunError(
            f"'{path}' holds a run of {whose}; this is '{model.name}' ({model.fingerprint[:12]}), and other weights, "
            "tokenizer or dtype make another model. Choose another `out`, or delete the folder."
        )
    return record
