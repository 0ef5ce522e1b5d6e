"""Score a run again from its kept answers, without its model."""

import logging
import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from evenhand import suites
from evenhand.auditing.outcomes import is_choice, with_outcomes, with_task_checks
from evenhand.auditing.sampling import restrict_task, sampled_tasks
from evenhand.auditing.spec import Reader
from evenhand.core.loop import Task, measure_all, result
from evenhand.core.scores import Result, Score
from evenhand.errors import EvenhandError, RunError
from evenhand.measures.choices import BY_PLACE
from evenhand.models.cache import CachedAnswers
from evenhand.runs import folder
from evenhand.runs.folder import ANSWERS, StoredRun
from evenhand.runs.record import SAMPLE, AuditRecord, TaskRecord

log = logging.getLogger(__name__)


def rescore(path: StoredRun | str | Path, files: Sequence[Path], reader: Reader) -> StoredRun:
    """Score a run again: see `evenhand.rescore`."""
    run = StoredRun.load(path, checked=False)
    if imported := next((audit.imported for audit in run.record.audits if audit.imported), None):
        raise RunError(
            f"'{path}' has scores {imported.description}, and no answers that could be scored again. Import the file "
            "again with `fresh`."
        )
    with folder.lock_folder(run.path):
        run = _score_again(run, files)
        reader.read(run)
    return run


def restore(path: Path) -> StoredRun:
    """Load the run in this locked folder; if results were edited or not completely written, score the answers again."""
    try:
        return StoredRun.load(path)
    except RunError:
        run = StoredRun.load(path, checked=False)  # raises if the record itself is damaged
        if any(audit.imported for audit in run.record.audits):
            raise
        log.warning(f"Writing to '{path}' was interrupted, or results changed. They are scored again.")
        return _score_again(run)


def _score_again(run: StoredRun, files: Sequence[Path] = ()) -> StoredRun:
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
        audits.append(with_outcomes(replace(audited, tasks=records, rescored=now), scores))
        tasks += again
        results += scores
    asked = way.join(suites.way_of(tasks, way.file)).identity(run.record.weights)
    items = {task.dataset.name: task.dataset.items for task in tasks}
    checked = with_task_checks(audits, [*zip(tasks, results, strict=True)])
    return folder.write(run.path, replace(run.record, audits=checked, **asked), results, items)


def stored_choices(run: StoredRun, audits: Sequence[AuditRecord]) -> Iterator[tuple[Task, Result]]:
    """The tasks of these audits that choose among options, with results of stored scores; none if a dataset is gone."""
    answers = CachedAnswers(run.path / ANSWERS, run.record.model, run.record.weights)  # for name and fingerprint
    for audit in audits:
        recorded = [task for task in audit.tasks if is_choice(task)]
        with suppress(EvenhandError):
            whole = suites.rebuild(recorded, audit.kind, run.record.asked, [run.path])
            for task in (_task_on_measured_items(run, *each) for each in zip(whole, recorded, strict=True)):
                yield task, result(answers, task, _stored_scores(run, task, audit), seed=recorded[0].seed)


def _stored_scores(run: StoredRun, task: Task, audit: AuditRecord) -> list[Score]:
    name = task.dataset.name, task.measure.name
    why = next(iter(audit.unscored.get("/".join(name), {})), "")
    rows, scores = run.scores_of(*name).set_index("id").to_dict("index"), list[Score]()
    if any(item.id not in rows for item in task.dataset.items):
        raise RunError(f"'{task.dataset.name}' has changed since it was measured. Measure it again.")
    for item in task.dataset.items:
        score, placed = (float(rows[item.id].get(column, math.nan)) for column in ("score", BY_PLACE))
        kept = {} if math.isnan(placed) else {BY_PLACE: placed}
        scores.append(Score(item.id, score, item.groups, why if math.isnan(score) else "", kept=kept))
    return scores


def _task_on_measured_items(run: StoredRun, task: Task, record: TaskRecord) -> Task:
    if not record.partial or record.limit is None:
        return task
    try:
        ids = set(run.scores_of(*record.name)["id"])
    except RunError:  # the scores are damaged; drawing again gives the same sample
        (task,) = sampled_tasks([task], record.limit, record.seed, clusters=record.budget is not None)
        return task
    return restrict_task(task, [item for item in task.dataset.items if item.id in ids])
