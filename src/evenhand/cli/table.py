"""`evenhand table`: one table of several models for a paper."""

from pathlib import Path
from typing import Annotated

from evenhand.cli import terminal
from evenhand.cli.common import Force, Names, Plugins, arg, opt
from evenhand.errors import UnknownName

FORMS = {".tex": "latex", ".csv": "csv", ".md": "markdown"}


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
    from evenhand.core.files import check_new, write_whole
    from evenhand.report.paper_table import table as make

    to = to or FORMS.get(out.suffix if out else ".md", "")
    if to not in FORMS.values():
        raise UnknownName("format of a table", to, FORMS.values())
    if out is not None:
        check_new(out, force)
    made = make(list(runs), measure=measure or (), dataset=dataset or (), group=group or ())
    text: str = getattr(made, f"to_{to}")()
    if out is None:
        terminal.show(text.removesuffix("\n"))
    else:
        write_whole(out, lambda file: file.write(text.encode()))
