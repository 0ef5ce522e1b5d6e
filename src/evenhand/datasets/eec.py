"""The Equity Evaluation Corpus (Kiritchenko and Mohammad 2018), from a user's own copy of the csv."""

import csv
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pandas as pd

from evenhand.core.dataset import Dataset
from evenhand.core.items import Sentence
from evenhand.core.questions import Span
from evenhand.errors import BadInput

COLUMNS = ("ID", "Sentence", "Template", "Person", "Gender", "Race", "Emotion", "Emotion word")
SLOT = re.compile(r"<(person|emotion)[^>]*>")


def load(file: str) -> Dataset:
    """The sentences of the csv that can be asked about.

    Left out, and counted: those without an emotion word, which have no attribute to associate, and those with "himself"
    or "herself", which give the masked person away.

    Target and attribute are found by the row's own template, never searched for. First names are targets too; they
    stand under their race in the group `race`, person words under "none".
    """
    try:
        with Path(file).expanduser().open(encoding="utf-8-sig", newline="") as handle:
            rows = list(csv.DictReader(handle))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"The EEC file '{file}' cannot be read: {error}. Give the csv of the release.") from error
    if not rows or (missing := [c for c in COLUMNS if c not in rows[0]]):
        lacking = ", ".join(missing) if rows else "all rows"
        raise BadInput(f"'{file}' must be the EEC csv, with columns {', '.join(COLUMNS)}. Missing: {lacking}.")
    telling = sum("himself/herself" in row["Template"] for row in rows)
    items = list(_sentences(file, rows))
    return Dataset(
        name="eec",
        version=1,
        language="en",
        about=f"Person words and names with emotion words; left out: {telling} rows with himself or herself, "
        f"{len(rows) - len(items) - telling} without an emotion word.",
        source="Kiritchenko and Mohammad 2018, Gender and Race Bias in Two Hundred Sentiment Analysis Systems",
        licence="as upstream (research)",
        items=items,
        by=("emotion", "gender"),
        cluster="attribute",
        table=partial(pd.DataFrame, rows),
        options={"file": str(Path(file).expanduser().resolve())},
    )


def _sentences(file: str, rows: list[dict[str, str]]) -> Iterator[Sentence]:
    found: list[tuple[dict[str, str], Span, Span]] = []
    everybody: dict[tuple[str, str], dict[str, None]] = {}
    for line, row in enumerate(rows, start=2):
        if not row["Emotion word"].strip() or "himself/herself" in row["Template"]:
            continue
        spans = _spans(row)
        if spans is None:
            raise BadInput(f"{file}, line {line}: the sentence does not follow its template {row['Template']!r}.")
        found.append((row, *spans))
        everybody.setdefault((row["Template"], row["Emotion word"]), {})[spans[0].of(row["Sentence"])] = None
    for row, target, attribute in found:
        head = target.of(row["Sentence"]).split()[-1]
        groups = {
            "emotion": row["Emotion"],
            "gender": row["Gender"],
            "attribute": row["Emotion word"],
            "person": row["Person"],
            "race": row["Race"] or "none",
            "template": row["Template"],
        }
        word = Span(target.stop - len(head), target.stop)
        others = tuple(everybody[row["Template"], row["Emotion word"]])
        yield Sentence(row["ID"], row["Sentence"], word, attribute, groups, target, others)


def _spans(row: dict[str, str]) -> tuple[Span, Span] | None:
    """Where person and emotion word are: the template as a pattern, its slots as the row's own words."""
    words = {"person": row["Person"], "emotion": row["Emotion word"]}
    pattern, end = "", 0
    for slot in SLOT.finditer(row["Template"]):
        pattern += re.escape(row["Template"][end : slot.start()]) + f"(?P<{slot[1]}>{re.escape(words[slot[1]])})"
        end = slot.end()
    found = re.fullmatch(pattern + re.escape(row["Template"][end:]), row["Sentence"], re.I)
    if found is None or set(found.groupdict()) != {"person", "emotion"}:
        return None
    return Span(*found.span("person")), Span(*found.span("emotion"))
