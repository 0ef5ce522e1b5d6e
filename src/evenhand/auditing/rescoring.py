"""Score a run again, without its model."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from platform import python_version

from evenhand import suites
from evenhand.auditing.sampling import sampled_tasks
from evenhand.auditing.spec import Reader
from evenhand.checks.choices import TASK, can_do_the_task
from evenhand.core.loop import Task, measure_all
from evenhand.core.scores import Result
from evenhand.errors import RunError
from evenhand.models.cache import Kept
from evenhand.runs import folder
from evenhand.runs.folder import StoredRun
from evenhand.runs.record import SAMPLE, AuditRecord, RunRecord, TaskRecord

log = logging.getLogger(__name__)


def rescore(path: StoredRun | str | Path, files: Sequence[Path], reader: Reader) -> StoredRun:
    """Score a run again: see `evenhand.rescore`."""
    run = StoredRun.load(path, checked=False)
    if imported := next((audit.imported for audit in run.record.audits if audit.imported), None):
        raise RunError(
            f"'{path}' has scores {imported.told}. There are no answers to score again: import the file again, `fresh`."
        )
    with folder.locked(run.path):
        return _score_again(run, reader, files)


def restored(path: Path) -> StoredRun:
    """The run in this folder, which must be locked; scored again if an audit was killed while it wrote its results."""
    try:
        return StoredRun.load(path)
    except RunError:
        run = StoredRun.load(path, checked=False)  # which must be whole
        log.warning(f"Writing to '{path}' was interrupted, or results changed. They are scored again.")
        return _score_again(run)


def _score_again(run: StoredRun, reader: Reader | None = None, files: Sequence[Path] = ()) -> StoredRun:
    places = [*(file.expanduser() for file in files), run.path, run.path / "..", run.path / "../.."]
    kept = Kept(run.path / folder.ANSWERS, run.record.model, run.record.fingerprint)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    audits: list[AuditRecord] = []
    tasks: list[Task] = []
    results: list[Result] = []
    for audited in run.record.audits:
        mine = [
            _measured_items(run, *each)
            for each in zip(suites.rebuild(audited.tasks, audited.kind, places), audited.tasks, strict=True)
        ]
        found = measure_all(kept, mine, seed=audited.tasks[0].seed)
        records = tuple(
            suites.record(task, **{name: getattr(before, name) for name in SAMPLE})
            for task, before in zip(mine, audited.tasks, strict=True)
        )
        audits.append(scored(replace(audited, tasks=records, rescored=now), mine, found))
        tasks += mine
        results += found
    return finish(run.path, replace(run.record, audits=tuple(audits)), tasks, results, reader)


def scored(audited: AuditRecord, tasks: Sequence[Task], results: Sequence[Result]) -> AuditRecord:
    """The record with what is known once the answers are scored."""
    before = tuple(finding for finding in audited.doctor if finding.check != TASK)
    return replace(
        audited,
        doctor=(*before, *can_do_the_task(tasks, results)),
        unscored={f"{r.dataset}/{r.measure}": dict(r.unscored) for r in results},
        versions={"python": python_version()} | {name: version(name) for name in ("numpy", "pandas", "scipy")},
    )


def finish(
    path: Path,
    record: RunRecord,
    tasks: Sequence[Task],
    results: Sequence[Result],
    reader: Reader | None,
    kept: StoredRun | None = None,
) -> StoredRun:
    """Write the run, and have it read, unless more is to be measured."""
    run = folder.write(path, record, results, {task.dataset.name: task.dataset.items for task in tasks}, kept)
    if reader is not None:
        reader.read(run)
    return run


def _measured_items(run: StoredRun, task: Task, record: TaskRecord) -> Task:
    if not record.partial or record.limit is None:
        return task
    try:
        ids = set(run.scores_of(*record.name)["id"])
    except RunError:  # the scores are damaged; the sample can be drawn again
        (task,) = sampled_tasks([task], record.limit, record.seed)
        return task
    return replace(task, dataset=replace(task.dataset, items=[item for item in task.dataset.items if item.id in ids]))
