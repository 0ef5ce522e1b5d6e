"""Measures by name, and the words for them. A measure that adds options is a dataclass; others inherit options."""

import inspect
import math
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from string import Formatter
from typing import Any, Literal

from evenhand.core.foreign import foreign
from evenhand.core.measure import Measure, Traits
from evenhand.core.typed import check_types
from evenhand.errors import BadInput, check_known
from evenhand.measures import likelihood, nli
from evenhand.measures.association import Association
from evenhand.measures.ceat import Ceat, CeatHeterogeneity
from evenhand.measures.choices import (
    BbqBias,
    ChoiceAccuracy,
    ChoiceCoverage,
    ChoiceFirst,
    ChoiceGap,
    ChoiceTurns,
    DecisionOdds,
    DecisionShare,
)
from evenhand.measures.directions import DirectBias, GenderDirection, Ripa
from evenhand.measures.gest import Gest
from evenhand.measures.pronoun import GenderAgreement, LogProbabilityBias, Pronoun, PronounLean, SingularThey
from evenhand.measures.score_gap import ScoreGap
from evenhand.measures.stereoset import Icat, LanguageModelingScore, StereotypeScore
from evenhand.measures.tpr_gap import TprGap, TprGapRms
from evenhand.measures.weat import ContextualSeat, Neighbours, Seat, Weat
from evenhand.measures.written import FirstMentionNobody, FirstMentionShare, WrittenShare, WrittenUndetected

METHODS = ("ask", "score", "summarise")
MEASURES: dict[str, type[Measure[Any]]] = {
    measure.name: measure
    for measure in (  # by type of item, in the order in which they run and are shown
        *(Association, likelihood.LikelihoodDifference, likelihood.LikelihoodLean, likelihood.StereotypeShare),
        *(likelihood.CrowsPairs, likelihood.AllUnmasked, likelihood.AllUnmaskedByAttention, likelihood.StereoSetScore),
        *(Gest, PronounLean, Pronoun, SingularThey, GenderAgreement, LogProbabilityBias, StereotypeScore),
        *(LanguageModelingScore, Icat, BbqBias, ChoiceGap, DecisionOdds, DecisionShare, ChoiceAccuracy),
        *(ChoiceCoverage, ChoiceTurns, ChoiceFirst),
        *(nli.NliCoal, nli.NliCoalWeighted, nli.FractionNeutral, nli.NetNeutral),
        *(nli.FractionEntailment, nli.FractionContradiction),
        *(FirstMentionShare, WrittenShare, FirstMentionNobody, WrittenUndetected),
        *(Weat, Ripa, DirectBias, GenderDirection, Neighbours, Seat, ContextualSeat),
        *(Ceat, CeatHeterogeneity, TprGap, TprGapRms, ScoreGap),
    )
}


OURS = tuple(MEASURES)
Kind = Literal["lean", "size", "errors", "level", "knowledge", "quality"]
TwoTexts = tuple[str, str] | list[str]
TYPES: dict[str, Any] = {
    **dict.fromkeys(("title", "asks", "published", "ranked", "unit", "among"), str),
    **dict.fromkeys(("ends", "leans", "items", "sentences"), TwoTexts),
    **dict.fromkeys(("does_not_show", "cites", "cites_interval"), list[str] | tuple[str, ...]),
    **dict.fromkeys(("offends", "all_genders"), bool),
    **dict.fromkeys(("stereotype", "default", "contrast"), Mapping[str, Any]),
    **{"kind": Kind, "much": str | TwoTexts, "factor": float | int},
    "scale": tuple[float, float] | list[float] | list[int],
}
VARIANTS = ("stereotype", "default", "contrast")
PLACEHOLDERS = {
    *("times", "relative", "verb", "by", "odds", "apart", "ratio", "percent", "rest", "size", "signed", "n", "among"),
    *("job", "women", "men"),
}
"""The placeholders that `much` and `leans` may contain."""


def add(measure: type[Measure[Any]]) -> None:
    """Register a measure of your own under its name, so that its runs can be compared."""
    if not isinstance(measure, type):
        raise BadInput(f"`measures.add` takes the class of a measure. Got {measure!r}.")
    if missing := [name for name in ("name", "version", "neutral", "reading", *METHODS) if not hasattr(measure, name)]:
        raise BadInput(f"A measure needs {', '.join(missing)}, which {measure.__name__} lacks. See docs/extend.md.")
    Traits.of(measure)  # raises BadInput if a trait has a wrong type
    check_words(f"The measure '{measure.name}'", getattr(measure, "words", {}))
    if measure.name in OURS and MEASURES[measure.name] is not measure:
        raise BadInput(f"'{measure.name}' is the name of a measure of evenhand's. Give your measure another `name`.")
    MEASURES[measure.name] = measure


def load(name: str, **options: Any) -> Measure[Any]:
    """Create a measure by name, with these options."""
    check_known(f"option of measure '{name}'", options, options_of(name))
    with foreign(f"The measure '{name}' failed", MEASURES[name]):
        return MEASURES[name](**options)


def words_of(name: str) -> dict[str, Any]:
    """The words for a measure: from the .toml file beside its code or, of a user's measure, its `words`.

    Empty if the measure is not known.
    """
    return words_beside(MEASURES[name]) if name in OURS else dict(getattr(MEASURES.get(name), "words", {}))


def words_beside(measure: Any) -> dict[str, Any]:
    """The words for a measure of evenhand's: those in the .toml file beside its code, and those its traits imply."""
    traits = Traits.of(measure)
    kind = {"higher": "quality", "none": "level"}.get(traits.better, "lean")
    words: dict[str, Any] = {"kind": kind, "leans": ("", ""), "unit": traits.unit if traits.unit == "nats" else ""}
    if all(map(math.isfinite, traits.bounds)):
        words["scale"] = traits.bounds
    return words | _read_toml(measure.__module__)[measure.name]


@cache
def _read_toml(module: str) -> dict[str, dict[str, Any]]:
    package, _, name = module.rpartition(".")
    return tomllib.loads((files(package) / f"{name}.toml").read_text(encoding="utf-8"))


def check_words(owner: str, words: Any) -> None:
    """Raise BadInput for a word that is not known, has a wrong type, or has a placeholder that is never filled."""
    if not isinstance(words, Mapping):
        raise BadInput(f"{owner} needs a dict as `words`. Got {words!r}. See docs/extend.md.")
    check_known(f"word in `words` of {owner[0].lower()}{owner[1:]}", words, TYPES)
    check_types(f"{owner}, in `words`", [(name, value, TYPES[name]) for name, value in words.items()])
    for name in ("ends", "leans", "items", "sentences", "much"):
        texts = words.get(name, ("", ""))
        if not isinstance(texts, str) and len(texts) != 2:
            raise BadInput(f"{owner} needs two texts as `{name}` in `words`. Got {texts!r}.")
        for text in (texts,) if isinstance(texts, str) else texts:
            try:
                places = {place for _, place, *_ in Formatter().parse(text) if place is not None}
            except ValueError as error:
                raise BadInput(
                    f"{owner} has invalid placeholders in `{name}` of `words`: {error}. Got {text!r}."
                ) from error
            known = [f"{{{place}}}" for place in PLACEHOLDERS]
            check_known(f"placeholder in `{name}` of `words`", [f"{{{place}}}" for place in places], known)
    for name in VARIANTS:
        if name in words:
            check_words(f"{owner} ({name})", words[name])


def options_of(name: str) -> list[str]:
    """The names of the options that a measure takes."""
    check_known("measure", [name], MEASURES)
    with foreign(f"The options of the measure '{name}' cannot be read", MEASURES[name]):
        return list(inspect.signature(MEASURES[name]).parameters)


def defaults_of(measure: Any) -> dict[str, Any]:
    """The default values of a measure's options."""
    parameters = inspect.signature(type(measure)).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters if parameter.default is not parameter.empty}
