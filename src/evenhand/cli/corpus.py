"""`evenhand corpus`: count women and men in text corpora."""

import logging
from pathlib import Path
from typing import Annotated, Any

from evenhand.cli import terminal
from evenhand.cli.common import Address, Engine, Force, Json, Lang, Names, Seed, Workers, arg, opt, print_json

log = logging.getLogger(__name__)


def corpus(
    files: Annotated[list[str], arg("Files (txt, csv, tsv, jsonl, parquet), folders, or balanced, gap, mt-gender.")],
    column: Annotated[Names, opt("A column with texts, if a file is a table. Repeatable. Default: text.")] = None,
    lines: Annotated[
        bool,
        opt(
            "Each line of a text file is a document. Default: each file of a folder, or each paragraph of one file.",
            "--lines",
        ),
    ] = False,
    words: Annotated[Path | None, opt("Words to count instead of professions, one per line.")] = None,
    word_pairs: Annotated[
        Path | None, opt("Your own gendered words, of any language, a pair per line: male, tab, female.")
    ] = None,
    names: Annotated[Path | None, opt("Your own first names, a pair per line: male, tab, female.")] = None,
    out: Annotated[Path | None, opt("A folder for the page and all numbers. With --train: runs/corpus.")] = None,
    force: Force = False,
    train: Annotated[bool, opt("Also measure what a debiased model learns from each corpus.")] = False,
    model: Annotated[str, opt("With --train: the model to debias and train.")] = "mini-en",
    debias_on: Annotated[str, opt("With --train: the corpus to debias it on.")] = "balanced",
    size: Annotated[int | None, opt("With --train: sentences per corpus. Default: as in the smallest.")] = None,
    equal: Annotated[bool, opt("With --train: use the same amount of each corpus, or all of it.")] = True,
    draws: Annotated[int, opt("With --train: how many times to sample and train.")] = 1,
    recipe: Annotated[str, opt("With --train: default, bartl-paper or bartl-released.")] = "default",
    limit: Annotated[int | None, opt("With --train: measure a sample of N pairs.", "N")] = None,
    lang: Lang = None,
    seed: Seed = 0,
    engine: Engine = "local",
    address: Address = None,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Count women and men in texts, and the words near them.

    Counts gendered words and first names, the professions they occur with, and the words around them.
    Texts are English, or in any language with --word-pairs.
    With --train, also measures what a debiased model learns from each corpus.
    """
    from evenhand.report.tables import counted, learned_table
    from evenhand.studies.corpus import folder
    from evenhand.studies.corpus.counting import Corpus, count_all
    from evenhand.studies.corpus.learning import learned, named
    from evenhand.studies.corpus.vocabulary import read_vocabulary

    sources = named(files)
    corpora = {name: Corpus(source, tuple(column or ()), lines) for name, source in sources.items()}
    vocabulary = read_vocabulary(words, word_pairs, names, lang)
    if out is not None and not train:
        folder.check_folder(out, force)
    counts = count_all(
        corpora, vocabulary=vocabulary, lang=lang, seed=seed, engine=engine, address=address, workers=workers, out=out
    )
    for name, one in counts.items():
        if one.documents == 1 and one.sentences > 1 and one.unit == "paragraph":
            log.warning(f"'{name}' is one paragraph: it has no empty lines. If each line is a document, give --lines.")
        if not as_json:
            terminal.show(counted(name, one))
    if out is not None:
        lists = {"words": words, "word pairs": word_pairs, "names": names}
        page = folder.write(out, corpora, counts, vocabulary, lists, lang)
        if not as_json:
            terminal.show(f"Page: {page}")
    trained = None
    if train:
        how: dict[str, Any] = {"model": model, "debias_on": debias_on, "size": size, "equal": equal, "draws": draws}
        how |= {"recipe": recipe, "limit": limit, "seed": seed, "columns": tuple(column or ()), "lines": lines}
        trained = learned(sources, out=out or Path("runs/corpus"), **how)
    if as_json:
        rows = {name: one.as_json() for name, one in counts.items()}
        print_json(rows if trained is None else {"counts": rows, "learned": trained.as_json()})
    elif trained is not None:
        terminal.show(learned_table(trained.sentences, trained.asld, trained.lean, trained.changes))
