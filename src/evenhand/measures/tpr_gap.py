"""Whether a classifier recognises women and men of a class equally often: gaps between true positive rates."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evenhand.core.items import Groups
from evenhand.core.measure import Favours, Unscored
from evenhand.core.questions import Answer, Question
from evenhand.core.scores import OfTotals, Score, Summary, label_of
from evenhand.stats.intervals import Floats

GENDERS = ("female", "male")
LABEL, GENDER = "label", "gender"
"""The groups of an item: the true class of a person, and the person's gender."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """A class that a classifier predicted for a person whose class and gender are known: `label` and `gender`."""

    id: str
    predicted: str
    groups: Groups

    def texts(self) -> tuple[str, str]:
        return f"{self.groups[LABEL]}, predicted: {self.predicted}", ""


class MeanGap(OfTotals):
    """The mean over classes of the rate of women less that of men; classes without women or men are excluded."""

    def totals(self, scores: Sequence[Score]) -> Floats:
        """A count and a sum for each class and gender: 1 and the score for the score's own."""
        classes = {label: place for place, label in enumerate(sorted({label_of(s, LABEL) for s in scores}))}
        table = np.zeros((len(scores), len(classes), len(GENDERS), 2))
        for row, score in enumerate(scores):
            table[row, classes[label_of(score, LABEL)], GENDERS.index(label_of(score, GENDER))] = 1.0, score.value
        return table.reshape(len(scores), -1)

    def of(self, totals: Floats) -> Floats:
        counts, right = np.moveaxis(totals.reshape(len(totals), -1, len(GENDERS), 2), -1, 0)
        known = (counts > 0).all(axis=2)
        with np.errstate(invalid="ignore", divide="ignore"):
            women, men = np.moveaxis(right / counts, 2, 0)
            return self.over_classes(np.where(known, women - men, 0.0), known.sum(axis=1))

    def over_classes(self, gaps: Floats, classes: Floats) -> Floats:
        """The value of gaps, one row for each sample, which are 0 beyond the number of `classes` that are known."""
        return np.asarray(gaps.sum(axis=1) / classes)

    def lacks(self, scores: Sequence[Score]) -> str:
        genders: dict[str, set[str]] = {}
        for score in scores:
            if score.value == score.value:
                genders.setdefault(label_of(score, LABEL), set()).add(label_of(score, GENDER))
        return "" if any(len(some) == len(GENDERS) for some in genders.values()) else "no class has women and men"


class RootMeanSquareGap(MeanGap):
    """The root of the mean square over classes of the same gaps."""

    def over_classes(self, gaps: Floats, classes: Floats) -> Floats:
        return np.asarray(np.sqrt((gaps**2).sum(axis=1) / classes))


@dataclass(frozen=True)
class TprGap:
    """How much more often a classifier is right about women than about men, class by class.

    Gap(y) = P(predicted y | woman of class y) - P(predicted y | man of class y), the gap between true positive rates
    (De-Arteaga et al. 2019). The value is the mean over classes, each with the same weight. Neutral at 0, above it
    women are recognised more often. Opposite gaps of two classes cancel out in the mean: `tpr-gap-rms` has their size.

    It asks no model: predictions are imported from a table (`evenhand import`).
    """

    name: ClassVar[str] = "tpr-gap"
    version: ClassVar[int] = 1
    neutral: ClassVar[float] = 0.0
    reading: ClassVar[str] = "true positive rate of women less that of men, mean over classes; above 0 better for women"
    unit: ClassVar[str] = "proportion"
    bounds: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    favours: ClassVar[Favours] = "none"
    rank: ClassVar[int] = 0
    items: ClassVar[type] = Prediction
    summarise: ClassVar[Summary] = MeanGap()

    def ask(self, item: Prediction) -> tuple[Question, ...]:
        return ()

    def score(self, item: Prediction, answers: Sequence[Answer]) -> float:
        """1 if the prediction is right, 0 if not."""
        if item.groups[GENDER] not in GENDERS:
            raise Unscored(f"the gender is neither {' nor '.join(GENDERS)}")
        return float(item.predicted == item.groups[LABEL])


class TprGapRms(TprGap):
    """How far apart a classifier's true positive rates for women and men are, over all classes.

    The root of the mean square of the gaps of `tpr-gap`, from 0 to 1 (Romanov et al. 2019). 0 is no gap in any class;
    gaps of either sign count, and so does chance: with few people in a class it is above 0 without any bias. So it is
    compared between classifiers on the same people, and not judged.
    """

    name: ClassVar[str] = "tpr-gap-rms"
    reading: ClassVar[str] = "root mean square of the gaps of all classes; 0 is none, chance alone gives more than 0"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    rank: ClassVar[int] = 1
    summarise: ClassVar[Summary] = RootMeanSquareGap()
