"""`evenhand debias`: fine-tune a model on swapped text, and measure it before and after."""

from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import terminal


def debias(
    model: Annotated[str, typer.Argument(help="A bundled name, a folder or a Hub id.")] = "mini-en",
    out: Annotated[Path, typer.Option(help="OUT/model is the new model, OUT/before and OUT/after the runs.")] = Path(
        "runs/debiased"
    ),
    corpus: Annotated[
        str, typer.Option(help="balanced (bundled), gap, gap-flipped, mt-gender, or a text file.")
    ] = "balanced",
    share: Annotated[
        float | None, typer.Option(help="Share of documents to swap. Default: 0.5, or 0 where the corpus is balanced.")
    ] = None,
    remind: Annotated[
        list[str] | None, typer.Option(help="Add reminders: pregnant, breastfeed, or a file. Repeatable.")
    ] = None,
    repeat: Annotated[int, typer.Option(help="How many times each reminder is there.")] = 1,
    recipe: Annotated[
        str, typer.Option(help="default, bartl-paper, bartl-released or bartl-released-padded.")
    ] = "default",
    suite: Annotated[str, typer.Option(help="What to measure before and after.")] = "all",
    limit: Annotated[int | None, typer.Option(help="Measure a sample of so many items each.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
) -> None:
    """Fine-tune a model on gender-swapped text.

    Measures it before and after, and prints what was gained and what was lost.
    """
    from evenhand.report.tables import debiased
    from evenhand.studies.debias import debias as debias_model

    done = debias_model(
        model,
        out=out,
        corpus=corpus,
        share=share,
        remind=remind or (),
        repeat=repeat,
        recipe=recipe,
        suite=suite,
        limit=limit,
        seed=seed,
    )
    if done is None:  # one of several processes, which has helped the first
        return
    terminal.show(debiased(done.balance, done.changes, done.language, done.alarms))
    terminal.show(
        f"Model: {done.model}", f"Runs: {done.before.path}, {done.after.path}", f"Page: {out / 'report.html'}"
    )
