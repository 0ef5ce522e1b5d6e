"""`evenhand swap`, `debias` and `nli`: swap the gender of texts, debias a model with them, train NLI classifiers."""

import random
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from evenhand.cli import common, terminal
from evenhand.cli.common import LABELS, WORD_PAIRS, Address, Engine, Force, Lang, Limit, Names, Seed, Workers, arg, opt
from evenhand.cli.terminal import as_options
from evenhand.errors import BadInput

NAMES = 10
"""Names that stay which are listed; the edit log has all."""
nli = typer.Typer(help="Train NLI classifiers.", no_args_is_help=True, rich_markup_mode=None)


def swap(
    file: Annotated[Path, arg("Texts: txt, csv, tsv, jsonl, parquet; a folder of these; or - for standard input.")],
    out: Annotated[
        Path | None, opt("A file or folder, or - for standard output. Default: FILE.swapped.EXT, next to FILE.")
    ] = None,
    column: Annotated[Names, opt("A column with texts, if FILE is a table. Repeatable. Default: text.")] = None,
    lines: Annotated[bool, opt("Each line of a txt file is a document.", "--lines")] = False,
    grammar: Annotated[
        str, opt("How to choose him or his: rules, model, or auto (the model if rules are unsure).")
    ] = "auto",
    to: Annotated[str, opt("other (the other gender) or neutral (they, firefighter).")] = "other",
    only: Annotated[str | None, opt("Swap in one direction only: he-to-she or she-to-he.")] = None,
    share: Annotated[float, opt("The share of documents to swap: 0.5 for a balanced corpus.")] = 1.0,
    augment: Annotated[bool, opt("Keep each document, followed by its swapped version.")] = False,
    names: Annotated[
        str | None, opt("Your own first names, a pair per line: male, tab, female.", "--names", "--name-list")
    ] = None,
    no_names: Annotated[bool, opt("Leave first names as they are.", "--no-names")] = False,
    word_pairs: Annotated[str | None, opt(WORD_PAIRS)] = None,
    trail: Annotated[bool, opt("Write a log of all edits to OUT.trail.jsonl.")] = False,
    input_format: Annotated[
        str, opt("If FILE is -: the format of the input: txt, csv, tsv or jsonl.", "--format")
    ] = "txt",
    lang: Lang = None,
    force: Force = False,
    seed: Annotated[int, opt("The random seed for choosing documents.")] = 0,
    jobs: Annotated[int | None, opt("Number of processes. Default: one per core.")] = None,
    engine: Engine = "local",
    address: Address = None,
    workers: Workers = None,
) -> None:
    """Swap the gender of texts.

    Swaps English pronouns (her becomes him or his, as grammar requires), nouns, titles and first names; or, in any
    language, the words of --word-pairs.
    """
    from evenhand.text.swap_file import swap as swap_file

    if names and no_names:
        raise BadInput("`names` lists names to swap, but `no_names` leaves them as they are. Give one of the two.")
    how: dict[str, Any] = {"column": column or "text", "lines": lines, "share": share, "augment": augment}
    how |= {"grammar": grammar, "only": only, "to": to, "names": names or not no_names, "word_pairs": word_pairs}
    how |= {"trail": trail, "lang": lang, "force": force, "seed": seed, "jobs": jobs}
    how |= {"engine": engine, "address": address, "workers": workers}
    with piped(file, out, input_format, trail=trail) as (source, target):
        done = swap_file(source, target, **how)
    if str(out) == "-" or (out is None and str(file) == "-"):
        return
    edits = ", ".join(f"{rule} {n:,}" for rule, n in done.edits.items())
    told = done.note or f"Edits: {edits}."
    where = f" in {done.files:,} files" if source.is_dir() else ""
    what = "paragraphs and rows" if where else "paragraphs" if source.suffix == ".txt" and not lines else "documents"
    terminal.show(f"{done.rewritten:,} of {done.documents:,} {what}{where} rewritten. {told}")
    if done.names:
        listed = ", ".join(f"{name} {n:,}" for name, n in list(done.names.items())[:NAMES])
        more = f", and {len(done.names) - NAMES:,} more" if len(done.names) > NAMES else ""
        terminal.show(f"Names that stay: {listed}{more}.")
    if done.skipped:
        files = "; ".join(f"{name}: {why}" for name, why in done.skipped.items())
        terminal.show(f"Not swapped and not written, since not English: {files}")
    if word_pairs:
        terminal.show(
            "Words were replaced one by one, as your list says. Grammar was not looked after: read the result."
        )
    terminal.show(f"Written: {done.out}" + (f", {done.trail}" if done.trail else ""))


@contextmanager
def piped(file: Path, out: Path | None, suffix: str, *, trail: bool) -> Iterator[tuple[Path, Path | None]]:
    """The files to read and to write: - are temporary ones, filled from standard input or copied to standard output."""
    reads, writes = str(file) == "-", str(out) == "-" or (out is None and str(file) == "-")
    if not reads and not writes:
        yield file, out
        return
    if suffix not in ("txt", "csv", "tsv", "jsonl"):
        raise BadInput(f"Standard input can be txt, csv, tsv or jsonl. Got `format` '{suffix}'.")
    if writes and (trail or file.is_dir() or file.suffix == ".parquet"):
        raise BadInput("Standard output takes one text or table, and no edit log. Give `out`, a file or folder.")
    with TemporaryDirectory() as folder:
        source = Path(folder, f"input.{suffix}")
        target = Path(folder, f"output{source.suffix if reads else file.suffix}")
        if reads:
            with source.open("wb") as kept:
                shutil.copyfileobj(sys.stdin.buffer, kept)
        yield (source if reads else file), (target if writes else out)
        if writes:
            with target.open("rb") as made:
                shutil.copyfileobj(made, sys.stdout.buffer)
            sys.stdout.flush()


def debias(
    context: typer.Context,
    model: Annotated[str, arg("A bundled name, a folder or a Hub id.")] = "mini-en",
    out: Annotated[Path, opt("A folder for the new model and both runs.")] = Path("runs/debiased"),
    method: Annotated[str, opt("cds (fine-tune on swapped text), or one of a plugin.", "NAME")] = "cds",
    method_option: Annotated[Names, opt("An option of the method. Repeatable.", "NAME=VALUE")] = None,
    plugin: common.Plugins = None,
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
    from evenhand import mitigation
    from evenhand.calls.debias import debias as debias_model
    from evenhand.show.tables import debiased

    options = common.values(method_option, "method option", "factor=0.5")
    if options and "seed" in mitigation.options_of(method):
        options.setdefault("seed", seed)
    by = mitigation.load(method, **options) if options else method
    how: dict[str, Any] = {"share": share, "remind": remind or (), "repeat": repeat, "recipe": recipe}
    done = debias_model(model, method=by, out=out, corpus=corpus, suite=suite, limit=limit, seed=seed, **how)
    alarms, trained = as_options(done.alarms, context), done.wrapped is None
    terminal.show(
        debiased(done.balance, done.changes, done.language, alarms, trained=trained),
        f"Model: {done.model}" if done.wrapped is None else f"Model: as before, with its answers changed by {method}",
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
    from evenhand.training import NLI_RECIPE, finetune_nli  # slow to import: only once the data is known to be good

    rows = found.rows
    if limit is not None and limit < len(rows):
        rows = random.Random(seed).sample(rows, limit)
    recipe = replace(NLI_RECIPE, epochs=epochs, learning_rate=rate, batch=batch, seed=seed)
    done = finetune_nli(model, rows, recipe, out, dev=held_out.rows if held_out else (), labels=labels)
    terminal.show(f"Accuracy: {done.accuracy}.", f"Model: {done.folder}")
