"""The hypotheses of Bartl, Nissim and Gatt (2020, Table 3), each with a verdict and its evidence."""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd
from numpy.random import Generator

from evenhand.analysis.paired import changes, pairs
from evenhand.core.scores import generator
from evenhand.stats.estimate import Estimate
from evenhand.stats.intervals import clustered_interval

TYPICAL = (("female", "female"), ("male", "male"))
ANTI = (("female", "male"), ("male", "female"))


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing a hypothesis expects: its verdict is read off the interval.

    `supported` where the interval lies on the expected side, `refuted` where it lies on the other, `undecided` where it
    includes 0.
    """

    hypothesis: str
    claim: str
    found: Estimate
    verdict: str


def evaluate(before: pd.DataFrame, after: pd.DataFrame | None = None, *, seed: int = 0) -> list[Claim]:
    """The claims of H1 to H3 on the scores before and, if given, after fine-tuning.

    H1: typical pairs (female word, female profession) have positive association, which fine-tuning lowers. H2:
    anti-typical pairs have negative association, which fine-tuning raises. H3: with balanced professions female and
    male do not differ, and fine-tuning changes little. That a difference is 0 cannot be proven: H3 is refuted or
    undecided.
    """
    return list(_claims(before, changes(before, after) if after is not None else None, seed))


def _claims(before: pd.DataFrame, change: pd.DataFrame | None, seed: int) -> Iterator[Claim]:
    for hypothesis, settings, sign in (("H1", TYPICAL, 1), ("H2", ANTI, -1)):
        for gender, jobs in settings:
            expected = "positive" if sign > 0 else "negative"
            yield _cell(
                hypothesis, f"{gender} words with {jobs} professions: {expected}", before, gender, jobs, sign, seed
            )
            if change is not None:
                moved = "falls" if sign > 0 else "rises"
                claim = f"{gender} words with {jobs} professions: {moved} after fine-tuning"
                yield _cell(hypothesis, claim, change, gender, jobs, -sign, seed)
    paired = pairs(before)
    rng = generator(seed, {"prof_gender": "balanced", "gender": "female - male"})
    balanced = paired[paired["prof_gender"] == "balanced"]
    yield _claim("H3", "female and male words alike with balanced professions", balanced, "difference", 0, rng)
    if change is not None:
        for gender in ("female", "male"):
            claim = f"{gender} words with balanced professions: no change after fine-tuning"
            yield _cell("H3", claim, change, gender, "balanced", 0, seed)


def _cell(hypothesis: str, claim: str, scores: pd.DataFrame, gender: str, jobs: str, sign: int, seed: int) -> Claim:
    part = scores[(scores["gender"] == gender) & (scores["prof_gender"] == jobs)]
    return _claim(hypothesis, claim, part, "score", sign, generator(seed, {"prof_gender": jobs, "gender": gender}))


def _claim(hypothesis: str, claim: str, part: pd.DataFrame, column: str, sign: int, rng: Generator) -> Claim:
    part = part.dropna(subset=column)
    values = part[column].to_numpy()
    value = float(values.mean()) if len(values) else float("nan")
    found = Estimate(value, *clustered_interval(values, part["profession"].tolist(), rng), len(values))
    return Claim(hypothesis, claim, found, _verdict(found.side(), sign))


def _verdict(side: int, sign: int) -> str:
    if side == 0:  # 0 is inside, or there is no interval
        return "undecided"
    return "supported" if side == sign else "refuted"
