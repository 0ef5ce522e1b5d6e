"""Merge an audit into a run folder, and score a run again from its kept answers, without its model."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from platform import python_version

from evenhand import suites
from evenhand.auditing.sampling import restrict_task, sampled_tasks
from evenhand.auditing.spec import Reader
from evenhand.checks.choices import TASK, can_do_the_task, without_passed
from evenhand.core.files import prepare, real_path
from evenhand.core.loop import Task, measure_all
from evenhand.core.model import Model
from evenhand.core.scores import Result
from evenhand.core.way import Way
from evenhand.errors import OtherModel, RunError
from evenhand.models.cache import CachedAnswers, fingerprints
from evenhand.models.engines import OPENAI
from evenhand.runs import folder
from evenhand.runs.files import rescore_hint
from evenhand.runs.folder import ANSWERS, StoredRun
from evenhand.runs.record import SAMPLE, AuditRecord, RunRecord, TaskRecord, read_record

log = logging.getLogger(__name__)


def check_overwrite(path: Path, record: RunRecord | None, tasks: Sequence[TaskRecord], way: Way) -> None:
    """Raise an error if results of `tasks`, asked in this way, must not join or replace those that the folder has."""
    if record and (apart := record.asked.differences(way)):
        raise RunError(
            f"'{path}' holds a run of '{record.model}', asked {record.asked.description(*apart)}. This audit asks "
            f"{way.description(*apart)}. Two ways of asking are two models: choose another `out` or `name` and "
            "compare the two runs, or replace the run with `fresh`."
        )
    known = {task.name: task for task in record.tasks} if record else {}
    imported = {task.name for audit in record.audits if audit.imported for task in audit.tasks} if record else set()
    for task in tasks:
        if (before := known.get(task.name)) is None:
            continue
        results = f"results of {task.measure} on {task.dataset}"
        if task.partial and not before.partial:
            raise RunError(
                f"'{path}' has {results} for all items. A sample must not replace these. Change `out` or `name`."
            )
        if task.partial and (task.limit or 0) < (before.limit or 0):
            larger = "a larger `budget`" if task.budget else f"a `limit` of at least {before.limit}"
            raise RunError(
                f"'{path}' has {results} for {before.limit} items. Results for {task.limit} must not replace these. "
                f"Choose another `out` or `name`, or {larger}."
            )
        if _is_other_file(before, task):
            raise RunError(
                f"'{path}' has {results} from another file: {before.dataset_options.get('file') or 'a built-in one'}. "
                f"Rename the dataset or the file, or choose another `name`."
            )
        if _options(before) != _options(task) and task.name not in imported:  # imports may say more, or less, of them
            raise RunError(
                f"'{path}' has {results} with other options under the same name, as an older version of evenhand "
                f"stored them. {rescore_hint(path)}"
            )


@contextmanager
def output_folder(path: Path) -> Iterator[None]:
    """Create the folder of a run. If an error is raised and the folder is empty, it is removed."""
    prepare(path)
    try:
        yield
    except BaseException:
        with suppress(OSError):
            path.rmdir()  # fails unless it is empty
        raise


def existing_record(path: Path, model: Model) -> RunRecord | None:
    """The record of the run in this folder; None if it has no run. Raise an error if the run is of another model."""
    record = read_record(path)
    others = fingerprints(path / ANSWERS) | ({record.weights} if record else set())
    if others - {model.fingerprint}:
        whose = f"'{record.model}' ({record.fingerprint[:12]})" if record else "another model"
        raise OtherModel(
            f"'{path}' holds a run of {whose}. This model is '{model.name}' ({model.fingerprint[:12]}): it differs in "
            "weights, tokenizer, dtype or imported scores. Choose another `out` or `name`, or replace the run with "
            "`fresh`."
        )
    return record


def audits_to_keep(record: RunRecord | None, tasks: Sequence[TaskRecord]) -> tuple[AuditRecord, ...]:
    """The audits of a run, without tasks that are measured again and without tasks whose dataset has changed."""
    again = {task.name for task in tasks}
    data = {task.dataset: _content(task) for task in tasks}
    audits = []
    for audit in record.audits if record else ():
        kept = []
        for task in (task for task in audit.tasks if task.name not in again):
            if data.get(task.dataset, _content(task)) == _content(task):
                kept.append(task)
            else:
                log.warning(f"{task.dataset} has changed, so its earlier results by {task.measure} are removed.")
        if kept:
            names = {f"{task.dataset}/{task.measure}" for task in kept}
            tokens = {name: counts for name, counts in audit.tokens.items() if name in {task.dataset for task in kept}}
            unscored = {name: reasons for name, reasons in audit.unscored.items() if name in names}
            audits.append(replace(audit, tasks=tuple(kept), tokens=tokens, unscored=unscored))
    return tuple(audits)


def _is_other_file(before: TaskRecord, now: TaskRecord) -> bool:
    """Whether two tasks of the same name use different files. A file that was edited or moved is the same file."""
    if before.dataset_builder != now.dataset_builder:
        return True
    old, new = (task.dataset_options.get("file") for task in (before, now))
    if old is None or new is None or _content(before) == _content(now):
        return False
    return real_path(Path(old).expanduser()) != real_path(Path(new).expanduser())


def _content(task: TaskRecord) -> tuple[object, ...]:
    return task.dataset_version, task.dataset_options.get("sha256")


def _options(task: TaskRecord) -> tuple[object, ...]:
    return ({} if "file" in task.dataset_options else dict(task.dataset_options)), dict(task.measure_options)


def rescore(path: StoredRun | str | Path, files: Sequence[Path], reader: Reader) -> StoredRun:
    """Score a run again: see `evenhand.rescore`."""
    run = StoredRun.load(path, checked=False)
    if imported := next((audit.imported for audit in run.record.audits if audit.imported), None):
        raise RunError(
            f"'{path}' has scores {imported.description}, and no answers that could be scored again. Import the file "
            "again with `fresh`."
        )
    with folder.lock_folder(run.path):
        return _score_again(run, reader, files)


def restore(path: Path) -> StoredRun:
    """Load the run in this locked folder; if results were edited or not completely written, score the answers again."""
    try:
        return StoredRun.load(path)
    except RunError:
        run = StoredRun.load(path, checked=False)  # raises if the record itself is damaged
        log.warning(f"Writing to '{path}' was interrupted, or results changed. They are scored again.")
        return _score_again(run)


def _score_again(run: StoredRun, reader: Reader | None = None, files: Sequence[Path] = ()) -> StoredRun:
    places = [*(file.expanduser() for file in files), run.path, run.path / "..", run.path / "../.."]
    way = run.record.asked
    answers = CachedAnswers(run.path / ANSWERS, run.record.model, run.record.weights)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    audits: list[AuditRecord] = []
    tasks: list[Task] = []
    results: list[Result] = []
    for audited in run.record.audits:
        whole = suites.rebuild(audited.tasks, audited.kind, way, places)
        again = [_task_on_measured_items(run, *each) for each in zip(whole, audited.tasks, strict=True)]
        scores = measure_all(answers, again, seed=audited.tasks[0].seed)
        records = tuple(
            replace(suites.record(task), **{name: getattr(before, name) for name in SAMPLE})
            for task, before in zip(again, audited.tasks, strict=True)
        )
        audits.append(add_outcomes(replace(audited, tasks=records, rescored=now), again, scores))
        tasks += again
        results += scores
    asked = way.join(suites.way_of(tasks, way.file)).identity(run.record.weights)
    return finish(run.path, replace(run.record, audits=tuple(audits), **asked), tasks, results, reader)


def add_outcomes(audited: AuditRecord, tasks: Sequence[Task], results: Sequence[Result]) -> AuditRecord:
    """The record with the doctor's task check, the numbers of unscored items, and the versions of libraries."""
    served = str(audited.loaded.get("source", "")).startswith(f"{OPENAI}:")
    samples = {record.dataset for record in audited.tasks if record.partial}
    tested = tuple(can_do_the_task(tasks, results, samples, served=served))
    before = [finding for finding in audited.doctor if finding.check != TASK]
    names = [task.dataset.name for task in tasks]
    return replace(
        audited,
        doctor=(*(without_passed(before, tested, names) if served else before), *tested),
        unscored={f"{r.dataset}/{r.measure}": dict(r.unscored) for r in results},
        versions={"python": python_version()} | {name: version(name) for name in ("numpy", "pandas", "scipy")},
    )


def finish(
    path: Path,
    record: RunRecord,
    tasks: Sequence[Task],
    results: Sequence[Result],
    reader: Reader | None,
    before: StoredRun | None = None,
) -> StoredRun:
    """Write the run to `path` and give it to `reader`, if there is one.

    Results of `before`, the run that `path` had, are written again where `record` still lists them.
    """
    run = folder.write(path, record, results, {task.dataset.name: task.dataset.items for task in tasks}, before)
    if reader is not None:
        reader.read(run)
    return run


def _task_on_measured_items(run: StoredRun, task: Task, record: TaskRecord) -> Task:
    if not record.partial or record.limit is None:
        return task
    try:
        ids = set(run.scores_of(*record.name)["id"])
    except RunError:  # the scores are damaged; drawing again gives the same sample
        (task,) = sampled_tasks([task], record.limit, record.seed, clusters=record.budget is not None)
        return task
    return restrict_task(task, [item for item in task.dataset.items if item.id in ids])
