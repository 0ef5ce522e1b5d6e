"""What the record of an audit says once its tasks are scored."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from importlib.metadata import version
from platform import python_version

from evenhand.checks.choices import TASK, can_do_the_task, controls_of, without_passed
from evenhand.core.loop import Task
from evenhand.core.scores import Result
from evenhand.measures import MEASURES
from evenhand.measures.choices import ChoiceMeasure
from evenhand.runs.record import AuditRecord, TaskRecord


def with_outcomes(audited: AuditRecord, tasks: Sequence[Task], results: Sequence[Result]) -> AuditRecord:
    """The record with the doctor's task check, the numbers of unscored items, and the versions of libraries."""
    samples = {record.dataset for record in audited.tasks if record.partial}
    return replace(
        _with_task_check(audited, tasks, results, samples),
        unscored={f"{r.dataset}/{r.measure}": dict(r.unscored) for r in results},
        versions={"python": python_version()} | {name: version(name) for name in ("numpy", "pandas", "scipy")},
    )


def with_controls_of_all(
    audits: Sequence[AuditRecord], tasks: Sequence[Task], results: Sequence[Result]
) -> tuple[AuditRecord, ...]:
    """The audits of a run, with the doctor's task check by the controls of all of them: one may be asked after its set.

    An audit stays as it is if `tasks` lack one of its tasks that choose among options.
    """
    samples = {record.dataset for audit in audits for record in audit.tasks if record.partial}
    judged = []
    for audit in audits:
        names = {task.name for task in audit.tasks}
        own = [task for task in tasks if (task.dataset.name, task.measure.name) in names]
        controls = [control for task in own for control in controls_of(task, tasks)]
        needed = set(map(id, (*own, *controls)))
        both = [(task, result) for task, result in zip(tasks, results, strict=True) if id(task) in needed]
        chosen = {task.name for task in audit.tasks if is_choice(task)}
        if both and chosen <= {(task.dataset.name, task.measure.name) for task in own}:
            audit = _with_task_check(audit, [task for task, _ in both], [result for _, result in both], samples)
        judged.append(audit)
    return tuple(judged)


def is_choice(task: TaskRecord) -> bool:
    """Whether the measure of a task is of choices among options."""
    return issubclass(MEASURES.get(task.measure, object), ChoiceMeasure)


def _with_task_check(
    audited: AuditRecord, tasks: Sequence[Task], results: Sequence[Result], samples: Collection[str]
) -> AuditRecord:
    tested = tuple(can_do_the_task(tasks, results, samples, served=audited.served))
    before = [finding for finding in audited.doctor if finding.check != TASK]
    names = [task.dataset for task in audited.tasks]
    return replace(audited, doctor=(*(without_passed(before, tested, names) if audited.served else before), *tested))
