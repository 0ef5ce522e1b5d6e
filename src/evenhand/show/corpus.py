"""The numbers of a corpus in words, on the terminal and as a page."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from rich.console import Group, RenderableType

from evenhand.runs.rows import Number
from evenhand.show.page.readings import IntervalScale, WordedVerdict, domain, strip
from evenhand.show.page.runs import render
from evenhand.show.tables import framed, line, table
from evenhand.stats.estimate import Estimate
from evenhand.text.shares import FEWEST, SIDES, CorpusCount, Ratio

LEANS = {
    "female": "● more women",
    "male": "● more men",
    "not shown": "○ no lean shown",
    "too few": "○ too few documents",
}
"""The verdicts on a share in words."""


def lean(word: str) -> str:
    """A verdict in words; a dash where there is none."""
    return LEANS.get(word, "–")


def percent(share: Estimate) -> str:
    """A share and its interval in percent: 47.5 % [45.8, 49.4]; a dash where there is none."""
    if not share.known:
        return "–"
    ends = f" [{100 * share.low:.1f}, {100 * share.high:.1f}]" if share.spans else ""
    return f"{100 * share.value:.1f} %{ends}"


def size(count: CorpusCount) -> str:
    """The numbers of documents and sentences of a corpus, in words."""
    sizes = {count.unit: count.documents, "sentence": count.sentences}
    return ", ".join(f"{n:,} {unit}{'s' if n != 1 else ''}" for unit, n in sizes.items())


def cautions(count: CorpusCount) -> list[str]:
    """Warnings about the numbers: files that were skipped, and paragraphs that were counted as documents."""
    notes = []
    if count.unit == "paragraph":
        notes.append("Paragraphs of one text are not independent of each other, so the true intervals are wider.")
    if count.skipped:
        files = "; ".join(f"{name}: {why}" for name, why in count.skipped.items())
        notes.append(f"Not counted, since not English: {files}")
    return notes


def shares(count: CorpusCount) -> dict[str, Ratio]:
    """The counts of women and men, by gendered words and by first names."""
    return {"gendered words": count.words, "first names": count.names}


def number_tested(count: CorpusCount) -> str:
    """The number of words that were tested or, if none was, the reason."""
    return f"{count.tested:,} were tested" if count.tested else f"none is in {FEWEST} sentences about one of them alone"


def around(count: CorpusCount) -> dict[str, dict[str, str]]:
    """The words that occur more often with women, and with men, than chance explains, the largest |z| first.

    Each word has its number of sentences with that gender and, in brackets, the expected number: "nursing 12 (5)".
    """
    words: dict[str, dict[str, str]] = {"women": {}, "men": {}}
    rows: Any = count.contexts.sort_values("z", key=abs, ascending=False, kind="stable").to_dict("records")
    for row in rows:
        here, expected = row["female"], row["expected_female"]
        if row["z"] > 0:
            here, expected = row["male"], row["female"] + row["male"] - expected
        words["men" if row["z"] > 0 else "women"][row["word"]] = f"{row['word']} {here:,} ({expected:,.0f})"
    return words


def corpus_tables(name: str, count: CorpusCount) -> RenderableType:
    """A corpus in numbers: women and men by words and by first names, professions, words around them."""
    return Group(*_corpus_parts(name, count))


def _corpus_parts(name: str, count: CorpusCount) -> Iterator[RenderableType]:
    yield line(f"{name}: {size(count)}", "bold")
    heads = ("counted", "women", "men", "share of women", "verdict")
    rows = [[kind, f"{r.female:,}", f"{r.male:,}", percent(r.share), lean(r.lean)] for kind, r in shares(count).items()]
    yield table(heads, rows, left=["counted", "verdict"])
    yield from (line(f"{r.log.note.capitalize()}.", "yellow") for r in shares(count).values() if r.log.note)
    yield line(f"Intervals are 95 %, over {count.unit}s. First names are those that evenhand swap would swap.", "dim")
    yield from (line(caution, "yellow") for caution in cautions(count))
    if count.beside.empty:
        yield line(f"Mean size over professions: –, since {count.score.note}.", "")
    else:
        numbers = {"women": ",", "men": ",", "ratio": "+.2f", "low": "+.2f", "high": "+.2f"}
        jobs = count.beside.sort_values("ratio").rename(columns={"female": "women", "male": "men", "lean": "verdict"})
        yield line("Sentences with a profession: ln(men / women), less that of the corpus as a whole", "bold")
        yield framed(jobs.assign(verdict=jobs["verdict"].map(lean)), {"profession": "", **numbers, "verdict": ""})
        mean = count.score.number(".2f")
        yield line(f"Mean size over {len(jobs)} profession{'s' * (len(jobs) > 1)}: {mean} (0: none is gendered)", "")
    if len(count.rare):
        few = ", ".join(f"{row.profession} {row.female}/{row.male}" for row in count.rare.itertuples())
        yield line(f"In fewer than {FEWEST} sentences, so without a verdict (women/men): {few}", "dim")
    if count.contexts.empty:
        yield line(f"No word stands out next to women or men: {number_tested(count)}.", "")
        return
    yield line(
        f"Words that occur more often than chance explains, of {count.tested:,} that were tested: sentences (expected)",
        "bold",
    )
    for side, words in around(count).items():
        yield line(f"  with {side}: {', '.join(words.values()) or 'none'}", "")


ENDS = ("more men", "more women")


@dataclass(frozen=True)
class Section:
    """A corpus on the page."""

    name: str
    count: CorpusCount
    examples: Mapping[str, Sequence[str]]
    """Example sentences by word."""

    @property
    def shares(self) -> list[tuple[str, Ratio, str, str, IntervalScale]]:
        """For each kind of count: its name, the counts, the share of women, the verdict, and the share on its scale."""
        rows = []
        for kind, ratio in shares(self.count).items():
            share = ratio.share
            number = Number(100 * share.value, 100 * share.low, 100 * share.high, neutral=50.0)
            drawn = strip([number], ENDS, (0.0, 100.0), f"share of women: {percent(share)}", _lean_verdicts(ratio.lean))
            rows.append((kind, ratio, percent(share), lean(ratio.lean), drawn))
        return rows

    @property
    def sentence(self) -> str:
        words = self.count.words
        if not words.log.known:
            return words.log.note + "."
        sentences = {"female": "It speaks more of women", "male": "It speaks more of men"}
        shown = sentences.get(words.lean, "It is not shown to speak more of women or of men")
        return f"{shown}: women are {percent(words.share)} of its gendered words."

    @property
    def leaning(self) -> dict[str, list[str]]:
        """The professions that lean to women, and to men, compared with the corpus as a whole."""
        jobs = self.count.beside.sort_values("ratio")
        return {
            who: list(jobs.loc[jobs["lean"] == side, "profession"])
            for who, side in (("women", "female"), ("men", "male"))
        }

    @property
    def jobs(self) -> list[dict[str, Any]]:
        """The professions with their intervals, with signs turned: above 0 means more women, as for shares."""
        rows: Any = self.count.beside.sort_values("ratio", ascending=False).to_dict("records")
        numbers = [Number(-row["ratio"], -row["high"], -row["low"]) for row in rows]
        between = domain(numbers, None, 0.0)
        return [
            row
            | {
                "number": number,
                "verdict": lean(row["lean"]),
                "times": f"{math.exp(abs(number.value)):.1f} times as many {'men' if number.value < 0 else 'women'}",
                "drawn": strip(
                    [number],
                    ENDS,
                    between,
                    f"{row['profession']}: {number.text} {number.brackets}",
                    _lean_verdicts(row["lean"]),
                ),
            }
            for row, number in zip(rows, numbers, strict=True)
        ]

    @property
    def words(self) -> dict[str, list[tuple[str, Sequence[str]]]]:
        """The words around women, and around men, each with its frequency and example sentences."""
        return {
            who: [(text, self.examples.get(word, ())) for word, text in listed.items()]
            for who, listed in around(self.count).items()
        }

    def common(self, kind: str) -> dict[str, pd.DataFrame]:
        """The most frequent gendered words, or first names, of women and of men."""
        frame = self.count.common[kind]
        return {who: frame[frame["gender"] == side] for who, side in (("women", "female"), ("men", "male"))}


def _lean_verdicts(lean: str) -> list[WordedVerdict]:
    return [WordedVerdict("leans" if lean in SIDES else "undecided", lean)]


def corpus_page(
    corpora: Mapping[str, CorpusCount],
    examples: Mapping[str, Mapping[str, Sequence[str]]],
    facts: Mapping[str, str],
    listed: str = "professions",
) -> str:
    """The page of these corpora; `facts` say how they were counted, `listed` names what is counted next to people."""
    sections = [Section(name, count, examples.get(name, {})) for name, count in corpora.items()]
    return render(
        "corpus.html.j2",
        sections=sections,
        title=", ".join(corpora),
        facts=facts,
        listed=listed,
        size=size,
        cautions=cautions,
        number_tested=number_tested,
        fewest=FEWEST,
    )  # fmt: skip
