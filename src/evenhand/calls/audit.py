"""What users call: it measures, or has others' scores, and then a gate and a page read the run."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand.analysis.tracking import Track, tracked
from evenhand.auditing import merging
from evenhand.auditing.audit import run_audit, run_folder
from evenhand.auditing.importing.row_scores import Foreign
from evenhand.auditing.importing.scores import import_scores
from evenhand.auditing.spec import AuditSpec, Given, Measures, Named, PlannedTask
from evenhand.auditing.sweep import named_sources
from evenhand.auditing.sweep import sweep as sweep_sources
from evenhand.auditing.track import measure_checkpoints
from evenhand.core.files import write_whole
from evenhand.core.model import Model
from evenhand.distributed.cluster import check_engine
from evenhand.errors import BadInput
from evenhand.gate.gate import Gate
from evenhand.models import check_keywords
from evenhand.models.loading.names import DEFAULT
from evenhand.models.source import ModelSource
from evenhand.run import Run
from evenhand.runs.folder import StoredRun
from evenhand.runs.record import RunRecord

WHAT = tuple(signature(AuditSpec.of).parameters)
"""The parameters that say what is measured."""
HOW = ("out", "fresh", "gate", "baseline", "progress")
"""The parameters of `audit` that are neither these nor for loading the model."""


@dataclass(frozen=True)
class GateAndPage:
    """What reads each run while its folder is locked: a gate, if there is one, and what writes the page."""

    gate: Gate | None = None

    def check(self, tasks: Sequence[PlannedTask], path: Path, existing: RunRecord | None) -> None:
        """Raise an error if the gate has a rule that these tasks give nothing for."""
        if self.gate:
            self.gate.check([one.whole for one in tasks], path, existing, samples=[one.task for one in tasks])

    def read(self, run: StoredRun) -> None:
        """Judge the run, then write its page."""
        if self.gate:
            self.gate.judge(run).save(run.path)
        from evenhand.show.page import runs as page

        page.write([run], run.path / page.FILE)


def audit(
    model: str | Path | Model = DEFAULT,
    *,
    suite: Named = "all",
    lang: Named = None,
    dataset: Given = None,
    measure: Measures = None,
    templates: Named = None,
    pairs: Named = None,
    options: Mapping[str, Any] | None = None,
    limit: int | None = None,
    seed: int = 0,
    out: str | Path = "runs",
    name: str | None = None,
    fresh: bool = False,
    gate: Gate | str | Path | None = None,
    baseline: Run | str | Path | None = None,
    progress: bool | None = None,
    model_options: Mapping[str, Any] | None = None,
    **loading: Any,
) -> Run:
    """Measure a model and add the results to its run in `out/<model>`, or `out/<name>`; then read the whole run.

    `model` is a bundled name, a folder, a Hub id, or any object with `name`, `fingerprint` and `answer`. What is
    measured: a `suite` in a language (`all` are those that suit the kind of model), or a `dataset` by name, or your own
    file of `templates` or sentence `pairs`, with the measures that suit it or the `measure` named; each can be several.
    A dataset and a measure can also be objects of your own (docs/extend.md).
    `options` go to the datasets and measures that have them (`{"masks": "words"}`), `loading` to `evenhand.load`, and
    `model_options` to the plugin that loads the model. With `limit` each dataset is a random sample of at most that
    many items, and its results are marked partial.

    The same call again continues an interrupted one. A dataset that was measured before, with the same options and
    measure, is replaced, though a sample never replaces the whole; other results stay, unless the run is to start
    `fresh`. A `gate`, or policy file, judges the run: gate.json; `baseline` is the run that its
    `worse_by_at_most` compares with, instead of the policy's.

    One progress bar shows how far it is, on a terminal and in a notebook; `progress=False` hides it.
    """
    if isinstance(model, list | tuple):
        raise BadInput(f"An audit takes one model. Got {len(model)}: for several, use evenhand.sweep.")
    spec = AuditSpec.of(suite, lang, dataset, measure, templates, pairs, options, limit, seed)
    check_keywords("audit", loading)
    source = ModelSource.of(model, {**loading, **(model_options or {})})
    return _audit(source, spec, name, out=out, fresh=fresh, gate=gate, baseline=baseline, progress=progress)


def _audit(
    source: ModelSource,
    spec: AuditSpec,
    name: str | None,
    *,
    out: str | Path = "runs",
    fresh: bool = False,
    gate: Gate | str | Path | None = None,
    baseline: Run | str | Path | None = None,
    progress: bool | None = None,
) -> Run:
    path = run_folder(name or source.name, out)
    reader = GateAndPage(Gate.of(gate, baseline))
    return Run.load(run_audit(source, spec, path, name, reader, fresh=fresh, progress=progress))


def sweep(
    models: Sequence[str | Path | Model],
    *,
    engine: str = "local",
    address: str | None = None,
    workers: int | None = None,
    name: str | None = None,
    model_options: Mapping[str, Any] | None = None,
    **how: Any,
) -> Iterator[Run]:
    """The run of each model, in order, each measured when it is asked for: `list(sweep(...))`; `how` goes to `audit`.

    With `engine="ray"` the models are measured in parallel, each on its share of the workers of the cluster at
    `address`, or of this machine. Run folders are written here, with the same bytes as by the local engine.
    """
    if isinstance(models, str):
        raise BadInput(f"A sweep takes a list of models. Got the name {models!r}: put it into a list.")
    check_engine(engine, address, workers)
    what, settings, loading = _split(how)
    spec = AuditSpec.of(**what)
    # A wrong model is an error before anything is measured.
    sources = named_sources(models, name, model_options, **loading)
    return sweep_sources(
        sources,
        lambda source, name: _audit(source, spec, name, **settings),
        engine=engine,
        address=address,
        workers=workers,
    )


def _split(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Parameters of `audit`: what is measured, how, and those for loading a model; an error for any other."""
    what = {name: value for name, value in given.items() if name in WHAT}
    how = {name: value for name, value in given.items() if name in HOW}
    loading = {name: value for name, value in given.items() if name not in (*WHAT, *HOW)}
    check_keywords("audit", loading)
    return what, how, loading


def track(
    models: str | Path | Sequence[str | Path],
    *,
    out: str | Path = "runs/track",
    revision: str | Sequence[str] | None = None,
    form: str = "svg",
    engine: str = "local",
    address: str | None = None,
    workers: int | None = None,
    **how: Any,
) -> Track:
    """Measure checkpoints, each into a run folder in `out`, and compare every one with the one before it.

    `models` are folders, Hub ids (`ID@REVISION`, or one id and a list of `revision`), the output folder of a training
    (its checkpoint-* in the order of their numbers, then the final model in it) and run folders, which are taken as
    they are. `how` is what `evenhand.audit` and `evenhand.sweep` take: what is measured, and how. The same call goes on
    where it was stopped: a finished run is measured again only if its checkpoint is newer, or if it lacks something.

    `out` gets track.html, track.json and a figure in the form svg, pdf, png or html.
    """
    from evenhand.show.page.track import track_page
    from evenhand.show.plots import save, suited
    from evenhand.show.track import chart

    out = Path(out).expanduser()
    figure = out / f"track.{form}"
    suited(figure)
    for name in ("name", "fresh", "gate", "baseline"):
        if name in how:
            raise BadInput(f"`{name}` is not for track: it names, deletes and judges no runs. Audit the checkpoint.")
    what, settings, loading = _split(how)

    def audit_one(spec: AuditSpec, source: ModelSource, name: str) -> StoredRun:
        def one(source: ModelSource, name: str) -> Run:
            return _audit(source, spec, name, out=out, **settings)

        return next(iter(sweep_sources({name: source}, one, engine=engine, address=address, workers=workers)))

    runs = measure_checkpoints(models, revision, what, loading, out, audit_one)
    made = replace(tracked([Run.load(run) for run in runs]), page=out / "track.html")
    html, numbers = track_page(made).encode(), json.dumps(made.as_json(), indent=1, ensure_ascii=False).encode()
    write_whole(out / "track.html", lambda file: file.write(html))
    write_whole(out / "track.json", lambda file: file.write(numbers))
    save(chart(made), figure)
    return made


def rescore(path: StoredRun | str | Path, *, file: str | Path | Sequence[str | Path] = ()) -> Run:
    """Score a run again from its kept answers, without its model.

    Of your own templates or pairs, the run knows the path as you gave it, or from the folder you were in. They are
    looked for there, then from the run's folder and the two above. `file` says where they are if they have moved.
    """
    files = [file] if isinstance(file, str | Path) else file
    return Run.load(merging.rescore(path, [Path(one) for one in files], GateAndPage()))


def from_scores(
    scores: pd.DataFrame | str | Path,
    *,
    dataset: Given = None,
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

    `scores` is a data frame or a file: csv, tsv, jsonl, parquet, samples of lm-evaluation-harness, StereoSet's
    predictions (json), or a txt file with a number on each line, in the order of the dataset. A row has the item's
    `id`, or its `text` (and `other`, the second text of a pair), and its `score` as `measure` defines it; or the
    log-probabilities that the measure asks for, as `evenhand measures` names them: stereotype and counterpart of a
    pair. `columns` are other names of these columns, `options` those of dataset and measure that the scores were
    computed with, `kind` is masked, causal or nli.

    Nothing is known of the model but its `name` (default: the file's), so another file is another model. A log of
    inspect_ai (eval, json) with one of our tasks says dataset, options and model itself, and how the model was asked:
    logs of one model, asked in one way, are of one run.
    """
    source = scores if isinstance(scores, pd.DataFrame) else Path(scores).expanduser()
    foreign = Foreign(dataset, measure, columns or {}, options or {}, kind, seed)
    return Run.load(import_scores(source, foreign, GateAndPage(), name=name, out=Path(out), fresh=fresh))
