"""Association of a target word with an attribute."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from evenhand.core.items import Sentence
from evenhand.core.measure import check_among
from evenhand.core.questions import MASKS, Among, Answer, Fill, Masks
from evenhand.core.scores import Summary, mean
from evenhand.errors import BadInput, check_known


@dataclass(frozen=True)
class Association:
    """How much likelier the attribute makes the target: ln P(target | attribute) - ln P(target), in nats.

    The first probability is read with the target masked, the second, its prior, with the attribute masked as well
    (Kurita et al. 2019; Bartl, Nissim and Gatt 2020, section 4.2). Above 0: the attribute makes the target likelier;
    0: it makes no difference. Only the target word is masked, its determiner stays.

    `masks="pieces"` (default) masks a profession with one mask per token, as the paper's text says; `masks="words"`
    with one per word, as its released corpus does.

    `among="candidates"` normalises each probability over the dataset's person words, with their determiners, instead of
    the vocabulary, as causal models need (docs/measures/causal.md).
    """

    masks: Masks = "pieces"
    among: Among = "vocabulary"

    name: ClassVar[str] = "association"
    version: ClassVar[int] = 1
    neutral: ClassVar[float] = 0.0
    unit: ClassVar[str] = "nats"
    rank: ClassVar[int] = 1
    items: ClassVar[type] = Sentence
    answers: ClassVar[tuple[str, ...]] = ("target", "prior")
    reading: ClassVar[str] = "in nats, neutral at 0; above it the attribute makes the target likelier"

    def __post_init__(self) -> None:
        check_known("value of masks", [self.masks], MASKS)
        check_among(self.among)

    def ask(self, item: Sentence) -> tuple[Fill, Fill]:
        """The target given the attribute, and the target with the attribute masked."""
        place = item.target
        candidates: tuple[str, ...] = ()
        if self.among == "candidates":
            if item.phrase is None or not item.candidates:
                needs = "the person words that could replace the target: `phrase` and `candidates` of the item"
                raise BadInput(f"With among='candidates' {self.name} needs {needs}. This one lacks them.")
            place, candidates = item.phrase, item.candidates
        word = place.of(item.text)
        seen = Fill(item.text, place, word, among=candidates)
        prior = Fill(item.text, place, word, hidden=(item.attribute,), masks=self.masks, among=candidates)
        return seen, prior

    def score(self, item: Sentence, answers: Sequence[Answer]) -> float:
        seen, prior = answers
        return seen.logp - prior.logp

    def prior(self, answers: Sequence[Answer]) -> float:
        """The log-probability of the target with the attribute hidden."""
        return answers[1].logp

    summarise: ClassVar[Summary] = mean
