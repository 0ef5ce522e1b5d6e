"""Measure the checkpoints of a training, and find between which of them the model's bias changed."""

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Any

from evenhand.analysis.tracking import Track, tracked
from evenhand.auditing.audit import run_folder
from evenhand.auditing.checkpoints import RECORD, check_alike, checkpoints
from evenhand.auditing.sweep import run_names, sweep
from evenhand.auditing.wanted import Wanted
from evenhand.core.files import prepare, write_whole
from evenhand.errors import BadInput, OtherModel, RunError
from evenhand.models.loading.names import find, kind
from evenhand.report.page.track import track_page
from evenhand.report.plots import save, suited
from evenhand.report.track import chart
from evenhand.runs.comparable import in_common, measured, same_task
from evenhand.runs.folder import ANSWERS, Run
from evenhand.runs.record import TaskRecord

log = logging.getLogger(__name__)

PAGE, NUMBERS, FIGURE = "track.html", "track.json", "track"


def track(
    models: str | Path | Sequence[str | Path],
    *,
    out: str | Path = "runs/track",
    revision: str | Sequence[str] | None = None,
    form: str = "svg",
    **how: Any,
) -> Track:
    """Measure checkpoints, each into a run folder in `out`, and compare every one with the one before it.

    `models` are folders, Hub ids (`ID@REVISION`, or one id and a list of `revision`), the output folder of a training
    (its checkpoint-* in the order of their numbers, then the final model in it) and run folders, which are taken as
    they are. `how` is what `evenhand.audit` and `evenhand.sweep` take: what is measured, and how. The same call goes on
    where it was stopped: a finished run is measured again only if its checkpoint is newer, or if it lacks something.

    `out` gets track.html, track.json and a figure in the form svg, pdf, png or html.
    """
    out = Path(out).expanduser()
    figure = out / f"{FIGURE}.{form}"
    suited(figure)
    for name in ("name", "fresh", "gate", "baseline"):
        if name in how:
            raise BadInput(f"`{name}` is not for track: it names, deletes and judges no runs. Audit the checkpoint.")
    what = {name: value for name, value in how.items() if name in signature(Wanted.of).parameters}
    wanted = Wanted.of(**what)
    found = checkpoints(models, revision)
    useless = [
        name for name, value in what.items() if value and value not in ("all", ["all"]) and name not in ("lang", "seed")
    ]
    if useless and all(isinstance(one, Path) for one in found):
        raise BadInput(
            f"Finished runs are taken as they are, with all that they measured. `{useless[0]}` is for models that are "
            "still to be measured: leave it out."
        )
    names = iter(run_names([one for one in found if isinstance(one, str)]))
    named: dict[str, str | Path] = {next(names) if isinstance(one, str) else str(one): one for one in found}
    given = {name: Run.load(one) for name, one in named.items() if isinstance(one, Path)}
    check_alike({name: one if isinstance(one, str) else given[name] for name, one in named.items()})
    folders = {name: run_folder(one, out, name) for name, one in named.items() if isinstance(one, str)}
    _check_out(out, [*folders.values(), *(run.path for run in given.values())])
    asked = cache(lambda kind: [one.record for one in wanted.asked(kind)])
    _check_same(list(given.values()), asked, next((kind(find(str(named[name]))) for name in folders), None))
    prepare(out)
    runs = []
    for name, one in named.items():
        run = given.get(name) or _finished(folders[name], str(one), asked, how)
        try:
            runs.append(run or next(iter(sweep([str(one)], name=name, out=out, **how))))
        except OtherModel as error:
            raise RunError(
                f"'{one}' has changed since it was measured: its run in '{folders[name]}' is of other weights. Delete "
                "that folder, or choose another `out`."
            ) from error
    check_alike(dict(zip(named, runs, strict=True)))
    made = replace(tracked(runs), page=out / PAGE)
    html, numbers = track_page(made).encode(), json.dumps(made.as_json(), indent=1, ensure_ascii=False).encode()
    write_whole(out / PAGE, lambda file: file.write(html))
    write_whole(out / NUMBERS, lambda file: file.write(numbers))
    save(chart(made), figure)
    return made


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


def _check_same(runs: Sequence[Run], asked: Any, kind: str | None) -> None:
    """Raise an error if runs were measured in another way than one another, or than the models will be."""
    for dataset, name in in_common(runs) if len(runs) > 1 else ():
        same_task(runs, dataset, name)
    for run in runs if kind is not None else ():
        records = asked(kind or run.record.audits[-1].kind)
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


def _finished(folder: Path, model: str, asked: Any, how: Mapping[str, Any]) -> Run | None:
    """The run in the folder, if it has all that is asked and its checkpoint has not been written since."""
    if not (folder / RECORD).exists():
        return None
    run, place = Run.load(folder), find(model)
    tasks = {task.name: task for task in run.record.tasks}
    records = asked(run.record.audits[-1].kind)
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
