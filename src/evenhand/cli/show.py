"""`evenhand show` and `evenhand rescore`: print the scorecard of a run, from its values or its kept answers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from evenhand.cli import terminal
from evenhand.cli.common import Json, Plugins, RunFolder, print_json
from evenhand.core.files import read_parsed
from evenhand.errors import BadInput, UnknownName


def show(
    run: RunFolder,
    full: Annotated[bool, typer.Option("--full", help="Print every value, not only the main ones.")] = False,
    dataset: Annotated[list[str] | None, typer.Option(help="Print every value of this dataset. Repeatable.")] = None,
    frequency: Annotated[
        Path | None, typer.Option(help="With --full: a .tsv file of attributes and their corpus frequencies.")
    ] = None,
    command: Annotated[bool, typer.Option("--command", help="Print the command that made the run.")] = False,
    as_json: Json = False,
) -> None:
    """Print the results of a run: the main ones, or every value."""
    from evenhand.runs.folder import Run

    loaded = Run.load(run)
    if command:
        from evenhand.auditing.command import commands

        terminal.show(*commands(loaded.record))
        return
    for name in dataset or ():
        if name not in loaded.datasets:
            raise UnknownName("dataset of this run", name, loaded.datasets)
    if as_json:
        print_json([row for row in loaded.results if not dataset or row["dataset"] in dataset])
    elif full or dataset or frequency:
        print_scorecard(loaded, _numbers(frequency) if frequency else None, dataset or ())
    else:
        print_answer(loaded)


def rescore(
    run: RunFolder,
    file: Annotated[list[Path] | None, typer.Option(help="Your own data file, if it has moved. Repeatable.")] = None,
    as_json: Json = False,
    plugin: Plugins = None,
) -> None:
    """Score a run again from its stored answers, without the model."""
    from evenhand.auditing.rescoring import rescore as rescore_run

    scored = rescore_run(run, file=file or ())
    if as_json:
        print_json(scored.results)
    else:
        print_answer(scored)


def print_answer(run: Any, *, whole: bool = True) -> None:
    """Print what a run shows, on one screen; or only how it begins."""
    from evenhand.report.answer import answer, brief, fitted

    width = fitted(terminal.width())
    terminal.show(answer(run, width) if whole else brief(run), width=width)


def print_scorecard(run: Any, frequency: dict[str, float] | None = None, datasets: Sequence[str] = ()) -> None:
    """Print every value of a run, or of these datasets."""
    from evenhand.analysis.findings import findings
    from evenhand.report.scorecard import scorecard

    terminal.show(scorecard(run, findings(run, frequency=frequency), datasets))


def _numbers(path: Path) -> dict[str, float]:
    """The numbers in a file with a word, a tab and a number on each line."""
    try:
        rows = [line.split("\t") for line in read_parsed(path, str.splitlines) if line.strip()]
        return {word: float(number) for word, number in rows}
    except (OSError, ValueError) as error:
        raise BadInput(f"'{path}' must have a word, a tab and a number on each line. Got: {error}.") from error
