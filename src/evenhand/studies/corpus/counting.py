"""Count the women and men of a corpus: gendered words, first names, the professions and words in their sentences."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from pathlib import Path

from evenhand.analysis.corpus import Counted, Tally, counted
from evenhand.core.files import read_given
from evenhand.core.progress import bar
from evenhand.datasets.becpro import professions
from evenhand.datasets.blanks import tbd
from evenhand.datasets.corpora.language import check_language, function_words
from evenhand.datasets.corpora.texts import documents, located, split
from evenhand.datasets.gendered import Gender, gender
from evenhand.distributed.cluster import check_engine, connected
from evenhand.errors import BadInput
from evenhand.mitigation.names import Naming, first_names
from evenhand.studies.corpus.progress import Progress

WORD = re.compile(r"[^\W\d_]+")
CHUNK = 500
"""Documents that are counted together."""


@dataclass(frozen=True)
class Corpus:
    """Where the texts of a corpus are: a file, a folder or a known corpus, and how to read it.

    `columns` of a table hold its texts; a text file has a document in each paragraph or, with `lines`, in each line.
    """

    source: str
    columns: tuple[str, ...] = ()
    lines: bool = False

    @property
    def files(self) -> list[tuple[str, int, int]]:
        """Its files, each with its size and when it was changed: what tells whether they are still the same."""
        paths = located(self.source) if self.source != "balanced" else []
        return [(str(path), (found := path.stat()).st_size, found.st_mtime_ns) for path in paths]

    def __iter__(self) -> Iterator[str]:
        return documents(self.source, columns=self.columns, lines=self.lines)


def sided(tokens: Iterable[str]) -> tuple[str, Counter[Gender]]:
    """Whom a sentence speaks of, by its gendered words: female, male, both or neither; and how many it has of each."""
    found = Counter(g for token in tokens if (g := gender(token)))
    return next(iter(found)) if len(found) == 1 else "both" if found else "neither", found


def tally(texts: Iterable[tuple[int, str]], words: Sequence[str] | None = None, start: int = 0) -> Tally:
    """Count documents that are numbered from `start` on."""
    wanted, pattern = _pattern(tuple(words) if words is not None else None)
    counts, naming, left_out = Tally(), Naming(), function_words()
    for number, text in texts:
        total: Counter[Gender] = Counter()
        named = list(first_names(text, naming))
        called = {name for name, _ in named}
        for sentence in split(text):
            tokens = [token.lower() for token in WORD.findall(sentence)]
            side, found = sided(tokens)
            counts.sentences[side] += 1
            total.update(found)
            counts.words.update(token for token in tokens if gender(token))
            if len(found) != 1:
                continue
            counts.contexts[side].update({t for t in tokens if len(t) > 1 and not gender(t)} - left_out - called)
            for match in set(pattern.findall(sentence.lower())):
                word = match if match in wanted else match[:-1]
                counts.found.setdefault(word, []).append((start + number, side == "female", side == "male"))
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
    return _counted(tally(enumerate(filter(str.strip, texts)), words), seed)


def count_all(
    corpora: Mapping[str, Corpus],
    *,
    words: Sequence[str] | None = None,
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
    for name, corpus in corpora.items():
        check_language(corpus, lang, name)
    if engine == "local":
        found = {name: _count(name, corpus, words, seed, out) for name, corpus in corpora.items()}
    else:
        with connected(address, workers):
            found = {name: _count(name, corpus, words, seed, out, workers) for name, corpus in corpora.items()}
    if not any(r.female + r.male for one in found.values() for r in (one.words, one.names)):
        texts = ", ".join(f"'{name}'" for name in found)
        raise BadInput(f"There is nothing to count: no gendered words and no first names are in {texts}.")
    return found


def _count(
    name: str, corpus: Corpus, words: Sequence[str] | None, seed: int, out: Path | None, workers: int | None = -1
) -> Counted:
    counts = Tally()
    with Progress(out, name, (corpus, corpus.files, words)) as progress, bar(f"Counting {name}", "documents") as shown:
        counts.add(progress.kept)
        shown.update(len(counts.totals))
        for chunk in _chunks(corpus, words, len(counts.totals), workers):
            progress.keep(chunk)
            counts.add(chunk)
            shown.update(len(chunk.totals))
    return _counted(counts, seed)


def _chunks(corpus: Corpus, words: Sequence[str] | None, start: int, workers: int | None) -> Iterator[Tally]:
    """The counts of all documents from `start` on, some at a time; empty ones are no documents."""
    work = partial(tally, words=words, start=start)
    if workers != -1:
        from evenhand.distributed.streaming import streamed

        yield from streamed(partial(_after, corpus, start), work, size=CHUNK, workers=workers)
        return
    numbered = enumerate(_after(corpus, start))
    while chunk := list(islice(numbered, CHUNK)):
        yield work(chunk)


def _after(corpus: Corpus, start: int) -> Iterator[str]:
    return islice(filter(str.strip, corpus), start, None)


def _counted(counts: Tally, seed: int) -> Counted:
    return counted(counts, {word: gender(word) or "" for word in counts.words}, seed=seed)


def examples(corpus: Iterable[str], words: Mapping[str, str], most: int = 3) -> dict[str, list[str]]:
    """The first sentences of a corpus with each word that speak of its gender alone: female, male, or either ("")."""
    found: dict[str, list[str]] = {word: [] for word in words}
    wanted = set(words)
    for text in corpus:
        if not wanted:
            break
        for sentence in split(text):
            tokens = [token.lower() for token in WORD.findall(sentence)]
            here = {word for word in wanted if word in tokens or (" " in word and word in sentence.lower())}
            side = sided(tokens)[0] if here else ""
            for word in here:
                if words[word] in (side, "") and side in ("female", "male") and len(sentence) <= LONGEST_EXAMPLE:
                    found[word].append(" ".join(sentence.split()))
                    if len(found[word]) == most:
                        wanted.discard(word)
    return found


LONGEST_EXAMPLE = 300
"""Characters of a sentence that is shown."""


def own_words(file: Path) -> list[str]:
    """A user's words to count next to women and men: one on each line."""
    lines = read_given(file, str.splitlines, "The list of words", "Give a UTF-8 text file.")
    found = [word for line in lines if (word := " ".join(line.split()).lower())]
    if not found:
        raise BadInput(f"The list of words '{file}' is empty: one word on each line is needed.")
    if gendered := [word for word in found if gender(word)]:
        raise BadInput(f"'{file}': '{gendered[0]}' has a gender by itself, so it tells nothing. Leave it out.")
    return list(dict.fromkeys(found))


@cache
def _pattern(words: tuple[str, ...] | None) -> tuple[frozenset[str], re.Pattern[str]]:
    known = (*(job.name for job in professions()), *(item.groups["profession"] for item in tbd().items))
    wanted = sorted({word.lower() for word in (known if words is None else words)}, key=len, reverse=True)
    return frozenset(wanted), re.compile(rf"\b(?:{'|'.join(map(re.escape, wanted))})s?\b")
