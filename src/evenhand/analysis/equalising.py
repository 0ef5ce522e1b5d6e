"""Are pronouns merely being made alike? The APPD of each word before and after a change of the model."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evenhand.analysis.paired import changes
from evenhand.errors import BadInput
from evenhand.result import generator
from evenhand.stats import Floats, Line, fitted


@dataclass(frozen=True)
class Equalising:
    """The lines after = intercept + slope x before, over professions and over words that call for one gender.

    If professions alone lost their gender, the slope of professions is below 1 and that of gendered words is 1. If
    both shrink alike, the model no longer tells he from she, whatever the word (Barza 2023, section 6.1.3).
    """

    professions: Line
    gendered: Line | None
    difference: float = math.nan
    """Slope of gendered words - slope of professions, with its interval."""
    low: float = math.nan
    high: float = math.nan

    @property
    def verdict(self) -> str:
        """The answer to "are pronouns merely being equalised?", as far as the intervals give one."""
        if not self.professions.slope_high < 1:
            return "undecided: it is not certain that the professions' differences shrank"
        if self.gendered is None or math.isnan(self.low):
            return "the professions' differences shrank; without gendered words, whether theirs did is not known"
        if self.low > 0:
            return "no: words that call for one gender kept more of their difference than professions did"
        if self.gendered.slope_high < 1:
            return "yes: words that call for one gender were drawn together too, and not surely less"
        return "undecided: there are too few words that call for one gender"


def appd(scores: pd.DataFrame) -> pd.DataFrame:
    """Mean pronoun probability difference of each word: category, better, profession, appd."""
    means = scores.groupby(["category", "better", "profession"], sort=False)["score"].mean()
    return means.rename("appd").reset_index()


def before_after(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """The APPD of each word in two runs: category, better, profession, before, after. The items must be the same."""
    changes(before, after)
    joined = appd(before).merge(appd(after), on=["category", "better", "profession"], suffixes=("", "_after"))
    return joined.rename(columns={"appd": "before", "appd_after": "after"})


def equalising(words: pd.DataFrame, *, seed: int = 0) -> Equalising:
    """The slopes over `before_after`'s words; intervals resample words."""
    words = words.dropna(subset=["before", "after"])
    ordinary = words[words["better"] == "closer to 0"]
    gendered = words[words["better"] != "closer to 0"]
    if len(ordinary) < 3:
        raise BadInput(f"A line needs three professions at least. Got {len(ordinary)}.")
    lines, draws = [], []
    for name, part in (("professions", ordinary), ("gendered", gendered)):
        if len(part) < 3:
            continue
        rng = generator(seed, {"words": name})
        line, slopes = fitted(part["before"].to_numpy(dtype=float), part["after"].to_numpy(dtype=float), rng)
        lines.append(line)
        draws.append(slopes)
    if len(lines) < 2:
        return Equalising(lines[0], None)
    apart: Floats = draws[1] - draws[0]
    low, high = np.nanquantile(apart, [0.025, 0.975])
    return Equalising(lines[0], lines[1], lines[1].slope - lines[0].slope, float(low), float(high))


def seen(professions: Iterable[str], texts: Iterable[str]) -> set[str]:
    """The professions that occur in the texts, as whole words, in whatever case."""
    wanted = set(professions)
    if not wanted:
        return set()
    longest_first = sorted(map(re.escape, wanted), key=len, reverse=True)
    pattern = re.compile(rf"\b(?:{'|'.join(longest_first)})\b", re.I)
    found = {match.lower() for text in texts for match in pattern.findall(text)}
    return {word for word in wanted if any(re.search(rf"\b{re.escape(word.lower())}\b", f) for f in found)}
