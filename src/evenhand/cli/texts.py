"""Commands on texts: swap them, debias a model on them, ask how gendered they are."""

from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import terminal
from evenhand.cli.common import Address, Engine, Json, Workers, print_json


def swap(
    file: Annotated[Path, typer.Argument(help="Texts: txt (a document a line), csv, tsv, jsonl or parquet.")],
    out: Annotated[Path | None, typer.Option(help="Default: FILE.swapped.EXT, beside it.")] = None,
    column: Annotated[str, typer.Option(help="Where the texts are, in a csv, tsv, jsonl or parquet file.")] = "text",
    share: Annotated[float, typer.Option(help="The share of documents to rewrite: 0.5 for a balanced corpus.")] = 1.0,
    augment: Annotated[bool, typer.Option(help="Keep each document, and its counterpart beside it.")] = False,
    names: Annotated[bool, typer.Option(help="Swap first names too.")] = True,
    name_list: Annotated[str | None, typer.Option(help="Your own names: male, tab, female, on each line.")] = None,
    trail: Annotated[bool, typer.Option(help="Write every edit to OUT.trail.jsonl.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of the choice of documents.")] = 0,
    jobs: Annotated[int | None, typer.Option(help="Processes. Default: one for each core.")] = None,
    engine: Engine = "local",
    address: Address = None,
    workers: Workers = None,
) -> None:
    """Swap the gender of texts: he and she, her to him or his as grammar wants, nouns, titles, first names."""
    from evenhand.mitigation.swap_file import swap as swap_file

    done = swap_file(
        file,
        out,
        column=column,
        share=share,
        augment=augment,
        names=names,
        name_list=name_list,
        trail=trail,
        seed=seed,
        jobs=jobs,
        engine=engine,
        address=address,
        workers=workers,
    )
    edits = ", ".join(f"{rule} {n:,}" for rule, n in done.edits.items())
    terminal.show(f"{done.rewritten:,} of {done.documents:,} documents rewritten. Edits: {edits or 'none'}.")
    terminal.show(f"Written: {done.out}" + (f", {done.trail}" if done.trail else ""))


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
    """Fine-tune a model on gender-swapped text, and compare it before and after: what was gained, what was lost."""
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
    terminal.show(debiased(done.balance, done.changes, done.language, done.alarms))
    terminal.show(
        f"Model: {done.model}", f"Runs: {done.before.path}, {done.after.path}", f"Page: {out / 'report.html'}"
    )


def corpus(
    files: Annotated[
        list[str],
        typer.Argument(help="Text files, a document a line; or balanced, gap, mt-gender, jigsaw-toxic, ..."),
    ],
    train: Annotated[bool, typer.Option(help="Also by what a debiased model learns from each.")] = False,
    model: Annotated[str, typer.Option(help="With --train: the model to debias, then to train.")] = "mini-en",
    debias_on: Annotated[str, typer.Option(help="With --train: what to debias it on.")] = "balanced",
    size: Annotated[
        int | None, typer.Option(help="With --train: sentences of each corpus. Default: those of the smallest.")
    ] = None,
    equal: Annotated[bool, typer.Option(help="With --train: as much text of each corpus, or all there is.")] = True,
    draws: Annotated[int, typer.Option(help="With --train: how many times to sample and train.")] = 1,
    recipe: Annotated[str, typer.Option(help="With --train: default, bartl-paper or bartl-released.")] = "default",
    limit: Annotated[int | None, typer.Option(help="With --train: measure a sample of so many pairs.")] = None,
    out: Annotated[Path, typer.Option(help="With --train: what was trained and measured is kept here.")] = Path(
        "runs/corpus"
    ),
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    engine: Engine = "local",
    address: Address = None,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Count who is in a corpus, beside which professions, in what company; with --train, also what it teaches."""
    from evenhand.report.tables import counted, learned_table
    from evenhand.studies.corpus.counting import count_all
    from evenhand.studies.corpus.learning import learned, named

    corpora = named(files)
    found = count_all(corpora, seed=seed, engine=engine, address=address, workers=workers)
    if not as_json:
        for name, one in found.items():
            terminal.show(counted(name, one.summary, one.beside, one.contexts))
    taught = None
    if train:
        taught = learned(
            corpora,
            model=model,
            debias_on=debias_on,
            size=size,
            equal=equal,
            draws=draws,
            recipe=recipe,
            limit=limit,
            out=out,
            seed=seed,
        )
    if as_json:
        counts = {name: one.as_json() for name, one in found.items()}
        print_json(counts if taught is None else {"counts": counts, "learned": taught.as_json()})
    elif taught is not None:
        terminal.show(learned_table(taught.sentences, taught.asld, taught.lean, taught.changes))
