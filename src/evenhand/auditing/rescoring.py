"""Score a run again, without its model."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from evenhand import suites
from evenhand.auditing.audit import finish, scored
from evenhand.auditing.sampling import sampled_tasks
from evenhand.core.loop import Task, measure_all
from evenhand.core.scores import Result
from evenhand.errors import RunError
from evenhand.models.cache import Kept
from evenhand.runs import folder
from evenhand.runs.folder import Run
from evenhand.runs.record import SAMPLE, AuditRecord, TaskRecord


def rescore(path: str | Path, *, file: str | Path | Sequence[str | Path] = ()) -> Run:
    """Score a run again from its kept answers, without its model.

    Of your own templates or pairs, the run knows the path as you gave it, or from the folder you were in. They are
    looked for there, then from the run's folder and the two above. `file` says where they are if they have moved.
    """
    moved = [file] if isinstance(file, str | Path) else file
    run = Run.load(path, checked=False)
    if imported := next((audit.imported for audit in run.record.audits if audit.imported), None):
        raise RunError(
            f"'{path}' has scores {imported.told}. There are no answers to score again: import the file again, `fresh`."
        )
    with folder.locked(run.path):
        places = [*(Path(one).expanduser() for one in moved), run.path, run.path / "..", run.path / "../.."]
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
            audits.append(scored(replace(audited, tasks=records, rescored=now), found))
            tasks += mine
            results += found
        return finish(run.path, replace(run.record, audits=tuple(audits)), tasks, results)


def _measured_items(run: Run, task: Task, record: TaskRecord) -> Task:
    """The task on the items that were measured."""
    if not record.partial or record.limit is None:
        return task
    try:
        ids = set(run.scores_of(*record.name)["id"])
    except RunError:  # the scores are damaged; the sample can be drawn again
        (task,) = sampled_tasks([task], record.limit, record.seed)
        return task
    return replace(task, dataset=replace(task.dataset, items=[item for item in task.dataset.items if item.id in ids]))
