"""What an audit does to the results that its run folder has already: it adds to them, and replaces its own tasks'."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from evenhand.core.model import Model
from evenhand.errors import OtherModel, RunError
from evenhand.models.cache import fingerprints
from evenhand.runs.folder import ANSWERS
from evenhand.runs.json_files import rescore
from evenhand.runs.record import AuditRecord, RunRecord, TaskRecord, read_record

log = logging.getLogger(__name__)

OF_FILE = ("file", "sha256")
"""Options that say where a user's file is and what it holds."""


def check_overwrite(path: Path, record: RunRecord | None, tasks: Sequence[TaskRecord]) -> None:
    """Raise an error if the results of these tasks must not replace those that the folder has a record of."""
    known = {task.name: task for task in record.tasks} if record else {}
    for task in tasks:
        if (before := known.get(task.name)) is None:
            continue
        what = f"{task.measure} on {task.dataset}"
        if task.partial and not before.partial:
            raise RunError(
                f"'{path}' has {what} of all items, which a sample would replace. Choose another `out` or `name`."
            )
        if task.partial and (task.limit or 0) < (before.limit or 0):
            raise RunError(
                f"'{path}' has {what} of {before.limit} items, which {task.limit} would replace. Choose another `out` "
                "or `name`, or a `limit` that is not smaller."
            )
        if _is_other_file(before, task):
            raise RunError(
                f"'{path}' has {what} of another file, {before.dataset_options.get('file') or 'a dataset of ours'}. "
                f"Rename the dataset or the file, or choose another `name`."
            )
        if _options(before) != _options(task):
            raise RunError(
                f"'{path}' has {what} with other options, from a version that did not tell them apart. {rescore(path)}"
            )


def existing_record(path: Path, model: Model) -> RunRecord | None:
    """The record of the run in this folder, if there is one; an error if it is of another model."""
    record = read_record(path)
    others = fingerprints(path / ANSWERS) | ({record.fingerprint} if record else set())
    if others - {model.fingerprint}:
        whose = f"'{record.model}' ({record.fingerprint[:12]})" if record else "another model"
        raise OtherModel(
            f"'{path}' holds a run of {whose}; this is '{model.name}' ({model.fingerprint[:12]}), and other weights, "
            "tokenizer, dtype or imported scores make another model. Choose another `out` or `name`, or start over: "
            "`fresh`."
        )
    return record


def audits_to_keep(record: RunRecord | None, tasks: Sequence[TaskRecord]) -> tuple[AuditRecord, ...]:
    """The audits of a run without the tasks that are measured again, and without those of data that has changed."""
    again = {task.name for task in tasks}
    data = {task.dataset: task for task in tasks}
    found = []
    for audit in record.audits if record else ():
        stay = [task for task in audit.tasks if task.name not in again]
        outdated = [task for task in stay if task.dataset in data and _content(task) != _content(data[task.dataset])]
        for task in outdated:
            log.warning(f"{task.dataset} has changed, so its earlier results by {task.measure} are removed.")
        if left := tuple(task for task in stay if task not in outdated):
            names = {f"{task.dataset}/{task.measure}" for task in left}
            tokens = {name: of for name, of in audit.tokens.items() if name in {task.dataset for task in left}}
            unscored = {name: of for name, of in audit.unscored.items() if name in names}
            found.append(replace(audit, tasks=left, tokens=tokens, unscored=unscored))
    return tuple(found)


def _is_other_file(before: TaskRecord, now: TaskRecord) -> bool:
    """Whether two tasks of the same name are of different files, not of one file that was edited or moved."""
    if before.dataset_builder != now.dataset_builder:
        return True
    one, other = (task.dataset_options.get("file") for task in (before, now))
    if one is None or other is None or _content(before) == _content(now):
        return False
    return Path(one).expanduser().resolve() != Path(other).expanduser().resolve()


def _content(task: TaskRecord) -> tuple[object, ...]:
    return task.dataset_version, task.dataset_options.get("sha256")


def _options(task: TaskRecord) -> tuple[object, ...]:
    mine = {name: value for name, value in task.dataset_options.items() if name not in OF_FILE}
    return ({} if "file" in task.dataset_options else mine), dict(task.measure_options)
