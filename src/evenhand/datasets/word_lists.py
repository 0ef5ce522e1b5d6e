"""Datasets from a small TOML file: templates, targets by gender, attributes by kind."""

import re
import tomllib
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand.core.dataset import FEMALE_MALE, SAMPLES, Dataset
from evenhand.core.files import parsed, read_given
from evenhand.core.items import Sentence
from evenhand.datasets import blanks, nli
from evenhand.datasets.checking import TEXTS, check_keys, check_required, check_words, recorded_file, texts_of
from evenhand.datasets.files.bundled import read_toml
from evenhand.datasets.kinds import own_kinds
from evenhand.datasets.templates import SLOT, sentence
from evenhand.errors import BadInput, UnknownName

KEYS = (*TEXTS, "templates", "targets", "attributes", "kinds")
REQUIRED = ("name", "language", "templates", "targets", "attributes")
GENDERS = ("female", "male", "neutral")
SLOTS = ("target", "attribute")


def emotions() -> Dataset:
    """The bundled English dataset with emotion words as attributes."""
    return _dataset("emotions-en.toml", read_toml("emotions-en.toml"), version=2)


def own(file: str, sha256: str = "") -> Dataset:
    """A user's own file: targets and attributes, blanks for a pronoun ([[category]]) or captions for NLI ([captions]).

    A run records `sha256`, so that it is scored again with the same file only.
    """
    text = read_given(Path(file).expanduser(), str, "The template file", "Give a TOML file in UTF-8.")
    try:
        data = parsed(text, tomllib.loads)
    except ValueError as error:
        raise BadInput(f"{file}: not valid TOML: {error}.") from error
    for key in TEXTS:
        if not isinstance(data.get(key, ""), str):
            raise BadInput(f"{file}: {key} must be a text, in quotes. Got {data[key]!r}.")
    options = recorded_file(file, sha256, text)
    if "category" in data:
        return blanks.own(file, data, options)
    if "captions" in data:
        return nli.own(file, data, options)
    _check_file(file, data, text)
    return _dataset(file, data, options=options, builder="templates")


def _check_file(file: str, data: dict[str, Any], text: str) -> None:
    def place(key: str) -> str:
        name = re.escape(key)
        found = re.search(rf"^[ \t]*\[*\"?{name}\"?\s*[=\]]", text, re.M) or re.search(name, text)
        return f"{file}, line {text.count(chr(10), 0, found.start()) + 1 if found else 1}"

    for key in data:
        check_keys(place(key), [key], KEYS)
    check_required(file, data, REQUIRED)
    check_words(place("templates"), "templates", data["templates"])
    for table in ("targets", "attributes"):
        if not isinstance(data[table], dict):
            raise BadInput(f"{place(table)}: [{table}] must be a table of groups, each a list of words.")
        for key, words in data[table].items():
            check_words(place(key), key, words)
    targets = data["targets"]
    for group in targets:
        if group not in GENDERS:
            raise BadInput(f"{place(group)}: {UnknownName('group of targets', group, GENDERS)}")
    shortest = min(targets, key=lambda group: len(targets[group]))
    if any(len(words) > len(targets[shortest]) for words in targets.values()):
        counts = ", ".join(f"{group} {len(words)}" for group, words in targets.items())
        wanted = "targets are partners by position, so groups must be of equal size"
        raise BadInput(f"{place(shortest)}: {wanted}. Got {counts}.")
    for template in data["templates"]:
        slots = SLOT.findall(template)
        if missing := [slot for slot in SLOTS if slots.count(slot) != 1]:
            wanted = f"a template must have the slot {{{missing[0]}}} exactly once"
            raise BadInput(f"{place(template)}: {wanted}. Got {template!r}.")
        if other := set(slots) - set(SLOTS):
            wanted = "Allowed: {target}, {attribute}."
            raise BadInput(f"{place(template)}: unknown slot {{{min(other)}}} in {template!r}. {wanted}")


def _dataset(file: str, data: dict[str, Any], **how: Any) -> Dataset:
    items = list(_sentences(data))
    return Dataset(
        **texts_of(data, f"Sentences from the templates of {Path(file).name}."),
        items=items,
        by=("kind", "gender"),
        cluster="attribute",
        partners=FEMALE_MALE,
        kinds=own_kinds(file, "kind", data.get("kinds", {}), list(data["attributes"]), SAMPLES),
        table=partial(_table, items),
        **how,
    )


def _sentences(data: dict[str, Any]) -> Iterator[Sentence]:
    index = 0
    everybody = tuple(dict.fromkeys(target for targets in data["targets"].values() for target in targets))
    persons = [(gender, *place) for gender, targets in data["targets"].items() for place in enumerate(targets, start=1)]
    for kind, attributes in data["attributes"].items():
        templates = enumerate(data["templates"], start=1)
        for (number, template), (gender, slot, target), attribute in product(templates, persons, attributes):
            groups = {
                "kind": kind,
                "gender": gender,
                "attribute": attribute,
                "person": target,
                "slot": str(slot),
                "template": str(number),
            }
            fillings = {"target": target, "attribute": attribute}
            yield sentence(str(index), template, fillings, groups, everybody)
            index += 1


def _table(items: list[Sentence]) -> pd.DataFrame:
    rows = [{"sentence": i.text, "target": i.target.of(i.text), **i.groups} for i in items]
    return pd.DataFrame(rows, index=pd.Index([i.id for i in items]))
