"""Measure a model and write its run folder, or measure several models, in turn or in parallel on a Ray cluster."""

import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from evenhand import suites
from evenhand._version import __version__
from evenhand.auditing import merging
from evenhand.auditing.budget import too_few_items
from evenhand.auditing.merging import add_outcomes, check_overwrite, finish, output_folder
from evenhand.auditing.sampling import deviations, warning
from evenhand.auditing.spec import AuditSpec, PlannedTask, Reader, caveats
from evenhand.checks.doctor import preflight
from evenhand.checks.fit import fit, flaw_warnings
from evenhand.core.files import real_path, slug
from evenhand.core.loop import Task, measure_all, questions_of
from evenhand.core.model import Model, TokenCounter, about, kind_of
from evenhand.core.progress import one_bar, showing
from evenhand.core.scores import Result
from evenhand.core.way import UNASKED, Way
from evenhand.distributed import check_engine
from evenhand.errors import BadInput, EvenhandError, UnfitModel
from evenhand.models import LOADING, ModelSource, options_of
from evenhand.models.base import (
    Chats,
    CountsRequests,
    Planned,
    Recognisable,
    Selective,
    check_questions,
    count_overflows,
    refusal,
)
from evenhand.models.cache import Remembering, check_same_model, delete_batches
from evenhand.models.loading.names import ModelPlace, find, with_parent
from evenhand.runs import folder
from evenhand.runs.folder import StoredRun
from evenhand.runs.record import AuditRecord, Precision, RunRecord, read_record

log = logging.getLogger(__name__)

LONGEST_NAME = 200
"""The most bytes in the name of a run folder. File systems allow 255."""
AnyRun = TypeVar("AnyRun")
"""The class of the runs that an `audit` function returns."""


def run_audit(
    source: ModelSource,
    spec: AuditSpec,
    path: Path,
    name: str | None,
    reader: Reader,
    *,
    fresh: bool = False,
    progress: bool | None = None,
) -> StoredRun:
    """Measure the model and add the results to the run in `path`; `reader` then reads the run in the locked folder.

    See `evenhand.audit`. Tasks are checked before the model is loaded if its kind is known or they do not depend on it.
    """
    existing = None if fresh else read_record(path)

    def checked_tasks(kind: str, spec: AuditSpec, *, quiet: bool = False) -> list[PlannedTask]:
        tasks = spec.tasks_for(kind, quiet=quiet)
        # Whether a server has chats is only known once it was asked.
        way = UNASKED if source.served else suites.way_of([planned.task for planned in tasks])
        check_overwrite(path, existing, [planned.record for planned in tasks], way)
        reader.check(tasks, path, existing)
        return tasks

    # Tasks are checked before minutes are spent on loading, unless the kind of a Hub model is not known yet.
    server = source.served
    uncounted = server or isinstance(source.given, CountsRequests)  # only the loaded model can count its requests
    asking = (lambda question: ()) if uncounted else None
    spec = replace(spec.in_way(source.way), server=server, chats=server, asking=asking)
    kind = source.kind
    tasks = checked_tasks(kind or "masked", spec, quiet=not kind) if kind or not spec.needs_kind else []
    with output_folder(path):
        model = source.load()
        chats = server and isinstance(model, Chats) and model.chats
        kind = kind_of(model)
        if source.kind != kind or chats != spec.chats or spec.budget:
            spec = replace(spec, chats=chats, asking=model.requests if isinstance(model, CountsRequests) else None)
            tasks = checked_tasks(kind, spec, quiet=bool(tasks) and kind == source.kind)
        name = name or model.name + source.way.words(in_chats=server)
        asked = [planned.record.dataset for planned in tasks]
        tasks, refused = _askable_tasks(model, tasks)
        records = [planned.record for planned in tasks]
        excluded = tuple(dict.fromkeys(name for name in asked if name not in {record.dataset for record in records}))
        way = suites.way_of([planned.task for planned in tasks], source.way.file)
        with folder.lock_folder(path), showing(progress), one_bar(f"Measuring {name}"):
            if fresh:
                folder.clear(path)
            earlier = merging.existing_record(path, model)
            if isinstance(model, Recognisable):
                check_same_model(path / folder.ANSWERS, model)
            check_overwrite(path, earlier, records, way)
            stays = merging.audits_to_keep(earlier, records)
            way = earlier.asked.join(way) if earlier and stays else way
            before = merging.restore(path) if stays else None
            if any(record.partial for record in records):
                most = f"at most {spec.limit} items" if spec.limit else f"what a budget of {spec.budget:,} allows"
                log.warning(f"A sample of {most} of each dataset: results are partial.")
            if spec.budget and (small := {each.record.dataset: each.too_few for each in tasks if each.too_few}):
                log.warning(too_few_items(spec.budget, small))
            for planned in tasks:
                items = len(planned.task.dataset.items)
                log.debug(f"{planned.record.measure} on {planned.record.dataset}: {items:,} items.")
            audits, results = list(stays), list[Result]()
            for audited, new in run_tasks(model, tasks, path, name, earlier, source.exact):
                warnings = (*refused, *audited.warnings)
                audits.append(replace(audited, suite=spec.suite, warnings=warnings, excluded=excluded))
                results += new
            run = RunRecord(model=name, **way.identity(model.fingerprint), audits=tuple(audits), sha256={})
            return finish(path, run, [planned.task for planned in tasks], results, reader, before)


def run_tasks(
    model: Model,
    tasks: Sequence[PlannedTask],
    path: Path,
    name: str,
    earlier: RunRecord | None = None,
    exact: Callable[[], Model] | None = None,
) -> list[tuple[AuditRecord, list[Result]]]:
    """Measure the tasks, one audit per language, since a model may not know every language. Answers go into `path`."""
    audits = []
    for language in dict.fromkeys(planned.task.dataset.language for planned in tasks):
        in_language = [planned for planned in tasks if planned.task.dataset.language == language]
        audits.append(_audit_language(model, in_language, path, name, earlier, exact))
    delete_batches(path / folder.ANSWERS)
    return audits


def _askable_tasks(model: Model, tasks: list[PlannedTask]) -> tuple[list[PlannedTask], list[str]]:
    """The tasks that the model can be asked, and a sentence for each reason to exclude others. None left: an error."""
    reasons: dict[str, dict[str, list[str]]] = {}
    errors: dict[str, dict[str, list[str]]] = {}
    askable = []
    for planned in tasks:
        items, why = planned.task.dataset.items, ""
        dataset, measure = planned.record.name
        try:
            if isinstance(model, Selective):
                refusals = (refusal(model, questions_of(item, planned.task.measure)) for item in items)
                why = next(refusals)
                why = why if why and all(refusals) else ""
            elif isinstance(model, Planned):
                check_questions(model, questions_of(items[0], planned.task.measure))
        except UnfitModel as error:
            if len(tasks) == 1:
                raise
            errors.setdefault(str(error), {}).setdefault(dataset, []).append(measure)
        else:
            if why:
                reasons.setdefault(why, {}).setdefault(dataset, []).append(measure)
            else:
                askable.append(planned)
    whom = "server" if isinstance(model, Recognisable) else "model"
    lines = [f"Not asked of the {whom}, since {why}: {_names(those)}." for why, those in reasons.items()]
    lines += [f"Not asked of the model: {_names(those)}. {error}" for error, those in errors.items()]
    if errors and not askable:
        raise UnfitModel(" ".join(lines))
    if not askable:
        raise UnfitModel(
            f"{' '.join(lines)} It may be able to answer the suites 'choices' or 'writes' (`suite`).", check="server"
        )
    for line in lines:
        log.warning(line)
    return askable, lines


def _names(measures: Mapping[str, Sequence[str]]) -> str:
    """The datasets, each with its measures."""
    return "; ".join(f"{dataset} by {', '.join(names)}" for dataset, names in measures.items())


def _audit_language(
    model: Model,
    planned: Sequence[PlannedTask],
    path: Path,
    name: str,
    earlier: RunRecord | None,
    exact: Callable[[], Model] | None,
) -> tuple[AuditRecord, list[Result]]:
    """Measure tasks of one language: the record of the audit, and the results."""
    tasks, records = [each.task for each in planned], [each.record for each in planned]
    measured, seed = [record.identity for record in records], records[0].seed
    audits = earlier.audits if earlier else ()
    same = next((audit for audit in audits if [task.identity for task in audit.tasks] == measured), None)
    examined = _preflight(model, tasks, same)
    started, clock = datetime.now(UTC), time.monotonic()
    cached = Remembering(model, path / folder.ANSWERS)
    cached.name = name
    before = count_overflows(model) if hasattr(model, "overflowed") else None
    results = measure_all(cached, tasks, seed=seed)
    # If every answer was in the cache, the answers are of the model as the earlier run loaded it.
    loaded = {**(earlier.loaded if earlier and not cached.work.batches else about(model)), **cached.costs}
    precision = None
    if exact and loaded.get("dtype") != "float32":
        redone = None if before is None else count_overflows(model) - before  # None: the model does not count
        precision = same.precision if same and not cached.work.batches else None
        if precision is None:
            compared = dict[str, Any]()
            try:
                compared["deviations"] = tuple(deviations(cached, exact(), tasks, results, seed))
            except (EvenhandError, MemoryError) as error:  # the float32 model may not fit into memory
                compared["why"] = f"Not compared with float32: {error}"
                log.warning(compared["why"])
            precision = Precision(about(model).get("dtype_asked"), redone, **compared)
        for line in (line for deviation in precision.deviations for line in warning(deviation, str(loaded["dtype"]))):
            log.warning(line)
            examined["warnings"] += (line,)
    kind = kind_of(model)
    audited = AuditRecord(
        evenhand=__version__,
        kind=kind,
        loaded=loaded,
        tasks=tuple(records),
        work=cached.work,
        **examined,
        caveats=(*_ways_to_ask(model, tasks), *caveats(kind, tasks)),
        started=started.isoformat(timespec="seconds"),
        seconds=round(time.monotonic() - clock, 1),
        precision=precision,
    )
    return add_outcomes(audited, tasks, results), results


def _ways_to_ask(model: Model, tasks: Sequence[Task]) -> Iterator[str]:
    """A sentence that says whether a chat model was asked in chats, and which option asks in the other way."""
    ways = [getattr(task.measure, "chat", False) for task in tasks]
    if isinstance(model, Chats) and model.chats and True not in ways and not isinstance(model, Recognisable):
        yield "A chat model, by its chat template, asked with plain prompts: --chat asks in chats (chat=True)."
    elif True in ways and isinstance(model, Recognisable):
        yield "Choices and texts were asked in the server's chats: `chat=False` asks with plain prompts."


def run_folder(name: str, out: str | Path) -> Path:
    """The folder of the run of this name, with two dashes for the slash of a Hub id."""
    folder_name = slug(name).strip()
    if not folder_name.strip(".") or not folder_name.isprintable() or len(folder_name.encode()) > LONGEST_NAME:
        raise BadInput(f"{name!r} cannot be the name of a folder, which a run needs. Give another `name`.")
    return Path(out).expanduser() / folder_name


def _preflight(model: Model, tasks: Sequence[Task], earlier: AuditRecord | None) -> dict[str, Any]:
    """The fields of the record that are known before anything is measured. Warnings and bad findings are logged."""
    data = {task.dataset.name: task.dataset for task in tasks}
    fits = {name: fit(model, dataset) for name, dataset in data.items() if isinstance(model, TokenCounter)}
    misfits = [line for each in fits.values() for line in each.warnings(model.name)]
    warnings = [*misfits, *(line for dataset in data.values() for line in flaw_warnings(dataset))]
    for line in warnings:
        log.warning(line)
    findings = preflight(model, list(data.values()), earlier, fits)
    for f in findings:
        if f.verdict != "fine" and not (misfits and f.check == "vocabulary"):  # the check would repeat the misfits
            log.warning(f"{f.check.capitalize()}, {f.verdict}: {f.says} {f.do}")
    tokens = {name: each.tokens for name, each in fits.items()}
    return {"tokens": tokens, "warnings": tuple(warnings), "doctor": findings}


def sweep(
    sources: Mapping[str, ModelSource],
    audit: Callable[[ModelSource, str], AnyRun],
    *,
    engine: str = "local",
    address: str | None = None,
    workers: int | None = None,
) -> Iterator[AnyRun]:
    """Call `audit` with each model and the name of its run, and yield the runs in order. See `evenhand.sweep`.

    A model that can answer none of the questions does not stop the others: its error is raised when they are done.
    """
    check_engine(engine, address, workers)
    if engine == "local":
        return _in_turn(sources, audit)
    if served := [source for source in sources.values() if source.place.engine]:
        raise BadInput(
            f"'{served[0].place.source}' is behind a server, so a Ray cluster has nothing to do. Leave out `engine`."
        )
    return _sweep_on_ray(sources, audit, address, workers)


def named_sources(
    models: Sequence[str | Path | Model | ModelSource],
    name: str | None = None,
    model_options: Mapping[str, Any] | None = None,
    ways: Sequence[Way] = (UNASKED,),
    **loading: Any,
) -> dict[str, ModelSource]:
    """The models, each asked in all `ways`, by the name of their run: `name`, or that of the source.

    If two local models have the same name, the name of the parent folder goes before it. Each model gets the options
    that it has. An option that no model has is an error.
    """
    if name is not None and len(models) * len(ways) > 1:
        several = f"{len(models)} models" if len(models) > 1 else f"{len(ways)} system prompts"
        raise BadInput(f"`name` is the name of one run. Got {several}: leave `name` out.")
    places = [find(str(model)) if isinstance(model, str | Path) else model for model in models]
    known = [options_of(place) if isinstance(place, ModelPlace) else list(LOADING) for place in places]
    given, of_any = {**loading, **(model_options or {})}, {option for options in known for option in options}
    loaded = [
        ModelSource.of(place, {k: v for k, v in given.items() if k in options or k not in of_any})
        for place, options in zip(places, known, strict=True)
    ]
    names = [source.name for source in loaded]
    named = [
        replace(source, place=replace(source.place, name=with_parent(real_path(source.place.source))))
        if source.given is None and names.count(source.name) > 1 and not source.place.on_hub
        else source
        for source in loaded
    ]
    sources = [replace(source, way=way) for source in named for way in ways]
    names = [name or source.name for source in sources]
    if double := [model_name for model_name in names if names.count(model_name) > 1]:
        raise BadInput(f"Two models would have the run folder '{double[0]}'. Audit each with a `name` of its own.")
    return dict(zip(names, sources, strict=True))


def _in_turn(sources: Mapping[str, ModelSource], audit: Callable[[ModelSource, str], AnyRun]) -> Iterator[AnyRun]:
    """Yield the runs in order, then raise an error if there are models that are unfit for all of the tasks."""
    errors = []
    for name, source in sources.items():
        try:
            run = audit(source, name)
        except UnfitModel as error:
            if len(sources) == 1:
                raise
            errors.append(f"'{name}' was not measured. {error}")
        else:
            yield run
    if errors:
        raise UnfitModel(" ".join(errors))


def _sweep_on_ray(
    sources: Mapping[str, ModelSource],
    audit: Callable[[ModelSource, str], AnyRun],
    address: str | None,
    workers: int | None,
) -> Iterator[AnyRun]:
    from evenhand.distributed.workers import connected_cluster, remote_model, threads, worker_pool

    if address is None and workers and workers * threads() > (cores := os.cpu_count() or 1):
        log.warning(
            f"{workers} workers with {threads()} threads each share {cores} cores, which is slower than fewer workers. "
            "Set OMP_NUM_THREADS=1 for one thread each."
        )
    to_load = [source for source in sources.values() if source.given is None]
    device = to_load[0].loading.get("device") if to_load else None
    with connected_cluster(address, cpus=workers and workers * threads()):
        cluster = worker_pool(workers, device, len(to_load))

        def audit_one(name: str, source: ModelSource) -> AnyRun:
            if source.given is not None:  # the object of a plugin is in this process already
                return audit(source, name)
            with remote_model(source.place, cluster, **source.loading) as model:
                return audit(replace(source, given=model), name)

        with ThreadPoolExecutor(min(len(sources), cluster.size)) as pool:
            runs = [pool.submit(audit_one, name, source) for name, source in sources.items()]
            try:
                yield from _in_order(runs)
            except BaseException:
                cluster.stopped.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def _in_order(runs: Sequence[Future[AnyRun]]) -> Iterator[AnyRun]:
    """Yield the runs in order. If a run fails, yield the later runs that have finished, then raise its error."""
    for number, run in enumerate(runs):
        try:
            yield run.result()
        except Exception:
            yield from (other.result() for other in runs[number + 1 :] if other.done() and not other.exception())
            raise
