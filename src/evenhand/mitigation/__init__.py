"""Debiasing methods by name."""

from inspect import signature
from typing import Any

from evenhand.core.foreign import foreign
from evenhand.errors import BadInput, check_known
from evenhand.mitigation.base import Mitigation
from evenhand.mitigation.cds import Cds
from evenhand.mitigation.hard_debias import HardDebias

METHODS: dict[str, type[Mitigation]] = {method.name: method for method in (Cds, HardDebias)}
OURS = tuple(METHODS)


def add(method: type[Mitigation]) -> None:
    """Register the class of your own method under its `name`."""
    if not isinstance(method, type) or not issubclass(method, Mitigation):
        raise BadInput(f"A debiasing method must be a class that extends evenhand.Mitigation. Got {method!r}.")
    name = getattr(method, "name", None)
    if not isinstance(name, str) or method.apply is Mitigation.apply:
        raise BadInput(f"A debiasing method needs a `name` (a text) and `apply`. {method.__name__} lacks one of these.")
    if name in OURS and METHODS[name] is not method:
        raise BadInput(f"'{name}' is the name of a built-in method. Give yours another `name`.")
    METHODS[name] = method


def load(name: str, **options: Any) -> Mitigation:
    """Create a method by name, with these options."""
    check_known(f"option of method '{name}'", options, options_of(name))
    with foreign(f"The method '{name}' failed", METHODS[name]):
        return METHODS[name](**options)


def options_of(name: str) -> list[str]:
    """The names of the options that a method takes."""
    check_known("debiasing method", [name], METHODS)
    with foreign(f"The options of the method '{name}' cannot be read", METHODS[name]):
        return list(signature(METHODS[name]).parameters)
