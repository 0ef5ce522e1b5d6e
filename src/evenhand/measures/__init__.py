"""Measures by name."""

from typing import Any

from evenhand.errors import UnknownName
from evenhand.measures.association import Association
from evenhand.measures.base import Measure

MEASURES: dict[str, type[Measure[Any]]] = {measure.name: measure for measure in (Association,)}


def load(name: str, **options: Any) -> Measure[Any]:
    """The measure of that name, with these options."""
    if name not in MEASURES:
        raise UnknownName("measure", name, MEASURES)
    return MEASURES[name](**options)
