"""`evenhand figures`: draw charts of runs."""

from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import terminal
from evenhand.cli.common import Force


def figures(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders; several are drawn side by side.")],
    out: Annotated[Path, typer.Option(help="The folder for the charts.")] = Path("figures"),
    suffix: Annotated[str, typer.Option("--format", help="svg, pdf, png or html.")] = "svg",
    corpus: Annotated[str | None, typer.Option("--seen", help="Mark the professions in this corpus or file.")] = None,
    force: Force = False,
) -> None:
    """Draw charts of runs.

    Draws what the runs measured: BEC-Pro by profession, pronoun templates, sentence pairs, NLI labels.
    """
    from evenhand.analysis.equalising import seen
    from evenhand.datasets.corpora.texts import sentences
    from evenhand.report.figures import draw
    from evenhand.runs.folder import Run

    loaded, known = [Run.load(run) for run in runs], None
    if corpus is not None:
        scores = loaded[0].scores
        words: list[str] = scores["profession"].dropna().tolist() if "profession" in scores else []
        known = seen(words, sentences(corpus))
    for path in draw(loaded, out, suffix, known, force=force):
        terminal.show(str(path))
