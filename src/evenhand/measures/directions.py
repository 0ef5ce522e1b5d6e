"""How far the vectors of words reach from women's words to men's: RIPA, direct bias and the gender direction itself."""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np

from evenhand.core.items import Place, Target
from evenhand.core.measure import Better, Favours, Unscored
from evenhand.core.questions import Answer, Embed
from evenhand.core.scores import Mean, Score, Summary, mean, mean_size
from evenhand.errors import BadInput, check_known
from evenhand.measures.weat import OfVectors, Shared
from evenhand.stats.intervals import Floats, Resampled

Direction = Literal["component", "mean"]
DIRECTIONS: tuple[Direction, ...] = ("component", "mean")


@dataclass(frozen=True)
class Ripa(OfVectors):
    """How far words reach in the direction from women's words to men's, by pairs of such words.

    RIPA(w) = w . b, where w keeps its length, and b is the first principal component of the differences a - b of the
    pairs (a, b), at length 1 and pointing to men's words (relational inner product association; Ethayarajh, Duvenaud
    and Hirst 2019). As in the paper, differences are not centred: with one pair, b is its difference. With
    `direction="mean"` it is the mean over the pairs of the projections onto their own differences, as in WEFE.

    The attributes are pairs by position, (he, she); `pair` names one of them, as in "he-she". Neutral at 0, above it
    nearer to men's words. Its size depends on the length of the model's vectors: compare models by their sign.
    """

    name: ClassVar[str] = "ripa"
    version: ClassVar[int] = 2
    reading: ClassVar[str] = (
        "projection onto a direction from women's words to men's; above 0 towards men, neutral at 0"
    )
    unit: ClassVar[str] = "units of length"
    favours: ClassVar[Favours] = "men"
    on_request: ClassVar[bool] = True
    rank: ClassVar[int] = 1
    summarise: ClassVar[Mean] = mean

    pair: str = ""
    direction: Direction = "component"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_known("value of direction", [self.direction], DIRECTIONS)

    def ask(self, item: Target) -> tuple[Embed, ...]:
        """The vector of the word, then those of the two words of each pair."""
        return tuple(map(self.embed, (item.place, *places_of_pairs(item, self.name, self.pair))))

    def score(self, item: Target, answers: Sequence[Answer]) -> float:
        if answers[0].note:
            raise Unscored(answers[0].note)
        return float((relation_vectors(Shared(answers[1:]), self.direction) @ np.array(answers[0].numbers)).mean())


def places_of_pairs(item: Target, measure: str, name: str = "") -> list[Place]:
    """The attributes of an item, the two words of each pair in turn; with `name`, only those of this pair."""
    if not item.paired:
        raise BadInput(f"'{measure}' needs attributes that are pairs of a man's and a woman's word. Use weat.")
    pairs = [("-".join(span.of(text) for text, span in pair), pair) for pair in zip(*item.attributes, strict=True)]
    if name:
        check_known("pair of attributes", [name], dict(pairs))
    return [place for known, pair in pairs if name in ("", known) for place in pair]


@lru_cache(maxsize=4)
def relation_vectors(answers: Shared, direction: Direction) -> Floats:
    """The difference of each pair at length 1, or only their first principal component."""
    men, women = pair_vectors(answers)
    lengths = np.linalg.norm(men - women, axis=1, keepdims=True)
    if not lengths.all():
        raise Unscored("two words of a pair have the same vector")
    return (men - women) / lengths if direction == "mean" else first_component(men - women)[0][np.newaxis]


def pair_vectors(answers: Shared) -> Floats:
    """The vectors of the men's words and of the women's, without pairs of which one is missing."""
    both = zip(answers[::2], answers[1::2], strict=True)
    vectors = [(a.numbers, b.numbers) for a, b in both if not (a.note or b.note)]
    if not vectors:
        raise Unscored("no pair of which both words have a vector")
    return np.array(vectors).swapaxes(0, 1)


def first_component(differences: Floats) -> tuple[Floats, float]:
    """The first principal component, not centred, pointing where most differences do, and its share of the variance."""
    _, sizes, directions = np.linalg.svd(differences, full_matrices=False)
    direction: Floats = directions[0] * (1 if (differences @ directions[0]).sum() >= 0 else -1)
    return direction, float(sizes[0] ** 2 / (sizes**2).sum())


class OneNumber(Summary):
    """A value that is the same for every item, and has neither an interval nor a test."""

    def __call__(self, scores: Sequence[Score]) -> float:
        return scores[0].value if scores else math.nan

    def resampling(self, runs: Sequence[Sequence[Score]], clusters: Sequence[str]) -> Resampled:
        return super().resampling(runs, [""] * len(clusters))


@dataclass(frozen=True)
class DirectBias(OfVectors):
    """How much of the gender direction words have that should have none.

    DB = mean over words w of |cos(w, g)|^c. g is the first principal component of pairs such as (he, she), all vectors
    at length 1 and each pair centred on its mean (Bolukbasi et al. 2016). The score of a word keeps the sign, above 0
    nearer to men's words. No word is exactly neutral, so the value is compared between models and not judged. How much
    of the pairs' variance g explains is `gender-direction`: if that is little, there is no gender direction.
    """

    name: ClassVar[str] = "direct-bias"
    reading: ClassVar[str] = "mean |cosine| with the gender direction, from 0 to 1; compared, not judged"
    unit: ClassVar[str] = "cosine"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    on_request: ClassVar[bool] = True
    summarise: ClassVar[Summary] = mean_size

    c: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        with suppress(ValueError, TypeError):
            object.__setattr__(self, "c", float(self.c))
        if not isinstance(self.c, float) or not 0 < self.c < math.inf:
            raise BadInput(f"`c` is the power that cosines are raised to, and must be above 0. Got {self.c!r}.")

    def ask(self, item: Target) -> tuple[Embed, ...]:
        """The vector of the word, then those of the two words of each pair."""
        return tuple(map(self.embed, (item.place, *places_of_pairs(item, self.name))))

    def score(self, item: Target, answers: Sequence[Answer]) -> float:
        if answers[0].note:
            raise Unscored(answers[0].note)
        vector = np.array(answers[0].numbers)
        cosine = float(gender_direction(Shared(answers[1:]))[0] @ vector / np.linalg.norm(vector))
        return float(np.sign(cosine) * abs(cosine) ** self.c)


@dataclass(frozen=True)
class GenderDirection(DirectBias):
    """How much of the variance between men's and women's words a single direction explains.

    The share of the first principal component of the pairs, each centred on its mean (Bolukbasi et al. 2016). Near 1
    the pairs differ in one direction, and `direct-bias` is meaningful. A level, with no neutral value; it is the same
    for every word.
    """

    name: ClassVar[str] = "gender-direction"
    neutral: ClassVar[float] = float("nan")
    reading: ClassVar[str] = "share of the variance of men's and women's words in one direction, from 0 to 1"
    unit: ClassVar[str] = "proportion"
    better: ClassVar[Better] = "none"
    summarise: ClassVar[Summary] = OneNumber()

    def score(self, item: Target, answers: Sequence[Answer]) -> float:
        return gender_direction(Shared(answers[1:]))[1]


@lru_cache(maxsize=4)
def gender_direction(answers: Shared) -> tuple[Floats, float]:
    """The first principal component of centred pairs, from women's words to men's, and its share of the variance.

    Centred on its mean, a pair is plus and minus half its difference.
    """
    vectors = pair_vectors(answers)
    men, women = vectors / np.linalg.norm(vectors, axis=2, keepdims=True)
    if not np.any(men - women):
        raise Unscored("all pairs have two words of the same vector")
    return first_component(men - women)
