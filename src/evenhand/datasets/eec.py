"""The Equity Evaluation Corpus (Kiritchenko and Mohammad 2018), from a user's own copy of the csv."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pandas as pd

from evenhand.core.dataset import Dataset
from evenhand.core.items import Sentence
from evenhand.core.questions import Span
from evenhand.datasets.checking import recorded_file
from evenhand.datasets.files.rows import rows
from evenhand.datasets.templates import last_word
from evenhand.errors import BadInput

COLUMNS = ("ID", "Sentence", "Template", "Person", "Gender", "Race", "Emotion", "Emotion word")
GROUPS = {"emotion": "Emotion", "gender": "Gender", "attribute": "Emotion word"}
GROUPS |= {"person": "Person", "race": "Race", "template": "Template"}
SLOT = re.compile(r"<(person|emotion)[^>]*>")


def load(file: str, sha256: str = "") -> Dataset:
    """The sentences of the csv that have a target and an attribute.

    Sentences without an emotion word have no attribute, and "himself" or "herself" gives the masked person away: both
    are left out, and counted.

    Target and attribute are found by the row's own template, never searched for. First names are targets too, with
    their race in the group `race`; person words have "none" there. A run records `sha256`, so that it is scored again
    with the same file only.
    """
    hint = f"Give the csv of the EEC release, with columns {', '.join(COLUMNS)}."
    found = list(rows(Path(file).expanduser(), COLUMNS, hint=hint, suffix=".csv"))
    if not found:
        raise BadInput(f"'{file}' has no rows. {hint}")
    options = recorded_file(file, sha256)
    reflexive = sum("himself/herself" in row["Template"] for _, row in found)
    items = list(_sentences(file, found))
    return Dataset(
        name="eec",
        about=f"Person words and names with emotion words; left out: {reflexive} rows with himself or herself, "
        f"{len(found) - len(items) - reflexive} without an emotion word.",
        source="Kiritchenko and Mohammad 2018, Gender and Race Bias in Two Hundred Sentiment Analysis Systems",
        licence="as upstream (research)",
        items=items,
        by=("emotion", "gender"),
        cluster="attribute",
        table=partial(pd.DataFrame, [row for _, row in found]),
        builder="eec",
        options=options,
    )


def _sentences(file: str, rows: list[tuple[int, dict[str, str]]]) -> Iterator[Sentence]:
    found: list[tuple[dict[str, str], Span, Span]] = []
    everybody: dict[tuple[str, str], dict[str, None]] = {}
    for line, row in rows:
        if not row["Emotion word"].strip() or "himself/herself" in row["Template"]:
            continue
        if (spans := _spans(row)) is None:
            raise BadInput(f"{file}, line {line}: the sentence does not follow its template {row['Template']!r}.")
        found.append((row, *spans))
        everybody.setdefault((row["Template"], row["Emotion word"]), {})[spans[0].of(row["Sentence"])] = None
    for row, target, attribute in found:
        groups = {name: row[column] for name, column in GROUPS.items()} | {"race": row["Race"] or "none"}
        text, others = row["Sentence"], tuple(everybody[row["Template"], row["Emotion word"]])
        yield Sentence(row["ID"], text, last_word(text, target), attribute, groups, target, others)


def _spans(row: dict[str, str]) -> tuple[Span, Span] | None:
    """Where person and emotion word are, by the template as a pattern with the row's own words in its slots."""
    words = {"person": row["Person"], "emotion": row["Emotion word"]}
    parts = [  # texts and slots by turns
        f"(?P<{part}>{re.escape(words[part])})" if number % 2 else re.escape(part)
        for number, part in enumerate(SLOT.split(row["Template"]))
    ]
    found = re.fullmatch("".join(parts), row["Sentence"], re.I)
    if found is None or set(found.groupdict()) != {"person", "emotion"}:
        return None
    return Span(*found.span("person")), Span(*found.span("emotion"))
