"""Texts to train on: documents, or their sentences."""

from collections.abc import Collection, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sentencex import segment

from evenhand.core.foreign import need
from evenhand.core.words import capitalised
from evenhand.datasets.checking import check_choice
from evenhand.datasets.files.bundled import read_toml, read_tsv
from evenhand.datasets.files.plain_text import TEXT, read_plain, texts_in, unwrapped
from evenhand.datasets.files.releases import RELEASES, locate
from evenhand.datasets.files.rows import SUFFIXES, check_text, rows
from evenhand.datasets.templates import SLOT, agreeing
from evenhand.errors import BadInput, UnknownName

FRAMES = "balanced-en.toml"
"""`frames` of sentences, and the words to `fill` each slot with; persons in pairs, male first."""
PRONOUNS = {
    "male": {"he": "he", "him": "him", "his": "his", "himself": "himself"},
    "female": {"he": "she", "him": "her", "his": "her", "himself": "herself"},
}


def generate(n: int = 4000, *, seed: int = 0) -> list[str]:
    """`n` sentences in random order: half about women, and the same ones about men.

    Each pair draws a frame of data/balanced-en.toml and words to fill it: a job, a place, a thing, a time, a person.
    """
    if n < 2:
        raise BadInput(f"n must be at least 2. Got {n}.")
    rng = np.random.default_rng(seed)
    data = read_toml(FRAMES)
    made: dict[str, None] = {}
    while len(made) < n:
        frame = str(rng.choice(data["frames"]))
        words = {slot: data["fill"][slot][int(rng.integers(len(data["fill"][slot])))] for slot in data["fill"]}
        for gender, side in (("male", 0), ("female", 1)):
            made[filled(frame, {**words, "person": words["person"][side], **PRONOUNS[gender]})] = None
    sentences = list(made)[:n]
    return [sentences[i] for i in rng.permutation(n)]


def filled(frame: str, words: dict[str, str]) -> str:
    """The frame with its slots filled: {he} with he or she, as in `words`, {He} with a capital letter."""
    frame = agreeing(frame, "job", words["job"])
    for slot in dict.fromkeys(SLOT.findall(frame)):
        word = words[slot.lower()]
        frame = frame.replace(f"{{{slot}}}", capitalised(word) if slot[0].isupper() else word)
    return frame


TOXIC: dict[str, set[tuple[str, str]]] = {
    "jigsaw-severe-toxic": {("1", "1")},
    "jigsaw-toxic": {("1", "0"), ("1", "1")},
    "jigsaw-toxic-only": {("1", "0")},
}
"""Jigsaw's comments by their labels toxic and severe_toxic; those that are severely toxic have both."""
RELEASED = {
    "gap": ("gap", ("gap-development.tsv", "gap-validation.tsv", "gap-test.tsv"), "the GAP release"),
    "gap-flipped": ("gap", ("gap_flipped.tsv",), "the BEC-Pro release"),
    **dict.fromkeys(TOXIC, ("jigsaw", ("train.csv",), "Jigsaw's toxic comment challenge")),
    "mt-gender": ("mt-gender", ("en.txt",), "the MT Gender release"),
}
"""Corpora by name: folder under EVENHAND_DATA, files, and the release they come from."""
BALANCED_ALREADY = ("balanced", "gap-flipped", "mt-gender")
Splitter = Literal["sentencex", "nltk"]


def sentences(
    source: str, splitter: Splitter = "sentencex", *, columns: Sequence[str] = (), lines: bool = True
) -> list[str]:
    """The sentences of a corpus, which is read as by `documents`."""
    check_choice("splitter", splitter, "sentencex", "nltk")
    found = [s for text in documents(source, columns=columns, lines=lines) for s in split(text, splitter)]
    if not found:
        raise BadInput(f"'{source}' has no sentences to train on.")
    return found


def sampled(texts: Sequence[str], size: int | None, seed: Sequence[int]) -> list[str]:
    """A random sample of `size` texts without replacement, in their original order; all texts if `size` is None."""
    if size is None:
        return list(texts)
    if not 1 <= size <= len(texts):
        raise BadInput(f"The sample size must be from 1 to {len(texts):,}, the number of sentences. Got {size:,}.")
    chosen = np.random.default_rng(list(seed)).choice(len(texts), size=size, replace=False)
    return [texts[i] for i in np.sort(chosen)]


def split(document: str, splitter: Splitter = "sentencex", language: str = "en") -> list[str]:
    """The sentences of a document, by sentencex or, in English, by NLTK's sent_tokenize, as in Bartl et al. (2020)."""
    found = _punkt().tokenize(document) if splitter == "nltk" else segment(language, document)
    return [s for s in map(str.strip, found) if s]


@cache
def _punkt() -> Any:
    need("nltk", "`splitter=nltk`")
    from nltk.tokenize import PunktTokenizer

    try:
        return PunktTokenizer("english")
    except LookupError as error:
        raise BadInput(
            "`splitter=nltk` needs NLTK's sentence model, which is not on this machine. Get it with: python -m "
            "nltk.downloader punkt_tab. Without a network, put the folder punkt_tab under NLTK_DATA/tokenizers/."
        ) from error


def documents(
    source: str, *, columns: Sequence[str] = (), lines: bool = True, without: Collection[str] = ()
) -> Iterator[str]:
    """The documents of a corpus: balanced (bundled), one of RELEASED, a file, or the files of a folder.

    A document is a line of a text file or, without `lines`, a paragraph, whose wrapped lines are joined, and in a
    folder the whole file; a row of a .tsv (column Text), .csv, .jsonl or .parquet (text), or the texts in these
    `columns`. Files of a folder can be left out: `without`.
    """
    if columns and (source == "balanced" or source in RELEASED):
        raise BadInput(f"The corpus '{source}' has no columns to choose from. Leave out `column`.")
    if source == "balanced":
        yield from generate()
        return
    folder = Path(source).expanduser()
    whole = not lines and source not in RELEASED and folder.is_dir()
    for path in located(source):
        if not without or str(path.relative_to(folder)) not in without:
            found = read_file(path, source, columns, lines)
            yield from ["".join(found)] if whole and path.suffix == TEXT else found


def located(source: str) -> list[Path]:
    """The files of a corpus: one of RELEASED, a file or a folder. An error where there is none."""
    if source in RELEASED:
        folder, names, whose = RELEASED[source]
        found = {name: locate(folder, name) for name in names}
        if missing := [name for name, path in found.items() if path is None]:
            get = f"Get it with: evenhand datasets fetch {source}. Or put" if source in RELEASES else "Put"
            raise BadInput(
                f"The corpus '{source}' is not available. {get} {', '.join(missing)} of {whose} under "
                f"EVENHAND_DATA/{folder}/, or give a text file, or 'balanced', which is bundled."
            )
        return [path for path in found.values() if path]
    path = Path(source).expanduser()
    if path.is_dir():
        return texts_in(path)
    if not path.is_file():
        raise BadInput(f"There is no file '{path}', and no corpus of that name: {', '.join(('balanced', *RELEASED))}.")
    return [path]


def read_file(path: Path, source: str, columns: Sequence[str] = (), lines: bool = True) -> Iterator[str]:
    """The documents of a file of a corpus: its rows, its lines, or its paragraphs."""
    if source in TOXIC:
        labelled = rows(path, ("comment_text", "toxic", "severe_toxic"))
        yield from (row["comment_text"] for _, row in labelled if (row["toxic"], row["severe_toxic"]) in TOXIC[source])
        return
    if path.suffix in SUFFIXES:
        columns = columns or ("Text" if path.suffix == ".tsv" else "text",)
        found = rows(path, columns, hint="Name the columns of texts with `column`.")
        yield from ("\n\n".join(row[column] for column in columns) for _, row in found)
        return
    if columns:
        raise BadInput(f"'{path}' is plain text, which has no columns. Leave out `column`.")
    check_text(path)
    texts = read_plain(path, lines=lines)
    if source != "mt-gender":
        yield from texts if lines else map(unwrapped, texts)
        return
    for line in texts:
        if line.count("\t") < 2:
            raise BadInput(f"'{source}' cannot be read: a line without a third column, {line[:40]!r}.")
        yield line.split("\t")[2]


def reminders(source: str) -> list[str]:
    """Sentences in which a gendered word has its right pronoun: pregnant, breastfeed, or a file, one per line."""
    ours = read_tsv("reminders-en.tsv")
    found = [row["sentence"] for row in ours if row["word"] == source]
    if found:
        return found
    path = Path(source).expanduser()
    if not path.is_file():
        raise UnknownName("reminders", source, {row["word"] for row in ours})
    found = [line for text in read_file(path, source) if (line := text.strip())]
    if not found:
        raise BadInput(f"'{source}' has no reminders: one sentence per line is needed.")
    return found
