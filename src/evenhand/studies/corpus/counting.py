"""Count the women and men of a corpus: gendered words, first names, the professions and words in their sentences."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Self

from evenhand._version import __version__
from evenhand.analysis.corpus import Counted, Tally, counted
from evenhand.core.files import prepare, slug
from evenhand.core.progress import bar
from evenhand.datasets.corpora.texts import RELEASED, documents, located, read_file, split
from evenhand.datasets.files.language import check_language, function_words, not_english_files
from evenhand.datasets.files.plain_text import TEXT
from evenhand.datasets.gendered import Gender
from evenhand.distributed.cluster import check_engine, connected
from evenhand.errors import BadInput, RunError
from evenhand.studies.corpus.vocabulary import Vocabulary


class Progress:
    """Counts of a corpus, kept in the folder `out` until all of it is counted; nothing is kept without a folder.

    The first line says of what they are, `about`; counts of something else are dropped.
    """

    def __init__(self, out: Path | None, name: str, about: object) -> None:
        self.path = out / f".counting-{slug(name)}.jsonl" if out else None
        self._about = json.dumps([__version__, repr(about)])

    def __enter__(self) -> Self:
        self.kept = Tally()
        for counts in self._read():
            self.kept.add(counts)
        if self.path is None:
            return self
        prepare(self.path.parent)
        self._write("w", self._about)
        self.keep(self.kept)
        return self

    def keep(self, counts: Tally) -> None:
        """Keep the counts of the next documents."""
        if self.path is not None:
            self._write("a", counts.as_json())

    def _write(self, mode: str, line: str) -> None:
        assert self.path is not None
        try:
            with self.path.open(mode, encoding="utf-8") as file:
                file.write(f"{line}\n")
        except OSError as error:
            why = f"'{self.path}', where counts are kept, cannot be written: {error.strerror or error}."
            raise RunError(f"{why} Free some space, and run the same command again.") from error

    def _read(self) -> Iterator[Tally]:
        if self.path is None or not self.path.is_file():
            return
        about, *lines = self.path.read_text(encoding="utf-8").split("\n")
        if about == self._about:
            yield from (Tally.from_json(line) for line in lines[:-1])  # the last one was not finished

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if self.path is not None and kind is None:
            self.path.unlink()


WORD = re.compile(r"[^\W\d_]+")
CHUNK, CHARACTERS = 500, 1_000_000
"""The most documents, or characters, that are counted together."""
OURS = Vocabulary()


@dataclass(frozen=True)
class Corpus:
    """Where the texts of a corpus are: a file, a folder or a known corpus, and how to read it.

    `columns` of a table hold its texts; a text file has a document in each paragraph or, with `lines`, in each line.
    """

    source: str
    columns: tuple[str, ...] = ()
    lines: bool = False
    without: tuple[str, ...] = ()
    """Files of a folder that are left out."""

    @property
    def unit(self) -> str:
        """What its documents are: paragraphs, if it is one text."""
        path = Path(self.source).expanduser()
        return "paragraph" if not self.lines and path.suffix == TEXT and path.is_file() else "document"

    @property
    def _files(self) -> list[Path]:
        return located(self.source) if self.source != "balanced" else []

    @property
    def files(self) -> list[tuple[str, int, int]]:
        """Its files, each with its size and when it was changed: what tells whether they are still the same."""
        return [(str(path), (found := path.stat()).st_size, found.st_mtime_ns) for path in self._files]

    def __iter__(self) -> Iterator[str]:
        return documents(self.source, columns=self.columns, lines=self.lines, without=self.without)

    def not_english(self, lang: str | None, name: str) -> dict[str, str]:
        """The files of a folder that are not English, and why. An error where all of it is not, unless `lang` is en."""
        folder = Path(self.source).expanduser()
        if lang is not None or self.source in RELEASED or not folder.is_dir():
            check_language(self, lang, name)
            return {}
        return not_english_files(
            folder, self._files, lambda path: read_file(path, self.source, self.columns, self.lines)
        )


def tally(texts: Iterable[tuple[int, str]], vocabulary: Vocabulary = OURS, start: int = 0) -> Tally:
    """Count documents that are numbered from `start` on."""
    counts, gender, not_listed = Tally(), vocabulary.gender, function_words()
    for number, text in texts:
        total: Counter[Gender] = Counter()
        contexts: dict[str, Counter[str]] = {"female": Counter(), "male": Counter()}
        named = list(vocabulary.first_names(text))
        called = {name for name, _ in named}
        for sentence in split(text, language=vocabulary.language):
            tokens = [token.lower() for token in WORD.findall(sentence)]
            side, found = vocabulary.side_of(tokens)
            counts.sentences[side] += 1
            total.update(found)
            counts.words.update(token for token in tokens if gender(token))
            if len(found) != 1:
                continue
            contexts[side].update({t for t in tokens if len(t) > 1 and not gender(t)} - not_listed - called)
            for word in vocabulary.words_beside(sentence):
                counts.found.setdefault(word, []).append((start + number, side == "female", side == "male"))
        counts.add_contexts(contexts)
        counts.names.update(f"{who} {name}" for name, who in named)
        sides = Counter(who for _, who in named)
        counts.totals.append((total["female"], total["male"], sides["female"], sides["male"]))
    return counts


def count(
    texts: Iterable[str], *, words: Sequence[str] | None = None, lang: str | None = None, seed: int = 0
) -> Counted:
    """Count gendered words, first names, and sentences with a gendered word and a profession.

    `words` replaces the professions of BEC-Pro and of the Gender Bias Evaluation Framework. A sentence counts as female
    if it has only female words, as male if it has only male ones; those with both are left out. First names are those
    that a swap would swap: on the list of names, and a person's where they stand (mitigation.names.Naming), every time
    they occur. They decide nothing about a sentence. Words around people are listed without function words and first
    names. Intervals resample documents. Texts that seem not to be English are refused, unless `lang="en"` says that
    they are.
    """
    texts = list(texts)
    check_language(texts, lang)
    vocabulary = OURS if words is None else Vocabulary(tuple(words))
    return _counted(tally(enumerate(filter(str.strip, texts)), vocabulary), vocabulary, seed)


def count_all(
    corpora: Mapping[str, Corpus],
    *,
    vocabulary: Vocabulary = OURS,
    lang: str | None = None,
    seed: int = 0,
    engine: str = "local",
    address: str | None = None,
    workers: int | None = None,
    out: Path | None = None,
) -> dict[str, Counted]:
    """The counts of each corpus, by its name; `engine="ray"` counts on a cluster, with the same numbers.

    With a folder `out`, what is counted is kept there until all is, and the same call goes on after a stop. An error
    where no corpus has a gendered word or a first name.
    """
    check_engine(engine, address, workers)
    skipped = {name: {} if vocabulary.pairs else corpus.not_english(lang, name) for name, corpus in corpora.items()}
    with nullcontext() if engine == "local" else connected(address, workers):
        found = {}
        for name, corpus in corpora.items():
            kept = replace(corpus, without=tuple(skipped[name]))
            counts = _count(name, kept, vocabulary, out, workers if engine == "ray" else -1)
            found[name] = replace(_counted(counts, vocabulary, seed), unit=corpus.unit, skipped=skipped[name])
    if not any(r.female + r.male for one in found.values() for r in (one.words, one.names)):
        texts = ", ".join(f"'{name}'" for name in found)
        raise BadInput(f"There is nothing to count: no gendered words and no first names are in {texts}.")
    return found


def _count(name: str, corpus: Corpus, vocabulary: Vocabulary, out: Path | None, workers: int | None) -> Tally:
    counts, about = Tally(), (corpus, corpus.files, vocabulary)
    with Progress(out, name, about) as progress, bar(f"Counting {name}", "documents") as shown:
        counts.add(progress.kept)
        shown.update(len(counts.totals))
        for chunk in _chunks(corpus, vocabulary, len(counts.totals), workers):
            progress.keep(chunk)
            counts.add(chunk)
            shown.update(len(chunk.totals))
    return counts


def _chunks(corpus: Corpus, vocabulary: Vocabulary, start: int, workers: int | None) -> Iterator[Tally]:
    """The counts of all documents from `start` on, some at a time; empty ones are no documents. -1: here."""
    work = partial(tally, vocabulary=vocabulary, start=start)
    if workers == -1:
        yield from map(work, _sections(corpus, start))
        return
    from evenhand.distributed.streaming import streamed

    yield from streamed(_sections(corpus, start), work, workers)


def _sections(corpus: Corpus, start: int) -> Iterator[list[tuple[int, str]]]:
    """The documents from `start` on, numbered, as many together as one task should have."""
    section, size = list[tuple[int, str]](), 0
    for number, text in enumerate(islice(filter(str.strip, corpus), start, None)):
        section.append((number, text))
        size += len(text)
        if len(section) == CHUNK or size > CHARACTERS:
            yield section
            section, size = [], 0
    if section:
        yield section


def _counted(counts: Tally, vocabulary: Vocabulary, seed: int) -> Counted:
    return counted(counts, {word: vocabulary.gender(word) or "" for word in counts.words}, seed=seed)


def examples(
    corpus: Iterable[str], words: Mapping[str, str], vocabulary: Vocabulary = OURS, most: int = 3
) -> dict[str, list[str]]:
    """The first sentences of a corpus with each word that speak of its gender alone: female, male, or either ("")."""
    found: dict[str, list[str]] = {word: [] for word in words}
    wanted = set(words)
    for text in corpus:
        if not wanted:
            break
        for sentence in split(text, language=vocabulary.language):
            tokens = [token.lower() for token in WORD.findall(sentence)]
            here = {word for word in wanted if word in tokens or (" " in word and word in sentence.lower())}
            side = vocabulary.side_of(tokens)[0] if here else ""
            for word in here:
                if words[word] in (side, "") and side in ("female", "male") and len(sentence) <= LONGEST_EXAMPLE:
                    found[word].append(" ".join(sentence.split()))
                    if len(found[word]) == most:
                        wanted.discard(word)
    return found


LONGEST_EXAMPLE = 300
"""Characters of a sentence that is shown."""
