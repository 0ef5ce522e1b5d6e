"""The public functions that measure models or import scores; a gate and a page then read the run."""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Unpack

import pandas as pd

from evenhand.analysis.tracking import Track, make_track
from evenhand.auditing.audit import run_audit
from evenhand.auditing.importing.row_scores import Foreign
from evenhand.auditing.importing.scores import import_scores
from evenhand.auditing.rescoring import rescore as rescore_run
from evenhand.auditing.spec import AuditSpec, PlannedTask
from evenhand.auditing.sweep import named_sources
from evenhand.auditing.sweep import sweep as sweep_sources
from evenhand.auditing.track import measure_checkpoints
from evenhand.auditing.writing import run_folder
from evenhand.core import parameters as ask
from evenhand.core.dataset import Datasets
from evenhand.core.files import write_whole
from evenhand.core.measure import Measures
from evenhand.core.model import Model
from evenhand.core.parameters import describe, records_of, select_parameters
from evenhand.core.way import PLAIN, Way
from evenhand.errors import BadInput
from evenhand.gate.gate import Gate
from evenhand.models import ModelSource, check_keywords
from evenhand.models.loading.names import DEFAULT
from evenhand.run import Run
from evenhand.runs.files import PAGE
from evenhand.runs.folder import StoredRun, lock_folder
from evenhand.runs.record import RunRecord

log = logging.getLogger(__name__)

JUDGED = records_of(ask.GateOptions)
HOW = (*records_of(ask.Results), *JUDGED, "progress")
"""The parameters of `audit` that say neither what is measured nor how the model is loaded."""


class Audit(ask.Audited, total=False):
    """What `audit` takes besides the model."""

    gate: Annotated[Gate | str | Path | None, JUDGED["gate"]]
    baseline: Annotated[Run | str | Path | None, JUDGED["baseline"]]
    progress: ask.Progress


class Sweep(Audit, ask.Cluster, total=False):
    """What `sweep` takes besides the models."""


class TrackOptions(ask.Tracked, total=False):
    """What `track` takes besides the models."""

    progress: ask.Progress


@dataclass(frozen=True)
class GateAndPage:
    """Judges each run by the gate and writes its page, if they are wanted, while the folder of the run is locked."""

    gate: Gate | None = None
    page: bool = True

    def check(self, tasks: Sequence[PlannedTask], path: Path, existing: RunRecord | None) -> None:
        """Raise an error if a rule of the gate needs a value that a run of these tasks does not have."""
        if self.gate:
            samples = [planned.task for planned in tasks]
            self.gate.check([planned.whole for planned in tasks], path, existing, samples=samples)

    def read(self, run: StoredRun) -> None:
        """Judge the run, then write its page."""
        if self.gate:
            self.gate.judge(run).save(run.path)
        if not self.page:
            return
        from evenhand.show.page import runs as page

        try:
            page.write([run], run.path / page.FILE)
        except Exception as error:  # the run is complete without its page
            again = f"The results are complete. Make it again: evenhand report {run.path}"
            log.warning(f"The page of '{run.path}' could not be written: {str(error).rstrip('.')}. {again}")


def whole_run(path: StoredRun | Path) -> Run:
    """The run. If the process that measured it was killed at its end, its page is written and its lock removed."""
    run = Run.load(path)
    if (run.path / ".lock").exists() or not (run.path / PAGE).exists():
        with lock_folder(run.path):
            GateAndPage().read(run)
    return run


@describe(model=ask.ONE_MODEL)
def audit(model: str | Path | Model = DEFAULT, **given: Unpack[Audit]) -> Run:
    """Measure a model and add the results to its run in `out/<model>`, or `out/<name>`; then read the whole run.

    The model can also be any object with `name`, `fingerprint` and `answer`; datasets and measures can be objects of
    your own (docs/extend.md), and each of these several, as a list. With `limit`, results are marked partial.

    The same call again continues an interrupted one. A dataset that was measured before, with the same options and
    measure, is replaced, though a sample never replaces the whole; other results stay, unless the run is to start
    `fresh`. A `gate`, or policy file, judges the run: gate.json.
    """
    if isinstance(model, list | tuple):
        raise BadInput(f"`audit` takes one model. Got {len(model)}. To measure several models, use `evenhand.sweep`.")
    spec, how, loading = _split(given)
    (way,) = ways_of(given, only="audit")
    return _audit(spec, replace(ModelSource.of(model, loading), way=way), how.pop("name", None), **how)


def ways_of(given: Mapping[str, Any], *, only: str = "") -> list[Way]:
    """How a model is asked, by these parameters or their `options`: in one way for each system prompt.

    Raise an error if there are several, and `only` is the name of a function that takes one.
    """
    options = {name: value for name, value in (given.get("options") or {}).items() if name in PLAIN}
    asked = {name: value for name, value in select_parameters(given, ask.Asked).items() if value is not None}
    system = asked.pop("system", options.get("system"))
    systems = system if isinstance(system, list | tuple) and system else [system or None]
    if only and len(systems) > 1:
        raise BadInput(f"`{only}` takes one system prompt. Got {len(systems)}. For several, use `evenhand.sweep`.")
    return [Way.of({**options, **asked, "system": each}) for each in systems]


def _split(given: Mapping[str, Any]) -> tuple[AuditSpec, dict[str, Any], dict[str, Any]]:
    """Split the parameters of `audit`: what is measured, how, and how a model is loaded. Unknown ones are an error."""
    what, how = select_parameters(given, ask.What), {name: given[name] for name in HOW if name in given}
    others = {*what, *how, *records_of(ask.Asked), "model_options"}
    loading = {name: value for name, value in given.items() if name not in others}
    spec = AuditSpec.of(**what)
    check_keywords("audit", loading)
    return spec, how, {**loading, **(given.get("model_options") or {})}


def _audit(
    spec: AuditSpec,
    source: ModelSource,
    name: str | None,
    *,
    out: str | Path = "runs",
    gate: Gate | str | Path | None = None,
    baseline: Run | str | Path | None = None,
    page: bool = True,
    **how: Any,
) -> Run:
    path = run_folder(name or source.name, out)
    reader = GateAndPage(Gate.of(gate, baseline), page)
    return Run.load(run_audit(source, spec, path, name, reader, **how))


@describe(models=ask.MODELS)
def sweep(models: Sequence[str | Path | Model], **given: Unpack[Sweep]) -> Iterator[Run]:
    """The run of each model, in order, each measured when it is asked for: `list(sweep(...))`; see `audit`.

    With several system prompts, each model has a run for each of them.

    With `engine="ray"` the models are measured in parallel, each on its share of the workers of the cluster at
    `address`, or of this machine. Run folders are written here, with the same bytes as by the local engine.
    """
    if isinstance(models, str):
        raise BadInput(f"`sweep` takes a list of models. Got {models!r}. Put the name into a list.")
    where = select_parameters(given, ask.Cluster)
    spec, how, loading = _split({name: value for name, value in given.items() if name not in where})
    # A wrong model is an error before anything is measured.
    sources = named_sources(models, how.pop("name", None), ways=ways_of(given), **loading)
    return sweep_sources(sources, partial(_audit, spec, **how), **where)


@describe(models=ask.CHECKPOINTS)
def track(models: str | Path | Sequence[str | Path], **given: Unpack[TrackOptions]) -> Track:
    """Measure checkpoints, each into a run folder in `out`, and compare every one with the one before it.

    Of a training's output folder, its checkpoint-* are taken in the order of their numbers, then the final model in it;
    run folders are taken as they are. The same call goes on where it was stopped: a finished run is measured again only
    if its checkpoint is newer, or if it lacks something.

    `out` gets track.html, track.json and a figure.
    """
    from evenhand.show.plots import check_suffix, save
    from evenhand.show.track import chart, track_page

    for name in ("name", "fresh", "gate", "baseline", "doctor", "page"):
        if name in given:
            raise BadInput(f"`track` has no `{name}`: it makes every run in the same way. Audit the checkpoint.")
    out = Path(given.pop("out", "runs/track")).expanduser()
    figure = out / f"track.{given.pop('form', 'svg')}"
    check_suffix(figure)
    revision = given.pop("revision", None)
    where, what = select_parameters(given, ask.Cluster), select_parameters(given, ask.What, ask.Asked)
    spec, how, loading = _split({name: value for name, value in given.items() if name not in where})
    (way,) = ways_of(given, only="track")

    def audit_one(source: ModelSource, name: str) -> StoredRun:
        named = {name: replace(source, way=way)}
        return next(iter(sweep_sources(named, partial(_audit, spec, out=out, **how), **where)))

    runs = measure_checkpoints(models, revision, spec.in_way(way), what, loading, out, audit_one)
    whole = [whole_run(run) if run.path.parent == out else Run.load(run) for run in runs]
    curve = replace(make_track(whole), page=out / "track.html")
    html, numbers = track_page(curve).encode(), json.dumps(curve.as_json(), indent=1, ensure_ascii=False).encode()
    write_whole(out / "track.html", lambda file: file.write(html))
    write_whole(out / "track.json", lambda file: file.write(numbers))
    save(chart(curve), figure)
    return curve


@describe(ask.Rescore)
def rescore(path: StoredRun | str | Path, *, file: str | Path | Sequence[str | Path] = ()) -> Run:
    """Score a run again from its kept answers, without its model.

    Of your own templates or pairs, the run knows the path as you gave it, or from the folder you were in. They are
    looked for there, then from the run's folder and the two above.
    """
    files = [file] if isinstance(file, str | Path) else file
    return Run.load(rescore_run(path, [Path(name) for name in files], GateAndPage()))


@describe(ask.ImportOptions)
def from_scores(
    scores: pd.DataFrame | str | Path,
    *,
    dataset: Datasets = None,
    measure: Measures = None,
    name: str | None = None,
    columns: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
    kind: str | None = None,
    seed: int = 0,
    out: str | Path = "runs",
    fresh: bool = False,
) -> Run:
    """Make a run, in `out/<name>`, of scores that were computed elsewhere, one for each item of `dataset`.

    `scores` can also be a data frame. A row has the item's `id`, or its `text` (and `other`, the second text of a
    pair), and its `score` as `measure` defines it; or the log-probabilities that the measure asks for, as `evenhand
    measures` names them: stereotype and counterpart of a pair. A txt file has a number on each line, in the order of
    the dataset. `columns` are other names of these columns, `options` those that the scores were computed with.

    Nothing is known of the model but its `name`, so another file is another model. A log of inspect_ai with one of our
    tasks says dataset, options and model itself, and how the model was asked: logs of one model, asked in one way, are
    of one run.
    """
    source = scores if isinstance(scores, pd.DataFrame) else Path(scores).expanduser()
    foreign = Foreign(dataset, measure, columns or {}, options or {}, kind, seed)
    return Run.load(import_scores(source, foreign, GateAndPage(), name=name, out=Path(out), fresh=fresh))
