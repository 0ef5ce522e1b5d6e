"""Datasets by name."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any, Literal, get_args, get_origin

from evenhand.core.dataset import Dataset
from evenhand.core.foreign import foreign
from evenhand.datasets import becpro, blanks, choices, eec, nli, pairs, stories, word_lists, word_sets
from evenhand.datasets.checking import check_choice
from evenhand.datasets.files.bundled import read_toml
from evenhand.datasets.files.releases import is_available as is_available
from evenhand.datasets.files.rows import rows as rows
from evenhand.datasets.released import bbq, bbq_languages, crows, gest, stereoset, weat, winograd
from evenhand.errors import BadInput, check_known

BUILDERS: dict[str, Callable[..., Dataset]] = {
    "bbq-ambiguous": partial(bbq.load, "bbq-ambiguous"),
    "bbq-disambiguated": partial(bbq.load, "bbq-disambiguated"),
    "becpro-de": becpro.german,
    "becpro-en": becpro.english,
    **{name: partial(choices.load, name) for name in choices.NAMES},
    "crows-pairs": partial(crows.load, "crows-pairs"),
    "crows-pairs-fr": partial(crows.load, "crows-pairs-fr"),
    "crows-pairs-nl": partial(crows.load, "crows-pairs-nl"),
    "eec": eec.load,
    "emotions-en": word_lists.emotions,
    "gest": partial(gest.load, "gest"),
    "gest-causal": partial(gest.load, "gest-causal"),
    "nli-coal-en": partial(nli.coal, "en"),
    "nli-coal-ja": nli.coal_japanese,
    "nli-coal-zh": partial(nli.coal, "zh"),
    "nli-en": partial(nli.bundled, "en"),
    "nli-ja": nli.japanese,
    "nli-zh": partial(nli.bundled, "zh"),
    "pairs": pairs.own,
    "seat": partial(weat.load, "seat"),
    "seat-emotions-de": partial(word_sets.load, "seat-emotions-de"),
    "seat-emotions-en": partial(word_sets.load, "seat-emotions-en"),
    "seat-placebo-de": partial(word_sets.load, "seat-placebo-de"),
    "seat-placebo-en": partial(word_sets.load, "seat-placebo-en"),
    "seat-professions-de": partial(word_sets.load, "seat-professions-de"),
    "seat-professions-en": partial(word_sets.load, "seat-professions-en"),
    "stories-en": stories.stories,
    "stereoset": partial(stereoset.load, "stereoset"),
    "stereoset-intersentence": partial(stereoset.load, "stereoset-intersentence"),
    "stereoset-intrasentence": partial(stereoset.load, "stereoset-intrasentence"),
    "tbd": blanks.tbd,
    "tbd-becpro": partial(blanks.other_templates, "tbd-becpro"),
    "tbd-gendered": blanks.tbd_gendered,
    "tbd-simple": partial(blanks.other_templates, "tbd-simple"),
    "templates": word_lists.own,
    "tgb": pairs.tgb,
    "weat": partial(weat.load, "weat"),
    "weat-emotions-de": partial(word_sets.load, "weat-emotions-de"),
    "weat-emotions-en": partial(word_sets.load, "weat-emotions-en"),
    "weat-placebo-de": partial(word_sets.load, "weat-placebo-de"),
    "weat-placebo-en": partial(word_sets.load, "weat-placebo-en"),
    "weat-professions-de": partial(word_sets.load, "weat-professions-de"),
    "weat-professions-en": partial(word_sets.load, "weat-professions-en"),
    "winobias": winograd.winobias,
    "winogender": winograd.winogender,
    **{name: partial(bbq_languages.load, name) for name in bbq_languages.SETS},
}
OURS = tuple(BUILDERS)


@cache
def words() -> dict[str, dict[str, Any]]:
    """Titles, citations and other texts of our datasets, by name; data/words.toml explains the keys."""
    return read_toml("words.toml")


for _name, _builder in BUILDERS.items():
    if isinstance(_builder, partial):  # one function builds several datasets
        _builder.__doc__, _builder.__module__ = words()[_name]["says"], _builder.func.__module__


def add(name: str, builder: Callable[..., Dataset]) -> None:
    """Register a dataset of your own under this name; `builder` makes it, and its parameters are the options."""
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
    parameters = inspect.signature(BUILDERS[name]).parameters
    for option, value in options.items() if name in OURS else ():
        if get_origin(parameters[option].annotation) is Literal:
            check_choice(option, value, *get_args(parameters[option].annotation))
    with foreign(f"The dataset '{name}' failed", BUILDERS[name]):
        found = BUILDERS[name](**options)
        if not isinstance(found, Dataset):
            raise BadInput(f"The function behind it must return an evenhand.Dataset. Got {found!r}.")
    return found if name in OURS else replace(found, options={**options, **found.options})  # so that it can be rebuilt


def options_of(name: str) -> list[str]:
    """The names of the options that a dataset takes."""
    check_known("dataset", [name], BUILDERS)
    return list(inspect.signature(BUILDERS[name]).parameters)


def defaults_of(name: str) -> dict[str, Any]:
    """The default values of its options."""
    parameters = inspect.signature(BUILDERS[name]).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters if parameter.default is not parameter.empty}


def needed_by(name: str) -> list[str]:
    """The names of its required options."""
    return [option for option in options_of(name) if option not in defaults_of(name)]
