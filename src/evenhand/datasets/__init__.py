"""Datasets by name."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from evenhand.core.dataset import Dataset
from evenhand.core.foreign import foreign
from evenhand.datasets import becpro, blanks, eec, nli, pairs, word_lists
from evenhand.datasets.checking import check_choice
from evenhand.datasets.files.bundled import read_toml
from evenhand.datasets.files.releases import is_available as is_available
from evenhand.datasets.files.rows import rows as rows
from evenhand.datasets.released import bbq, crows, gest, stereoset, winograd
from evenhand.errors import BadInput, check_known

BUILDERS: dict[str, Callable[..., Dataset]] = {
    "bbq-ambiguous": bbq.ambiguous,
    "bbq-disambiguated": bbq.disambiguated,
    "becpro-de": becpro.german,
    "becpro-en": becpro.english,
    "crows-pairs": crows.english,
    "crows-pairs-fr": crows.french,
    "crows-pairs-nl": crows.dutch,
    "eec": eec.load,
    "emotions-en": word_lists.emotions,
    "gest": gest.masked,
    "gest-causal": gest.causal,
    "nli-coal-en": nli.coal_english,
    "nli-coal-ja": nli.coal_japanese,
    "nli-coal-zh": nli.coal_chinese,
    "nli-en": nli.english,
    "nli-ja": nli.japanese,
    "nli-zh": nli.chinese,
    "pairs": pairs.own,
    "stereoset": stereoset.both,
    "stereoset-intersentence": stereoset.intersentence,
    "stereoset-intrasentence": stereoset.intrasentence,
    "tbd": blanks.tbd,
    "tbd-becpro": blanks.tbd_becpro,
    "tbd-gendered": blanks.tbd_gendered,
    "tbd-simple": blanks.tbd_simple,
    "templates": word_lists.own,
    "tgb": pairs.tgb,
    "winobias": winograd.winobias,
    "winogender": winograd.winogender,
}
OURS = tuple(BUILDERS)


def add(name: str, builder: Callable[..., Dataset]) -> None:
    """Make a dataset of your own known by this name; `builder` makes it, with its parameters as options."""
    if name in OURS and BUILDERS[name] is not builder:
        raise BadInput(f"'{name}' is the name of a dataset of evenhand's. Give yours another.")
    if not callable(builder) or not isinstance(name, str):
        raise BadInput(f"A dataset is added by a function that returns it. Got {builder!r} for '{name}'.")
    try:
        inspect.signature(builder)
    except ValueError as error:
        raise BadInput(f"The options of dataset '{name}' cannot be read from {builder!r}: give a function.") from error
    BUILDERS[name] = builder


def load(name: str, **options: Any) -> Dataset:
    """Build a dataset by name, with these options."""
    known = options_of(name)
    check_known(f"option of dataset '{name}'", options, known)
    for option in needed_by(name):
        if option not in options:
            raise BadInput(f"Dataset '{name}' is made from your own file: give the option {option}=...")
    hints = get_type_hints(BUILDERS[name]) if name in OURS else {}
    for option, value in options.items():
        if get_origin(hints.get(option)) is Literal:
            check_choice(option, value, *get_args(hints[option]))
    with foreign(f"The dataset '{name}' failed", BUILDERS[name]):
        found = BUILDERS[name](**options)
        if not isinstance(found, Dataset):
            raise BadInput(f"The function behind it must return an evenhand.Dataset. Got {found!r}.")
    return found if name in OURS else replace(found, options={**options, **found.options})  # so that it can be rebuilt


@cache
def words() -> dict[str, dict[str, Any]]:
    """The words for our datasets, by name; data/words.toml says what each is."""
    return read_toml("words.toml")


def options_of(name: str) -> list[str]:
    """The names of the options that a dataset takes."""
    check_known("dataset", [name], BUILDERS)
    return list(inspect.signature(BUILDERS[name]).parameters)


def defaults_of(name: str) -> dict[str, Any]:
    """The values of its options where they are not given."""
    parameters = inspect.signature(BUILDERS[name]).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters if parameter.default is not parameter.empty}


def needed_by(name: str) -> list[str]:
    """The names of its required options."""
    return [option for option in options_of(name) if option not in defaults_of(name)]
