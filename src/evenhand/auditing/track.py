"""Measure the checkpoints of a training."""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from evenhand.auditing.audit import run_folder
from evenhand.auditing.checkpoints import RECORD, check_alike, checkpoints
from evenhand.auditing.spec import AuditSpec
from evenhand.auditing.sweep import named_sources
from evenhand.core.files import prepare
from evenhand.errors import BadInput, OtherModel, RunError
from evenhand.models.source import ModelSource
from evenhand.runs.comparable import in_common, measured, same_task
from evenhand.runs.folder import ANSWERS, StoredRun
from evenhand.runs.record import TaskRecord

log = logging.getLogger(__name__)


def measure_checkpoints(
    models: str | Path | Sequence[str | Path],
    revision: str | Sequence[str] | None,
    what: Mapping[str, Any],
    loading: Mapping[str, Any],
    out: Path,
    audit: Callable[[AuditSpec, ModelSource, str], StoredRun],
) -> list[StoredRun]:
    """The run of each checkpoint in `out`, by `audit` if it is not there, or given: see `evenhand.track`."""
    spec = AuditSpec.of(**what)
    found = [
        StoredRun.load(one) if isinstance(one, Path) else ModelSource.of(one, loading)
        for one in checkpoints(models, revision)
    ]
    useless = [
        name for name, value in what.items() if value and value not in ("all", ["all"]) and name not in ("lang", "seed")
    ]
    if useless and all(isinstance(one, StoredRun) for one in found):
        raise BadInput(
            f"Finished runs are taken as they are, with all that they measured. `{useless[0]}` is for models that are "
            "still to be measured: leave it out."
        )
    names = iter(named_sources([one for one in found if isinstance(one, ModelSource)]))
    named = {next(names) if isinstance(one, ModelSource) else str(one.path): one for one in found}
    check_alike(named)
    folders = {name: run_folder(name, out) for name, one in named.items() if isinstance(one, ModelSource)}
    given = [one for one in found if isinstance(one, StoredRun)]
    _check_out(out, [*folders.values(), *(run.path for run in given)])
    planned = cache(lambda kind: [one.record for one in spec.tasks_for(kind)])
    _check_same(given, planned, next((one.kind for one in found if isinstance(one, ModelSource)), None))
    prepare(out)
    runs: list[StoredRun] = []
    for name, one in named.items():
        if isinstance(one, StoredRun):
            runs.append(one)
            continue
        try:
            runs.append(_finished(folders[name], one, planned) or audit(spec, one, name))
        except OtherModel as error:
            raise RunError(
                f"'{one.name}' has changed since it was measured: its run in '{folders[name]}' is of other "
                "weights. Delete that folder, or choose another `out`."
            ) from error
    check_alike(dict(zip(named, runs, strict=True)))
    return runs


def _check_out(out: Path, ours: Sequence[Path]) -> None:
    """Raise an error if there are runs in the folder that are not on this curve."""
    here = {path.resolve() for path in ours}
    inside = sorted(out.iterdir()) if out.is_dir() else []
    others = [path for path in inside if (path / RECORD).exists() or (path / ANSWERS).exists()]
    if strange := [path for path in others if path.resolve() not in here]:
        raise RunError(
            f"'{out}' has runs that are not on this curve: {', '.join(path.name for path in strange[:3])}. Choose "
            "another `out`; or, if they belong to the training, give their folders among the models."
        )


def _check_same(runs: Sequence[StoredRun], planned: Any, kind: str | None) -> None:
    """Raise an error if runs were measured in another way than one another, or than the models will be."""
    for dataset, name in in_common(runs) if len(runs) > 1 else ():
        same_task(runs, dataset, name)
    for run in runs if kind is not None else ():
        records = planned(kind or run.record.audits[-1].kind)
        if not {record.name for record in records} & set(measured(run)):
            raise BadInput(f"'{run.path}' has nothing of what is to be measured. Give the `suite` that it was made by.")
        for record in records:
            if record.name in measured(run) and not _same(run.task(*record.name), record):
                told = [f"limit {task.limit}, seed {task.seed}" for task in (run.task(*record.name), record)]
                raise BadInput(
                    f"'{run.path}' was measured on {record.dataset} with {told[0]} or other options, and the models "
                    f"would be with {told[1]}. Give the options that it was made with."
                )


def _same(one: TaskRecord, other: TaskRecord) -> bool:
    """Whether two tasks have the same items and are scored in the same way."""
    sample = (one.limit, one.seed) == (other.limit, other.seed) if one.partial or other.partial else True
    return one.what == other.what and sample


def _finished(folder: Path, source: ModelSource, planned: Any) -> StoredRun | None:
    """The run in the folder, if it has all that is asked and its checkpoint has not been written since."""
    if not (folder / RECORD).exists():
        return None
    run, place, how = StoredRun.load(folder), source.place, source.loading
    tasks = {task.name: task for task in run.record.tasks}
    records = planned(run.record.audits[-1].kind)
    if not all(record.name in tasks and _same(tasks[record.name], record) for record in records):
        return None
    loaded = run.record.loaded
    if loaded.get("dtype_asked", "float32") != how.get("dtype", "float32") or how.get("labels"):
        return None
    if place.on_hub:  # a branch may have moved on; a commit cannot
        return run if place.revision and place.revision == loaded.get("revision") else None
    files = [Path(place.source) / place.file] if place.file else list(Path(place.source).iterdir())
    newest = max(path.stat().st_mtime for path in files if path.is_file())
    if newest > (folder / RECORD).stat().st_mtime:
        return None
    log.info(f"{run.record.model} was measured before: {folder}")
    return run
