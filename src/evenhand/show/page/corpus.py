"""The page of corpora: one HTML file that shows how often they speak of women and men, and next to what."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from evenhand.runs.rows import Number
from evenhand.show.corpus import around, cautions, lean, number_tested, percent, shares, size
from evenhand.show.page.readings import Verdict
from evenhand.show.page.runs import policy, render
from evenhand.show.page.scale import IntervalScale, domain, strip
from evenhand.text.shares import FEWEST, SIDES, Counted, Ratio

ENDS = ("more men", "more women")


@dataclass(frozen=True)
class Section:
    """A corpus on the page."""

    name: str
    found: Counted
    examples: Mapping[str, Sequence[str]]
    """Example sentences by word."""

    @property
    def shares(self) -> list[tuple[str, Ratio, str, str, IntervalScale]]:
        """What is counted, its counts, the share of women, the verdict, and the share drawn on its scale."""
        rows = []
        for what, ratio in shares(self.found).items():
            share = ratio.share
            number = Number(100 * share.value, 100 * share.low, 100 * share.high, neutral=50.0)
            drawn = strip([number], ENDS, (0.0, 100.0), f"share of women: {percent(share)}", _lean_verdicts(ratio.lean))
            rows.append((what, ratio, percent(share), lean(ratio.lean), drawn))
        return rows

    @property
    def sentence(self) -> str:
        words = self.found.words
        if not words.log.known:
            return words.log.note + "."
        told = {"female": "It speaks more of women", "male": "It speaks more of men"}
        shown = told.get(words.lean, "It is not shown to speak more of women or of men")
        return f"{shown}: women are {percent(words.share)} of its gendered words."

    @property
    def leaning(self) -> dict[str, list[str]]:
        """Professions that occur more often with women, or with men, than the corpus as a whole mentions them."""
        jobs = self.found.beside.sort_values("ratio")
        return {
            who: list(jobs.loc[jobs["lean"] == side, "profession"])
            for who, side in (("women", "female"), ("men", "male"))
        }

    @property
    def jobs(self) -> list[dict[str, Any]]:
        """The professions, each with its interval drawn; here above 0 means more women, as on the scale of shares."""
        rows: Any = self.found.beside.sort_values("ratio", ascending=False).to_dict("records")
        numbers = [Number(-row["ratio"], -row["high"], -row["low"]) for row in rows]
        between = domain(numbers, None, 0.0)
        return [
            row
            | {
                "number": number,
                "verdict": lean(row["lean"]),
                "times": _ratio_in_words(number.value),
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
        """The words around women, and around men, with how often they occur, and examples."""
        return {
            who: [(told, self.examples.get(word, ())) for word, told in found.items()]
            for who, found in around(self.found).items()
        }

    def common(self, what: str) -> dict[str, pd.DataFrame]:
        """The most frequent gendered words, or first names, of women and of men."""
        frame = self.found.common[what]
        return {who: frame[frame["gender"] == side] for who, side in (("women", "female"), ("men", "male"))}


def _lean_verdicts(lean: str) -> list[Verdict]:
    return [Verdict("leans" if lean in SIDES else "undecided", lean)]


def _ratio_in_words(value: float) -> str:
    """A logarithm of a ratio in words: "2.1 times as many men"."""
    return f"{math.exp(abs(value)):.1f} times as many {'men' if value < 0 else 'women'}"


def corpus_page(
    corpora: Mapping[str, Counted],
    examples: Mapping[str, Mapping[str, Sequence[str]]],
    facts: Mapping[str, str],
    listed: str = "professions",
) -> str:
    """The page of these corpora; `facts` say how they were counted, `listed` what is counted next to people."""
    sections = [Section(name, found, examples.get(name, {})) for name, found in corpora.items()]
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
        policy=policy(),
    )  # fmt: skip
