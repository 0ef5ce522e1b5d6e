"""The effect size of an association test over contexts that are drawn for its words: CEAT."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from evenhand.core.items import Groups, Place
from evenhand.core.measure import Better, Formula, Unscored, check_formula
from evenhand.core.questions import Answer, Embed, Layer, Pooling
from evenhand.core.scores import OfTotals, Sample, Score, Summary
from evenhand.measures.weat import FEWEST, OfVectors, Shared
from evenhand.stats.intervals import Floats, Resampled
from evenhand.stats.mean_intervals import IntervalAndTest

VARIANCE = "variance"
"""Kept of each draw under this name: the variance of the associations of its words."""


@dataclass(frozen=True, slots=True)
class Draw:
    """A sentence for each word of an association test: for those of X, of Y, and of both sets of attributes."""

    id: str
    sets: tuple[tuple[Place, ...], ...]
    groups: Groups = field(default_factory=dict)

    def texts(self) -> tuple[str, str]:
        x, y = (" ".join(text for text, _ in places) for places in self.sets[:2])
        return x, y

    def words_asked(self) -> list[Place]:
        return [place for places in self.sets for place in places]


def effects(scores: Sequence[Score]) -> tuple[Floats, Floats]:
    """The effect size of each draw and its variance, 1 where it is not kept: these draws count equally."""
    values = [(score.value, score.kept.get(VARIANCE, 1.0)) for score in scores]
    d, v = np.array(values, dtype=np.float64).reshape(-1, 2).T
    return d, v


def between_variance(totals: Floats) -> Floats:
    """The variance between draws by DerSimonian and Laird (1986), of sums of 1, w, w d, w d^2 and w^2, w = 1 / v."""
    n, w, wd, wdd, ww = totals.T
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.maximum(0.0, (wdd - wd**2 / w - (n - 1)) / (w - ww / w)))


@dataclass(frozen=True)
class CombinedEffect(Summary):
    """The mean of the draws' effect sizes by random effects: weights 1 / (v + variance between draws).

    The interval has 95 % of the draws, so it says how far the effect moves with the contexts. It does not narrow with
    more draws, as p does: p is that of the combined effect divided by its standard error, in the normal distribution.
    """

    released: bool = False

    def __call__(self, scores: Sequence[Score]) -> float:
        return self._effect_and_error(scores)[0] if scores else math.nan

    def interval_and_test(self, sample: Sample) -> IntervalAndTest:
        value, error = self._effect_and_error(sample.scores)
        low, high = np.quantile(sample.values, [0.025, 0.975])
        z = (value if self.released else abs(value)) / error
        p = math.erfc(z / math.sqrt(2)) / (2 if self.released else 1)
        return IntervalAndTest(float(low), float(high), p)

    def resampling(self, runs: Sequence[Sequence[Score]], clusters: Sequence[str]) -> Resampled:
        """One cluster, so that a change between two runs gets no interval: it would narrow with more draws."""
        return super().resampling(runs, [""] * len(clusters))

    def _effect_and_error(self, scores: Sequence[Score]) -> tuple[float, float]:
        d, v = effects(scores)
        between = between_variance(Heterogeneity().totals(scores).sum(axis=0)[np.newaxis])[0] if len(d) > 1 else 0.0
        weights = 1 / (v + between)
        return float(weights @ d / weights.sum()), float(1 / np.sqrt(weights.sum()))


class Heterogeneity(OfTotals):
    """The standard deviation of effect sizes between draws."""

    def lacks(self, scores: Sequence[Score]) -> str:
        known = all(VARIANCE in score.kept for score in scores if not math.isnan(score.value))
        return "" if known else "the variance of the associations of each draw is not known"

    def totals(self, scores: Sequence[Score]) -> Floats:
        d, v = effects(scores)
        return np.stack([np.ones_like(d), 1 / v, d / v, d**2 / v, 1 / v**2], axis=1)

    def of(self, totals: Floats) -> Floats:
        return np.asarray(np.sqrt(between_variance(totals)))


@dataclass(frozen=True)
class Ceat(OfVectors):
    """The effect size of an association test, over contexts that are drawn for its words (CEAT).

    Each draw takes one sentence for each word, and d and v are the effect size and the variance of the associations s,
    as in `weat`. The value is the combined effect by random effects, sum of d / (v + t2) / sum of 1 / (v + t2), with t2
    the variance between draws (Guo and Caliskan 2021). Neutral at 0; above it X goes with the first attributes.

    The interval has 95 % of the draws. **p depends on the number of draws**: an effect with p .013 at 1,000 draws
    has p 4e-15 at 10,000. It is two-sided, as in the paper; one-sided as in the released code with
    `formula="released"`. Words are always the same: nothing is said about other words.
    """

    name: ClassVar[str] = "ceat"
    reading: ClassVar[str] = "combined effect size; above 0 words of X are nearer to the first attributes, neutral at 0"
    unit: ClassVar[str] = "standard deviations"
    rank: ClassVar[int] = 0
    items: ClassVar[type] = Draw
    takes_missing: ClassVar[bool] = False

    layer: Layer = -1
    pooling: Pooling = "first"
    formula: Formula = "paper"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_formula(self.formula)

    @property
    def summarise(self) -> Summary:
        return CombinedEffect(self.formula == "released")

    def embed(self, place: Place) -> Embed:
        return Embed(place[0], place[1], self.layer, self.pooling)

    def ask(self, item: Draw) -> tuple[Embed, ...]:  # type: ignore[override]
        """The vector of each word in its sentence."""
        return tuple(map(self.embed, item.words_asked()))

    def score(self, item: Draw, answers: Sequence[Answer]) -> float:
        """The effect size of the draw."""
        x, y, spread = associations(Shared(answers), tuple(map(len, item.sets)))
        return float((x.mean() - y.mean()) / spread)

    def keep(self, item: Draw, answers: Sequence[Answer]) -> Mapping[str, Any]:
        try:
            return {VARIANCE: associations(Shared(answers), tuple(map(len, item.sets)))[2] ** 2}
        except Unscored:  # `score` says why
            return {}


class CeatHeterogeneity(Ceat):
    """How much the effect size of an association test varies between contexts.

    The standard deviation between draws, the square root of t2 in `ceat` (DerSimonian and Laird 1986). A level, with no
    neutral value. Where it is large, a single context says little.
    """

    name: ClassVar[str] = "ceat-heterogeneity"
    neutral: ClassVar[float] = math.nan
    reading: ClassVar[str] = "standard deviation of effect sizes between draws of contexts; 0 is none"
    rank: ClassVar[int] = 1
    better: ClassVar[Better] = "none"
    summarise: ClassVar[Summary] = Heterogeneity()


@lru_cache(maxsize=1)
def associations(answers: Shared, sizes: tuple[int, ...]) -> tuple[Floats, Floats, float]:
    """s of the words of X and of Y, and its standard deviation over both, n - 1 in its denominator."""
    if min(sizes) < FEWEST:
        raise Unscored(f"fewer than {FEWEST} words in a set")
    vectors = np.array([answer.numbers for answer in answers])
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    x, y, a, b = np.split(units, np.cumsum(sizes)[:-1])
    direction = a.mean(axis=0) - b.mean(axis=0)
    spread = float(np.std(np.concatenate([x, y]) @ direction, ddof=1))
    if not spread:
        raise Unscored("the associations of its words do not vary")
    return x @ direction, y @ direction, spread
