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
from typing import Any

from evenhand import models
from evenhand.auditing import keeping
from evenhand.auditing.rescoring import finish, restored, scored
from evenhand.auditing.sampling import deviations, warning
from evenhand.auditing.wanted import Asked, Given, Measures, Named, Wanted, caveats
from evenhand.checks.doctor import look_over
from evenhand.checks.fit import fit, flawed
from evenhand.core.files import prepare, slug
from evenhand.core.loop import Task, measure_all, questions_of
from evenhand.core.model import Model, TokenCounter, about, check_model, kind_of
from evenhand.core.progress import one_bar, showing
from evenhand.core.scores import Result
from evenhand.errors import BadInput, EvenhandError, UnfitModel
from evenhand.gate.gate import Gate
from evenhand.models.base import Elsewhere, Planned, Served, overflowed
from evenhand.models.cache import Remembering, forget_batches, recognise
from evenhand.models.loading.names import DEFAULT, find
from evenhand.models.loading.names import kind as kind_found
from evenhand.runs import folder
from evenhand.runs.folder import Run
from evenhand.runs.origin import Precision
from evenhand.runs.record import AuditRecord, RunRecord, read_record

log = logging.getLogger(__name__)

LOADING = tuple(signature(models.load).parameters)[1:]
"""The parameters of `evenhand.load` other than the name."""
LONGEST_NAME = 200
"""Bytes of a run folder's name; file systems allow 255."""


def audit(
    model: str | Path | Model = DEFAULT,
    *,
    suite: Named = "all",
    lang: Named = None,
    dataset: Given = None,
    measure: Measures = None,
    templates: Named = None,
    pairs: Named = None,
    options: Mapping[str, Any] | None = None,
    limit: int | None = None,
    seed: int = 0,
    out: str | Path = "runs",
    name: str | None = None,
    fresh: bool = False,
    gate: Gate | str | Path | None = None,
    baseline: Run | str | Path | None = None,
    progress: bool | None = None,
    **loading: Any,
) -> Run:
    """Measure a model and add the results to its run in `out/<model>`, or `out/<name>`; then read the whole run.

    `model` is a bundled name, a folder, a Hub id, or any object with `name`, `fingerprint` and `answer`. What is
    measured: a `suite` in a language (`all` are those that suit the kind of model), or a `dataset` by name, or your own
    file of `templates` or sentence `pairs`, with the measures that suit it or the `measure` named; each can be several.
    A dataset and a measure can also be objects of your own (docs/extend.md).
    `options` go to the datasets and measures that have them (`{"masks": "words"}`), `loading` to `evenhand.load`. With
    `limit` each dataset is a random sample of at most that many items, and its results are marked partial.

    The same call again continues an interrupted one. A dataset that was measured before, with the same options and
    measure, is replaced, though a sample never replaces the whole; other results stay, unless the run is to start
    `fresh`. A `gate`, or policy file, judges the run: gate.json; `baseline` is the run that its
    `worse_by_at_most` compares with, instead of the policy's.

    One progress bar shows how far it is, on a terminal and in a notebook; `progress=False` hides it.
    """
    if isinstance(model, list | tuple):
        raise BadInput(f"An audit takes one model. Got {len(model)}: for several, use evenhand.sweep.")
    wanted = Wanted.of(suite, lang, dataset, measure, templates, pairs, options, limit, seed)
    if isinstance(model, Path):
        model = str(model)
    model = (isinstance(model, str) and models.own(model)) or model
    if not isinstance(model, str):
        check_model(model)
    path = run_folder(model, out, name)
    gate = Gate.of(gate, baseline)

    def chosen(kind: str) -> list[Asked]:
        asked = wanted.asked(kind)
        if not fresh:
            keeping.check(path, [one.record for one in asked])
        if gate:
            there = None if fresh else read_record(path)
            gate.check([one.whole for one in asked], path, there, samples=[one.task for one in asked])
        return asked

    # Checked before minutes are spent on loading, unless the kind of a Hub model is not known yet.
    kind = kind_found(find(model)) if isinstance(model, str) else kind_of(model)
    asked = chosen(kind or "masked") if kind or not wanted.needs_kind else []
    if unknown := set(loading) - set(LOADING if isinstance(model, str) else ()):
        raise TypeError(f"audit() got an unexpected keyword argument '{min(unknown)}'")
    prepare(path)
    try:
        exact = model.exact if isinstance(model, Elsewhere) else None
        if isinstance(model, str) and not find(model).served:
            exact = functools.partial(models.load, model, **{**loading, "dtype": "float32"})
        model = models.load(model, **loading) if isinstance(model, str) else model
        asked = asked if kind == kind_of(model) else chosen(kind_of(model))
        asked, left_out = _askable(model, asked)
        if isinstance(model, Planned):
            for one in asked:  # a question that it cannot answer is an error at once
                model.plan(questions_of(one.task.dataset.items[0], one.task.measure))
        with folder.locked(path), showing(progress), one_bar(f"Measuring {name or model.name}"):
            if fresh:
                folder.clear(path)
            earlier = keeping.of_model(path, model)
            if isinstance(model, Served):
                recognise(path / folder.ANSWERS, model)
            stays = keeping.kept(earlier, [one.record for one in asked])
            before = restored(path) if stays else None
            if any(one.record.partial for one in asked):
                log.warning(f"A sample of at most {limit} items of each dataset: results are partial.")
            for one in asked:
                log.debug(f"{one.record.measure} on {one.record.dataset}: {len(one.task.dataset.items):,} items.")
            return carry_out(
                model,
                asked,
                path,
                name or model.name,
                suite=wanted.suite,
                stays=stays,
                before=before,
                earlier=earlier,
                exact=exact,
                left_out=left_out,
                gate=gate,
            )
    except BaseException:
        with suppress(OSError):
            path.rmdir()  # fails unless it is empty
        raise


def carry_out(
    model: Model,
    asked: Sequence[Asked],
    path: Path,
    name: str,
    *,
    suite: str | None,
    stays: Sequence[AuditRecord] = (),
    before: Run | None = None,
    earlier: RunRecord | None = None,
    exact: Callable[[], Model] | None = None,
    left_out: Sequence[str] = (),
    gate: Gate | None = None,
) -> Run:
    """Measure the tasks and write the run to this folder, which must be locked; `stays` is kept of the run `before`."""
    audits, results = list(stays), list[Result]()
    for language in dict.fromkeys(one.task.dataset.language for one in asked):
        # Each by itself: the doctor may find that a model does not know one of them.
        here = [one for one in asked if one.task.dataset.language == language]
        audited, found = _audited(model, here, path, earlier, exact, name)
        audits.append(replace(audited, suite=suite, warnings=(*left_out, *audited.warnings)))
        results += found
    forget_batches(path / folder.ANSWERS)
    record = RunRecord(model=name, fingerprint=model.fingerprint, audits=tuple(audits), sha256={})
    return finish(path, record, [one.task for one in asked], results, before, gate)


def _askable(model: Model, asked: list[Asked]) -> tuple[list[Asked], list[str]]:
    """What a model behind a server can be asked, and a sentence on what it cannot; an error if that is everything."""
    if not isinstance(model, Served):
        return asked, []
    reasons: dict[str, list[str]] = {}
    able = []
    for one in asked:
        why = next(filter(None, map(model.cannot, questions_of(one.task.dataset.items[0], one.task.measure))), "")
        if why:
            reasons.setdefault(why, []).append(f"{one.record.dataset} by {one.record.measure}")
        else:
            able.append(one)
    told = [f"Not asked of the server, since {why}: {', '.join(names)}." for why, names in reasons.items()]
    if not able:
        raise UnfitModel(f"{' '.join(told)} Choices may be asked: `suite='choices'`.", check="server")
    for line in told:
        log.warning(line)
    return able, told


def _audited(
    model: Model,
    asked: Sequence[Asked],
    path: Path,
    earlier: RunRecord | None,
    exact: Callable[[], Model] | None,
    name: str,
) -> tuple[AuditRecord, list[Result]]:
    """The record and the results of an audit of tasks in one language."""
    tasks, records = [one.task for one in asked], [one.record for one in asked]
    what, seed = [record.what for record in records], records[0].seed
    audits = earlier.audits if earlier else ()
    same = next((audit for audit in audits if [task.what for task in audit.tasks] == what), None)
    examined = _examined(model, tasks, same)
    started, clock = datetime.now(UTC), time.monotonic()
    remembering = Remembering(model, path / folder.ANSWERS)
    remembering.name = name
    before = overflowed(model) if hasattr(model, "overflowed") else None
    results = measure_all(remembering, tasks, seed=seed)
    # If all answers were kept, the model was loaded as in the earlier run.
    loaded = earlier.loaded if earlier and not remembering.work.batches else about(model)
    precision = None
    if exact and loaded.get("dtype") != "float32":
        precision = _precision(exact, model, remembering, tasks, results, seed, before, same)
        for line in (line for found in precision.deviations for line in warning(found, str(loaded["dtype"]))):
            log.warning(line)
            examined["warnings"] += (line,)
    kind = kind_of(model)
    audited = AuditRecord(
        evenhand=version("evenhand"),
        kind=kind,
        loaded=loaded,
        tasks=tuple(records),
        work=remembering.work,
        **examined,
        caveats=tuple(caveats(kind, tasks)),
        started=started.isoformat(timespec="seconds"),
        seconds=round(time.monotonic() - clock, 1),
        precision=precision,
    )
    return scored(audited, tasks, results), results


def run_folder(model: str | Model, out: str | Path, name: str | None = None) -> Path:
    """The folder of a model's run, `out/<model>` or `out/<name>`, with two dashes for the slash of a Hub id."""
    name = name or (find(model).name if isinstance(model, str) else model.name)
    folder_name = slug(name).strip()
    if not folder_name.strip(".") or not folder_name.isprintable() or len(folder_name.encode()) > LONGEST_NAME:
        raise BadInput(f"A run needs a name that can be a folder's. Got {name!r}: give `name`.")
    return Path(out).expanduser() / folder_name


def _examined(model: Model, tasks: Sequence[Task], earlier: AuditRecord | None) -> dict[str, Any]:
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
    earlier: AuditRecord | None,
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
