"""Count the women and men of a corpus: gendered words, first names, the professions and words in their sentences."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path

from evenhand._version import __version__
from evenhand.core.files import prepare, slug, write_whole
from evenhand.core.progress import bar
from evenhand.datasets.corpora.texts import RELEASED, documents, located, read_file, split
from evenhand.datasets.files.language import check_language, function_words, not_english_files
from evenhand.datasets.files.plain_text import TEXT
from evenhand.datasets.gendered import Gender
from evenhand.distributed.cluster import check_engine, connected
from evenhand.errors import BadInput, RunError
from evenhand.text.shares import Counted, Tally, counted
from evenhand.text.text_files import sections
from evenhand.text.vocabulary import Vocabulary

WORD = re.compile(r"[^\W\d_]+")
CHUNK = 500
"""The most documents that are counted together."""
EXAMPLES, LONGEST_EXAMPLE = 3, 300
"""Sentences that are shown of a word, and the characters of one."""
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
    def files(self) -> list[tuple[str, int, int]]:
        """The path, size and modification time of each of its files, which show whether they have changed."""
        paths = located(self.source) if self.source != "balanced" else []
        return [(str(path), (found := path.stat()).st_size, found.st_mtime_ns) for path in paths]

    def __iter__(self) -> Iterator[str]:
        return documents(self.source, columns=self.columns, lines=self.lines, without=self.without)

    def not_english(self, lang: str | None, name: str) -> dict[str, str]:
        """The files of a folder that are not English, and why. An error where all of it is not, unless `lang` is en."""
        folder = Path(self.source).expanduser()
        if lang is not None or self.source in RELEASED or not folder.is_dir():
            check_language(self, lang, name)
            return {}
        how = (self.source, self.columns, self.lines)
        return not_english_files(folder, located(self.source), lambda path: read_file(path, *how))


def tally(texts: Iterable[tuple[int, str]], vocabulary: Vocabulary = OURS) -> Tally:
    """Count numbered documents: gendered words, first names, and sentences with a gendered word and a profession.

    A sentence counts as female if it has only female words, as male if it has only male ones; those with both are left
    out. First names are those that a swap would swap: on the list of names, and a person's where they stand
    (text.names.Naming), every time they occur. They decide nothing about a sentence. Words around people are listed
    without function words and first names.
    """
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
) -> dict[str, Counted]:
    """The counts of each corpus, by its name; `engine="ray"` counts on a cluster, with the same numbers.

    Intervals resample documents. Texts that seem not to be English are refused, unless `lang="en"` says that they are.
    With a folder `out`, counts are kept there until all are done, and the same call resumes after a stop. An error
    if no corpus has a gendered word or a first name.
    """
    check_engine(engine, address, workers)
    skipped = {name: {} if vocabulary.pairs else corpus.not_english(lang, name) for name, corpus in corpora.items()}
    with nullcontext() if engine == "local" else connected(address, workers):
        found = {}
        for name, corpus in corpora.items():
            kept = replace(corpus, without=tuple(skipped[name]))
            counts = _count_corpus(name, kept, vocabulary, out, engine, workers)
            one = counted(counts, vocabulary.gender, seed=seed)
            found[name] = replace(one, unit=corpus.unit, skipped=skipped[name])
    if not any(r.female + r.male for one in found.values() for r in (one.words, one.names)):
        texts = ", ".join(f"'{name}'" for name in found)
        raise BadInput(f"There is nothing to count: no gendered words and no first names are in {texts}.")
    return found


def _count_corpus(
    name: str, corpus: Corpus, vocabulary: Vocabulary, out: Path | None, engine: str, workers: int | None
) -> Tally:
    """The counts of a corpus, some documents at a time; a file in `out` keeps them until all documents are counted."""
    counts, kept = Tally(), out / f".counting-{slug(name)}.jsonl" if out else None
    if kept:
        about = json.dumps([__version__, repr((corpus, corpus.files, vocabulary))])
        first, *lines = kept.read_text(encoding="utf-8").split("\n") if kept.is_file() else [""]
        for line in lines[:-1] if first == about else ():  # the last one was not finished
            counts.add(Tally.from_json(line))
        prepare(kept.parent)
        before = f"{about}\n{json.dumps(vars(counts))}\n".encode()
        write_whole(kept, lambda file: file.write(before))  # a second stop must lose nothing
    start = len(counts.totals)
    left = enumerate(islice(filter(str.strip, corpus), start, None), start)
    todo, work = sections(left, lambda document: len(document[1]), CHUNK), partial(tally, vocabulary=vocabulary)
    if engine == "local":
        chunks: Iterator[Tally] = map(work, todo)
    else:
        from evenhand.distributed.worker import stream_chunks

        chunks = stream_chunks(todo, work, workers)
    with bar(f"Counting {name}", "documents") as shown:
        shown.update(start)
        for chunk in chunks:
            if kept:
                _append_line(kept, json.dumps(vars(chunk)))
            counts.add(chunk)
            shown.update(len(chunk.totals))
    if kept:
        kept.unlink()
    return counts


def _append_line(path: Path, line: str) -> None:
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
    except OSError as error:
        why = f"'{path}', where counts are kept, cannot be written: {error.strerror or error}."
        raise RunError(f"{why} Free some space, and run the same command again.") from error


def examples(corpus: Iterable[str], words: Mapping[str, str], vocabulary: Vocabulary = OURS) -> dict[str, list[str]]:
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
                    if len(found[word]) == EXAMPLES:
                        wanted.discard(word)
    return found
