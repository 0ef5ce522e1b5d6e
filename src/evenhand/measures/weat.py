"""Association tests on vectors of words and of sentences: WEAT, SEAT, C-SEAT."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from evenhand.core.dataset import Estimand, Kinds
from evenhand.core.items import SIDES, Place, Target, TargetSentence
from evenhand.core.measure import Favours, Formula, Unscored, check_formula
from evenhand.core.questions import Answer, Embed, Layer, Pooling
from evenhand.core.scores import MacroMean, Mean, OfTotals, Sample, Score, Summary, label_of, mean
from evenhand.errors import BadInput, check_known
from evenhand.stats.intervals import Floats
from evenhand.stats.mean_intervals import IntervalAndTest
from evenhand.stats.partitions import TwoSets, effect_sizes, mean_effect_interval, partition_test

FEWEST = 4
"""The fewest words with vectors in a set: with fewer there is no effect size."""


ORDERS = {"euclidean": 2, "manhattan": 1}
"""The order of the norm of a difference, by the name of the distance."""


class TowardsSecond(MacroMean):
    """How much nearer the words of both sets are to the second attributes, women's, than to the first, men's."""

    def numbers(self, values: Floats) -> Floats:
        return -values

    def lacks(self, scores: Sequence[Score]) -> str:
        return EffectSize().lacks(scores)


@dataclass(frozen=True)
class EffectSize(OfTotals):
    """The effect size of X against Y; if the group `test` names several tests, the mean of their effect sizes.

    The interval resamples target words, those of X and of Y separately; attributes are fixed. The test is
    stats.partitions.partition_test, over words; with `released`, one-sided and over sentences, as published.
    """

    released: bool = False
    why_none: ClassVar[str] = "the associations of its words do not vary"

    def estimands(self, kinds: Kinds) -> Mapping[Estimand, Summary]:
        """The effect size is the stereotype; the default, not judged, is the mean association of both sets.

        Like every default, it is above 0 for women: the second attributes are women's words.
        """
        if (kinds.group, kinds.female, kinds.male) != ("side", ("Y",), ("X",)):
            wanted = 'Kinds("side", female=("Y",), male=("X",)): X is the set that goes with the first attributes'
            raise BadInput(f"The kinds of an association test must be {wanted}. Got {kinds}.")
        return {"stereotype": self, "default": TowardsSecond("side", SIDES)}

    def lacks(self, scores: Sequence[Score]) -> str:
        words: dict[tuple[str, str], set[str]] = {
            (test, side): set() for test in map(_test_name, scores) for side in SIDES
        }
        for score in scores:
            if not math.isnan(score.value):
                words[_test_name(score), label_of(score, "side")].add(score.groups.get("word", score.id))
        for test in dict.fromkeys(test for test, _ in words):
            if both := words[test, "X"] & words[test, "Y"]:
                return f"'{min(both)}' is in both sets, X and Y"
        few = [f"{side}{f' of {test}' if test else ''}" for (test, side), some in words.items() if len(some) < FEWEST]
        return f"fewer than {FEWEST} words in set {', '.join(few)}" if few else ""

    def totals(self, scores: Sequence[Score]) -> Floats:
        """Count, sum and sum of squares, in separate columns for each side of each test."""
        tests, means = sorted(set(map(_test_name, scores))), _means(scores)
        table = np.zeros((len(scores), len(tests), len(SIDES), 3))
        for row, score in enumerate(scores):
            place = row, tests.index(_test_name(score)), SIDES.index(label_of(score, "side"))
            table[place] = _moments(score.value - means[_test_name(score)])
        return table.reshape(len(scores), -1)

    def of(self, totals: Floats) -> Floats:
        x, y = np.moveaxis(totals.reshape(len(totals), -1, len(SIDES), 3), 2, 0)
        mean: Floats = effect_sizes(x, y).mean(axis=1)
        return mean

    def interval_and_test(self, sample: Sample) -> IntervalAndTest:
        tests = self._two_sets(sample, sample.clusters)
        value = self(sample.scores)
        if math.isnan(value):
            return IntervalAndTest(math.nan, math.nan, math.nan)
        low, high = mean_effect_interval(tests, value, sample.rng)
        if math.isnan(sample.neutral):
            return IntervalAndTest(low, high, math.nan)
        sentences = [score.id.removeprefix(f"{_test_name(score)}/") for score in sample.scores]
        units = sentences if self.released else sample.clusters
        p = partition_test(self._two_sets(sample, units), sample.rng, one_sided=self.released)
        return IntervalAndTest(low, high, p)

    def _two_sets(self, sample: Sample, names: Sequence[str]) -> list[TwoSets]:
        """The units of each test, by side."""
        tests: dict[str, dict[tuple[str, str], Floats]] = {}
        means = _means(sample.scores)
        for score, unit in zip(sample.scores, names, strict=True):
            totals = tests.setdefault(_test_name(score), {}).setdefault((label_of(score, "side"), unit), np.zeros(3))
            totals += _moments(score.value - means[_test_name(score)])
        return [
            TwoSets(np.array(list(units.values())), [side == "X" for side, _ in units], [unit for _, unit in units])
            for units in tests.values()
        ]


def _test_name(score: Score) -> str:
    return score.groups.get("test", "")


def _means(scores: Sequence[Score]) -> dict[str, float]:
    """The mean score of each test, to be subtracted: squares of scores that differ little would lose their digits."""
    by_test: dict[str, list[float]] = {}
    for score in scores:
        by_test.setdefault(_test_name(score), []).append(score.value)
    return {test: math.fsum(values) / len(values) for test, values in by_test.items()}


def _moments(value: float) -> tuple[float, float, float]:
    return 1.0, value, value**2


@dataclass(frozen=True)
class OfVectors:
    """The base of measures of word vectors, which exclude attributes without a vector."""

    version: ClassVar[int] = 1
    neutral: ClassVar[float] = 0.0
    items: ClassVar[type] = Target
    favours: ClassVar[Favours] = "none"
    takes_missing: ClassVar[bool] = True

    layer: Layer = "input"

    def __post_init__(self) -> None:
        if re.fullmatch("-?[0-9]+", str(self.layer)):  # the command line passes a string
            object.__setattr__(self, "layer", int(self.layer))

    def embed(self, place: Place) -> Embed:
        """The question for the vector of a word: the mean over its tokens."""
        return Embed(place[0], place[1], self.layer, "mean")

    def ask(self, item: Target) -> tuple[Embed, ...]:
        """The vector of the word, then those of the attributes."""
        return tuple(self.embed(place) for place in (item.place, *item.attributes[0], *item.attributes[1]))


@dataclass(frozen=True)
class Weat(OfVectors):
    """Whether words of set X are nearer to the first attributes than those of set Y, as an effect size.

    s(w) = mean over a in A of cos(w, a) - mean over b in B of cos(w, b) for each word w of X and Y, and the effect size
    d = (mean of s over X - mean of s over Y) / standard deviation of s over both, n - 1 in its denominator (Caliskan et
    al. 2017). Neutral at 0; above it X goes with A, in our datasets men's words, and Y with B, women's.

    Words without a vector are excluded: a missing attribute is in no mean, and partitions of the test have the sizes
    of the sets that are left, which may differ. There is no value with fewer than 4 words in a set.

    A language model gives the mean over the word's tokens in its embedding table, or in another `layer`, where the word
    by itself is the text. `formula="released"`: p is one-sided, of a value at least as far above 0. `distance` is
    "euclidean" or "manhattan" to take minus that distance instead of the cosine (as in Azarpanah and Farhadi 2021).
    """

    name: ClassVar[str] = "weat"
    reading: ClassVar[str] = "effect size; above 0 the words of X are nearer to the first attributes, neutral at 0"
    unit: ClassVar[str] = "standard deviations"
    rank: ClassVar[int] = 0

    formula: Formula = "paper"
    distance: str = "cosine"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_formula(self.formula)
        check_known("value of distance", [self.distance], ("cosine", *ORDERS))

    @property
    def summarise(self) -> Summary:
        return EffectSize(self.formula == "released")

    def score(self, item: Target, answers: Sequence[Answer]) -> float:
        """s(w) of the word."""
        word, *rest = answers
        if word.note:
            raise Unscored(word.note)
        vector, size = np.array(word.numbers), len(item.attributes[0])
        parts = [Shared(part) for part in (rest[:size], rest[size:])]
        if order := ORDERS.get(self.distance):
            first, second = (np.linalg.norm(known_vectors(p) - vector, order, axis=1).mean() for p in parts)
            return float(second - first)
        return float((mean_direction(parts[0]) - mean_direction(parts[1])) @ vector / np.linalg.norm(vector))


class Shared(tuple[Answer, ...]):
    """Answers that many items share, compared by identity: comparing thousands of numbers would take longer."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(tuple(map(id, self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shared) and list(map(id, self)) == list(map(id, other))


@lru_cache(maxsize=4)
def known_vectors(answers: Shared) -> Floats:
    """The attributes' vectors, without missing ones."""
    vectors = np.array([answer.numbers for answer in answers if not answer.note])
    if len(vectors) < FEWEST:
        raise Unscored(f"fewer than {FEWEST} attributes with vectors")
    return vectors


@lru_cache(maxsize=4)
def mean_direction(answers: Shared) -> Floats:
    """The mean of the attributes' unit vectors: times a unit vector it is the mean cosine."""
    mean: Floats = unit_vectors(answers).mean(axis=0)
    return mean


def unit_vectors(answers: Shared) -> Floats:
    """The same at length 1."""
    vectors = known_vectors(answers)
    units: Floats = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return units


@dataclass(frozen=True)
class Neighbours(OfVectors):
    """The share of a word's nearest neighbours that a stereotype gives to men, among words of stereotypes.

    Of the k attributes that are nearest by cosine, the share of the first set, if both sets had equally many words with
    vectors (Gonen and Goldberg 2019). Neutral at 0.5. The attributes must be words that a stereotype gives to men and
    to women, such as jobs, and not he and she: where a direction was removed from vectors, those show nothing, but
    words of one stereotype still keep together.
    """

    name: ClassVar[str] = "bias-by-neighbours"
    neutral: ClassVar[float] = 0.5
    reading: ClassVar[str] = "share of the k nearest attributes that are of the first set; neutral at 0.5"
    unit: ClassVar[str] = "proportion"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    favours: ClassVar[Favours] = "men"
    on_request: ClassVar[bool] = True
    rank: ClassVar[int] = 2
    summarise: ClassVar[Mean] = mean

    k: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        if not re.fullmatch("[1-9][0-9]{0,8}", str(self.k)):
            raise BadInput(f"`k`, the number of neighbours, must be a whole number of at least 1. Got {self.k!r}.")
        object.__setattr__(self, "k", int(self.k))

    def score(self, item: Target, answers: Sequence[Answer]) -> float:
        word, *rest = answers
        if word.note:
            raise Unscored(word.note)
        size = len(item.attributes[0])
        first, second = (unit_vectors(Shared(part)) for part in (rest[:size], rest[size:]))
        if self.k >= len(first) + len(second):
            raise Unscored(f"no more than {self.k} attributes with vectors")
        nearest = np.argsort(-(np.concatenate([first, second]) @ np.array(word.numbers)), kind="stable")[: self.k]
        men = np.count_nonzero(nearest < len(first))
        shares = men / len(first), (self.k - men) / len(second)
        return shares[0] / sum(shares)


@dataclass(frozen=True)
class Seat(Weat):
    """Whether sentences about words of X are nearer to sentences about the first attributes, as an effect size.

    `weat` with the vectors of sentences such as "This is a nurse" (May et al. 2019): the last layer at the first token,
    BERT's [CLS], or by `pooling` the last token, the default of causal models, or the mean. Sentences of one word are
    not independent, so interval and test are over words; `formula="released"` partitions sentences, one-sided.
    """

    name: ClassVar[str] = "seat"
    reading: ClassVar[str] = "effect size; above 0 sentences about X are nearer to the first attributes, neutral at 0"
    items: ClassVar[type] = TargetSentence

    layer: Layer = -1
    pooling: Pooling = "first"

    def embed(self, place: Place) -> Embed:
        return Embed(place[0], None, self.layer, self.pooling)


@dataclass(frozen=True)
class ContextualSeat(Seat):
    """Whether words of X are nearer to the first attributes, each word in its sentence, as an effect size.

    `seat` with the vector of the word itself in its sentence, by `pooling` of its first token, its last, or the mean
    over all (C-SEAT; Tan and Celis 2019).
    """

    name: ClassVar[str] = "c-seat"
    reading: ClassVar[str] = "effect size; above 0 words of X, in sentences, are nearer to the first attributes"
    rank: ClassVar[int] = 1

    def embed(self, place: Place) -> Embed:
        return Embed(place[0], place[1], self.layer, self.pooling)
