"""`evenhand compare`: compare runs with a baseline."""

from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import terminal
from evenhand.cli.common import Force, Json, Plugins
from evenhand.errors import BadInput

FORMS = {".json": "json", ".md": "markdown"}


def compare(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN RUN...", help="Run folders; the first is the baseline.")],
    as_json: Json = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")] = False,
    chart: Annotated[Path | None, typer.Option(help="Draw the changes: a .svg, .png or .html file.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write to a .json or .md file instead of printing.")] = None,
    force: Force = False,
    plugin: Plugins = None,
) -> None:
    """Compare runs with a baseline, item by item.

    Shows what changed, by how much, and whether it could be chance. The first run is the baseline.
    """
    from evenhand.analysis.comparison import compare as compare_runs
    from evenhand.core.files import check_new, write_whole
    from evenhand.report import comparison as show
    from evenhand.report.plots import save, suited

    form = _form(as_json, as_markdown, out)
    if chart is not None:
        suited(chart)
        check_new(chart, force, "chart")
    if out is not None:
        check_new(out, force)
    compared = compare_runs(*runs)
    if chart is not None:
        save(show.chart(compared), chart)
    if form == "table":
        terminal.show(show.terminal(compared), *([f"Chart: {chart}"] if chart is not None else []))
        return
    text = compared.to_json() if form == "json" else show.markdown(compared).rstrip("\n")
    if out is None:
        terminal.show(text)
    else:
        write_whole(out, lambda file: file.write(f"{text}\n".encode()))


def _form(as_json: bool, as_markdown: bool, out: Path | None) -> str:
    if as_json and as_markdown:
        raise BadInput("Choose one of --json and --markdown.")
    if as_json or as_markdown:
        return "json" if as_json else "markdown"
    if out is None:
        return "table"
    if out.suffix not in FORMS:
        raise BadInput(f"--out must be a .json or .md file, unless --json or --markdown is given. Got '{out}'.")
    return FORMS[out.suffix]
