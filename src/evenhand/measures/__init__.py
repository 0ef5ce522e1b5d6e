"""Measures by name."""

import inspect
from typing import Any

from evenhand.core.measure import Measure
from evenhand.errors import UnknownName
from evenhand.measures.association import Association
from evenhand.measures.likelihood import CrowsPairs, LikelihoodDifference, LikelihoodLean, StereotypeShare
from evenhand.measures.nli import (
    FractionContradiction,
    FractionEntailment,
    FractionNeutral,
    NetNeutral,
    NliCoal,
    NliCoalWeighted,
)
from evenhand.measures.pronoun import GenderAgreement, LogProbabilityBias, Pronoun, SingularThey
from evenhand.measures.unmasked import AllUnmasked, AllUnmaskedByAttention, StereoSetScore

MEASURES: dict[str, type[Measure[Any]]] = {
    measure.name: measure
    for measure in (  # of each kind of item, in the order in which they run and are shown
        Association,
        LikelihoodDifference,
        LikelihoodLean,
        StereotypeShare,
        CrowsPairs,
        AllUnmasked,
        AllUnmaskedByAttention,
        StereoSetScore,
        Pronoun,
        SingularThey,
        GenderAgreement,
        LogProbabilityBias,
        NliCoal,
        NliCoalWeighted,
        FractionNeutral,
        NetNeutral,
        FractionEntailment,
        FractionContradiction,
    )
}


def load(name: str, **options: Any) -> Measure[Any]:
    """Create a measure by name, with these options."""
    known = options_of(name)
    for option in options:
        if option not in known:
            raise UnknownName(f"option of measure '{name}'", option, known)
    return MEASURES[name](**options)


def options_of(name: str) -> list[str]:
    """The names of the options that a measure takes."""
    if name not in MEASURES:
        raise UnknownName("measure", name, MEASURES)
    return list(inspect.signature(MEASURES[name]).parameters)
