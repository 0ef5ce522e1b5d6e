"""`evenhand swap`, `debias` and `nli`: swap the gender of texts, debias a model with them, train NLI classifiers."""

import random
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Unpack

import typer

from evenhand.cli import terminal
from evenhand.cli.terminal import Names, Plugins, as_options, json_values
from evenhand.core.parameters import LABELS, Argument, Debias, Says, Seed, Several, Swap
from evenhand.errors import BadInput

NAMES = 10
"""The number of unswapped names that are printed; the edit log has all of them."""
nli = typer.Typer(help="Train NLI classifiers.", no_args_is_help=True, rich_markup_mode=None)


def swap(
    no_names: Annotated[bool, Says("Leave first names as they are.", "--no-names")] = False,
    input_format: Annotated[
        str, Says("If FILE is -: the format of the input: txt, csv, tsv or jsonl.", "--format")
    ] = "txt",
    **given: Unpack[Swap],
) -> None:
    """Swap the gender of texts.

    Swaps English pronouns (her becomes him or his, as grammar requires), nouns, titles and first names; or, in any
    language, the words of --word-pairs. FILE may be - for standard input, and --out - for standard output.
    """
    from evenhand.text.swap_file import swap as swap_file

    file, out = Path(given["file"]), given.get("out")
    if given.get("names") and no_names:
        raise BadInput("`names` lists names to swap, but `no_names` swaps no names. Give only one of them.")
    with _stream_files(file, out, input_format, trail=given["trail"]) as (source, target):
        given |= {"file": source, "out": target, "names": given.get("names") or not no_names}
        result = swap_file(**given)
    if str(out) == "-" or (out is None and str(file) == "-"):
        return
    edits = ", ".join(f"{rule} {n:,}" for rule, n in result.edits.items())
    paragraphs = source.suffix == ".txt" and not given["lines"]
    units = "paragraphs" if paragraphs else "documents"
    if source.is_dir():
        units = f"paragraphs and rows in {result.files:,} files"
    note = result.note or f"Edits: {edits}."
    terminal.show(f"{result.rewritten:,} of {result.documents:,} {units} rewritten. {note}")
    if result.names:
        listed = ", ".join(f"{name} {n:,}" for name, n in list(result.names.items())[:NAMES])
        more = f", and {len(result.names) - NAMES:,} more" if len(result.names) > NAMES else ""
        terminal.show(f"Names that stay: {listed}{more}.")
    if result.skipped:
        files = "; ".join(f"{name}: {why}" for name, why in result.skipped.items())
        terminal.show(f"Not swapped and not written, since not English: {files}")
    if given.get("word_pairs"):
        terminal.show(
            "Words were replaced one by one, as your list says. Grammar was not looked after: read the result."
        )
    terminal.show(f"Written: {result.out}" + (f", {result.trail}" if result.trail else ""))


@contextmanager
def _stream_files(file: Path, out: Path | None, suffix: str, *, trail: bool) -> Iterator[tuple[Path, Path | None]]:
    """The files to read and write. For -, a temporary file, filled from standard input or copied to standard output."""
    reads, writes = str(file) == "-", str(out) == "-" or (out is None and str(file) == "-")
    if not reads and not writes:
        yield file, out
        return
    if suffix not in ("txt", "csv", "tsv", "jsonl"):
        raise BadInput(f"`input_format` must be txt, csv, tsv or jsonl. Got '{suffix}'.")
    if writes and (trail or file.is_dir() or file.suffix == ".parquet"):
        raise BadInput(
            "Standard output can take one text or table, but no folder, parquet file or edit log. Give `out`."
        )
    with TemporaryDirectory() as folder:
        source = Path(folder, f"input.{suffix}")
        target = Path(folder, f"output{source.suffix if reads else file.suffix}")
        if reads:
            with source.open("wb") as copy:
                shutil.copyfileobj(sys.stdin.buffer, copy)
        yield (source if reads else file), (target if writes else out)
        if writes:
            with target.open("rb") as swapped:
                shutil.copyfileobj(swapped, sys.stdout.buffer)
            sys.stdout.flush()


def debias(
    context: typer.Context,
    method_option: Annotated[Names, Several("An option of the method.", "NAME=VALUE")] = None,
    plugin: Plugins = None,
    **given: Unpack[Debias],
) -> None:
    """Fine-tune a model on gender-swapped text.

    Measures it before and after, and prints what was gained and what was lost.
    """
    from evenhand import mitigation
    from evenhand.calls.debias import debias as debias_model
    from evenhand.show.tables import debiasing_results

    method, options = given["method"], json_values(method_option, "method option", "factor=0.5")
    if options:
        seed = {"seed": given["seed"]} if "seed" in mitigation.options_of(method) else {}
        given["method"] = mitigation.load(method, **seed | options)
    result = debias_model(**given)
    alarms, trained = as_options(result.alarms, context), result.wrapped is None
    terminal.show(
        debiasing_results(result.balance, result.changes, result.language, alarms, trained=trained),
        f"Model: {result.model}" if trained else f"Model: as before, with its answers changed by {method}",
        f"Runs: {result.before.path}, {result.after.path}",
        f"Page: {given['out'] / 'report.html'}",
    )


@nli.callback()
def root() -> None:
    """Train NLI classifiers."""


@nli.command(epilog="Example: evenhand nli train mini-en --data examples.jsonl --out my-nli")
def train(
    model: Annotated[str, Argument("A masked language model, or an NLI classifier to train further.")],
    data: Annotated[str, Says("Examples: csv, tsv, jsonl or parquet; or snli, jsnli, ocnli in EVENHAND_DATA.")],
    out: Annotated[Path, Says("The folder for the new model.")],
    dev: Annotated[str | None, Says("Examples to test it on. Default: a release's dev set.")] = None,
    epochs: Annotated[int, Says("Number of training epochs.")] = 5,
    learning_rate: Annotated[float, Says("The learning rate.", "--lr")] = 2e-5,
    batch: Annotated[int, Says("Examples per step.")] = 32,
    limit: Annotated[int | None, Says("Train on a random sample of N examples.", min=1)] = None,
    seed: Seed = 42,
    labels: Annotated[str, Says(LABELS)] = "",
) -> None:
    """Fine-tune a model on premises, hypotheses and labels.

    Run the same command again to resume a training that was stopped.
    """
    from evenhand.datasets.corpora.nli_examples import RELEASED, examples

    training = examples(data)
    held_out = examples(dev or data, "dev") if dev or data in RELEASED else None
    terminal.show(f"Training: {training}.", f"Dev: {held_out}." if held_out else "Dev: none, accuracy is not measured.")
    from evenhand.training import NLI_RECIPE, finetune_nli  # slow to import: only once the data is known to be good

    rows = training.rows
    if limit is not None and limit < len(rows):
        rows = random.Random(seed).sample(rows, limit)
    recipe = replace(NLI_RECIPE, epochs=epochs, learning_rate=learning_rate, batch=batch, seed=seed)
    tuned = finetune_nli(model, rows, recipe, out, dev=held_out.rows if held_out else (), labels=labels)
    terminal.show(f"Accuracy: {tuned.accuracy}.", f"Model: {tuned.folder}")
