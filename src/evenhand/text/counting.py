"""Count the women and men of a corpus: gendered words, first names, the professions and words in their sentences."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import islice
from pathlib import Path

from evenhand._version import __version__
from evenhand.core.files import prepare, read_given, slug, write_whole
from evenhand.core.progress import bar
from evenhand.datasets import gendered
from evenhand.datasets.becpro import professions
from evenhand.datasets.blanks import tbd
from evenhand.datasets.corpora.texts import RELEASED, corpus_files, documents, read_file, split
from evenhand.datasets.files.language import check_language, function_words, not_english_files
from evenhand.datasets.files.plain_text import TEXT
from evenhand.datasets.files.rows import Pairs, read_word_pairs
from evenhand.datasets.gendered import Gender
from evenhand.distributed import check_engine
from evenhand.errors import BadInput, RunError
from evenhand.text.names import Names, Naming, read_names
from evenhand.text.shares import CorpusCount, CorpusCounts, summarise
from evenhand.text.text_files import sections

WORD = re.compile(r"[^\W\d_]+")
CHUNK = 500
"""The most documents that are counted together."""
EXAMPLES, LONGEST_EXAMPLE = 3, 300
"""The number of example sentences for a word, and the most characters of a sentence."""


@dataclass(frozen=True)
class Vocabulary:
    """The words to count: our English words, professions and names, or a user's own lists.

    `beside` replaces the professions, `names` the list of names, and `pairs` the gendered words. With `pairs`, our
    names and professions are not counted. Texts are split into sentences by the rules of `language`.
    """

    beside: tuple[str, ...] | None = None
    pairs: Pairs | None = None
    names: Names | None = None
    language: str = "en"

    @cached_property
    def gender(self) -> Callable[[str], Gender | None]:
        """A function that gives the gender of a word, or None."""
        if self.pairs is None:
            return gendered.gender
        sides: tuple[Gender, Gender] = ("male", "female")
        return {word: side for pair in self.pairs for word, side in zip(pair, sides, strict=True)}.get

    def side_of(self, tokens: Iterable[str]) -> tuple[str, Counter[Gender]]:
        """Whom a sentence is about: female, male, both or neither; and the number of gendered words of each gender."""
        counts = Counter(g for token in tokens if (g := self.gender(token)))
        return next(iter(counts)) if len(counts) == 1 else "both" if counts else "neither", counts

    @cached_property
    def _naming(self) -> Naming:
        return Naming(dict(self.names or ()) if self.names or self.pairs else None, always=bool(self.pairs))

    def first_names(self, text: str) -> Iterator[tuple[str, Gender]]:
        """Every first name of a person in a document, in lower case, with its gender, except gendered words.

        >>> text = "Mary Smith met Tom in May. Will they marry? Ruby said so. Mr King did not."
        >>> list(Vocabulary().first_names(text))
        [('mary', 'female'), ('tom', 'male'), ('ruby', 'female')]
        """
        names = (edit.old.lower() for edit in self._naming(text))
        return ((name, self._naming.table[name].gender) for name in names if not self.gender(name))

    @cached_property
    def _beside(self) -> tuple[frozenset[str], re.Pattern[str]]:
        """The words to look for, and a pattern for them and their plurals."""
        listed = self.beside if self.beside is not None else () if self.pairs else _professions()
        words = sorted({word.lower() for word in listed}, key=len, reverse=True)
        return frozenset(words), re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})s?\b" if words else r"(?!)")

    def words_beside(self, sentence: str) -> Iterator[str]:
        """The professions, or the user's own words, of a sentence, each once; a plural is given as its singular."""
        words, pattern = self._beside
        return iter({word if word in words else word[:-1] for word in pattern.findall(sentence.lower())})


OURS = Vocabulary()


@cache
def _professions() -> tuple[str, ...]:
    return (*(job.name for job in professions()), *(item.groups["profession"] for item in tbd().items))


def read_vocabulary(
    words: Path | None = None, word_pairs: Path | None = None, names: Path | None = None, lang: str | None = None
) -> Vocabulary:
    """The vocabulary with a user's lists, where they are given, in place of ours."""
    pairs = read_word_pairs(word_pairs) if word_pairs else None
    if lang and not pairs and lang != "en":
        raise BadInput(f"`lang='{lang}'` needs `word_pairs`, a list of gendered words of that language.")
    known = Vocabulary(None, pairs, tuple(read_names(names).items()) if names else None, lang or "en")
    return replace(known, beside=_read_words(words, known)) if words else known


def _read_words(file: Path, known: Vocabulary) -> tuple[str, ...]:
    """A user's words to count next to women and men: one on each line."""
    lines = read_given(file, str.splitlines, "The list of words", "Give a UTF-8 text file.")
    words = dict.fromkeys(word for line in lines if (word := " ".join(line.split()).lower()))
    if not words:
        raise BadInput(f"The list of words '{file}' is empty. Write one word on each line.")
    if gendered_words := [word for word in words if known.gender(word)]:
        raise BadInput(f"'{file}': '{gendered_words[0]}' is a gendered word itself. Leave it out.")
    return tuple(words)


@dataclass(frozen=True)
class Corpus:
    """A corpus and how to read it: a file, a folder, or the name of a known corpus.

    `columns` of a table hold its texts; in a text file a document is a paragraph or, with `lines`, a line.
    """

    source: str
    columns: tuple[str, ...] = ()
    lines: bool = False
    without: tuple[str, ...] = ()
    """Files of a folder that are excluded."""

    @property
    def unit(self) -> str:
        """What its documents are called: "paragraph" if the corpus is a single text, otherwise "document"."""
        path = Path(self.source).expanduser()
        return "paragraph" if not self.lines and path.suffix == TEXT and path.is_file() else "document"

    @property
    def files(self) -> list[tuple[str, int, int]]:
        """The path, size and modification time of each file, which show whether a file has changed."""
        paths = corpus_files(self.source) if self.source != "balanced" else []
        return [(str(path), (about := path.stat()).st_size, about.st_mtime_ns) for path in paths]

    def __iter__(self) -> Iterator[str]:
        return documents(self.source, columns=self.columns, lines=self.lines, without=self.without)

    def not_english(self, lang: str | None, name: str) -> dict[str, str]:
        """Why files of a folder are not English; raises BadInput if no text is English. `lang="en"` skips the check."""
        folder = Path(self.source).expanduser()
        if lang is not None or self.source in RELEASED or not folder.is_dir():
            check_language(self, lang, name)
            return {}
        settings = (self.source, self.columns, self.lines)
        return not_english_files(folder, corpus_files(self.source), lambda path: read_file(path, *settings))


def tally(texts: Iterable[tuple[int, str]], vocabulary: Vocabulary = OURS) -> CorpusCounts:
    """Count numbered documents: gendered words, first names, and sentences with a gendered word and a profession.

    A sentence counts as female if it has only female words, as male if it has only male ones; those with both are
    excluded. First names are those that a swap would swap: names on the list that are a person's in their context
    (text.names.Naming). All their occurrences are counted, but a first name does not make a sentence female or male.
    Words around people exclude function words and first names.
    """
    counts, gender, not_listed = CorpusCounts(), vocabulary.gender, function_words()
    for number, text in texts:
        total: Counter[Gender] = Counter()
        contexts: dict[str, Counter[str]] = {"female": Counter(), "male": Counter()}
        named = list(vocabulary.first_names(text))
        called = {name for name, _ in named}
        for sentence in split(text, language=vocabulary.language):
            tokens = [token.lower() for token in WORD.findall(sentence)]
            side, of_gender = vocabulary.side_of(tokens)
            counts.sentences[side] += 1
            total.update(of_gender)
            counts.words.update(token for token in tokens if gender(token))
            if len(of_gender) != 1:
                continue
            contexts[side].update({t for t in tokens if len(t) > 1 and not gender(t)} - not_listed - called)
            for word in vocabulary.words_beside(sentence):
                counts.found.setdefault(word, []).append((number, side == "female", side == "male"))
        counts.add_contexts(contexts["female"], contexts["male"])
        counts.names.update(f"{who} {name}" for name, who in named)
        sides = Counter(who for _, who in named)
        counts.totals.append((total["female"], total["male"], sides["female"], sides["male"]))
    return counts


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
) -> dict[str, CorpusCount]:
    """The counts of each corpus, by its name; `engine="ray"` counts on a cluster, with the same numbers.

    Intervals resample documents. Texts that seem not to be English are refused, unless `lang="en"` says that they are.
    With a folder `out`, counts are kept there until all documents are counted, and the same call resumes a stopped one.
    Raises BadInput if no corpus has a gendered word or a first name.
    """
    check_engine(engine, address, workers)
    skipped = {name: {} if vocabulary.pairs else corpus.not_english(lang, name) for name, corpus in corpora.items()}
    with ExitStack() as stack:
        if engine == "ray":
            from evenhand.distributed.workers import connected_cluster

            stack.enter_context(connected_cluster(address, workers))
        results = {}
        for name, corpus in corpora.items():
            english = replace(corpus, without=tuple(skipped[name]))
            result = summarise(
                _count_corpus(name, english, vocabulary, out, engine, workers), vocabulary.gender, seed=seed
            )
            results[name] = replace(result, unit=corpus.unit, skipped=skipped[name])
    if not any(r.female + r.male for result in results.values() for r in (result.words, result.names)):
        texts = ", ".join(f"'{name}'" for name in results)
        raise BadInput(f"There is nothing to count: no gendered words and no first names were found in {texts}.")
    return results


def _count_corpus(
    name: str, corpus: Corpus, vocabulary: Vocabulary, out: Path | None, engine: str, workers: int | None
) -> CorpusCounts:
    """Count a corpus, some documents at a time. A file in `out` keeps the counts, and is deleted at the end."""
    counts, part = CorpusCounts(), out / f".counting-{slug(name)}.jsonl" if out else None
    if part:
        about = json.dumps([__version__, repr((corpus, corpus.files, vocabulary))])
        first, *lines = part.read_text(encoding="utf-8").split("\n") if part.is_file() else [""]
        for line in lines[:-1] if first == about else ():  # what follows the last line end is incomplete
            counts.add(CorpusCounts.from_json(line))
        prepare(part.parent)
        before = f"{about}\n{json.dumps(vars(counts))}\n".encode()
        write_whole(part, lambda file: file.write(before))  # whole, as a second stop must lose nothing
    start = len(counts.totals)
    uncounted = enumerate(islice(filter(str.strip, corpus), start, None), start)
    todo, work = sections(uncounted, lambda document: len(document[1]), CHUNK), partial(tally, vocabulary=vocabulary)
    if engine == "local":
        chunks: Iterator[CorpusCounts] = map(work, todo)
    else:
        from evenhand.distributed.workers import stream_chunks

        chunks = stream_chunks(todo, work, workers)
    with bar(f"Counting {name}", "documents") as shown:
        shown.update(start)
        for chunk in chunks:
            if part:
                _append_line(part, json.dumps(vars(chunk)))
            counts.add(chunk)
            shown.update(len(chunk.totals))
    if part:
        part.unlink()
    return counts


def _append_line(path: Path, line: str) -> None:
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
    except OSError as error:
        why = f"The counts cannot be kept in '{path}': {error.strerror or error}."
        raise RunError(f"{why} Free some space, and run the same command again.") from error


def examples(corpus: Iterable[str], words: Mapping[str, str], vocabulary: Vocabulary = OURS) -> dict[str, list[str]]:
    """The first sentences with each of the `words` that are about its gender alone: female, male, or either ("")."""
    shown: dict[str, list[str]] = {word: [] for word in words}
    left = set(words)
    for text in corpus:
        if not left:
            break
        for sentence in split(text, language=vocabulary.language):
            tokens = [token.lower() for token in WORD.findall(sentence)]
            here = {word for word in left if word in tokens or (" " in word and word in sentence.lower())}
            side = vocabulary.side_of(tokens)[0] if here else ""
            for word in here:
                if words[word] in (side, "") and side in ("female", "male") and len(sentence) <= LONGEST_EXAMPLE:
                    shown[word].append(" ".join(sentence.split()))
                    if len(shown[word]) == EXAMPLES:
                        left.discard(word)
    return shown
