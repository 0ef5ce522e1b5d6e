"""Datasets by name."""

from collections.abc import Callable
from typing import Any

from evenhand.datasets import becpro
from evenhand.datasets.base import Dataset
from evenhand.errors import UnknownName

BUILDERS: dict[str, Callable[..., Dataset]] = {"becpro-en": becpro.english}


def load(name: str, **options: Any) -> Dataset:
    """The dataset of that name, built with these options."""
    if name not in BUILDERS:
        raise UnknownName("dataset", name, BUILDERS)
    return BUILDERS[name](**options)
