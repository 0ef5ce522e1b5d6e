"""Hard debiasing of word vectors: words lose their gender, and partners such as he and she differ in nothing else."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from evenhand.core.model import Model, ask, kind_of
from evenhand.core.questions import Answer, Embed, Question
from evenhand.datasets.gendered import words_of
from evenhand.errors import BadInput, UnfitModel
from evenhand.measures.directions import gender_direction
from evenhand.measures.weat import Shared
from evenhand.mitigation.base import Mitigation, Wrapper
from evenhand.stats.intervals import Floats

PAIRS = (
    *(("he", "she"), ("his", "her"), ("man", "woman"), ("John", "Mary"), ("himself", "herself"), ("son", "daughter")),
    *(("father", "mother"), ("guy", "gal"), ("boy", "girl"), ("male", "female")),
)
"""The ten pairs that define the gender direction in Bolukbasi et al. 2016."""


@dataclass(frozen=True)
class HardDebias(Mitigation):
    """Take the gender direction out of a file's word vectors (Bolukbasi et al. 2016, neutralise and equalise).

    The direction is the first component of the `pairs`. All words but those of `specific` lose their part in it. Both
    words of a pair of `equalize`, in small letters, capitalised and in capitals, then lie at opposite ends of it and
    are alike in all else. By default `specific` has our gendered words, and `equalize` the same `pairs`.
    """

    name: ClassVar[str] = "hard-debias"

    pairs: tuple[tuple[str, str], ...] = PAIRS
    equalize: tuple[tuple[str, str], ...] = ()
    specific: tuple[str, ...] = ()

    def check(self, model: Model) -> None:
        if kind_of(model) != "vectors":
            raise UnfitModel(f"'{self.name}' is for files of word vectors. Got a model of kind '{kind_of(model)}'.")

    def apply(self, model: Model, texts: Sequence[str], out: Path) -> Model:
        return WithoutDirection(model, self)


class WithoutDirection(Wrapper):
    """Word vectors without a gender direction."""

    method: HardDebias

    def __init__(self, model: Model, method: HardDebias) -> None:
        super().__init__(model, method)
        answers = ask(model, [Embed(word) for pair in method.pairs for word in pair])
        if all(a.note or b.note for a, b in zip(answers[::2], answers[1::2], strict=True)):
            raise BadInput(f"'{model.name}' has no pair of words such as he and she, which define the direction.")
        self.direction: Floats = gender_direction(Shared(answers))[0]
        self.specific = {*(method.specific or (*words_of("female"), *words_of("male")))}
        cases = (str.lower, str.title, str.upper)
        both = [tuple(map(case, pair)) for pair in method.equalize or method.pairs for case in cases]
        self.partners = {word: (pair[0], pair[1]) for pair in both for word in pair}

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        words = [question.target if isinstance(question, Embed) else "" for question in questions]
        partners = [word for one in words for word in self.partners.get(one, ())]
        known = dict(zip(partners, ask(self.model, [Embed(word) for word in partners]), strict=True))
        return [
            answer if answer.note else Answer(tuple(self._vector(word, answer, known).tolist()))
            for word, answer in zip(words, self.model.answer(questions), strict=True)
        ]

    def _vector(self, word: str, answer: Answer, known: dict[str, Answer]) -> Floats:
        pair = self.partners.get(word, ())
        if not pair or any(known[one].note for one in pair):
            return self._neutral(word, answer)
        first, second = (self._neutral(one, known[one]) for one in pair)
        shared = self._without((first + second) / 2)
        ends = (_unit(known[one]) for one in pair)  # a neutral word is at neither end
        towards = [end @ self.direction for end in ends]
        reach = math.sqrt(max(0.0, 1 - float(shared @ shared))) * (1 if towards[0] >= towards[1] else -1)
        vector: Floats = shared + (reach if word == pair[0] else -reach) * self.direction
        return vector

    def _neutral(self, word: str, answer: Answer) -> Floats:
        """The vector at length 1, without its part in the direction unless the word is gendered itself."""
        unit = _unit(answer)
        if word in self.specific:
            return unit
        rest = self._without(unit)
        return rest / np.linalg.norm(rest)

    def _without(self, vector: Floats) -> Floats:
        rest: Floats = vector - (vector @ self.direction) * self.direction
        return rest


def _unit(answer: Answer) -> Floats:
    vector = np.array(answer.numbers)
    unit: Floats = vector / np.linalg.norm(vector)
    return unit
