"""The hypotheses of Bartl, Nissim and Gatt (2020, Table 3), each with a verdict and its evidence."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pandas as pd

from evenhand.papers.paired import changes, pairs
from evenhand.stats import FEWEST_SAMPLED, Estimate, adjust, decide, generator, mean_estimate

TYPICAL = (("female", "female"), ("male", "male"))
ANTI = (("female", "male"), ("male", "female"))
MARGIN = 0.1
"""Nats that count as no difference for H3: one word is at most 1.11 times as likely as the other."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing a hypothesis expects, and what was found.

    `supported` where the value leans to the expected side, by the rule of stats.verdict with p adjusted over all
    claims; `refuted` where it leans to the other; `undecided` otherwise. A claim of no difference is supported where
    the whole interval lies within +-0.1 nats, and refuted where the value leans and the whole interval lies beyond.
    """

    hypothesis: str
    claim: str
    found: Estimate
    sign: int
    """1 or -1: the expected side; 0: no difference is expected."""
    contrast: Estimate | None = None
    """The same words minus those of the other gender with the same professions: what is left beyond the professions."""

    @property
    def verdict(self) -> str:
        found, ruled = self.found, decide(self.found)
        if ruled.why:
            return "undecided"
        if self.sign:
            return "undecided" if ruled.side == 0 else "supported" if ruled.side == self.sign else "refuted"
        if -MARGIN < found.low <= found.high < MARGIN:
            return "supported"
        return "refuted" if ruled.side and (found.low > MARGIN or found.high < -MARGIN) else "undecided"


def evaluate(before: pd.DataFrame, after: pd.DataFrame | None = None, *, seed: int = 0) -> list[Claim]:
    """The claims of H1 to H3 on the scores before and, if given, after fine-tuning.

    H1: typical pairs (female word, female profession) have positive association, which fine-tuning lowers. H2:
    anti-typical pairs have negative association, which fine-tuning raises. H3: with balanced professions female and
    male do not differ, and fine-tuning changes little.
    """
    claims = list(_claims(before, changes(before, after) if after is not None else None, seed))
    found = adjust([claim.found for claim in claims], crossed=True)
    return [replace(claim, found=estimate) for claim, estimate in zip(claims, found, strict=True)]


def _claims(before: pd.DataFrame, change: pd.DataFrame | None, seed: int) -> Iterator[Claim]:
    paired = pairs(before)
    for hypothesis, settings, sign in (("H1", TYPICAL, 1), ("H2", ANTI, -1)):
        for gender, jobs in settings:
            said, moves = ("positive", "falls") if sign > 0 else ("negative", "rises")
            words = f"{gender} words with {jobs} professions"
            beyond = paired[paired["prof_gender"] == jobs]
            beyond = beyond.assign(score=beyond["difference"] * (1 if gender == "female" else -1))
            contrast = _estimate(beyond, jobs, "female - male", seed)
            yield Claim(hypothesis, f"{words}: {said}", _cell(before, gender, jobs, seed), sign, contrast=contrast)
            if change is not None:
                yield Claim(hypothesis, f"{words}: {moves} after fine-tuning", _cell(change, gender, jobs, seed), -sign)
    balanced = paired[paired["prof_gender"] == "balanced"].assign(score=lambda rows: rows["difference"])
    difference = _estimate(balanced, "balanced", "female - male", seed)
    yield Claim("H3", "female and male words do not differ with balanced professions", difference, 0)
    if change is not None:
        for gender in ("female", "male"):
            claim = f"{gender} words with balanced professions: no change after fine-tuning"
            yield Claim("H3", claim, _cell(change, gender, "balanced", seed), 0)


def _cell(scores: pd.DataFrame, gender: str, jobs: str, seed: int) -> Estimate:
    return _estimate(scores[(scores["gender"] == gender) & (scores["prof_gender"] == jobs)], jobs, gender, seed)


def _estimate(part: pd.DataFrame, jobs: str, gender: str, seed: int) -> Estimate:
    part = part.dropna(subset="score")
    rng = generator(seed, {"prof_gender": jobs, "gender": gender})
    ways = [part[name].astype(str).tolist() for name in ("template", "slot") if name in part]
    crossed = ways if all(len(set(way)) >= FEWEST_SAMPLED for way in ways) else []  # as in core.estimands
    one_set = [""] * len(part)
    return mean_estimate(part["score"].to_numpy(), part["profession"].tolist(), rng, crossed=crossed, sets=one_set)
