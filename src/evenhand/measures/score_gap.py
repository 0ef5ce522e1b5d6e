"""Whether a classifier scores the same sentence higher for a woman than for a man, such as its sentiment."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import ClassVar

from evenhand.core.items import Groups
from evenhand.core.measure import Favours, Unscored
from evenhand.core.questions import Answer, Question
from evenhand.core.scores import Mean, mean


@dataclass(frozen=True, slots=True)
class Frame:
    """A sentence but for its person, with its scores where this is a woman, and where it is a man."""

    id: str
    women: tuple[float, ...]
    men: tuple[float, ...]
    groups: Groups = field(default_factory=dict)

    def texts(self) -> tuple[str, str]:
        return self.id, ""


@dataclass(frozen=True)
class ScoreGap:
    """How much higher a classifier scores sentences about women than the same sentences about men.

    For each sentence the mean of its scores with women's names and words, less that with men's, and the mean of these
    differences over sentences (Kiritchenko and Mohammad 2018). Neutral at 0, above it women's sentences score higher.
    The scale is the classifier's. Interval and test are over sentences, with the same names and words.

    It asks no model: scores are imported from a table (`evenhand import`).
    """

    name: ClassVar[str] = "score-gap"
    version: ClassVar[int] = 1
    neutral: ClassVar[float] = 0.0
    reading: ClassVar[str] = "mean score of sentences about women less that of men's; above 0 women's score higher"
    unit: ClassVar[str] = "the classifier's scale"
    favours: ClassVar[Favours] = "none"
    rank: ClassVar[int] = 0
    items: ClassVar[type] = Frame
    summarise: ClassVar[Mean] = mean

    def ask(self, item: Frame) -> tuple[Question, ...]:
        return ()

    def score(self, item: Frame, answers: Sequence[Answer]) -> float:
        if not item.women or not item.men:
            raise Unscored("no sentence with a woman, or none with a man")
        return fmean(item.women) - fmean(item.men)
