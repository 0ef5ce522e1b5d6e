"""`evenhand report`: write the HTML page of runs."""

from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import terminal
from evenhand.cli.common import Force, Plugins


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="One run, or several side by side.")],
    out: Annotated[
        Path | None,
        typer.Option(help="The file to write. Default: report.html, in the run's folder or, for several runs, here."),
    ] = None,
    force: Force = False,
    plugin: Plugins = None,
) -> None:
    """Write the HTML page of one or more runs.

    The page is one file with scorecard, charts and sentences. It needs no network.
    """
    from evenhand.report.saving import save
    from evenhand.runs.folder import Run

    terminal.show(str(save([Run.load(run) for run in runs], out, force=force)))
