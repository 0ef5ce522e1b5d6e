"""`evenhand figures`: draw charts of a run."""

from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import terminal
from evenhand.cli.common import Force, RunFolder


def figures(
    run: RunFolder,
    after: Annotated[Path | None, typer.Argument(help="A run of the same model after debiasing.")] = None,
    out: Annotated[Path, typer.Option(help="Where the figures go.")] = Path("figures"),
    suffix: Annotated[str, typer.Option("--format", help="svg, png or html.")] = "svg",
    corpus: Annotated[str | None, typer.Option("--seen", help="A corpus or text file: mark its professions.")] = None,
    force: Force = False,
) -> None:
    """Draw charts of a run.

    BEC-Pro by profession, pronoun templates, sentence pairs, NLI labels: whatever the run has measured.
    """
    from evenhand.analysis.equalising import seen
    from evenhand.datasets.corpora.texts import sentences
    from evenhand.report.figures import draw
    from evenhand.runs.folder import Run

    loaded, known = Run.load(run), None
    if corpus is not None:
        words: list[str] = loaded.scores["profession"].dropna().tolist() if "profession" in loaded.scores else []
        known = seen(words, sentences(corpus))
    for path in draw(loaded, Run.load(after) if after else None, out, suffix, known, force=force):
        terminal.show(str(path))
