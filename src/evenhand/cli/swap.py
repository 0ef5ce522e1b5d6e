"""`evenhand swap`: swap the gender of texts."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from evenhand.cli import terminal
from evenhand.cli.common import Address, Engine, Force, Lang, Names, Workers, arg, opt
from evenhand.errors import BadInput

NAMES = 10
"""Names that stay which are listed; the edit log has all."""


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
    word_pairs: Annotated[
        str | None, opt("Your own gendered words, of any language, a pair per line: male, tab, female.")
    ] = None,
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
    from evenhand.mitigation.swap_file import swap as swap_file

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
        source, target = Path(folder, f"input.{suffix}"), Path(folder, f"output{file.suffix if not reads else ''}")
        if reads:
            with source.open("wb") as kept:
                shutil.copyfileobj(sys.stdin.buffer, kept)
        target = target if not reads else target.with_suffix(f".{suffix}")
        yield (source if reads else file), (target if writes else out)
        if writes:
            with target.open("rb") as made:
                shutil.copyfileobj(made, sys.stdout.buffer)
            sys.stdout.flush()
