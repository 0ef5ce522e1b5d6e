"""How far words lie in the direction between a man's word and a woman's: RIPA (Ethayarajh et al. 2019)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evenhand.core.items import Place, Target
from evenhand.core.measure import Favours, Unscored
from evenhand.core.questions import Answer, Embed
from evenhand.core.summary import Mean, mean
from evenhand.errors import BadInput
from evenhand.measures.weat import OfVectors
from evenhand.stats.intervals import Floats


@dataclass(frozen=True)
class Ripa(OfVectors):
    """How far words reach in the direction from a woman's word to a man's, the mean over pairs of such words.

    RIPA(w; a, b) = w . (a - b) / |a - b|, where w keeps its length (relational inner product association; Ethayarajh et
    al. 2019). The attributes are pairs by position, (he, she); `pair` names one of them, as in "he-she". Neutral at 0,
    above it nearer to men's words. Its size depends on the length of the model's vectors: compare models by their sign.
    """

    name: ClassVar[str] = "ripa"
    reading: ClassVar[str] = "mean projection onto (man's word - woman's word); above 0 nearer to men's, neutral at 0"
    unit: ClassVar[str] = "units of length"
    favours: ClassVar[Favours] = "men"
    on_request: ClassVar[bool] = True
    rank: ClassVar[int] = 1
    summarise: ClassVar[Mean] = mean

    pair: str = ""

    def ask(self, item: Target) -> tuple[Embed, ...]:
        """The vector of the word, then those of the two words of each pair."""
        chosen = [place for pair in pairs_of(item, self.name, self.pair) for place in pair]
        return tuple(map(self.embed, (item.place, *chosen)))

    def score(self, item: Target, answers: Sequence[Answer]) -> float:
        if answers[0].note:
            raise Unscored(answers[0].note)
        directions = pair_differences(answers[1:])
        lengths = np.linalg.norm(directions, axis=1)
        if not lengths.all():
            raise Unscored("two words of a pair have the same vector")
        return float((directions @ np.array(answers[0].numbers) / lengths).mean())


def pairs_of(item: Target, measure: str, name: str = "") -> list[tuple[Place, Place]]:
    """The attributes of an item as pairs, or the pair of that name; an error where they are none."""
    if not item.paired:
        wanted = "attributes that are pairs of a man's and a woman's word"
        raise BadInput(f"'{measure}' needs {wanted}. Those of '{item.id}' are not: use `weat`.")
    pairs = [("-".join(span.of(text) for text, span in pair), pair) for pair in zip(*item.attributes, strict=True)]
    if name and name not in (names := dict(pairs)):
        raise BadInput(f"There is no pair '{name}' among the attributes. Pairs: {', '.join(names)}.")
    return [pair for known, pair in pairs if name in ("", known)]


def pair_differences(answers: Sequence[Answer]) -> Floats:
    """The difference of the two vectors of each pair, without pairs of which one is missing."""
    both = zip(answers[::2], answers[1::2], strict=True)
    differences = [np.array(a.numbers) - np.array(b.numbers) for a, b in both if not (a.note or b.note)]
    if not differences:
        raise Unscored("no pair of which both words have a vector")
    return np.array(differences)
