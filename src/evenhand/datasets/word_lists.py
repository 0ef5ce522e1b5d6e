"""Datasets from a small TOML file: templates, targets by gender, attributes by kind."""

import hashlib
import re
import tomllib
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand.core.contrasts import FEMALE_MALE
from evenhand.core.dataset import Dataset
from evenhand.core.design import SAMPLES
from evenhand.core.files import parsed, public_path, read_given
from evenhand.core.items import Sentence
from evenhand.datasets import blanks, nli
from evenhand.datasets.checking import check_required, check_unchanged
from evenhand.datasets.files.bundled import read_text
from evenhand.datasets.kinds import own_kinds
from evenhand.datasets.templates import SLOT, sentence
from evenhand.errors import BadInput, UnknownName

KEYS = ("name", "language", "about", "source", "licence", "templates", "targets", "attributes", "kinds")
REQUIRED = ("name", "language", "templates", "targets", "attributes")
GENDERS = ("female", "male", "neutral")
SLOTS = ("target", "attribute")


def emotions() -> Dataset:
    """The bundled English dataset with emotion words as attributes."""
    file = "emotions-en.toml"
    text = read_text(file)
    return _dataset(_Spec(file, text, tomllib.loads(text)), options={}, version=2)


def own(file: str, sha256: str = "") -> Dataset:
    """A user's own file: targets and attributes, blanks for a pronoun ([[category]]) or captions for NLI ([captions]).

    A run records `sha256`, so that it is scored again with the same file only.
    """
    path = Path(file).expanduser()
    text = read_given(path, str, "The template file", "Give a TOML file in UTF-8.")
    try:
        data = parsed(text, tomllib.loads)
    except ValueError as error:
        raise BadInput(f"{file}: not valid TOML: {error}.") from error
    for key in ("name", "language", "about", "source", "licence"):
        if not isinstance(data.get(key, ""), str):
            raise BadInput(f"{file}: {key} must be a text, in quotes. Got {data[key]!r}.")
    digest = hashlib.sha256(text.encode()).hexdigest()
    check_unchanged(file, digest, sha256)
    options = {"file": public_path(path), "sha256": digest}
    if "category" in data:
        return blanks.own(file, data, options)
    if "captions" in data:
        return nli.own(file, data, options)
    return _dataset(_Spec(file, text, data), options=options, builder="templates")


class _Spec:
    """A checked file; errors name file, line and key."""

    def __init__(self, file: str, text: str, data: dict[str, Any]) -> None:
        self.file, self.text, self.data = file, text, data
        for key in data:
            if key not in KEYS:
                self._fail(key, str(UnknownName("key", key, KEYS)))
        check_required(file, data, REQUIRED)
        self._check_strings("templates", data["templates"])
        for table in ("targets", "attributes"):
            if not isinstance(data[table], dict):
                self._fail(table, f"[{table}] must be a table of groups, each a list of words.")
            for group, words in data[table].items():
                self._check_strings(group, words)
        self._check_targets(data["targets"])
        for template in data["templates"]:
            slots = SLOT.findall(template)
            for slot in SLOTS:
                if slots.count(slot) != 1:
                    self._fail(template, f"a template must have the slot {{{slot}}} exactly once. Got {template!r}.")
            if other := set(slots) - set(SLOTS):
                known = "Allowed: {target}, {attribute}."
                self._fail(template, f"unknown slot {{{min(other)}}} in {template!r}. {known}")

    def _check_targets(self, targets: dict[str, list[str]]) -> None:
        for group in targets:
            if group not in GENDERS:
                self._fail(group, str(UnknownName("group of targets", group, GENDERS)))
        shortest = min(targets, key=lambda group: len(targets[group]))
        if any(len(words) > len(targets[shortest]) for words in targets.values()):
            counts = ", ".join(f"{group} {len(words)}" for group, words in targets.items())
            self._fail(shortest, f"targets are partners by position, so groups must be of equal size. Got {counts}.")

    def _check_strings(self, key: str, words: object) -> None:
        if not isinstance(words, list) or not words or not all(isinstance(w, str) and w.strip() for w in words):
            self._fail(key, f"'{key}' must be a list of words, none of them empty. Got {words!r}.")
        elif len(set(words)) < len(words):
            twice = next(word for word in words if words.count(word) > 1)
            self._fail(key, f"'{key}' has {twice!r} twice.")

    def _fail(self, key: str, message: str) -> None:
        name = re.escape(key)
        found = re.search(rf"^[ \t]*\[*\"?{name}\"?\s*[=\]]", self.text, re.M) or re.search(name, self.text)
        line = self.text.count("\n", 0, found.start()) + 1 if found else 1
        raise BadInput(f"{self.file}, line {line}: {message}")


def _dataset(spec: _Spec, *, options: dict[str, Any], builder: str = "", version: int = 1) -> Dataset:
    items = list(_sentences(spec.data))
    return Dataset(
        name=spec.data["name"],
        version=version,
        language=spec.data["language"],
        about=spec.data.get("about", f"Sentences from the templates of {Path(spec.file).name}."),
        source=spec.data.get("source", ""),
        licence=spec.data.get("licence", ""),
        items=items,
        by=("kind", "gender"),
        cluster="attribute",
        partners=FEMALE_MALE,
        kinds=own_kinds(spec.file, "kind", spec.data.get("kinds", {}), list(spec.data["attributes"]), SAMPLES),
        table=partial(_table, items),
        builder=builder,
        options=options,
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
