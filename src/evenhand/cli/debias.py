"""`evenhand debias`: fine-tune a model on swapped text, and measure it before and after."""

from pathlib import Path
from typing import Annotated, Any

import typer

from evenhand.cli import terminal
from evenhand.cli.common import Limit, Names, Seed, arg, opt
from evenhand.cli.terminal import as_flags


def debias(
    context: typer.Context,
    model: Annotated[str, arg("A bundled name, a folder or a Hub id.")] = "mini-en",
    out: Annotated[Path, opt("A folder for the new model and both runs.")] = Path("runs/debiased"),
    corpus: Annotated[str, opt("balanced, gap, gap-flipped, mt-gender, or a text file.")] = "balanced",
    share: Annotated[float | None, opt("Share of documents to swap. Default: 0.5, or 0 for balanced.")] = None,
    remind: Annotated[Names, opt("Add reminders: pregnant, breastfeed, or a file. Repeatable.")] = None,
    repeat: Annotated[int, opt("How many times to add each reminder.")] = 1,
    recipe: Annotated[str, opt("Training: default, bartl-paper, bartl-released, bartl-released-padded.")] = "default",
    suite: Annotated[str, opt("The suite to measure before and after.")] = "all",
    limit: Limit = None,
    seed: Seed = 0,
) -> None:
    """Fine-tune a model on gender-swapped text.

    Measures it before and after, and prints what was gained and what was lost.
    """
    from evenhand.report.tables import debiased
    from evenhand.studies.debias import debias as debias_model

    how: dict[str, Any] = {"share": share, "remind": remind or (), "repeat": repeat, "recipe": recipe}
    done = debias_model(model, out=out, corpus=corpus, suite=suite, limit=limit, seed=seed, **how)
    if done is None:  # a worker rank
        return
    terminal.show(
        debiased(
            done.balance,
            done.changes,
            done.language,
            [as_flags(alarm, context.find_root().command, context.info_name or "") for alarm in done.alarms],
        ),
        f"Model: {done.model}",
        f"Runs: {done.before.path}, {done.after.path}",
        f"Page: {out / 'report.html'}",
    )
