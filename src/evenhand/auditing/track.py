"""Find the checkpoints of a training (folders, Hub revisions, finished runs) and measure them."""

import logging
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from evenhand.auditing.spec import AuditSpec
from evenhand.auditing.sweep import named_sources
from evenhand.auditing.writing import run_folder
from evenhand.core.files import CHECKPOINT, from_json, prepare, read_parsed, real_path
from evenhand.core.typed import Named
from evenhand.errors import BadInput, OtherModel, RunError
from evenhand.models import ModelSource
from evenhand.models.loading.names import ADAPTER, find
from evenhand.runs.comparable import in_common, same_task
from evenhand.runs.folder import ANSWERS, StoredRun
from evenhand.runs.record import TaskRecord
from evenhand.suites import way_of

log = logging.getLogger(__name__)

RECORD = "run.json"
TOKENIZERS = ("tokenizer", "vocab", "spiece", "sentencepiece")
"""How the names of a tokenizer's files begin."""
NUMBER = re.compile(r"\d+")
ALIKE = ("model_type", "vocab_size", "hidden_size", "num_hidden_layers")
"""Settings in config.json that are equal in all checkpoints of a training."""


def measure_checkpoints(
    models: str | Path | Sequence[str | Path],
    revision: Named,
    spec: AuditSpec,
    what: Mapping[str, Any],
    loading: Mapping[str, Any],
    out: Path,
    audit: Callable[[ModelSource, str], StoredRun],
) -> list[StoredRun]:
    """The run of each checkpoint: given, finished before in `out`, or measured now by `audit`. See `evenhand.track`."""
    curve = [
        StoredRun.load(point) if isinstance(point, Path) else ModelSource.of(point, loading)
        for point in checkpoints(models, revision)
    ]
    sources = [point for point in curve if isinstance(point, ModelSource)]
    given = [point for point in curve if isinstance(point, StoredRun)]
    useless = [
        name for name, value in what.items() if value and value not in ("all", ["all"]) and name not in ("lang", "seed")
    ]
    if useless and not sources:
        raise BadInput(
            f"`{useless[0]}` says how models are measured. Got only finished runs, which are not measured again. Leave "
            f"`{useless[0]}` out."
        )
    names = iter(named_sources(sources))
    named = {next(names) if isinstance(point, ModelSource) else str(point.path): point for point in curve}
    check_alike(named)
    folders = {name: run_folder(name, out) for name, point in named.items() if isinstance(point, ModelSource)}
    _check_out(out, [*folders.values(), *(run.path for run in given)])
    planned_for = cache(spec.tasks_for)
    _check_same(given, planned_for, sources[0].kind if sources else None)
    prepare(out)
    runs: list[StoredRun] = []
    for name, point in named.items():
        if isinstance(point, StoredRun):
            runs.append(point)
            continue
        try:
            runs.append(_finished_run(folders[name], point, planned_for) or audit(point, name))
        except OtherModel as error:
            raise RunError(
                f"The weights of '{point.name}' have changed since the run in '{folders[name]}' was made. Delete that "
                "folder, or choose another `out`."
            ) from error
    check_alike(dict(zip(named, runs, strict=True)))
    return runs


def _check_out(out: Path, runs: Sequence[Path]) -> None:
    """Raise an error if the folder has other runs than those of this curve."""
    on_curve = {real_path(path) for path in runs}
    inside = sorted(out.iterdir()) if out.is_dir() else []
    if strange := [path for path in inside if _is_run(path) and real_path(path) not in on_curve]:
        raise RunError(
            f"'{out}' has runs that are not on this curve: {', '.join(path.name for path in strange[:3])}. Choose "
            "another `out`. If the runs belong to the training, give their folders among the models."
        )


def _check_same(runs: Sequence[StoredRun], planned_for: Any, kind: str | None) -> None:
    """Raise an error if the finished runs were measured differently from one another, or from models to be measured."""
    for dataset, name in in_common(runs) if len(runs) > 1 else ():
        same_task(runs, dataset, name)
    for run in runs if kind is not None else ():
        tasks = {task.name: task for task in run.record.tasks}
        planned = planned_for(kind or run.record.audits[-1].kind)
        records = [each.record for each in planned if each.record.name in tasks]
        if not records:
            raise BadInput(f"'{run.path}' has nothing that models are measured on. Give the `suite` of that run.")
        for record in (record for record in records if not _is_same_task(tasks[record.name], record)):
            raise BadInput(
                f"'{run.path}' measured {record.dataset} with {tasks[record.name].draw}, or with other options. The "
                f"models would be measured with {record.draw}. Give the options of that run."
            )


def _is_same_task(a: TaskRecord, b: TaskRecord) -> bool:
    """Whether two tasks have the same items and are scored in the same way."""
    return a.identity == b.identity and (a.draw == b.draw or not (a.partial or b.partial))


def _finished_run(folder: Path, source: ModelSource, planned_for: Any) -> StoredRun | None:
    """The run in the folder, if it has all tasks and was made after its checkpoint was last written; otherwise None."""
    if not (folder / RECORD).exists():
        return None
    run, place, loading = StoredRun.load(folder), source.place, source.loading
    tasks = {task.name: task for task in run.record.tasks}
    planned = planned_for(run.record.audits[-1].kind)
    if not all(p.record.name in tasks and _is_same_task(tasks[p.record.name], p.record) for p in planned):
        return None
    if not all(audit.examined for audit in run.record.audits):
        return None
    if run.record.asked.differences(way_of([each.task for each in planned])):
        return None
    loaded = run.record.loaded
    if loaded.get("dtype_asked", "float32") != loading.get("dtype", "float32") or loading.get("labels"):
        return None
    if place.on_hub:  # a branch may point to newer weights; a commit cannot
        return run if place.revision and place.revision == loaded.get("revision") else None
    files = [Path(place.source) / place.file] if place.file else list(Path(place.source).iterdir())
    newest = max(path.stat().st_mtime for path in files if path.is_file())
    if newest > (folder / RECORD).stat().st_mtime:
        return None
    log.info(f"{run.record.model} was measured before: {folder}")
    return run


def checkpoints(models: str | Path | Sequence[str | Path], revision: Named = None) -> list[str | Path]:
    """The names of models (str) and the run folders (Path), in the order of the training.

    A folder of checkpoints (checkpoint-500, step_500, epoch-2) is expanded to the checkpoints in the order of their
    numbers, followed by the model in the folder itself. A folder of run folders is expanded in the same way. With
    `revision`, `models` is one model on the Hub, and the checkpoints are its revisions.
    """
    given = [str(model) for model in ([models] if isinstance(models, str | Path) else models)]
    revisions = [revision] if isinstance(revision, str | Path) else list(revision or ())
    if revisions:
        if len(given) != 1 or not find(given[0]).on_hub or find(given[0]).revision:
            raise BadInput(f"`revision` is for one model, a Hub id. Got {', '.join(given)}. Or give ID@REVISION.")
        given = [f"{given[0]}@{each}" for each in revisions]
    folders = [Path(name) for name in given]
    if len({folder.parent for folder in folders}) == 1 and all(_is_step(folder) for folder in folders):
        given.sort(key=lambda name: _number(Path(name)))  # a shell puts checkpoint-1000 before checkpoint-200
    points = [point for name in given for point in _expand(name)]
    places = [str(real_path(point)) if Path(point).is_dir() else str(point) for point in points]
    most, times = Counter(places).most_common(1)[0] if places else ("", 0)
    if times > 1:
        raise BadInput(f"'{most}' is given twice. Give each checkpoint once, in the order of the training.")
    if len(points) < 2:
        got = f"'{points[0]}'" if points else "none"
        if points and find(str(points[0])).on_hub:
            got += ", which is not a folder here"
        raise BadInput(
            f"A curve needs at least two checkpoints. Got {got}. Give several models, the output folder of a training "
            "with its checkpoint-* folders, or a Hub id with several revisions."
        )
    return points


def _is_step(path: Path) -> bool:
    return path.is_dir() and bool(CHECKPOINT.fullmatch(path.name) and NUMBER.search(path.name))


def _expand(name: str) -> list[str | Path]:
    place = find(name)
    if place.engine:
        raise BadInput(
            f"The weights of '{name}' are behind a server, so its checkpoint cannot be recognised. Audit the model, "
            "then give its run folder instead."
        )
    folder = Path(place.source)
    if place.on_hub or place.file:
        return [name]
    if _is_run(folder):
        return [folder]
    steps = sorted(path for path in folder.iterdir() if _is_step(path))
    if not steps and not _is_model(folder):
        steps = sorted(path for path in folder.iterdir() if _is_run(path))
        unnumbered = [path.name for path in steps if not NUMBER.search(path.name)]
        if len(unnumbered) > 1:
            raise BadInput(
                f"The order of the runs in '{folder}' is not known: {' and '.join(unnumbered[:2])} have no number in "
                "their names. Give the runs one by one, in the order of the training."
            )
    if not steps and not _is_model(folder):
        lacks = "has neither a model nor checkpoints (checkpoint-500)" if any(folder.iterdir()) else "is empty"
        raise BadInput(f"'{folder}' {lacks}. Give a training's output folder, model folders, run folders or Hub ids.")
    for path in steps:
        if _is_run(path):
            continue
        if not _is_model(path):
            raise BadInput(
                f"'{path}' has no config.json, so it is not a complete checkpoint. Delete it if saving it was "
                "interrupted, or give the other checkpoints one by one."
            )
        files = [file for file in path.iterdir() if file.name.startswith(TOKENIZERS) or file.suffix == ".model"]
        if not files and not (path / ADAPTER).is_file():  # the tokenizer of an adapter may be its base model's
            raise BadInput(
                f"'{path}' has no tokenizer. Copy the tokenizer's files there. A Trainer saves them with every "
                "checkpoint if you pass it Trainer(processing_class=tokenizer)."
            )
    points = [path if _is_run(path) else str(path) for path in sorted(steps, key=_number)]
    return [*points, *([name] if _is_model(folder) else [])]


def _is_run(folder: Path) -> bool:
    return (folder / RECORD).is_file() or (folder / ANSWERS).is_file()


def _is_model(folder: Path) -> bool:
    return any((folder / name).is_file() for name in ("config.json", ADAPTER))


def _number(path: Path) -> tuple[float, str]:
    """The sort key of a checkpoint: the last number in its name, or infinity for a final model without a number."""
    numbers = NUMBER.findall(path.name)
    return (float(numbers[-1]) if numbers else float("inf")), path.name


def check_alike(curve: Mapping[str, ModelSource | StoredRun]) -> None:
    """Raise an error if the models or runs of a curve differ in kind or architecture."""
    known: dict[str, tuple[Any, str]] = {}
    for name, point in curve.items():
        for fact, value in _facts(point).items():
            before, earlier = known.setdefault(fact, (value, name))
            if before != value:
                raise BadInput(
                    f"'{earlier}' and '{name}' are not checkpoints of one model: {fact} {before} and {value}. Track "
                    "the checkpoints of one training. To compare different models, use `evenhand compare`."
                )


def _facts(point: ModelSource | StoredRun) -> dict[str, Any]:
    if isinstance(point, StoredRun):
        loaded = point.record.loaded
        facts = {"kind": point.record.audits[-1].kind} | {k: loaded.get(k) for k in ("architecture", "parameters")}
        facts |= {f"asked ({field})": point.record.asked.description(field) for field in point.record.asked.options}
    else:
        folder = not point.place.on_hub and not point.place.file
        facts = {"kind": point.kind} | (_settings(Path(point.place.source)) if folder else {})
    return {fact: value for fact, value in facts.items() if value not in (None, "", "unknown")}


def _settings(folder: Path) -> dict[str, Any]:
    """The architecture in config.json, or an adapter's base model; empty if the file cannot be read."""
    try:
        if (folder / ADAPTER).is_file():
            return {"base model": read_parsed(folder / ADAPTER, from_json).get("base_model_name_or_path")}
        config = read_parsed(folder / "config.json", from_json)
        names = config.get("architectures") or [None]
        return {"architecture": names[0], **{name: config.get(name) for name in ALIKE}}
    except (OSError, ValueError, AttributeError, TypeError, KeyError):
        return {}
