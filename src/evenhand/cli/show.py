"""`evenhand show` and `evenhand rescore`: print the scorecard of a run, from its values or its kept answers."""

from pathlib import Path
from typing import Annotated, Any

import typer

from evenhand.cli import terminal
from evenhand.cli.common import Json, RunFolder, print_json
from evenhand.core.files import read_parsed
from evenhand.errors import BadInput


def show(
    run: RunFolder,
    frequency: Annotated[Path | None, typer.Option(help="A .tsv of attributes and their corpus frequencies.")] = None,
) -> None:
    """Print the scorecard of a run again."""
    from evenhand.runs.folder import Run

    print_scorecard(Run.load(run), _numbers(frequency) if frequency else None)


def rescore(
    run: RunFolder,
    file: Annotated[list[Path] | None, typer.Option(help="Where a file of your own data is now, if it moved.")] = None,
    as_json: Json = False,
) -> None:
    """Score a run again from its kept answers, without the model."""
    from evenhand.auditing.rescoring import rescore as rescore_run

    scored = rescore_run(run, file=file or ())
    if as_json:
        print_json(scored.results)
    else:
        print_scorecard(scored)


def print_scorecard(run: Any, frequency: dict[str, float] | None = None) -> None:
    """Print the scorecard of a run."""
    from evenhand.analysis.findings import findings
    from evenhand.report.scorecard import scorecard

    terminal.show(scorecard(run, findings(run, frequency=frequency)))


def _numbers(path: Path) -> dict[str, float]:
    """The numbers in a file with a word, a tab and a number on each line."""
    try:
        rows = [line.split("\t") for line in read_parsed(path, str.splitlines) if line.strip()]
        return {word: float(number) for word, number in rows}
    except (OSError, ValueError) as error:
        raise BadInput(f"'{path}' must have a word, a tab and a number on each line. Got: {error}.") from error
