"""How gendered a corpus is, from counts of its documents: shares of women and men, professions, words around them."""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import bdtr, bdtrc

from evenhand.errors import BadInput
from evenhand.stats.estimate import Estimate
from evenhand.stats.intervals import Floats, percentiles, proportion_interval, quantile
from evenhand.stats.significance import holm, interval_test
from evenhand.stats.verdict import ALPHA, adjust, decide

SMOOTHED = 0.5
"""Added to every count, so that no ratio is infinite."""
FEWEST = 5
"""The fewest sentences with a gendered word for a profession or word to be listed."""
DRAWS, BLOCK = 2_000, 100
"""Resamples of a bootstrap, and how many are drawn at once."""
VERY_MANY = 20_000
"""The most documents for which a bootstrap is drawn; intervals of more documents are from a jackknife."""
SIDES = ("female", "male")
PAIRS = ("ff", "mm", "fm")
COUNTS = ("sentences", "words", "names")
LISTED = 15
"""The most words that are listed for each gender."""


@dataclass
class CorpusCounts:
    """Counts of some documents, which can be added up."""

    totals: list[tuple[int, int, int, int]] = field(default_factory=list)
    """For each document, its female and male words, then its female and male first names."""
    sentences: Counter[str] = field(default_factory=Counter)
    """The number of sentences by their gendered words: female, male, both, neither."""
    words: Counter[str] = field(default_factory=Counter)
    """How often each gendered word occurs."""
    names: Counter[str] = field(default_factory=Counter)
    """How often each first name occurs, as "female mary"."""
    found: dict[str, list[tuple[int, int, int]]] = field(default_factory=dict)
    """For each profession, its gendered sentences: the number of the document, whether female, whether male."""
    contexts: dict[str, Counter[str]] = field(default_factory=lambda: {part: Counter() for part in (*SIDES, *PAIRS)})
    """For each word, sums over documents of f and m, its female and male sentences there, and of f², m² and fm."""

    def add_contexts(self, female: Counter[str], male: Counter[str]) -> None:
        both = {word: n * male[word] for word, n in female.items() if word in male}
        squares = ({word: n * n for word, n in side.items()} for side in (female, male))
        for counts, more in zip(self.contexts.values(), (female, male, *squares, both), strict=True):
            counts.update(more)

    def add(self, other: "CorpusCounts") -> None:
        self.totals += other.totals
        for word, places in other.found.items():
            self.found.setdefault(word, []).extend(places)
        for name in COUNTS:
            getattr(self, name).update(getattr(other, name))
        for part, words in other.contexts.items():
            self.contexts[part].update(words)

    @classmethod
    def from_json(cls, line: str) -> "CorpusCounts":
        """The counts that `json.dumps(vars(...))` wrote."""
        fields = json.loads(line)
        fields |= {name: Counter(fields[name]) for name in COUNTS}
        return cls(**fields | {"contexts": {part: Counter(words) for part, words in fields["contexts"].items()}})


@dataclass(frozen=True)
class Ratio:
    """How often women and men occur, and ln(male / female) with its interval and test over documents.

    If neither occurs, the value of the logarithm is NaN, and its note says why.
    """

    female: int
    male: int
    log: Estimate

    @property
    def share(self) -> Estimate:
        """The share of women, between 0 and 1. Each end x of the logarithm's interval becomes an end 1 / (1 + e^x).

        The logarithm is smoothed, the share is not: a share outside the interval becomes an end of it.
        """
        total = self.female + self.male
        value = self.female / total if total else math.nan
        high, low = (1 / (1 + math.exp(end)) for end in (self.log.low, self.log.high))
        return Estimate(value, min(low, value), max(high, value), n=self.log.n, note=self.log.note)

    @property
    def lean(self) -> str:
        """Who occurs more often, by the rule of verdicts: female, male, not shown; or why there is no verdict."""
        return _side(self.log)

    def as_json(self) -> dict[str, Any]:
        """The numbers, for JSON; a missing number is None."""
        numbers = {"lean": self.log.value, "low": self.log.low, "high": self.log.high}
        share = {"share": self.share.value, "share_low": self.share.low, "share_high": self.share.high}
        plain = {k: None if math.isnan(v) else v for k, v in (numbers | share | {"p": self.log.p}).items()}
        return {"female": self.female, "male": self.male, **plain, "verdict": self.lean, "note": self.log.note}


@dataclass(frozen=True)
class CorpusCount:
    """The counts of a corpus. Logarithms above 0 are male, below 0 female.

    `words` are gendered words, `names` first names of people. `beside` has a row for each profession with enough
    sentences: the numbers of its female and male sentences; `ratio`, which is ln(male / female) minus that of the
    gendered words of the whole corpus, with its interval; and `lean`, the verdict, adjusted over all professions.
    `contexts` has those of the `tested` words for which it is shown that they occur more often with women, or with men,
    than expected (see `_context_table`).
    """

    documents: int
    sentences: int
    sides: Mapping[str, int]
    """Sentences by their gendered words: female, male, both, neither."""
    words: Ratio
    names: Ratio
    beside: pd.DataFrame
    contexts: pd.DataFrame
    common: Mapping[str, pd.DataFrame]
    """The most frequent gendered words and first names: word, gender, count."""
    rare: pd.DataFrame
    """The numbers of female and male sentences of each profession that is in too few of them for a ratio."""
    tested: int
    """The number of words that are in enough gendered sentences to be tested."""
    unit: str = "document"
    """What intervals resample: documents, or paragraphs of one text, which are not independent of each other."""
    skipped: Mapping[str, str] = field(default_factory=dict)
    """Files that were not counted, and why they seem not to be English."""

    def as_json(self) -> dict[str, Any]:
        """All numbers and tables, for JSON; a missing number is None, and the note next to it says why."""
        tables = {"beside": self.beside, "rare_professions": self.rare, "contexts": self.contexts}
        tables |= {"common_words": self.common["words"], "common_names": self.common["names"]}
        return {
            "documents": self.documents,
            "sentences": self.sentences,
            "sentences_with": dict(self.sides),
            **self.words.as_json(),
            "first_names": self.names.as_json(),
            "score": self.score.value if self.score.known else None,
            "score_note": self.score.note,
            "unit": self.unit,
            "skipped": dict(self.skipped),
            "words_tested": self.tested,
            **{name: json.loads(table.to_json(orient="records")) for name, table in tables.items()},
        }

    @property
    def score(self) -> Estimate:
        """The mean of |`ratio`| over professions: 0 if no profession is gendered, NaN without professions."""
        if self.beside.empty:
            return Estimate(math.nan, note=f"no profession is in {FEWEST} sentences with words of one gender")
        return Estimate(float(self.beside["ratio"].abs().mean()), n=len(self.beside))


def summarise(counts: CorpusCounts, gender: Callable[[str], str | None], *, seed: int = 0) -> CorpusCount:
    """The ratios, intervals and tables of these counts; `gender` gives the gender of a word."""
    if not counts.totals:
        raise BadInput("The corpus has no texts.")
    table = np.array(counts.totals, dtype=np.float64)  # (documents, 4)
    rng = np.random.default_rng(seed)
    words = _ratio(table[:, :2], rng, "gendered words")
    (beside, rare), (contexts, tested) = _profession_tables(counts.found, words, rng), _context_table(counts)
    names = _ratio(table[:, 2:], rng, "first names")
    common = {
        "words": _most_common((word, gender(word) or "", n) for word, n in counts.words.items()),
        "names": _most_common((name, who, n) for key, n in counts.names.items() for who, name in [key.split(" ", 1)]),
    }
    sides = {side: counts.sentences[side] for side in (*SIDES, "both", "neither")}
    total = counts.sentences.total()
    return CorpusCount(len(table), total, sides, words, names, beside, contexts, common, rare, tested)


def _ratio(table: Floats, rng: np.random.Generator, unit: str) -> Ratio:
    """ln(male / female), smoothed, with its interval over the rows, and the test that both are equally frequent."""
    female, male = (int(total) for total in table.sum(axis=0))
    return Ratio(female, male, adjust([_estimate_log_ratio(table, 0.0, rng, unit)])[0])


def _estimate_log_ratio(table: Floats, less: float, rng: np.random.Generator, unit: str) -> Estimate:
    """ln(male / female) minus `less`, with the interval of a bootstrap over documents and the p of this interval.

    `clustered_interval` would give the same interval in a time that is quadratic in the documents. With very many
    documents a bootstrap takes minutes; a jackknife, which gives the same interval, replaces it.
    """
    some = table[table.any(axis=1)]
    n = len(some)
    if n == 0:
        return Estimate(math.nan, note=f"no {unit} were found, so there is no value")
    value = float(_log_ratio(table.sum(axis=0))) - less
    if n == 1:
        return Estimate(value, clusters=1, note=f"all {unit} are in one document, so there is no interval")
    if 0 in some.sum(axis=0):
        low, high = _one_gender_interval(some, n)
    elif n > VERY_MANY:
        reach = quantile(0.975, n - 1) * math.sqrt(n - 1) * float(_log_ratio(some.sum(axis=0) - some).std())
        low, high = value + less - reach, value + less + reach
    else:
        even = np.full(n, 1 / n)
        blocks = [rng.multinomial(n, even, size=BLOCK) @ some for _ in range(DRAWS // BLOCK)]  # each (block, 2)
        low, high = percentiles(_log_ratio(np.concatenate(blocks)), n, 0.95)
    low, high = low - less, high - less
    return Estimate(value, low, high, n=n, clusters=n, p=interval_test(value, low, high, n - 1))


def _one_gender_interval(table: Floats, n: int) -> tuple[float, float]:
    """The interval if only one gender occurs, so that no resample has the other gender: Wilson's, over documents.

    Its end that is farther from 0 is the value, which smoothing keeps finite.
    """
    sure = math.log(proportion_interval(n, n)[0] / (1 - proportion_interval(n, n)[0]))
    value = float(_log_ratio(table.sum(axis=0)))
    return (min(sure, value), value) if value > 0 else (value, max(-sure, value))


def _side(log: Estimate) -> str:
    verdict = decide(log)
    return {-1: "female", 1: "male"}.get(verdict.side, verdict.word)


def _log_ratio(counts: Floats) -> Floats:
    return np.log((counts[..., 1] + SMOOTHED) / (counts[..., 0] + SMOOTHED))


def _profession_tables(
    sentences: Mapping[str, list[tuple[int, int, int]]], words: Ratio, rng: np.random.Generator
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The table of professions in enough sentences, with ratios; and that of professions in too few."""
    columns = ["profession", "female", "male", "ratio", "low", "high", "p_holm", "lean"]
    rows, few, logs = list[dict[str, Any]](), list[dict[str, Any]](), []
    for word, places in sorted(sentences.items()):
        enough = len(places) >= FEWEST
        sums = {"female": sum(f for _, f, _ in places), "male": sum(m for *_, m in places)}
        (rows if enough else few).append({"profession": word, **sums})
        if enough:
            table = pd.DataFrame(places).groupby(0, sort=False).sum().to_numpy(dtype=np.float64)
            logs.append(_estimate_log_ratio(table, words.log.value, rng, "sentences"))
    for row, log in zip(rows, adjust(logs), strict=True):
        row |= {"ratio": log.value, "low": log.low, "high": log.high, "p_holm": log.p_holm, "lean": _side(log)}
    return pd.DataFrame(rows, columns=columns), pd.DataFrame(few, columns=columns[:3])


def _context_table(counts: CorpusCounts) -> tuple[pd.DataFrame, int]:
    """The words that occur more often with women, or with men, than chance explains; and how many words were tested.

    Of n sentences with a word, n p are expected to be about women, where p is the share of sentences about women alone
    among all sentences about women alone or men alone. z is the excess of sentences about men, divided by the larger of
    two standard errors: that over documents, since sentences of one document are not independent, and that of n
    independent sentences. The p-value is that of z, but at least that of a binomial test, adjusted by Holm over all
    words.
    """
    about = sum(counts.sentences[side] for side in SIDES)
    p = counts.sentences["female"] / about if about else 0.5
    frame = pd.DataFrame(counts.contexts).fillna(0).astype(int).sort_index()  # so that ties in z have the same order
    frame = frame[(frame["female"] + frame["male"] >= FEWEST) & (0 < p < 1)].rename_axis("word").reset_index()
    f, m, ff, mm, fm = (frame[part].to_numpy() for part in (*SIDES, *PAIRS))
    over_documents = (1 - p) ** 2 * ff - 2 * p * (1 - p) * fm + p**2 * mm
    z: Floats = (p * m - (1 - p) * f) / np.sqrt(np.maximum(over_documents, (f + m) * p * (1 - p)))
    exact = 2 * np.minimum(bdtr(f, f + m, p), bdtrc(f - 1, f + m, p))  # z is not normal for few sentences
    normal = [math.erfc(abs(each) / math.sqrt(2)) for each in z.tolist()]
    frame = frame[["word", *SIDES]].assign(expected_female=p * (f + m), z=z)
    frame["p_holm"] = holm(np.maximum(normal, np.minimum(exact, 1)).tolist())
    shown = frame[frame["p_holm"] < ALPHA].sort_values("z", ignore_index=True, kind="stable")
    sides = [shown[shown["z"] < 0].head(LISTED), shown[shown["z"] > 0].tail(LISTED)]
    return pd.concat(sides, ignore_index=True), len(frame)


def _most_common(counts: Iterable[tuple[str, str, int]]) -> pd.DataFrame:
    frame = pd.DataFrame(counts, columns=["word", "gender", "count"])
    frame = frame.sort_values(["count", "word"], ascending=[False, True], ignore_index=True)
    return frame.groupby("gender", sort=True).head(LISTED).sort_values("gender", kind="stable", ignore_index=True)
