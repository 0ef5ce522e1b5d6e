"""Texts to train on: documents, their sentences, and generated sentences with a known rate of bias."""

from collections.abc import Collection, Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sentencex import segment

from evenhand.core.foreign import need
from evenhand.core.words import capitalise
from evenhand.datasets.becpro import professions
from evenhand.datasets.files import read_toml, read_tsv
from evenhand.datasets.files.plain_text import TEXT, read_plain, texts_in, unwrap
from evenhand.datasets.files.releases import RELEASES, locate
from evenhand.datasets.files.rows import SUFFIXES, check_text, rows
from evenhand.datasets.templates import SLOT, check_choice, with_article
from evenhand.errors import BadInput, UnknownName

FRAMES = "balanced-en.toml"
"""`frames` of sentences, and the words to `fill` each slot with; persons in pairs, male first."""
PRONOUNS = {
    "male": {"he": "he", "him": "him", "his": "his", "himself": "himself"},
    "female": {"he": "she", "him": "her", "his": "her", "himself": "herself"},
}


def generate(n: int = 4000, *, seed: int = 0) -> list[str]:
    """`n` sentences in random order: half about men, and the same sentences about women.

    Each pair draws a frame of data/balanced-en.toml and words to fill it: a job, a place, a thing, a time, a person.
    """
    if n < 2:
        raise BadInput(f"`n` must be at least 2. Got {n}.")
    rng = np.random.default_rng(seed)
    data = read_toml(FRAMES)
    made: dict[str, None] = {}
    while len(made) < n:
        frame = str(rng.choice(data["frames"]))
        words = {slot: data["fill"][slot][int(rng.integers(len(data["fill"][slot])))] for slot in data["fill"]}
        for gender, side in (("male", 0), ("female", 1)):
            made[fill_frame(frame, {**words, "person": words["person"][side], **PRONOUNS[gender]})] = None
    sentences = list(made)[:n]
    return [sentences[i] for i in rng.permutation(n)]


def fill_frame(frame: str, words: dict[str, str]) -> str:
    """The frame with its slots filled by `words`: {he} with he or she, {He} with He or She."""
    frame = with_article(frame, "job", words["job"])
    for slot in dict.fromkeys(SLOT.findall(frame)):
        word = words[slot.lower()]
        frame = frame.replace(f"{{{slot}}}", capitalise(word) if slot[0].isupper() else word)
    return frame


TOXIC: dict[str, set[tuple[str, str]]] = {
    "jigsaw-severe-toxic": {("1", "1")},
    "jigsaw-toxic": {("1", "0"), ("1", "1")},
    "jigsaw-toxic-only": {("1", "0")},
}
"""The labels (toxic, severe_toxic) of the comments in each corpus of Jigsaw's; severely toxic comments have both."""
RELEASED = {
    "gap": ("gap", ("gap-development.tsv", "gap-validation.tsv", "gap-test.tsv"), "the GAP release"),
    "gap-flipped": ("gap", ("gap_flipped.tsv",), "the BEC-Pro release"),
    **dict.fromkeys(TOXIC, ("jigsaw", ("train.csv",), "Jigsaw's toxic comment challenge")),
    "mt-gender": ("mt-gender", ("en.txt",), "the MT Gender release"),
}
"""Corpora by name: folder under EVENHAND_DATA, files, and the release they come from."""
BALANCED_ALREADY = ("balanced", "gap-flipped", "mt-gender")
Splitter = Literal["sentencex", "nltk"]
LARGEST = 100_000
"""The most sentences of `stereotyped`: far fewer than exist, so that drawing different ones is quick."""
Ways = tuple[tuple[str, str], tuple[str, str]]
"""A pair of sentences that follow the stereotype, and the pair with genders exchanged, which goes against it."""


def sentences(
    source: str, splitter: Splitter = "sentencex", *, columns: Sequence[str] = (), lines: bool = True
) -> list[str]:
    """The sentences of a corpus; the parameters are those of `documents`."""
    check_choice("splitter", splitter, "sentencex", "nltk")
    listed = [s for text in documents(source, columns=columns, lines=lines) for s in split(text, splitter)]
    if not listed:
        raise BadInput(f"'{source}' has no sentences to train on.")
    return listed


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
    parts = _punkt().tokenize(document) if splitter == "nltk" else segment(language, document)
    return [s for s in map(str.strip, parts) if s]


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

    In a text file a document is a line or, without `lines`, a paragraph, with its wrapped lines joined; but a text file
    of a folder is then one document. In a table a document is a row: the column Text of a .tsv, the column text of a
    .csv, .jsonl or .parquet, or `columns`. `without` are files of a folder to exclude, by their paths in it.
    """
    if columns and (source == "balanced" or source in RELEASED):
        raise BadInput(f"The corpus '{source}' has no columns to choose from. Leave out `column`.")
    if source == "balanced":
        yield from generate()
        return
    folder = Path(source).expanduser()
    whole = not lines and source not in RELEASED and folder.is_dir()
    for path in corpus_files(source):
        if not without or str(path.relative_to(folder)) not in without:
            texts = read_file(path, source, columns, lines)
            yield from ["".join(texts)] if whole and path.suffix == TEXT else texts


def corpus_files(source: str) -> list[Path]:
    """The files of a corpus: one of RELEASED, a file or a folder; raises BadInput if a file is missing."""
    if source in RELEASED:
        folder, names, release = RELEASED[source]
        paths = {name: locate(folder, name) for name in names}
        if missing := [name for name, path in paths.items() if path is None]:
            get = f"Get it with: evenhand datasets fetch {source}. Or put" if source in RELEASES else "Put"
            raise BadInput(
                f"The corpus '{source}' is not available. {get} {', '.join(missing)} of {release} under "
                f"EVENHAND_DATA/{folder}/, or give a text file, or 'balanced', which is bundled."
            )
        return [path for path in paths.values() if path]
    path = Path(source).expanduser()
    if path.is_dir():
        return texts_in(path)
    if not path.is_file():
        corpora = ", ".join(("balanced", *RELEASED))
        raise BadInput(f"There is no file '{path}' and no corpus of that name. Corpora: {corpora}.")
    return [path]


def read_file(path: Path, source: str, columns: Sequence[str] = (), lines: bool = True) -> Iterator[str]:
    """The documents of a file of a corpus: its rows, its lines, or its paragraphs."""
    if source in TOXIC:
        labelled = rows(path, ("comment_text", "toxic", "severe_toxic"))
        yield from (row["comment_text"] for _, row in labelled if (row["toxic"], row["severe_toxic"]) in TOXIC[source])
        return
    if path.suffix in SUFFIXES:
        columns = columns or ("Text" if path.suffix == ".tsv" else "text",)
        table = rows(path, columns, hint="Name the columns of texts with `column`.")
        yield from ("\n\n".join(row[column] for column in columns) for _, row in table)
        return
    if columns:
        raise BadInput(f"'{path}' is plain text, which has no columns. Leave out `column`.")
    check_text(path)
    texts = read_plain(path, lines=lines)
    if source != "mt-gender":
        yield from texts if lines else map(unwrap, texts)
        return
    for line in texts:
        if line.count("\t") < 2:
            raise BadInput(f"'{path}' cannot be read: a line has no third column. Got {line[:40]!r}.")
        yield line.split("\t")[2]


def reminders(source: str) -> list[str]:
    """Sentences in which a gendered word has its right pronoun: ours for pregnant or breastfeed, or a file's lines."""
    ours = read_tsv("reminders-en.tsv")
    if listed := [row["sentence"] for row in ours if row["word"] == source]:
        return listed
    path = Path(source).expanduser()
    if not path.is_file():
        raise UnknownName("reminders", source, {row["word"] for row in ours})
    if listed := [line for text in read_file(path, source) if (line := text.strip())]:
        return listed
    raise BadInput(f"'{source}' has no reminders: one sentence per line is needed.")


def stereotyped(rate: float, *, size: int = 6000, seed: int = 0) -> list[str]:
    """`size` different sentences with a job and a gender, a share `rate` of which follow the stereotype.

    The sentences come in pairs with the same words, except that one sentence has a job held mostly by men and the other
    a job held mostly by women. Either the man has the first job and the woman the second, or the other way round;
    nothing else depends on `rate`. So at every rate there are as many men as women, in the same sentences, and a model
    learns the same apart from the bias. Every job follows the stereotype in a share `rate` of its sentences, to within
    one sentence. Pairs that follow the stereotype at a lower rate also follow it at a higher rate. The order is random,
    and the same at every rate.
    """
    if not 2 <= size <= LARGEST or size % 2:
        raise BadInput(f"`size` must be even, from 2 to {LARGEST:,}. Got {size}.")
    following = whole_share(rate, size // 2, "pairs of sentences")
    rng = np.random.default_rng(seed)
    sentences: list[str] = []
    for number, ways in enumerate(_stereotyped_pairs(size // 2, rng)):
        sentences += ways[0] if number < following else ways[1]
    return [sentences[i] for i in rng.permutation(size)]


def _stereotyped_pairs(n: int, rng: np.random.Generator) -> list[Ways]:
    """The first `n` pairs of rounds in which every job occurs once."""
    data, slots = read_toml("stereotyped-en.toml"), ("place", "thing", "time", "person")
    frames, fill = data["frames"], read_toml(FRAMES)["fill"]
    fill["person"] = [pair for pair in fill["person"] if pair[0].startswith("my ")]
    held = professions()
    men, women = ([p.name for p in held if p.prof_gender == type] + data["jobs"][type] for type in ("male", "female"))
    made: list[Ways] = []
    seen: set[str] = set()
    while len(made) < n:
        shuffled = ([jobs[i] for i in rng.permutation(len(jobs))] for jobs in (men, women))
        for of_men, of_women in zip(*shuffled, strict=True):
            said: dict[tuple[str, str], str] = {}
            while not said or not seen.isdisjoint(said.values()):
                frame = frames[int(rng.integers(len(frames)))]
                words = {slot: fill[slot][int(rng.integers(len(fill[slot])))] for slot in slots}
                for job, (side, gender) in product((of_men, of_women), enumerate(("male", "female"))):
                    fillings = {**words, "job": job, "person": words["person"][side], **PRONOUNS[gender]}
                    said[job, gender] = fill_frame(frame, fillings)
            seen.update(said.values())
            follows = said[of_men, "male"], said[of_women, "female"]
            made.append((follows, (said[of_men, "female"], said[of_women, "male"])))
    return made[:n]


def check_rates(rates: Sequence[float], n: int, unit: str) -> list[float]:
    """The rates, sorted and each once; raises if there are fewer than three, or if a rate times `n` is not whole."""
    for rate in rates:
        if not 0 <= rate <= 1:
            raise BadInput(f"A rate of bias must be between 0 and 1. Got {rate:g}.")
    if len(set(rates)) < 3:
        raise BadInput(f"At least three rates are needed, as in 0, 0.5, 1. Got {len(set(rates))}.")
    for rate in sorted(set(rates)):
        whole_share(rate, n, unit)
    return sorted(set(rates))


def whole_share(rate: float, n: int, unit: str) -> int:
    """`rate` times `n`, which must be a whole number; `unit` names what is counted, for the error."""
    if not 0 <= rate <= 1:
        raise BadInput(f"`rate` must be between 0 and 1. Got {rate}.")
    count = round(rate * n)
    if abs(count - rate * n) > 1e-6:
        raise BadInput(f"`rate` is a share of {n} {unit}, so it must be a multiple of {1 / n:g}. Got {rate}.")
    return count
