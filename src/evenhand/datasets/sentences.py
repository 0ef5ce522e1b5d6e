"""Sentences with a person and an attribute: bundled emotion words, users' template files, and the EEC.

The Equity Evaluation Corpus (Kiritchenko and Mohammad 2018) is read from a user's own copy of the csv.
"""

import re
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand.core.dataset import FEMALE_MALE, SAMPLES, Dataset
from evenhand.core.files import from_toml, read_given
from evenhand.core.items import Sentence
from evenhand.core.questions import Span
from evenhand.datasets import blanks, nli, word_sets
from evenhand.datasets.files import read_toml
from evenhand.datasets.files.rows import rows
from evenhand.datasets.kinds import own_kinds
from evenhand.datasets.templates import (
    SLOT,
    TEXTS,
    check_keys,
    check_required,
    check_words,
    combinations,
    last_word,
    recorded_file,
    sentence,
    texts_of,
)
from evenhand.errors import BadInput, UnknownName

KEYS = (*TEXTS, "templates", "targets", "attributes", "kinds")
REQUIRED = ("name", "language", "templates", "targets", "attributes")
GENDERS = ("female", "male", "neutral")
SLOTS = ("target", "attribute")
EEC_COLUMNS = ("ID", "Sentence", "Template", "Person", "Gender", "Race", "Emotion", "Emotion word")
EEC_GROUPS = {"emotion": "Emotion", "gender": "Gender", "attribute": "Emotion word"}
EEC_GROUPS |= {"person": "Person", "race": "Race", "template": "Template"}
EEC_SLOT = re.compile(r"<(person|emotion)[^>]*>")


def emotions() -> Dataset:
    """The bundled English dataset with emotion words as attributes."""
    return _dataset("emotions-en.toml", read_toml("emotions-en.toml"), version=2)


def from_file(file: str, sha256: str = "") -> Dataset:
    """A user's own file: targets and attributes, blanks for a pronoun ([[category]]), captions for NLI ([captions]).

    With sets X and Y, words for tests of vectors.

    A run records `sha256`, so that it can only be scored again with the same file.
    """
    text = read_given(Path(file).expanduser(), str, "The template file", "Give a TOML file in UTF-8.")
    try:
        data = from_toml(text)
    except ValueError as error:
        raise BadInput(f"{file} is not valid TOML: {error}.") from error
    for key in TEXTS:
        if not isinstance(data.get(key, ""), str):
            raise BadInput(f"{file}: {key} must be a text, in quotes. Got {data[key]!r}.")
    options = recorded_file(file, sha256, text)
    if "category" in data:
        return blanks.from_file(file, data, options)
    if "captions" in data:
        return nli.from_file(file, data, options)
    if "X" in data or "Y" in data:
        return word_sets.from_file(file, data, options)
    _check_file(file, data, text)
    return _dataset(file, data, options=options, builder="templates")


def _check_file(file: str, data: dict[str, Any], text: str) -> None:
    def place(key: str) -> str:
        name = re.escape(key)
        match = re.search(rf"^[ \t]*\[*\"?{name}\"?\s*[=\]]", text, re.M) or re.search(name, text)
        return f"{file}, line {text.count(chr(10), 0, match.start()) + 1 if match else 1}"

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
        wanted = "all groups of targets must have the same size, as targets are partners by position"
        raise BadInput(f"{place(shortest)}: {wanted}. Got {counts}.")
    for template in data["templates"]:
        slots = SLOT.findall(template)
        if missing := [slot for slot in SLOTS if slots.count(slot) != 1]:
            wanted = f"a template must have the slot {{{missing[0]}}} exactly once"
            raise BadInput(f"{place(template)}: {wanted}. Got {template!r}.")
        if other := set(slots) - set(SLOTS):
            wanted = "Allowed: {target}, {attribute}."
            raise BadInput(f"{place(template)}: unknown slot {{{min(other)}}} in {template!r}. {wanted}")


def _dataset(file: str, data: dict[str, Any], **fields: Any) -> Dataset:
    everybody = tuple(dict.fromkeys(chain(*data["targets"].values())))
    made = combinations(data["templates"], data["targets"], data["attributes"], "kind", "attribute")
    items = [
        sentence(str(i), text, {"target": groups["person"], "attribute": groups["attribute"]}, groups, everybody)
        for i, (text, groups) in enumerate(made)
    ]
    return Dataset(
        **texts_of(data, f"Sentences from the templates of {Path(file).name}."),
        items=items,
        by=("kind", "gender"),
        cluster="attribute",
        partners=FEMALE_MALE,
        kinds=own_kinds(file, "kind", data.get("kinds", {}), list(data["attributes"]), SAMPLES),
        table=partial(_table, items),
        **fields,
    )


def _table(items: list[Sentence]) -> pd.DataFrame:
    rows = [{"sentence": i.text, "target": i.target.of(i.text), **i.groups} for i in items]
    return pd.DataFrame(rows, index=pd.Index([i.id for i in items]))


def eec(file: str, sha256: str = "") -> Dataset:
    """The sentences of the csv that have a target and an attribute.

    `about` counts the sentences that are excluded: those without an emotion word, which have no attribute, and those
    with "himself" or "herself", which give the masked person away.

    Target and attribute are located by the row's template, never by searching for the words. First names are targets
    too, with their race in the group `race`; person words have "none" there. A run records `sha256`, so that it can
    only be scored again with the same file.
    """
    hint = f"Give the csv of the EEC release, with columns {', '.join(EEC_COLUMNS)}."
    table = list(rows(Path(file).expanduser(), EEC_COLUMNS, hint=hint, suffix=".csv"))
    if not table:
        raise BadInput(f"'{file}' has no rows. {hint}")
    options = recorded_file(file, sha256)
    reflexive = sum("himself/herself" in row["Template"] for _, row in table)
    items = list(_eec_sentences(file, table))
    return Dataset(
        name="eec",
        about=f"Person words and names with emotion words; left out: {reflexive} rows with himself or herself, "
        f"{len(table) - len(items) - reflexive} without an emotion word.",
        source="Kiritchenko and Mohammad 2018, Gender and Race Bias in Two Hundred Sentiment Analysis Systems",
        licence="as upstream (research)",
        items=items,
        by=("emotion", "gender"),
        cluster="attribute",
        table=partial(pd.DataFrame, [row for _, row in table]),
        builder="eec",
        options=options,
    )


def _eec_sentences(file: str, table: list[tuple[int, dict[str, str]]]) -> Iterator[Sentence]:
    located: list[tuple[dict[str, str], Span, Span]] = []
    everybody: dict[tuple[str, str], dict[str, None]] = {}
    for line, row in table:
        if not row["Emotion word"].strip() or "himself/herself" in row["Template"]:
            continue
        if (spans := _eec_spans(row)) is None:
            raise BadInput(f"{file}, line {line}: the sentence does not follow its template {row['Template']!r}.")
        located.append((row, *spans))
        everybody.setdefault((row["Template"], row["Emotion word"]), {})[spans[0].of(row["Sentence"])] = None
    for row, target, attribute in located:
        groups = {name: row[column] for name, column in EEC_GROUPS.items()} | {"race": row["Race"] or "none"}
        text, others = row["Sentence"], tuple(everybody[row["Template"], row["Emotion word"]])
        yield Sentence(row["ID"], text, last_word(text, target), attribute, groups, target, others)


def _eec_spans(row: dict[str, str]) -> tuple[Span, Span] | None:
    """The spans of the person and the emotion word in the row's template; None if the sentence does not follow it."""
    words = {"person": row["Person"], "emotion": row["Emotion word"]}
    parts = [  # texts and slots in turn
        f"(?P<{part}>{re.escape(words[part])})" if number % 2 else re.escape(part)
        for number, part in enumerate(EEC_SLOT.split(row["Template"]))
    ]
    match = re.fullmatch("".join(parts), row["Sentence"], re.I)
    if match is None or set(match.groupdict()) != {"person", "emotion"}:
        return None
    return Span(*match.span("person")), Span(*match.span("emotion"))
