"""`evenhand debias` and `evenhand nli`: fine-tune a model on swapped text, and train NLI classifiers."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from evenhand.cli import terminal
from evenhand.cli.common import LABELS, Limit, Names, Seed, arg, opt
from evenhand.cli.terminal import as_options

nli = typer.Typer(help="Train NLI classifiers.", no_args_is_help=True, rich_markup_mode=None)


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
        debiased(done.balance, done.changes, done.language, as_options(done.alarms, context)),
        f"Model: {done.model}",
        f"Runs: {done.before.path}, {done.after.path}",
        f"Page: {out / 'report.html'}",
    )


@nli.callback()
def root() -> None:
    """Train NLI classifiers."""


@nli.command(epilog="Example: evenhand nli train mini-en --data examples.jsonl --out my-nli")
def train(
    model: Annotated[str, arg("A masked language model, or an NLI classifier to train further.")],
    data: Annotated[str, opt("Examples: csv, tsv, jsonl or parquet; or snli, jsnli, ocnli in EVENHAND_DATA.")],
    out: Annotated[Path, opt("The folder for the new model.")],
    dev: Annotated[str | None, opt("Examples to test it on. Default: a release's dev set.")] = None,
    epochs: Annotated[int, opt("Number of training epochs.")] = 5,
    rate: Annotated[float, opt("The learning rate.", "--lr")] = 2e-5,
    batch: Annotated[int, opt("Examples per step.")] = 32,
    limit: Annotated[int | None, opt("Train on a random sample of N examples.", min=1)] = None,
    seed: Seed = 42,
    labels: Annotated[str, opt(LABELS)] = "",
) -> None:
    """Fine-tune a model on premises, hypotheses and labels.

    Run the same command again to resume a training that was stopped.
    """
    from evenhand.datasets.corpora.nli_examples import RELEASED, examples

    found = examples(data)
    held_out = examples(dev or data, "dev") if dev or data in RELEASED else None
    terminal.show(f"Training: {found}.", f"Dev: {held_out}." if held_out else "Dev: none, accuracy is not measured.")
    from evenhand.training.nli import RECIPE, finetune_nli  # slow to import, so only once the data is known to be good

    rows = found.rows
    if limit is not None and limit < len(rows):
        rows = random.Random(seed).sample(rows, limit)
    recipe = replace(RECIPE, epochs=epochs, learning_rate=rate, batch=batch, seed=seed)
    done = finetune_nli(model, rows, recipe, out, dev=held_out.rows if held_out else (), labels=labels)
    terminal.show(f"Accuracy: {done.accuracy}.", f"Model: {done.folder}")
