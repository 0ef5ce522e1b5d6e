"""Datasets by name."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any, Literal, get_args, get_origin

from evenhand.core.dataset import Dataset
from evenhand.core.foreign import foreign
from evenhand.datasets import becpro, blanks, choices, nli, pairs, sentences, stories, word_sets
from evenhand.datasets.files import read_toml
from evenhand.datasets.files.releases import is_available as is_available
from evenhand.datasets.files.rows import rows as rows
from evenhand.datasets.released import bbq, stereoset
from evenhand.datasets.released import blanks as released_blanks
from evenhand.datasets.templates import check_choice
from evenhand.errors import BadInput, check_known


def _each(build: Callable[..., Dataset], *names: str) -> dict[str, Callable[..., Dataset]]:
    """Builders by name that share the function `build`, which gets the name as its first argument."""
    return {name: partial(build, name) for name in names}


BUILDERS: dict[str, Callable[..., Dataset]] = {
    **_each(bbq.load, *bbq.SETS),
    "becpro-de": becpro.german,
    "becpro-en": becpro.english,
    "ceat": word_sets.ceat,
    **_each(choices.load, *choices.NAMES),
    **_each(pairs.crows_pairs, *pairs.CROWS_PAIRS),
    "eec": sentences.eec,
    "emotions-en": sentences.emotions,
    **_each(released_blanks.gest, "gest", "gest-causal"),
    "nli-coal-en": partial(nli.coal, "en"),
    "nli-coal-ja": nli.coal_japanese,
    "nli-coal-zh": partial(nli.coal, "zh"),
    "nli-en": partial(nli.our_set, "en"),
    "nli-ja": nli.japanese,
    "nli-zh": partial(nli.our_set, "zh"),
    "pairs": pairs.from_file,
    **_each(word_sets.released_tests, "seat"),
    **_each(word_sets.own_tests, *word_sets.SEAT),
    "stories-en": stories.stories,
    **_each(stereoset.load, "stereoset", "stereoset-intersentence", "stereoset-intrasentence"),
    "tbd": blanks.tbd,
    "tbd-becpro": partial(blanks.other_templates, "tbd-becpro"),
    "tbd-gendered": blanks.tbd_gendered,
    "tbd-simple": partial(blanks.other_templates, "tbd-simple"),
    "templates": sentences.from_file,
    "tgb": pairs.tgb,
    **_each(word_sets.released_tests, "weat"),
    **_each(word_sets.own_tests, *word_sets.WEAT),
    "winobias": released_blanks.winobias,
    "winogender": released_blanks.winogender,
}
OURS = tuple(BUILDERS)


@cache
def words() -> dict[str, dict[str, Any]]:
    """The titles, citations and other texts of the built-in datasets, by name; data/words.toml explains the keys."""
    return read_toml("words.toml")


for _name, _builder in BUILDERS.items():
    if isinstance(_builder, partial):  # one function builds several datasets
        _builder.__doc__, _builder.__module__ = words()[_name]["says"], _builder.func.__module__


def add(name: str, builder: Callable[..., Dataset]) -> None:
    """Register your own dataset under `name`: `builder` returns it, and the parameters of `builder` are its options."""
    if name in OURS and BUILDERS[name] is not builder:
        raise BadInput(f"'{name}' is the name of a built-in dataset. Give yours another name.")
    if not callable(builder) or not isinstance(name, str):
        raise BadInput(f"A dataset needs a name and a function that returns it. Got '{name}' and {builder!r}.")
    try:
        inspect.signature(builder)
    except ValueError as error:
        raise BadInput(f"The options of dataset '{name}' cannot be read from {builder!r}. Give a function.") from error
    BUILDERS[name] = builder


def load(name: str, **options: Any) -> Dataset:
    """Build a dataset by name, with these options."""
    check_known(f"option of dataset '{name}'", options, options_of(name))
    for option in needed_by(name):
        if option not in options:
            raise BadInput(f"Dataset '{name}' reads your own file and needs the option {option}. Give {option}=...")
    parameters = inspect.signature(BUILDERS[name]).parameters
    for option, value in options.items() if name in OURS else ():
        if get_origin(parameters[option].annotation) is Literal:
            check_choice(option, value, *get_args(parameters[option].annotation))
    with foreign(f"The dataset '{name}' failed", BUILDERS[name]):
        built = BUILDERS[name](**options)
        if not isinstance(built, Dataset):
            raise BadInput(f"The function that builds it must return an evenhand.Dataset. Got {built!r}.")
    return built if name in OURS else replace(built, options={**options, **built.options})  # so that it can be rebuilt


def options_of(name: str) -> list[str]:
    """The names of the options that a dataset takes."""
    check_known("dataset", [name], BUILDERS)
    return list(inspect.signature(BUILDERS[name]).parameters)


def defaults_of(name: str) -> dict[str, Any]:
    """The default values of a dataset's optional options, by name."""
    parameters = inspect.signature(BUILDERS[name]).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters if parameter.default is not parameter.empty}


def needed_by(name: str) -> list[str]:
    """The names of a dataset's required options."""
    return [option for option in options_of(name) if option not in defaults_of(name)]
