"""`evenhand compare` and `evenhand table`: several runs in one table, for a comparison or for a paper."""

import logging
from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import terminal
from evenhand.cli.common import Force, Json, Names, Plugins, arg, opt, print_or_write
from evenhand.core.files import check_new
from evenhand.errors import BadInput, UnknownName, check_known

FORMS = {".json": "json", ".md": "markdown", ".csv": "csv", ".tex": "latex"}
log = logging.getLogger(__name__)


def compare(
    runs: Annotated[list[Path], arg("Run folders; the first is the baseline.", "RUN RUN...")],
    form: Annotated[str | None, opt("table (default), csv, json, latex, markdown.", "--as", show_default=False)] = None,
    as_json: Json = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", hidden=True)] = False,
    chart: Annotated[Path | None, opt("Draw the changes to a .svg, .pdf, .png or .html file.")] = None,
    out: Annotated[Path | None, opt("Write to a .csv, .json, .md or .tex file.")] = None,
    force: Force = False,
    plugin: Plugins = None,
) -> None:
    """Compare runs with a baseline, item by item.

    Shows what changed, by how much, and whether it could be chance. The first run is the baseline.
    """
    from evenhand.run import compare as compare_runs
    from evenhand.show import comparison as show

    chosen = _form(form, as_json, as_markdown, out)
    if chart is not None:
        from evenhand.show.plots import save, suited  # drawing libraries take time to load

        suited(chart)
        check_new(chart, force, "chart")
    if out is not None:
        check_new(out, force)
    compared = compare_runs(*runs, judged=chosen not in ("csv", "json"))
    if chart is not None:
        from evenhand.show.figures import changes

        save(changes(compared), chart)
    if chosen == "table":
        terminal.show(show.terminal(compared), *([f"Chart: {chart}"] if chart is not None else []))
        return
    written = {"json": compared.to_json, "csv": compared.to_csv}
    print_or_write(written[chosen]() if chosen in written else getattr(show, chosen)(compared), out)


def _form(form: str | None, as_json: bool, as_markdown: bool, out: Path | None) -> str:
    """What to print or write; without an option, as the ending of the file says."""
    if as_markdown:
        log.warning("--markdown is deprecated, and will be removed in 0.3.0: use --as markdown.")
    asked = [name for name in (form, "json" if as_json else None, "markdown" if as_markdown else None) if name]
    if len(set(asked)) > 1:
        raise BadInput(f"Choose one form. Got {' and '.join(asked)}.")
    if asked:
        known = ["table", *sorted(FORMS.values())]
        if asked[0] not in known:
            raise UnknownName("form of a comparison", asked[0], known)
        if asked[0] == "table" and out is not None:
            raise BadInput(f"A table is printed, not written. Got --out '{out}': choose another form with --as.")
        return asked[0]
    if out is None:
        return "table"
    if out.suffix not in FORMS:
        raise BadInput(f"--out must end in {', '.join(FORMS)}, unless --as says what to write. Got '{out}'.")
    return FORMS[out.suffix]


def table(
    runs: Annotated[list[Path], arg("Run folders, one for each model.", "RUN...")],
    to: Annotated[str | None, opt("latex, csv or markdown. Default: by the ending of --out.", "--as", "FORMAT")] = None,
    measure: Annotated[Names, opt("A measure. Default: the main numbers. Repeatable.")] = None,
    dataset: Annotated[Names, opt("A dataset. Default: all. Repeatable.")] = None,
    group: Annotated[Names, opt("A group, such as balanced. Default: all items. Repeatable.")] = None,
    out: Annotated[Path | None, opt("A file to write to. Default: print.")] = None,
    force: Force = False,
    plugin: Plugins = None,
) -> None:
    """Write one table of several models for a paper.

    Models by numbers, each with its interval and how large its lean is. Details and trust stand in a note below.
    """
    from evenhand.show.paper_table import table as make

    forms = {suffix: form for suffix, form in FORMS.items() if form != "json"}
    to = to or forms.get(out.suffix if out else ".md", "")
    check_known("format of a table", [to], forms.values())
    if out is not None:
        check_new(out, force)
    made = make(list(runs), measure=measure or (), dataset=dataset or (), group=group or ())
    print_or_write(getattr(made, f"to_{to}")(), out)
