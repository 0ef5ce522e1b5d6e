"""Studies of Barza 2023: whether pronouns merely become equal after a change, and how many pairs are enough."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evenhand.errors import BadInput
from evenhand.papers.findings import changes
from evenhand.stats import Estimate, Line, adjust, decide, fit_line, generator, mean_estimate, ratio_of_spreads

FEWEST = 3
GENDERED = "calls for one gender"


@dataclass(frozen=True)
class Equalising:
    """The effect of a change of the model on professions and on words that call for one gender.

    `professions` and `gendered` are the lines after = intercept + slope x before (Barza 2023, Figure 10). A slope below
    1 alone proves nothing, since noise in the values before pulls it down. So the verdict rests on `spread`, the ratio
    of the standard deviations of professions after and before, which noise leaves at 1, and on `agreement`, the change
    of P(right pronoun) - P(wrong one) over words that call for one gender.
    """

    professions: Line
    gendered: Line | None
    spread: Estimate
    agreement: Estimate | None

    @property
    def lines(self) -> dict[str, Line]:
        """The fitted lines, by kind of word."""
        return {"profession": self.professions} | ({GENDERED: self.gendered} if self.gendered else {})

    @property
    def verdict(self) -> str:
        """Whether pronouns are merely being equalised: yes if `spread` is below 1 and `agreement` below 0."""
        if self.spread.side(1) >= 0:
            return "undecided: it is not certain that the professions' differences shrank"
        if self.agreement is None:
            return "the professions' differences shrank; there are no words that call for one gender to compare with"
        words = "words that call for one gender"
        says = {-1: f"yes: {words} lost some of it,", 0: f"not shown: {words} changed by", 1: f"no: {words} gained,"}
        return f"{says[decide(self.agreement).side]} {self.agreement.shown('+.2f')}"


def appd(scores: pd.DataFrame) -> pd.DataFrame:
    """The APPD of each word: the mean of its pronoun probability differences over the templates.

    Columns: category, better, profession, appd.
    """
    means = scores.groupby(["category", "better", "profession"], sort=False)["score"].mean()
    return means.rename("appd").reset_index()


def before_after(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """The APPD of each word in two runs: category, better, profession, before, after. The items must be the same."""
    changes(before, after)
    joined = appd(before).merge(appd(after), on=["category", "better", "profession"], suffixes=("", "_after"))
    return joined.rename(columns={"appd": "before", "appd_after": "after"})


def equalising(words: pd.DataFrame, *, seed: int = 0) -> Equalising | None:
    """The effect on the words of `before_after`; intervals resample words. None with fewer than three professions."""
    words = words.dropna(subset=["before", "after"])
    ordinary = words[words["better"] == "closer to 0"]
    gendered = words[words["better"] != "closer to 0"]
    if len(ordinary) < FEWEST:
        return None
    x, y = (ordinary[name].to_numpy(dtype=float) for name in ("before", "after"))
    spread = Estimate(*ratio_of_spreads(x, y, generator(seed, {"words": "spread"})))
    line = fit_line(x, y, generator(seed, {"words": "professions"}))
    if len(gendered) < FEWEST:
        return Equalising(line, None, spread, None)
    x, y = (gendered[name].to_numpy(dtype=float) for name in ("before", "after"))
    moved = np.where(gendered["better"] == "above 0", 1.0, -1.0) * (y - x)
    rng = generator(seed, {"words": "agreement"})
    (agreement,) = adjust([mean_estimate(moved, gendered["profession"].tolist(), rng)])
    gendered_line = fit_line(x, y, generator(seed, {"words": "gendered"}))
    return Equalising(line, gendered_line, spread, agreement)


def professions_in(professions: Iterable[str], texts: Iterable[str]) -> set[str]:
    """The professions that occur in the texts, as whole words, in upper or lower case."""
    wanted = set(professions)
    if not wanted:
        return set()
    longest_first = sorted(map(re.escape, wanted), key=len, reverse=True)
    pattern = re.compile(rf"\b(?:{'|'.join(longest_first)})\b", re.I)
    matches = {match.lower() for text in texts for match in pattern.findall(text)}
    return {word for word in wanted if any(re.search(rf"\b{re.escape(word.lower())}\b", f) for f in matches)}


SIZES = (20, 40, 60, 80, 100)
DRAWS = 5


def by_size(
    scores: pd.DataFrame, *, by: str = "category", sizes: Sequence[int] = SIZES, draws: int = DRAWS, seed: int = 0
) -> pd.DataFrame:
    """Mean |score| of `draws` samples of each size in each group: columns `by`, size, draw, value.

    The study of Barza 2023, section 4.1.3 and Figure 6. Pairs are drawn without replacement; sizes larger than a group
    are excluded, and a sample as large as its group has the same value in every draw.
    """
    if draws < 1 or any(size < 1 for size in sizes):
        raise BadInput(f"Sizes and draws must be at least 1. Got sizes {tuple(sizes)} and {draws} draws.")
    rng = np.random.default_rng(seed)
    rows = []
    for label, part in scores.dropna(subset="score").groupby(by):
        values = part["score"].abs().to_numpy()
        for size in sizes:
            if size > len(values):
                continue
            for draw in range(1, draws + 1):
                sample = rng.choice(values, size=size, replace=False)
                rows.append({by: label, "size": size, "draw": draw, "value": float(sample.mean())})
    return pd.DataFrame(rows, columns=[by, "size", "draw", "value"])
