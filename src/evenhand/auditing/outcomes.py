"""What the record of an audit says once its tasks are scored."""

from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from platform import python_version

from evenhand.checks.choices import TASK, can_do_the_task, without_passed
from evenhand.core.loop import Task
from evenhand.core.scores import Result
from evenhand.runs.record import AuditRecord


def with_outcomes(audited: AuditRecord, tasks: Sequence[Task], results: Sequence[Result]) -> AuditRecord:
    """The record with the doctor's task check, the numbers of unscored items, and the versions of libraries."""
    samples = {record.dataset for record in audited.tasks if record.partial}
    tested = tuple(can_do_the_task(tasks, results, samples, served=audited.served))
    before = [finding for finding in audited.doctor if finding.check != TASK]
    names = [task.dataset.name for task in tasks]
    return replace(
        audited,
        doctor=(*(without_passed(before, tested, names) if audited.served else before), *tested),
        unscored={f"{r.dataset}/{r.measure}": dict(r.unscored) for r in results},
        versions={"python": python_version()} | {name: version(name) for name in ("numpy", "pandas", "scipy")},
    )
