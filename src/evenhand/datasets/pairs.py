"""Sentence pairs: ours (TGB), and users' own."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand.core.dataset import Dataset
from evenhand.core.items import Pair, check_texts
from evenhand.core.words import words
from evenhand.datasets.checking import recorded_file
from evenhand.datasets.files.bundled import read_tsv
from evenhand.datasets.files.language import not_english
from evenhand.datasets.files.rows import rows
from evenhand.datasets.kinds import ABOUT
from evenhand.errors import BadInput

CODE = re.compile(r"[a-z]{2,3}(-[a-z0-9]{2,8})?")
WHOM = {
    "": "none",
    **dict.fromkeys(("women", "woman", "female"), "women"),
    **dict.fromkeys(("men", "man", "male"), "men"),
}


def tgb() -> Dataset:
    """Triple Gender Bias: 100 pairs each of occupation bias, hostile and benevolent sexism, of our own writing."""
    found = read_tsv("tgb-en.tsv")
    items = [
        Pair(row["id"], row["stereotype"], row["counterpart"], {name: row[name] for name in ("category", "about")})
        for row in found
    ]
    return Dataset(
        name="tgb",
        about="300 sentences that carry a stereotype, and their counterparts in which only gendered words change. "
        "Many are sexist: that is what they are for.",
        source="Own sentences, after the design of Barza 2023, section 4.1.1, whose set was never published",
        licence="CC0 1.0",
        flaws="Not validated by annotators. Two genders only. English, of Britain and America mixed.",
        items=items,
        by=("category",),
        within="about",
        kinds=ABOUT,
        table=partial(indexed, found, "id"),
    )


def own(
    file: str,
    stereotype: str = "stereotype",
    counterpart: str = "counterpart",
    id: str = "id",
    category: str = "category",
    about: str = "about",
    language: str = "",
    sha256: str = "",
) -> Dataset:
    """A user's file (csv, tsv, jsonl, parquet) with a column for each sentence; the options name its columns.

    `id`, `category` and `about` may be missing: rows are then numbered, and not divided. With `about`, whom the
    stereotype is about, women or men, stereotype and default are told apart; without it, a preference for one gender
    is part of the value. `language` is any code, en, es; without one they must be English. A run records `sha256`, so
    that it is scored again with the same file only.
    """
    if language and not CODE.fullmatch(language):
        raise BadInput(f"`language` is a code such as en, es or pt-br. Got {language!r}.")
    path = Path(file).expanduser()
    items = list(_pairs(path, stereotype, counterpart, id, category, about))
    if not language and (why := not_english(item.stereotype for item in items)):
        raise BadInput(f"'{file}': {why} Say which language they are in: `lang='es'`, or `lang='en'` for English.")
    if not items:
        raise BadInput(f"'{file}' has no rows.")
    language = language or "en"
    divided, told_apart = (any(group in item.groups for item in items) for group in ("category", "about"))
    columns = {"stereotype": stereotype, "counterpart": counterpart, "id": id, "category": category}
    columns |= {"about": about} if told_apart else {}
    return Dataset(
        name=path.stem,
        language=language,
        about=f"{len(items):,} sentence pairs of {path.name}.",
        source=path.name,
        items=items,
        by=("category",) if divided else (),
        kinds=ABOUT if told_apart else None,
        table=partial(_table, items),
        builder="pairs",
        options={"file": file, **columns, "language": language} | recorded_file(file, sha256),
    )


def sentences(file: str, stereotype: str, counterpart: str) -> Iterator[tuple[str, str, str]]:
    """The id and texts of each row, unchecked: the linter also wants rows that cannot be measured."""
    hint = "Name the columns with `stereotype` and `counterpart`."
    for line, row in rows(Path(file).expanduser(), (stereotype, counterpart), hint=hint):
        try:
            check_texts(row[stereotype], row[counterpart])
        except BadInput as error:
            raise BadInput(f"{file}, line {line}: {error}") from error
        yield row.get("id") or f"line {line}", row[stereotype], row[counterpart]


def _pairs(path: Path, stereotype: str, counterpart: str, id: str, category: str, about: str) -> Iterator[Pair]:
    seen: dict[str, int] = {}
    hint = "Name yours with the options stereotype and counterpart."
    for line, row in rows(path, (stereotype, counterpart), hint=hint):
        try:
            check_texts(row[stereotype], row[counterpart])
            _check_related(row[stereotype], row[counterpart])
            name = row.get(id) or str(line)
            if name in seen:
                raise BadInput(f"the id '{name}' occurred before, in line {seen[name]}. Each pair needs its own.")
            seen[name] = line
            groups = {"category": row[category] or "none"} if category in row else {}
            if about in row and (whom := WHOM.get(row[about].strip().lower())):
                groups["about"] = whom
            elif about in row:
                raise BadInput(f"whom the stereotype is about is women or men, or left empty. Got {row[about]!r}.")
            yield Pair(name, row[stereotype], row[counterpart], groups)
        except BadInput as error:
            raise BadInput(f"{path}, line {line}: {error} Look for more with: evenhand datasets lint {path}") from error


def _check_related(one: str, other: str) -> None:
    here, there = ({w.of(text).lower() for w in words(text) if w.of(text).isalnum()} for text in (one, other))
    if not here or not there:
        raise BadInput("a pair needs two sentences. One is empty.")
    if not here & there:
        raise BadInput(f"the two sentences have no word in common: {one!r} and {other!r}. Are they in two languages?")


def indexed(found: list[dict[str, Any]], by: str) -> pd.DataFrame:
    """The rows of a file as a table, with one column as its index."""
    return pd.DataFrame(found).set_index(by)


def _table(items: Sequence[Pair]) -> pd.DataFrame:
    made: list[dict[str, Any]] = [{"stereotype": i.stereotype, "counterpart": i.counterpart, **i.groups} for i in items]
    return pd.DataFrame(made, index=pd.Index([i.id for i in items], name="id"))
