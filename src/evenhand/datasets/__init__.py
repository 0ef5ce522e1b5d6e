"""Datasets by name."""

import inspect
from collections.abc import Callable
from typing import Any

from evenhand.datasets import becpro
from evenhand.datasets.base import Dataset
from evenhand.errors import UnknownName

BUILDERS: dict[str, Callable[..., Dataset]] = {"becpro-de": becpro.german, "becpro-en": becpro.english}


def load(name: str, **options: Any) -> Dataset:
    """The dataset of that name, built with these options."""
    known = options_of(name)
    for option in options:
        if option not in known:
            raise UnknownName(f"option of dataset '{name}'", option, known)
    return BUILDERS[name](**options)


def options_of(name: str) -> list[str]:
    """The names of the options it takes."""
    if name not in BUILDERS:
        raise UnknownName("dataset", name, BUILDERS)
    return list(inspect.signature(BUILDERS[name]).parameters)
