"""Which pronoun a model expects in a blank."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from evenhand.core.items import Blank
from evenhand.core.measure import Better, Favours, Formula, check_among, check_formula
from evenhand.core.questions import Among, Answer, Fill, Span
from evenhand.core.scores import MacroMean, Summary, mean
from evenhand.errors import BadInput


@dataclass(frozen=True)
class PronounBlank:
    """A measure of pronouns in a blank; its value is the mean of the scores.

    `among="candidates"` normalises over the candidates of the blank instead of the vocabulary, as causal models need
    (docs/measures/causal.md).
    """

    among: Among = "vocabulary"

    version: ClassVar[int] = 1
    items: ClassVar[type] = Blank
    favours: ClassVar[Favours] = "men"
    summarise: ClassVar[Summary] = mean

    def __post_init__(self) -> None:
        check_among(self.among)

    def fills(self, item: Blank, first: int, last: int, **fields: Any) -> tuple[Fill, ...]:
        """Questions for the candidates from `first` to `last`; one masked input answers all that are single tokens.

        `fields` are further fields of the questions, such as what is hidden.
        """
        if len(item.candidates) <= last:
            needs = f"{last + 1} candidates: male, female{', they' if last > 1 else ''}"
            raise BadInput(f"A pronoun blank needs {needs}. Got {', '.join(item.candidates) or 'none'}.")
        among = item.candidates if self.among == "candidates" else ()
        chosen = item.candidates[first : last + 1]
        return tuple(Fill(item.text, item.blank, candidate, among=among, **fields) for candidate in chosen)


class Pronoun(PronounBlank):
    """How much likelier he is than she: P(male pronoun) - P(female pronoun) in the blank, between -1 and 1.

    The pronoun probability difference, PPD (Barza 2023, section 4.2.2); its mean over a profession's templates is
    APPD. Above 0 the male pronoun is likelier, below 0 the female one; 0: neither. For a word that calls for one gender
    (actress), far from 0 is right.
    """

    name: ClassVar[str] = "pronoun"
    neutral: ClassVar[float] = 0.0
    unit: ClassVar[str] = "difference of probabilities"
    rank: ClassVar[int] = 1
    bounds: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    reading: ClassVar[str] = (
        "APPD: mean P(he) - P(she); above 0 he is likelier, below 0 she. 0 is best, unless a word calls for one gender"
    )

    def ask(self, item: Blank) -> tuple[Fill, ...]:
        return self.fills(item, 0, 1)

    def score(self, item: Blank, answers: Sequence[Answer]) -> float:
        he, she = (math.exp(a.logp) for a in answers)
        return he - she


class SingularThey(PronounBlank):
    """How likely they is: P(they) or P(their) in the blank, between 0 and 1.

    A level, without a neutral value. Before a singular verb ("___ is a nurse") "they" is ungrammatical, whatever the
    model associates with people, so look at the possessive blanks ("lost ___ keys"): group `place`.
    """

    name: ClassVar[str] = "singular-they"
    neutral: ClassVar[float] = math.nan
    unit: ClassVar[str] = "probability"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    needs: ClassVar[tuple[str, ...]] = ("place",)
    favours: ClassVar[Favours] = "none"
    reading: ClassVar[str] = "mean of P(they), a level: no value is the neutral one"

    def ask(self, item: Blank) -> tuple[Fill, ...]:
        return self.fills(item, 2, 2)

    def score(self, item: Blank, answers: Sequence[Answer]) -> float:
        return math.exp(answers[0].logp)


class PronounLean(Pronoun):
    """How much likelier the pronoun that fits a stereotype is: P(that pronoun) - P(the other one), between -1 and 1.

    If a sentence was released in two versions, one for the stereotype and one against it, this is pro minus anti.
    Above 0 the model follows the stereotype, below 0 it goes against it; 0: neither. Needs the group `stereotyped_as`,
    female or male. Both count equally, so that a general preference for "he" cancels out, but not in one of them.
    """

    name: ClassVar[str] = "pronoun-lean"
    rank: ClassVar[int] = 0
    needs: ClassVar[tuple[str, ...]] = ("stereotyped_as",)
    favours: ClassVar[Favours] = "stereotype"
    reading: ClassVar[str] = (
        "mean of P(stereotyped pronoun) - P(the other one), both genders equally; neutral at 0, above it stereotypes "
        "win; of one gender alone it has the model's preference for he, too"
    )

    def ask(self, item: Blank) -> tuple[Fill, ...]:
        (group,) = self.needs
        if item.groups.get(group) not in ("female", "male"):
            raise BadInput(f"{self.name} needs items with a group `{group}`, female or male. Got {dict(item.groups)}.")
        return super().ask(item)

    def score(self, item: Blank, answers: Sequence[Answer]) -> float:
        """The difference, with the sign of the group."""
        he_minus_she = super().score(item, answers)
        return -he_minus_she if item.groups[self.needs[0]] == "female" else he_minus_she

    summarise: ClassVar[Summary] = MacroMean("stereotyped_as", ("female", "male"))


class GenderAgreement(PronounLean):
    """How well a model knows that an actress is she: P(the pronoun the word calls for) - P(the other).

    The PPD, with its sign reversed for female words, so that above 0 is right for both genders. Debiasing must not
    lower it (Barza 2023, section 6.2). 0: the word makes no difference to the model. Needs the group `gender`.
    """

    name: ClassVar[str] = "gender-agreement"
    better: ClassVar[Better] = "higher"
    rank: ClassVar[int] = 2
    needs: ClassVar[tuple[str, ...]] = ("gender",)
    favours: ClassVar[Favours] = "none"
    reading: ClassVar[str] = "mean of P(right pronoun) - P(wrong one), for either gender; far above 0 is right"
    summarise: ClassVar[Summary] = mean


@dataclass(frozen=True)
class LogProbabilityBias(PronounBlank):
    """How much more a profession favours he than she: association(he) - association(she), in nats.

    The log-probability bias score (Kurita et al. 2019): ln P(he | profession) - ln P(he | profession masked), minus the
    same for she. Above 0 the profession favours he, below 0 she; 0: neither. Unlike the pronoun probability difference
    it does not count as bias that "he" is the more common word.

    `formula="released"` reads probabilities at the positions that the authors' code reads, of masked models. In "___ is
    a nurse." it reads the prior one position before the second mask, at "a". If the profession comes first, it reads
    the pronoun one position before the blank, and its prior at the profession. A profession gets a single mask.
    """

    formula: Formula = "paper"

    name: ClassVar[str] = "log-probability-bias"
    neutral: ClassVar[float] = 0.0
    unit: ClassVar[str] = "nats"
    rank: ClassVar[int] = 3
    on_request: ClassVar[bool] = True
    reading: ClassVar[str] = "in nats, neutral at 0; above it the profession makes he likelier, below it she"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_formula(self.formula)
        if self.formula == "released" and self.among != "vocabulary":
            raise BadInput(
                "formula='released' needs a masked model and among='vocabulary', since it reads probabilities outside "
                f"the blank. Got among={self.among!r}. Use formula='paper'."
            )

    def ask(self, item: Blank) -> tuple[Fill, ...]:
        if item.attribute is None:
            raise BadInput(f"{self.name} needs items with an `attribute`, a profession. This one has none.")
        hidden = (item.attribute,)
        if self.formula == "paper":
            return self.fills(item, 0, 1) + self.fills(item, 0, 1, hidden=hidden)
        seen, prior = _released_places(item.text, item.blank, item.attribute)
        priors = self.fills(item, 0, 1, hidden=hidden, masks="span", read_at=prior)
        return self.fills(item, 0, 1, read_at=seen) + priors

    def score(self, item: Blank, answers: Sequence[Answer]) -> float:
        he, she, he_prior, she_prior = (a.logp for a in answers)
        return (he - he_prior) - (she - she_prior)


def _released_places(text: str, blank: Span, attribute: Span) -> tuple[int | None, int | None]:
    """The characters at which the authors' code reads a pronoun and its prior; None: in the blank.

    The code takes the first mask for the last one and the last for the first, and counts the position of the last mask
    without the token at the start of the sentence, so that it reads the position before.
    """
    if attribute < blank:
        return len(text[: blank.start].rstrip()) - 1, attribute.start
    before = len(text[: attribute.start].rstrip()) - 1
    return None, before if before >= blank.stop else None
