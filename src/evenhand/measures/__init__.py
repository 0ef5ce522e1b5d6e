"""Measures by name. One with options of its own is a dataclass; the others inherit theirs."""

import inspect
from typing import Any

from evenhand.core.foreign import foreign
from evenhand.core.measure import Measure, Traits
from evenhand.errors import BadInput, check_known
from evenhand.measures import nli
from evenhand.measures.association import Association
from evenhand.measures.choices import BbqBias, ChoiceAccuracy, ChoiceCoverage, ChoiceGap
from evenhand.measures.decisions import DecisionOdds, DecisionShare
from evenhand.measures.direct_bias import DirectBias, GenderDirection
from evenhand.measures.gest import Gest
from evenhand.measures.likelihood import CrowsPairs, LikelihoodDifference, LikelihoodLean, StereotypeShare
from evenhand.measures.positions import ChoiceFirst, ChoiceTurns
from evenhand.measures.pronoun import GenderAgreement, LogProbabilityBias, Pronoun, PronounLean, SingularThey
from evenhand.measures.ripa import Ripa
from evenhand.measures.seat import ContextualSeat, Seat
from evenhand.measures.stereoset import Icat, LanguageModelingScore, StereotypeScore
from evenhand.measures.unmasked import AllUnmasked, AllUnmaskedByAttention, StereoSetScore
from evenhand.measures.weat import Weat
from evenhand.measures.words import check_words, words_beside
from evenhand.measures.written import FirstMentionNobody, FirstMentionShare, WrittenShare, WrittenUndetected

METHODS = ("ask", "score", "summarise")
MEASURES: dict[str, type[Measure[Any]]] = {
    measure.name: measure
    for measure in (  # of each kind of item, in the order in which they run and are shown
        *(Association, LikelihoodDifference, LikelihoodLean, StereotypeShare, CrowsPairs, AllUnmasked),
        *(AllUnmaskedByAttention, StereoSetScore, Gest, PronounLean, Pronoun, SingularThey, GenderAgreement),
        *(LogProbabilityBias, StereotypeScore, LanguageModelingScore, Icat, BbqBias, ChoiceGap, DecisionOdds),
        *(DecisionShare, ChoiceAccuracy, ChoiceCoverage, ChoiceTurns, ChoiceFirst),
        *(nli.NliCoal, nli.NliCoalWeighted, nli.FractionNeutral, nli.NetNeutral),
        *(nli.FractionEntailment, nli.FractionContradiction),
        *(FirstMentionShare, WrittenShare, FirstMentionNobody, WrittenUndetected),
        *(Weat, Ripa, DirectBias, GenderDirection, Seat, ContextualSeat),
    )
}


OURS = tuple(MEASURES)


def add(measure: type[Measure[Any]]) -> None:
    """Register a measure of your own under its name, so that its runs can be compared."""
    if not isinstance(measure, type):
        raise BadInput(f"A measure is added by its class. Got {measure!r}.")
    if missing := [name for name in ("name", "version", "neutral", "reading", *METHODS) if not hasattr(measure, name)]:
        raise BadInput(f"A measure needs {', '.join(missing)}. {measure.__name__} has none: see docs/extend.md.")
    Traits.of(measure)  # an error where they are of wrong types
    check_words(f"The measure '{measure.name}'", getattr(measure, "words", {}))
    if measure.name in OURS and MEASURES[measure.name] is not measure:
        raise BadInput(f"'{measure.name}' is the name of a measure of evenhand's. Give yours another `name`.")
    MEASURES[measure.name] = measure


def load(name: str, **options: Any) -> Measure[Any]:
    """Create a measure by name, with these options."""
    known = options_of(name)
    check_known(f"option of measure '{name}'", options, known)
    with foreign(f"The measure '{name}' failed", MEASURES[name]):
        return MEASURES[name](**options)


def words_of(name: str) -> dict[str, Any]:
    """The words for a measure, from the .toml file beside its code; those of a user's own are its `words`.

    Empty if the measure is not known.
    """
    return words_beside(MEASURES[name]) if name in OURS else dict(getattr(MEASURES.get(name), "words", {}))


def options_of(name: str) -> list[str]:
    """The names of the options that a measure takes."""
    check_known("measure", [name], MEASURES)
    return list(inspect.signature(MEASURES[name]).parameters)


def defaults_of(measure: Any) -> dict[str, Any]:
    """The values of a measure's options where they are not given."""
    parameters = inspect.signature(type(measure)).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters if parameter.default is not parameter.empty}
