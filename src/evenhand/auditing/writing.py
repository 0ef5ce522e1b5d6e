"""A run folder that is written: what it has stays, is replaced or is refused, and new results are committed as a whole.

A new result of a task replaces the earlier one; all other results stay.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from evenhand.auditing.outcomes import is_choice, with_task_checks
from evenhand.auditing.rescoring import restore, stored_choices
from evenhand.auditing.spec import Reader
from evenhand.core.files import prepare, real_path, slug
from evenhand.core.loop import Task
from evenhand.core.model import Model
from evenhand.core.scores import Result
from evenhand.core.way import Way
from evenhand.errors import BadInput, OtherModel, RunError
from evenhand.models.cache import fingerprints
from evenhand.runs import folder
from evenhand.runs.files import rescore_hint
from evenhand.runs.folder import ANSWERS, StoredRun
from evenhand.runs.record import AuditRecord, RunRecord, TaskRecord, read_record

log = logging.getLogger(__name__)

LONGEST_NAME = 200
"""The most bytes in the name of a run folder. File systems allow 255."""


def run_folder(name: str, out: str | Path) -> Path:
    """The folder of the run of this name, with two dashes for the slash of a Hub id."""
    folder_name = slug(name).strip()
    if not folder_name.strip(".") or not folder_name.isprintable() or len(folder_name.encode()) > LONGEST_NAME:
        raise BadInput(f"{name!r} cannot be the name of a folder, which a run needs. Give another `name`.")
    return Path(out).expanduser() / folder_name


@dataclass(frozen=True)
class OpenRun:
    """A locked run folder, what stays of the run that it has, and the model whose results are added."""

    path: Path
    model: Model
    way: Way
    """How the model is asked, in what stays and in what is added."""
    earlier: RunRecord | None = None
    stays: tuple[AuditRecord, ...] = ()
    before: StoredRun | None = None

    def commit(
        self, name: str, audits: Sequence[AuditRecord], tasks: Sequence[Task], results: Sequence[Result], reader: Reader
    ) -> StoredRun:
        """Write what stays and what was measured, all or nothing, and give the run to `reader`."""
        chosen = any(is_choice(task) for audit in audits for task in audit.tasks)
        stored = stored_choices(self.before, self.stays) if self.before and chosen else ()
        checked = with_task_checks((*self.stays, *audits), [*stored, *zip(tasks, results, strict=True)])
        record = RunRecord(model=name, **self.way.identity(self.model.fingerprint), audits=checked, sha256={})
        items = {task.dataset.name: task.dataset.items for task in tasks}
        run = folder.write(self.path, record, results, items, self.before)
        reader.read(run)
        return run


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


@contextmanager
def open_run(
    path: Path, model: Model, tasks: Sequence[TaskRecord], way: Way, *, fresh: bool = False
) -> Iterator[OpenRun]:
    """Lock the folder for results of `tasks`, asked in this way; with `fresh`, nothing that it has stays.

    Raise an error if the results must not join or replace those that the folder has.
    """
    with folder.lock_folder(path):
        if fresh or (earlier := existing_record(path, model)) is None:
            yield OpenRun(path, model, way)
            return
        check_joins(path, earlier, tasks, way)
        stays = _audits_to_keep(earlier, tasks)
        way = earlier.asked.join(way) if stays else way
        yield OpenRun(path, model, way, earlier, stays, restore(path) if stays else None)


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


def check_joins(path: Path, record: RunRecord | None, tasks: Sequence[TaskRecord], way: Way) -> None:
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


def _audits_to_keep(record: RunRecord, tasks: Sequence[TaskRecord]) -> tuple[AuditRecord, ...]:
    """The audits of a run, without tasks that are measured again and without tasks whose dataset has changed."""
    again = {task.name for task in tasks}
    data = {task.dataset: _content(task) for task in tasks}
    audits = []
    for audit in record.audits:
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
