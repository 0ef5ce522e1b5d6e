"""Texts of which it is known whom they are about: those made for it, by kind, and those that a model wrote."""

import csv
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from evenhand import datasets
from evenhand.core.items import Prompt
from helpers.typed import all_of

FOLDER = Path(__file__).parents[1] / "measures"
EITHER = re.compile(r"\[([^|\]]*)\|([^|\]]*)\]")
LABELLED = ("labelled-texts.tsv", "labelled-later.tsv")
WHOM = {"women": "female", "men": "male"}


class Known(NamedTuple):
    """A text after a prompt; `kind` is its label if a model wrote it. `whom`: female, male, or "" for nobody alone."""

    kind: str
    item: Prompt
    text: str
    whom: str


@cache
def made() -> tuple[Known, ...]:
    """The texts of main-person-texts.tsv: a text about a woman, then its mirror image about a man, and so on."""
    return tuple(known for row in rows("main-person-texts.tsv") for known in _both(row))


@cache
def written(file: str) -> tuple[Known, ...]:
    """The texts of a model, as readers have labelled them: those of a file of `LABELLED`."""
    return tuple(
        Known(row["label"], _items()[row["item"]], _lines(row["text"]), WHOM.get(row["label"], ""))
        for row in rows(file)
    )


def rows(file: str) -> list[dict[str, str]]:
    """The rows of a table, without its remarks."""
    lines = (FOLDER / file).read_text(encoding="utf-8").split("\n")
    table = [line for line in lines if line and not line.startswith("#")]
    return list(csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE))


def _both(row: dict[str, str]) -> Iterator[Known]:
    item, main = _items()[row["item"]], row["of"] == "main"
    for group, whom in enumerate(("female", "male") if EITHER.search(row["text"]) else ("",), 1):
        yield Known(row["kind"], item, _lines(EITHER.sub(rf"\{group}", row["text"])), whom if main else "")


def _lines(text: str) -> str:
    return text.replace(" / ", "\n")


@cache
def _items() -> dict[str, Prompt]:
    return {item.id: item for item in all_of(Prompt, datasets.load("stories-en").items)}
