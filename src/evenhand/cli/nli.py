"""`evenhand nli`: train NLI classifiers."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import terminal
from evenhand.cli.common import LABELS, Seed, arg, opt

app = typer.Typer(help="Train NLI classifiers.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def root() -> None:
    """Train NLI classifiers."""


@app.command(epilog="Example: evenhand nli train mini-en --data examples.jsonl --out my-nli")
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
