"""Counts of a corpus: women and men by words and first names, the professions they occur with, the words around."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np
import pandas as pd

from evenhand.core.progress import bar
from evenhand.datasets.becpro import professions
from evenhand.datasets.blanks import tbd
from evenhand.datasets.corpora.language import DOCUMENTS, check_language
from evenhand.datasets.corpora.texts import documents, split
from evenhand.datasets.gendered import gender
from evenhand.distributed.cluster import check_engine, connected
from evenhand.errors import BadInput
from evenhand.mitigation.names import Naming, genders
from evenhand.stats.estimate import Estimate
from evenhand.stats.intervals import Floats

WORD = re.compile(r"[^\W\d_]+")
SMOOTHED = 0.5
"""Added to every count, so that no ratio is infinite."""
FEWEST = 5
"""The fewest sentences with a gendered word for a profession or word to be listed."""
DRAWS = 2_000
PRIOR = 500.0
"""The size of the prior of the comparison of contexts, in words (Monroe et al. 2008)."""


@dataclass(frozen=True)
class Ratio:
    """How often women and men occur, and ln(male / female) with its interval over documents.

    Without any of them there is no ratio: its value is NaN, and its note says why.
    """

    female: int
    male: int
    log: Estimate

    def as_json(self) -> dict[str, Any]:
        """The numbers, for JSON; a missing one is None."""
        log = {"lean": self.log.value, "low": self.log.low, "high": self.log.high}
        plain = {name: None if math.isnan(value) else value for name, value in log.items()}
        return {"female": self.female, "male": self.male, **plain, "note": self.log.note}


@dataclass(frozen=True)
class Counted:
    """The counts of a corpus. Above 0 is male, below 0 female.

    `words` are gendered words, `names` first names of people. `beside` has a row for each profession with enough
    sentences: ln(male / female sentences) minus the same of the gendered words of the whole corpus. `contexts` has the
    words with the most female and the most male contexts, by z-score of the log-odds.
    """

    documents: int
    sentences: int
    words: Ratio
    names: Ratio
    beside: pd.DataFrame
    contexts: pd.DataFrame

    def as_json(self) -> dict[str, Any]:
        """All numbers and tables, for JSON; a missing number is None, and the note next to it says why."""
        score, tables = self.score, {"beside": self.beside, "contexts": self.contexts}
        return {
            "documents": self.documents,
            "sentences": self.sentences,
            **self.words.as_json(),
            "first_names": self.names.as_json(),
            "score": score.value if score.known else None,
            "score_note": score.note,
            **{name: json.loads(table.to_json(orient="records")) for name, table in tables.items()},
        }

    @property
    def score(self) -> Estimate:
        """Mean |ln ratio| over professions: 0 if none is gendered, NaN without professions."""
        if self.beside.empty:
            return Estimate(math.nan, note=f"no profession is in {FEWEST} sentences with words of one gender")
        return Estimate(float(self.beside["ratio"].abs().mean()), n=len(self.beside))


@dataclass
class Tally:
    """Counts of some documents, which can be added up."""

    totals: list[tuple[int, int, int, int]] = field(default_factory=list)
    """For each document, its female and male words, then its female and male first names."""
    sentences: int = 0
    found: dict[str, list[tuple[int, int, int]]] = field(default_factory=dict)
    """For each profession, its gendered sentences: number of the document, female, male."""
    contexts: dict[str, Counter[str]] = field(default_factory=lambda: {"female": Counter(), "male": Counter()})
    """Words of female and of male sentences."""

    def add(self, other: "Tally") -> None:
        """Add the counts of later documents."""
        self.totals += other.totals
        self.sentences += other.sentences
        for word, places in other.found.items():
            self.found.setdefault(word, []).extend(places)
        for side, words in other.contexts.items():
            self.contexts[side].update(words)


def tally(texts: Iterable[tuple[int, str]], words: Sequence[str] | None = None) -> Tally:
    """Count numbered documents."""
    wanted = sorted({w.lower() for w in (words or _professions())}, key=len, reverse=True)
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, wanted))})s?\b")
    counts, naming = Tally(), Naming()
    for number, text in texts:
        total: Counter[str] = Counter()
        for sentence in split(text):
            counts.sentences += 1
            tokens = [token.lower() for token in WORD.findall(sentence)]
            found = Counter(g for token in tokens if (g := gender(token)))
            total.update(found)
            if len(found) != 1:
                continue
            side = next(iter(found))
            counts.contexts[side].update({token for token in tokens if not gender(token)})
            for match in set(pattern.findall(sentence.lower())):
                word = match if match in wanted else match[:-1]
                counts.found.setdefault(word, []).append((number, side == "female", side == "male"))
        named = genders(text, naming)
        counts.totals.append((total["female"], total["male"], named.count("female"), named.count("male")))
    return counts


def count(
    texts: Iterable[str], *, words: Sequence[str] | None = None, lang: str | None = None, seed: int = 0
) -> Counted:
    """Count gendered words, first names, and sentences with a gendered word and a profession.

    `words` replaces the professions of BEC-Pro and of the Gender Bias Evaluation Framework. A sentence counts as female
    if it has only female words, as male if it has only male ones; those with both are left out. First names are those
    that a swap would swap: on the list of names, and a person's where they stand (mitigation.names.Naming), every time
    they occur. They decide nothing about a sentence. Intervals resample documents. Texts that seem not to be English
    are refused, unless `lang="en"` says that they are.
    """
    rest = iter(texts)
    first = list(islice(rest, DOCUMENTS))
    check_language(first, lang)
    everything = bar("Counting", "documents", iterable=chain(first, rest))
    return counted(tally(enumerate(everything), words), seed=seed)


def count_all(
    corpora: Mapping[str, str],
    *,
    lang: str | None = None,
    seed: int = 0,
    engine: str = "local",
    address: str | None = None,
    workers: int | None = None,
) -> dict[str, Counted]:
    """The counts of each corpus, by its name; `engine="ray"` counts on a cluster, with the same numbers."""
    check_engine(engine, address, workers)
    for name, source in corpora.items():
        check_language(documents(source), lang, name)
    if engine == "local":
        return {name: count(documents(source), lang="en", seed=seed) for name, source in corpora.items()}
    with connected(address, workers):
        return {name: _count_on_cluster(source, workers, seed) for name, source in corpora.items()}


def _count_on_cluster(source: str, workers: int | None, seed: int) -> Counted:
    from evenhand.distributed.streaming import streamed

    counts = Tally()
    with bar("Counting", "documents") as shown:
        for chunk in streamed(partial(documents, source), tally, workers=workers):
            counts.add(chunk)
            shown.update(len(chunk.totals))
    return counted(counts, seed=seed)


def counted(counts: Tally, *, seed: int = 0) -> Counted:
    """The ratios, intervals and tables of these counts."""
    if not counts.totals:
        raise BadInput("The corpus has no texts.")
    table = np.array(counts.totals, dtype=np.float64)  # (documents, 4)
    rng = np.random.default_rng(seed)
    words = _ratio(table[:, :2], rng, "gendered words")
    beside, contexts = _by_profession(counts.found, words.log.value, rng), _contexts(counts.contexts)
    names = _ratio(table[:, 2:], rng, "first names")
    return Counted(len(table), counts.sentences, words, names, beside, contexts)


def _professions() -> set[str]:
    return {job.name for job in professions()} | {item.groups["profession"] for item in tbd().items}


def _ratio(table: Floats, rng: np.random.Generator, what: str = "sentences") -> Ratio:
    """ln(male / female), smoothed, with its interval over the rows: plain percentiles of a bootstrap.

    `clustered_interval` is the same from 30 documents on, and wider below; its time is quadratic in the documents.
    """
    some = table[table.any(axis=1)]
    n = len(some)
    female, male = (int(total) for total in table.sum(axis=0))
    if n == 0:
        return Ratio(female, male, Estimate(math.nan, note=f"no {what} were found, so there is no value"))
    value = float(_log_ratio(table.sum(axis=0)))
    if n == 1:
        return Ratio(female, male, Estimate(value, note=f"all {what} are in one document, so there is no interval"))
    counts = np.array([rng.multinomial(n, np.full(n, 1 / n)) @ some for _ in range(DRAWS)])  # (draws, 2)
    low, high = np.quantile(_log_ratio(counts), [0.025, 0.975])
    return Ratio(female, male, Estimate(value, float(low), float(high), n=n))


def _log_ratio(counts: Floats) -> Floats:
    return np.log((counts[..., 1] + SMOOTHED) / (counts[..., 0] + SMOOTHED))


def _by_profession(found: dict[str, list[tuple[int, int, int]]], lean: float, rng: np.random.Generator) -> pd.DataFrame:
    rows = []
    for word, places in sorted(found.items()):
        if len(places) < FEWEST:
            continue
        by_document = pd.DataFrame(places).groupby(0, sort=False).sum()
        table = by_document.to_numpy(dtype=np.float64)
        here = _ratio(table, rng)
        beyond = {"ratio": here.log.value - lean, "low": here.log.low - lean, "high": here.log.high - lean}
        rows.append({"profession": word, "female": here.female, "male": here.male, **beyond})
    return pd.DataFrame(rows, columns=["profession", "female", "male", "ratio", "low", "high"])


def _contexts(contexts: dict[str, Counter[str]], n: int = 15) -> pd.DataFrame:
    """The words that best tell male from female sentences: z of the log-odds with an informative Dirichlet prior."""
    sizes = {side: sum(words.values()) for side, words in contexts.items()}
    both = contexts["female"] + contexts["male"]
    total = sum(both.values())
    rows = []
    for word, count_of in sorted(both.items()):  # so that ties in z always have the same order
        if count_of < FEWEST:
            continue
        prior = PRIOR * count_of / total
        smoothed = {side: words[word] + prior for side, words in contexts.items()}
        odds = {side: math.log(n / (sizes[side] + PRIOR - n)) for side, n in smoothed.items()}
        z = (odds["male"] - odds["female"]) / math.sqrt(1 / smoothed["male"] + 1 / smoothed["female"])
        rows.append({"word": word, "female": contexts["female"][word], "male": contexts["male"][word], "z": z})
    frame = pd.DataFrame(rows, columns=["word", "female", "male", "z"])
    frame = frame.sort_values("z", ignore_index=True, kind="stable")
    return frame if len(frame) <= 2 * n else pd.concat([frame.head(n), frame.tail(n)], ignore_index=True)
