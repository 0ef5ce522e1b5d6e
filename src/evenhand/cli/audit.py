"""`evenhand audit`: measure models."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from evenhand.cli import terminal
from evenhand.cli.common import (
    Address,
    Device,
    Dtype,
    Engine,
    Json,
    Options,
    Revision,
    TrustRemoteCode,
    Workers,
    parsed,
    print_json,
)
from evenhand.cli.gate import GithubSummary, Junit, Outlets
from evenhand.cli.show import print_scorecard
from evenhand.errors import BadInput


def audit(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MODEL", help="Bundled names, folders, .gguf files or Hub ids. Default: the bundled mini-en."
        ),
    ] = None,
    suite: Annotated[
        str,
        typer.Option(
            help="becpro, emotions, gbef, kinds, nli, or all: nli for a model of inference, "
            "for a masked or causal one the others without kinds."
        ),
    ] = "all",
    lang: Annotated[str, typer.Option(help="Language of the suite: en or de; nli: en, ja or zh.")] = "en",
    templates: Annotated[Path | None, typer.Option(help="Measure your own sentences: a template file (TOML).")] = None,
    pairs: Annotated[
        Path | None, typer.Option(help="Measure your own sentence pairs: csv, tsv, jsonl or parquet.")
    ] = None,
    dataset: Annotated[str | None, typer.Option(help="Measure one dataset, by name, instead of a suite.")] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(help="With a dataset: a measure by name; default: all that suit it. Repeatable."),
    ] = None,
    option: Options = None,
    limit: Annotated[int | None, typer.Option(help="A sample of so many items each: a smoke run, partial.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    out: Annotated[Path, typer.Option(help="Runs go to OUT/<model>/.")] = Path("runs"),
    revision: Revision = None,
    dtype: Dtype = "float32",
    device: Device = None,
    batch_size: Annotated[str, typer.Option(metavar="N|auto", help="Inputs in a batch.")] = "auto",
    trust_remote_code: TrustRemoteCode = False,
    labels: Annotated[
        str,
        typer.Option(
            metavar="A,B,C",
            help="What a classifier's outputs stand for, if it does not say: entailment,neutral,... Of a causal model: "
            "words for the three, for the suite nli.",
        ),
    ] = "",
    engine: Engine = "local",
    address: Address = None,
    workers: Workers = None,
    gate: Annotated[
        Path | None, typer.Option(help="Judge by a policy (TOML): exit code 0 pass, 1 fail, 3 undecided.")
    ] = None,
    junit: Junit = None,
    github_summary: GithubSummary = False,
    as_json: Json = False,
) -> None:
    """Measure models and print their scorecards.

    The same command resumes a run that was stopped.
    """
    from evenhand.auditing.audit import run_folder
    from evenhand.auditing.sweep import sweep
    from evenhand.models.loading.names import DEFAULT

    models = models or [DEFAULT]
    folders = [run_folder(model, out) for model in models]
    if len(set(folders)) < len(folders):
        raise BadInput(f"Two models would share a run folder: {', '.join(map(str, folders))}. Audit them apart.")
    outlets = Outlets.of(gate, junit, github_summary)
    runs = []
    try:
        for run in sweep(
            models,
            engine=engine,
            address=address,
            workers=workers,
            suite=suite,
            lang=lang,
            templates=templates,
            pairs=pairs,
            dataset=dataset,
            measure=measure or (),
            options=parsed(option),
            limit=limit,
            seed=seed,
            out=out,
            gate=gate,
            revision=revision,
            dtype=dtype,
            device=device,
            batch_size=batch_size if batch_size == "auto" else _whole(batch_size),
            trust_remote_code=trust_remote_code,
            labels=labels,
        ):
            runs.append(run)
            if not as_json:
                print_scorecard(run)
        if len(runs) > 1 and not as_json:
            _print_side_by_side(runs, out)
    finally:
        if as_json and runs:  # also those that were done before a later one failed
            print_json([row for run in runs for row in run.results])
    if gate is not None:
        from evenhand.gate.verdict import Verdict

        raise typer.Exit(outlets.give([Verdict.load(run.path) for run in runs], printed=not as_json))


def _print_side_by_side(runs: Sequence[Any], out: Path) -> None:
    from evenhand.analysis.ranking import comparable, side_by_side
    from evenhand.report.figures import draw_models
    from evenhand.report.tables import models
    from evenhand.runs.comparable import of_two_kinds

    tasks = comparable(runs[0])
    readings = {task.measure: task.reading for task in runs[0].record.tasks}
    for dataset, measure in tasks:
        terminal.show(models(side_by_side(runs, dataset, measure), dataset, measure, readings[measure]))
    if of_two_kinds(runs):
        terminal.show("Careful: causal models and others are of two kinds, and nobody is best or worst among them.")
    if runs[0].record.partial:
        terminal.show(runs[0].record.sample)
    for path in draw_models(runs, tasks, out):
        terminal.show(f"Chart: {path}")


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise BadInput(f"--batch-size must be 'auto' or a whole number from 1. Got '{text}'.")
    return int(text)
