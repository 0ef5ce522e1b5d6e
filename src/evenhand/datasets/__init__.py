"""Datasets by name."""

import inspect
from collections.abc import Callable
from typing import Any

from evenhand.core.dataset import Dataset
from evenhand.datasets import becpro, blanks, eec, nli, nli_coal, pairs, word_lists
from evenhand.datasets.released import crows
from evenhand.errors import BadInput, UnknownName

BUILDERS: dict[str, Callable[..., Dataset]] = {
    "becpro-de": becpro.german,
    "becpro-en": becpro.english,
    "crows-pairs": crows.english,
    "crows-pairs-fr": crows.french,
    "crows-pairs-nl": crows.dutch,
    "eec": eec.load,
    "emotions-en": word_lists.emotions,
    "nli-coal-en": nli_coal.english,
    "nli-coal-ja": nli_coal.japanese,
    "nli-coal-zh": nli_coal.chinese,
    "nli-en": nli.english,
    "nli-ja": nli.japanese,
    "nli-zh": nli.chinese,
    "pairs": pairs.own,
    "tbd": blanks.tbd,
    "tbd-becpro": blanks.tbd_becpro,
    "tbd-gendered": blanks.tbd_gendered,
    "tbd-simple": blanks.tbd_simple,
    "templates": word_lists.own,
    "tgb": pairs.tgb,
}


def load(name: str, **options: Any) -> Dataset:
    """Build a dataset by name, with these options."""
    known = options_of(name)
    for option in options:
        if option not in known:
            raise UnknownName(f"option of dataset '{name}'", option, known)
    for option in needed_by(name):
        if option not in options:
            raise BadInput(f"Dataset '{name}' is made from your own file: give the option {option}=...")
    return BUILDERS[name](**options)


def options_of(name: str) -> list[str]:
    """The names of the options that a dataset takes."""
    if name not in BUILDERS:
        raise UnknownName("dataset", name, BUILDERS)
    return list(inspect.signature(BUILDERS[name]).parameters)


def defaults_of(name: str) -> dict[str, Any]:
    """The values of its options where they are not given."""
    parameters = inspect.signature(BUILDERS[name]).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters if parameter.default is not parameter.empty}


def needed_by(name: str) -> list[str]:
    """The names of its required options."""
    return [option for option in options_of(name) if option not in defaults_of(name)]
