"""`evenhand report`: write the HTML page of runs."""

from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import terminal
from evenhand.cli.common import Force, Plugins
from evenhand.errors import BadInput


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="One run, or several side by side.")],
    out: Annotated[
        Path | None, typer.Option(help="Default: report.html in the run's folder; several runs: here.")
    ] = None,
    force: Force = False,
    plugin: Plugins = None,
) -> None:
    """Write the HTML page of one or more runs.

    One file with scorecard, charts and sentences; it opens from disk and needs no network.
    """
    from evenhand.core.files import check_new, prepare, write_whole
    from evenhand.report.page import FILE, page
    from evenhand.runs.folder import Run

    out = out or (runs[0] / FILE if len(runs) == 1 else Path(FILE))
    if out.suffix.lower() not in (".html", ".htm"):
        raise BadInput(f"A page is an HTML file: --out must end in .html. Got '{out}'.")
    check_new(out, force or out.resolve() in [(run / FILE).resolve() for run in runs])  # a run's own page is ours
    html = page([Run.load(run) for run in runs]).encode()
    prepare(out.parent)
    write_whole(out, lambda file: file.write(html))
    terminal.show(str(out))
