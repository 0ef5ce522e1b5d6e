"""`evenhand figures`: draw what a run has measured."""

from pathlib import Path
from typing import Annotated, Any

import typer

from evenhand.cli import terminal


def figures(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    after: Annotated[
        Path | None, typer.Argument(help="A run of the same model after debiasing, to set beside it.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where the figures go.")] = Path("figures"),
    suffix: Annotated[str, typer.Option("--format", help="svg, png or html.")] = "svg",
    corpus: Annotated[
        str | None, typer.Option("--seen", help="gap, mt-gender or a text file: mark the professions that are in it.")
    ] = None,
) -> None:
    """Draw charts of a run.

    BEC-Pro by profession, pronoun templates, sentence pairs, NLI labels: whatever the run has measured.
    """
    from evenhand.report.figures import draw
    from evenhand.runs.folder import Run

    loaded = Run.load(run)
    for path in draw(loaded, Run.load(after) if after else None, out, suffix, _seen(loaded, corpus)):
        terminal.show(str(path))


def _seen(run: Any, corpus: str | None) -> set[str] | None:
    """The professions of the run that the corpus has."""
    if corpus is None:
        return None
    from evenhand.analysis.equalising import seen
    from evenhand.datasets.corpora.texts import sentences

    words = run.scores["profession"].dropna() if "profession" in run.scores else []
    return seen(words, sentences(corpus))
