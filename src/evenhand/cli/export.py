"""`evenhand export`: write runs in other formats."""

from pathlib import Path
from typing import Annotated, Any

import typer

from evenhand.cli import terminal
from evenhand.cli.common import Force
from evenhand.errors import BadInput


def export(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders; bibtex, csv, latex take several.")],
    to: Annotated[
        str,
        typer.Option("--as", metavar="FORMAT", help="bibtex, csv, eval-results, every-eval-ever, latex, model-card."),
    ],
    out: Annotated[Path | None, typer.Option(help="A file, or a folder to put it in. Default: print.")] = None,
    into: Annotated[Path | None, typer.Option(help="model-card: the README.md to write its section to.")] = None,
    scores: Annotated[bool, typer.Option("--scores", help="csv: the items' scores instead of values.")] = False,
    cite: Annotated[list[str] | None, typer.Option(help="bibtex: a training corpus, such as gap. Repeatable.")] = None,
    hub: Annotated[
        list[str] | None,
        typer.Option(metavar="DATASET=OWNER/NAME", help="eval-results: a dataset's benchmark on the Hub. Repeatable."),
    ] = None,
    organization: Annotated[str | None, typer.Option(help="every-eval-ever: who measured.")] = None,
    relationship: Annotated[
        str | None, typer.Option(help="every-eval-ever: to the model's maker: first_party, third_party, collaborative.")
    ] = None,
    force: Force = False,
) -> None:
    """Write runs as csv, LaTeX, BibTeX, a model card and more.

    Every value has its interval.
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
