"""`evenhand import`: make a run from scores that were computed elsewhere."""

from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import common, terminal
from evenhand.cli.show import print_answer


def import_scores(
    file: Annotated[
        Path,
        typer.Argument(
            help="csv, tsv, jsonl, parquet, txt (one number per line), files of lm-evaluation-harness or StereoSet, "
            "logs of our tasks in inspect (.eval, .json)."
        ),
    ],
    dataset: Annotated[
        str | None, typer.Option(metavar="NAME", help="The dataset that was scored. A log of inspect names it.")
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="The measure of the scores. Default: the one that suits. Repeatable."),
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="MODEL", help="The model's name. Default: the log's, or the file's.")
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--column", metavar="NAME=COLUMN", help="Column of id, text, other or score: text=Sentence. Repeatable."
        ),
    ] = None,
    option: common.Options = None,
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help="The kind of model, if you know it: masked, causal or nli.")
    ] = None,
    seed: common.Seed = 0,
    out: Annotated[Path, typer.Option(help="Write the run to OUT/<model>/.")] = Path("runs"),
    fresh: Annotated[bool, typer.Option("--fresh", help="Replace an existing run.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --fresh: do not ask.")] = False,
    as_json: common.Json = False,
) -> None:
    """Make a run from scores that were computed elsewhere.

    Rows are matched with the items of the dataset by id or text. The run records where its scores come from.
    """
    from evenhand.auditing.audit import run_folder
    from evenhand.auditing.importing import from_scores, name_of

    there = run_folder("", out, name or name_of(file)) if fresh else None
    if there and (there / "run.json").exists():
        terminal.confirm(f"Replace the results in {there}?", yes=yes)
    run = from_scores(
        file,
        dataset=dataset,
        measure=measure or None,
        name=name,
        columns=common.parsed(columns, "column", "text=Sentence"),
        options=common.parsed(option),
        kind=kind,
        seed=seed,
        out=out,
        fresh=fresh,
    )
    if as_json:
        common.print_json(run.results)
    else:
        print_answer(run)
