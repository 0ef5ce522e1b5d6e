"""`evenhand export`: write runs in other formats."""

from pathlib import Path
from typing import Annotated, Any

from evenhand.cli import terminal
from evenhand.cli.common import Force, Names, arg, opt
from evenhand.errors import BadInput


def export(
    runs: Annotated[list[Path], arg("Run folders; several for bibtex, csv, latex.", "RUN...")],
    to: Annotated[str, opt("bibtex, csv, eval-results, every-eval-ever, latex, model-card.", "--as", "FORMAT")],
    out: Annotated[Path | None, opt("A file or folder to write to. Default: print.")] = None,
    into: Annotated[Path | None, opt("model-card: the README.md to put the section into.")] = None,
    scores: Annotated[bool, opt("csv: write the scores of items instead of values.", "--scores")] = False,
    cite: Annotated[Names, opt("bibtex: a training corpus, such as gap. Repeatable.")] = None,
    hub: Annotated[Names, opt("eval-results: a dataset's Hub benchmark. Repeatable.", "DATASET=OWNER/NAME")] = None,
    organization: Annotated[str | None, opt("every-eval-ever: the organization that measured.")] = None,
    relationship: Annotated[
        str | None, opt("every-eval-ever: first_party (the maker), third_party, collaborative, other.")
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
