"""Sentence pairs: ours (TGB), CrowS-Pairs (Nangia et al. 2020) in English, French and Dutch, and users' files."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand.core.dataset import Dataset
from evenhand.core.items import Pair, check_readable
from evenhand.core.words import words
from evenhand.datasets.faults import faults
from evenhand.datasets.files import read_tsv
from evenhand.datasets.files.language import not_english
from evenhand.datasets.files.releases import RELEASES, find_release
from evenhand.datasets.files.rows import rows
from evenhand.datasets.gendered import gender
from evenhand.datasets.kinds import ABOUT, kinds_of
from evenhand.datasets.templates import recorded_file
from evenhand.errors import BadInput, UnknownName

CODE = re.compile(r"[a-z]{2,3}(-[a-z0-9]{2,8})?")
WHOM = {
    "": "none",
    **dict.fromkeys(("women", "woman", "female"), "women"),
    **dict.fromkeys(("men", "man", "male"), "men"),
}
CROWS_COLUMNS = ("sent_more", "sent_less", "stereo_antistereo", "bias_type")
ALL = "all"
TRANSLATED = "Translated from CrowS-Pairs, flaws included; not linted."
CROWS_PAIRS = {
    "crows-pairs": ("en", "", "Its authors advise against its use: many pairs are noisy (Blodgett et al. 2021)."),
    "crows-pairs-fr": ("fr", "id", TRANSLATED),
    "crows-pairs-nl": ("nl", "id", TRANSLATED),
}
"""Language, column of ids and flaws of each release."""


def tgb() -> Dataset:
    """Triple Gender Bias: 100 pairs each of occupation bias, hostile and benevolent sexism, of our own writing."""
    table = read_tsv("tgb-en.tsv")
    items = [
        Pair(row["id"], row["stereotype"], row["counterpart"], {name: row[name] for name in ("category", "about")})
        for row in table
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
        table=partial(table_of, table, "id"),
    )


def from_file(
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

    `id`, `category` and `about` may be missing: rows are then numbered, and not divided. `about` says whom the
    stereotype is about, women or men. With it, stereotype and default are separate values; without it, a general
    preference for one gender is part of the value. `language` is a code such as en or es; without it the sentences must
    be English. A run records `sha256`, so that it can only be scored again with the same file.
    """
    if language and not CODE.fullmatch(language):
        raise BadInput(f"`language` must be a code such as en, es or pt-br. Got {language!r}.")
    path = Path(file).expanduser()
    items = list(_pairs(path, stereotype, counterpart, id, category, about))
    if not language and (why := not_english(item.stereotype for item in items)):
        raise BadInput(f"'{file}': {why} Give their language, as in `lang='es'`, or `lang='en'` if they are English.")
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
    """The id and the two sentences of each row, for the linter, which also checks rows that cannot be measured."""
    hint = "Name the columns with `stereotype` and `counterpart`."
    for line, row in rows(Path(file).expanduser(), (stereotype, counterpart), hint=hint):
        try:
            check_readable(row[stereotype], row[counterpart])
        except BadInput as error:
            raise BadInput(f"{file}, line {line}: {error}") from error
        yield row.get("id") or f"line {line}", row[stereotype], row[counterpart]


def _pairs(path: Path, stereotype: str, counterpart: str, id: str, category: str, about: str) -> Iterator[Pair]:
    seen: dict[str, int] = {}
    hint = "Name the columns by the options `stereotype` and `counterpart` (`--option stereotype=COLUMN`)."
    for line, row in rows(path, (stereotype, counterpart), hint=hint):
        try:
            check_readable(row[stereotype], row[counterpart])
            _check_related(row[stereotype], row[counterpart])
            name = row.get(id) or str(line)
            if name in seen:
                raise BadInput(f"the id '{name}' occurred before, in line {seen[name]}. Each pair needs its own id.")
            seen[name] = line
            groups = {"category": row[category] or "none"} if category in row else {}
            if about in row and (whom := WHOM.get(row[about].strip().lower())):
                groups["about"] = whom
            elif about in row:
                raise BadInput(f"the column '{about}' must be women, men or empty. Got {row[about]!r}.")
            yield Pair(name, row[stereotype], row[counterpart], groups)
        except BadInput as error:
            raise BadInput(f"{path}, line {line}: {error} Check all rows: evenhand datasets lint {path}") from error


def _check_related(first: str, second: str) -> None:
    old, new = ({w.of(text).lower() for w in words(text) if w.of(text).isalnum()} for text in (first, second))
    if not old or not new:
        raise BadInput("a pair needs two sentences. One is empty.")
    if not old & new:
        texts = f"{first!r} and {second!r}"
        raise BadInput(f"the two sentences have no word in common: {texts}. Are they in two languages?")


def release_rows(path: Path, columns: Sequence[str], dataset: str, hint: str = "") -> Iterator[tuple[int, Any]]:
    """The rows of a release, or of scores beside it. The Dutch file is Mac Roman; in two places of it, é is UTF-8."""
    dutch = dataset.startswith("crows-pairs-nl") and path.suffix == ".csv" and path.is_file()
    if dutch:
        with suppress(UnicodeDecodeError):
            dutch = not path.read_text(encoding="utf-8")
    for line, row in rows(path, columns, hint=hint, encoding="mac_roman" if dutch else "utf-8-sig"):
        yield line, {name: text.replace("√©", "é") for name, text in row.items()} if dutch else row


def crows_pairs(name: str, bias: str = "gender") -> Dataset:
    """The pairs of a release, of one type of bias or of all."""
    language, id, flaws = CROWS_PAIRS[name]
    path = find_release(name, ".csv")
    released = release_rows(path, (id, *CROWS_COLUMNS), name)
    everything = [{name: text.strip() for name, text in row.items()} for _, row in released]
    of_type = [row for row in everything if bias in (ALL, row["bias_type"])]
    if not of_type:
        raise UnknownName("type of bias", bias, {ALL} | {row["bias_type"] for row in everything})
    whole = [row for row in of_type if _is_pair(row)]
    if excluded := ", ".join(row[id] for row in of_type if not _is_pair(row)):
        flaws += f" Left out, since a sentence is missing or both are the same: {excluded}."
    flawed = {f.id for f in faults((row[id], row["sent_more"], row["sent_less"]) for row in whole if language == "en")}
    items = []
    for row in whole:
        groups = {"pairs": "flawed" if row[id] in flawed else "clean"} if language == "en" else {}
        groups |= {"direction": row["stereo_antistereo"]} | ({"bias": row["bias_type"]} if bias == ALL else {})
        pair = Pair(row[id], row["sent_more"], row["sent_less"], groups)
        if bias == "gender":
            pair = replace(pair, groups={**groups, "about": _whom_about(pair, language)})
        items.append(pair)
    return Dataset(
        name=name,
        language=language,
        about=f"Pairs of CrowS-Pairs, {'all types' if bias == ALL else f'type {bias}'}.",
        **RELEASES[name].texts | {"flaws": flaws},
        items=items,
        by=("bias",) if bias == ALL else ("pairs",) if language == "en" else ("direction",),
        kinds=kinds_of(name, {"bias": bias}),
        table=partial(table_of, whole, id),
        options={"bias": bias},
    )


def _whom_about(pair: Pair, language: str) -> str:
    """Whom the stereotype is about: in English the gender of its words that change, or else the release's label.

    The label says whether the stereotype is about the disadvantaged group, women. In English, the words that change are
    of one gender in 184 pairs, and 35 of their labels say the other: "Men are hunters" is labelled as about women.
    """
    words = {gender(span.of(pair.stereotype)) for span in pair.changed[0]} - {None}
    if len(words) == 1 and language == "en":
        return {"female": "women", "male": "men"}[words.pop() or ""]
    return {"stereo": "women", "antistereo": "men"}.get(pair.groups["direction"], "none")


def _is_pair(row: dict[str, Any]) -> bool:
    return bool(row["sent_more"] and row["sent_less"]) and row["sent_more"] != row["sent_less"]


def table_of(rows: list[dict[str, Any]], by: str) -> pd.DataFrame:
    """The rows of a file as a table, with one column as its index."""
    return pd.DataFrame(rows).set_index(by)


def _table(items: Sequence[Pair]) -> pd.DataFrame:
    rows: list[dict[str, Any]] = [{"stereotype": i.stereotype, "counterpart": i.counterpart, **i.groups} for i in items]
    return pd.DataFrame(rows, index=pd.Index([i.id for i in items], name="id"))
