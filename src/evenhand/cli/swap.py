"""`evenhand swap`: swap the gender of texts."""

from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import terminal
from evenhand.cli.common import Address, Engine, Force, Lang, Workers


def swap(
    file: Annotated[Path, typer.Argument(help="Texts: txt (a document per line), csv, tsv, jsonl or parquet.")],
    out: Annotated[Path | None, typer.Option(help="Default: FILE.swapped.EXT, next to it.")] = None,
    column: Annotated[
        list[str] | None, typer.Option(help="A column of texts: csv, tsv, jsonl, parquet. Repeatable. Default: text.")
    ] = None,
    share: Annotated[float, typer.Option(help="The share of documents to rewrite: 0.5 for a balanced corpus.")] = 1.0,
    augment: Annotated[bool, typer.Option(help="Keep each document, followed by its counterpart.")] = False,
    names: Annotated[bool, typer.Option(help="Swap first names too.")] = True,
    name_list: Annotated[str | None, typer.Option(help="Your own names: male, tab, female, on each line.")] = None,
    trail: Annotated[bool, typer.Option(help="Write every edit to OUT.trail.jsonl.")] = False,
    lang: Lang = None,
    force: Force = False,
    seed: Annotated[int, typer.Option(help="Seed of the choice of documents.")] = 0,
    jobs: Annotated[int | None, typer.Option(help="Processes. Default: one per core.")] = None,
    engine: Engine = "local",
    address: Address = None,
    workers: Workers = None,
) -> None:
    """Swap the gender of English texts.

    He and she, her to him or his as grammar requires, nouns, titles, first names.
    """
    from evenhand.mitigation.swap_file import swap as swap_file

    done = swap_file(
        file,
        out,
        column=column or "text",
        share=share,
        augment=augment,
        names=names,
        name_list=name_list,
        trail=trail,
        lang=lang,
        force=force,
        seed=seed,
        jobs=jobs,
        engine=engine,
        address=address,
        workers=workers,
    )
    edits = ", ".join(f"{rule} {n:,}" for rule, n in done.edits.items())
    told = done.note or f"Edits: {edits}."
    terminal.show(f"{done.rewritten:,} of {done.documents:,} documents rewritten. {told}")
    terminal.show(f"Written: {done.out}" + (f", {done.trail}" if done.trail else ""))
