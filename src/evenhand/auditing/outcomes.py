"""What the record of an audit says once its tasks are scored."""

from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from platform import python_version

from evenhand.checks.choices import TASK, can_do_the_task, controls_of, without_passed
from evenhand.core.loop import Task
from evenhand.core.scores import Result
from evenhand.measures import MEASURES
from evenhand.measures.choices import ChoiceMeasure
from evenhand.runs.record import AuditRecord, TaskRecord


def with_outcomes(audited: AuditRecord, results: Sequence[Result]) -> AuditRecord:
    """The record with the numbers of unscored items, and the versions of libraries."""
    return replace(
        audited,
        unscored={f"{r.dataset}/{r.measure}": dict(r.unscored) for r in results},
        versions={"python": python_version()} | {name: version(name) for name in ("numpy", "pandas", "scipy")},
    )


def with_task_checks(audits: Sequence[AuditRecord], scored: Sequence[tuple[Task, Result]]) -> tuple[AuditRecord, ...]:
    """The audits of a run, each with the doctor's task check by the controls of all: one may be asked after its set.

    An audit stays as it is if one of its tasks that choose among options is not among those that were `scored`.
    """
    samples, tasks = {t.dataset for audit in audits for t in audit.tasks if t.partial}, [task for task, _ in scored]
    checked = []
    for audit in audits:
        names, choices = {task.name for task in audit.tasks}, {task.name for task in audit.tasks if is_choice(task)}
        own = {id(task): task for task in tasks if (task.dataset.name, task.measure.name) in names}
        needed = own | {id(control): control for task in own.values() for control in controls_of(task, tasks)}
        if choices and choices <= {(task.dataset.name, task.measure.name) for task in own.values()}:
            results = [result for task, result in scored if id(task) in needed]
            those = [task for task in tasks if id(task) in needed]
            tested = tuple(can_do_the_task(those, results, samples, served=audit.served))
            before = [finding for finding in audit.doctor if finding.check != TASK]
            before = without_passed(before, tested, [task.dataset for task in audit.tasks]) if audit.served else before
            audit = replace(audit, doctor=(*before, *tested))
        checked.append(audit)
    return tuple(checked)


def is_choice(task: TaskRecord) -> bool:
    """Whether the measure of a task is of choices among options."""
    return issubclass(MEASURES.get(task.measure, object), ChoiceMeasure)
