"""Association tests on sentences that say nothing but a word, and on the word within them: SEAT and C-SEAT."""

from dataclasses import dataclass
from typing import ClassVar

from evenhand.core.items import Place, TargetSentence
from evenhand.core.questions import Embed, Layer, Pooling
from evenhand.measures.weat import Weat


@dataclass(frozen=True)
class Seat(Weat):
    """Whether sentences about words of X are nearer to sentences about the first attributes, as an effect size.

    `weat` with the vectors of sentences such as "This is a nurse" (May et al. 2019): the last layer at the first token,
    which is BERT's [CLS], or `pooling` by the last token, the default of causal models, or their mean. Sentences of one
    word are not independent: interval and test are over words; `formula="released"` partitions sentences, one-sided.
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
