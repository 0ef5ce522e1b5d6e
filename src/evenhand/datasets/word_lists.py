"""Datasets from a small TOML file: templates, targets by gender, attributes by kind."""

import hashlib
import re
import tomllib
from collections.abc import Iterator
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand.core.dataset import Dataset
from evenhand.core.items import Sentence
from evenhand.core.questions import Span
from evenhand.core.words import capitalised
from evenhand.datasets import blanks, nli
from evenhand.datasets.templates import SLOT, render
from evenhand.errors import BadInput, UnknownName

KEYS = ("name", "language", "about", "source", "licence", "templates", "targets", "attributes")
REQUIRED = ("name", "language", "templates", "targets", "attributes")
GENDERS = ("female", "male", "neutral")


def emotions() -> Dataset:
    """Emotion words as attributes, in English; the bundled file."""
    bundled = files("evenhand.datasets") / "data" / "emotions-en.toml"
    return _dataset(_Spec("emotions-en.toml", bundled.read_text(encoding="utf-8")), options={})


def own(file: str, sha256: str = "") -> Dataset:
    """A user's own file: targets and attributes, blanks for a pronoun ([[category]]) or captions for NLI ([captions]).

    `sha256`, kept with a run, makes sure that it is scored again with the same one.
    """
    path = Path(file).expanduser()
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"The template file '{file}' cannot be read: {error}. It must be a TOML file in UTF-8."
        ) from error
    digest = hashlib.sha256(text.encode()).hexdigest()
    if sha256 and sha256 != digest:
        raise BadInput(f"'{file}' has changed since the run was made. Restore it, or run the audit again.")
    options = {"file": str(path.resolve()), "sha256": digest}
    parsed = _parsed(file, text)
    if "category" in parsed:
        return blanks.own(file, text, options)
    if "captions" in parsed:
        return nli.own(file, parsed, options)
    return _dataset(_Spec(file, text), options=options, builder="templates")


def _parsed(file: str, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{file}: not valid TOML: {error}.") from error


class _Spec:
    """The file, checked. Every complaint names file, line and key."""

    def __init__(self, file: str, text: str) -> None:
        self.file, self.text = file, text
        self.data = _parsed(file, text)
        self._check()

    def _check(self) -> None:
        for key in self.data:
            if key not in KEYS:
                self._fail(key, str(UnknownName("key", key, KEYS)))
        for key in REQUIRED:
            if not self.data.get(key):
                raise BadInput(
                    f"{self.file}: the key '{key}' is missing or empty. A template file has: {', '.join(REQUIRED)}."
                )
        self._check_strings("templates", self.data["templates"])
        for table in ("targets", "attributes"):
            if not isinstance(self.data[table], dict):
                self._fail(table, f"[{table}] must be a table of groups, each a list of words.")
            for group, words in self.data[table].items():
                self._check_strings(group, words)
        for group in self.data["targets"]:
            if group not in GENDERS:
                self._fail(group, str(UnknownName("group of targets", group, GENDERS)))
        sizes = {group: len(words) for group, words in self.data["targets"].items()}
        if len(set(sizes.values())) > 1:
            shortest = min(sizes, key=lambda group: sizes[group])
            counts = ", ".join(f"{group} {n}" for group, n in sizes.items())
            self._fail(shortest, f"targets are partners by position, so each group needs as many: got {counts}.")
        for template in self.data["templates"]:
            for slot in ("target", "attribute"):
                if SLOT.findall(template).count(slot) != 1:
                    self._fail(template, f"a template must have the slot {{{slot}}} exactly once. Got {template!r}.")
            if other := set(SLOT.findall(template)) - {"target", "attribute"}:
                self._fail(
                    template, f"unknown slot {{{min(other)}}} in {template!r}. Allowed: {{target}}, {{attribute}}."
                )

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


def _dataset(spec: _Spec, *, options: dict[str, Any], builder: str = "") -> Dataset:
    items = list(_sentences(spec.data))
    return Dataset(
        name=spec.data["name"],
        version=1,
        language=spec.data["language"],
        about=spec.data.get("about", f"Sentences from the templates of {spec.file}."),
        source=spec.data.get("source", ""),
        licence=spec.data.get("licence", ""),
        items=items,
        by=("kind", "gender"),
        cluster="attribute",
        table=partial(_table, items),
        builder=builder,
        options=options,
    )


def _sentences(data: dict[str, Any]) -> Iterator[Sentence]:
    index = 0
    everybody = tuple(dict.fromkeys(target for targets in data["targets"].values() for target in targets))
    for kind, attributes in data["attributes"].items():
        for number, template in enumerate(data["templates"], start=1):
            for gender, targets in data["targets"].items():
                for slot, target in enumerate(targets, start=1):
                    for attribute in attributes:
                        groups = {
                            "kind": kind,
                            "gender": gender,
                            "attribute": attribute,
                            "person": target,
                            "slot": str(slot),
                            "template": str(number),
                        }
                        yield _sentence(str(index), template, target, attribute, groups, everybody)
                        index += 1


def _sentence(
    id: str, template: str, target: str, attribute: str, groups: dict[str, str], everybody: tuple[str, ...]
) -> Sentence:
    if template.startswith("{target}"):
        target = capitalised(target)
        everybody = tuple(map(capitalised, everybody))
    if template.startswith("{attribute}"):
        attribute = capitalised(attribute)
    text, spans = render(template, target=target, attribute=attribute)
    end = spans["target"].stop
    word = Span(end - len(target.split()[-1]), end)
    return Sentence(id, text, word, spans["attribute"], groups, spans["target"], everybody)


def _table(items: list[Sentence]) -> pd.DataFrame:
    rows = [{"sentence": i.text, "target": i.target.of(i.text), **i.groups} for i in items]
    return pd.DataFrame(rows, index=pd.Index([i.id for i in items]))
