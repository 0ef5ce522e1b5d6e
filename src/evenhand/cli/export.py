"""`evenhand export`: write runs in other formats."""

from pathlib import Path
from typing import Annotated, Any

import typer

from evenhand.cli import terminal
from evenhand.cli.common import Force
from evenhand.errors import BadInput


def export(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders; several for bibtex, csv, latex.")],
    to: Annotated[
        str,
        typer.Option("--as", metavar="FORMAT", help="bibtex, csv, eval-results, every-eval-ever, latex, model-card."),
    ],
    out: Annotated[Path | None, typer.Option(help="A file or folder to write to. Default: print.")] = None,
    into: Annotated[Path | None, typer.Option(help="model-card: the README.md to put the section into.")] = None,
    scores: Annotated[bool, typer.Option("--scores", help="csv: write the scores of items instead of values.")] = False,
    cite: Annotated[list[str] | None, typer.Option(help="bibtex: a training corpus, such as gap. Repeatable.")] = None,
    hub: Annotated[
        list[str] | None,
        typer.Option(metavar="DATASET=OWNER/NAME", help="eval-results: the Hub benchmark of a dataset. Repeatable."),
    ] = None,
    organization: Annotated[str | None, typer.Option(help="every-eval-ever: the organization that measured.")] = None,
    relationship: Annotated[
        str | None, typer.Option(help="every-eval-ever: first_party (the maker), third_party, collaborative, other.")
    ] = None,
    force: Force = False,
) -> None:
    """Write runs as csv, LaTeX, BibTeX, a model card and more.

    Every value is written with its interval.
    """
    from evenhand.formats import export as export_runs

    given: dict[str, Any] = {"scores": scores, "cite": cite, "hub": dict(map(_pair, hub or []))}
    given |= {"organization": organization, "relationship": relationship}
    given = {name: value for name, value in given.items() if value}
    text = export_runs(runs, to, out=out, into=into, force=force, **given)
    if out is None and into is None:
        terminal.show(text.removesuffix("\n"))


def _pair(text: str) -> tuple[str, str]:
    dataset, sign, found = text.rpartition("=")
    if not (dataset and sign and found):
        raise BadInput(f"--hub must be DATASET=OWNER/NAME, as in tgb=me/tgb. Got '{text}'.")
    return dataset, found
