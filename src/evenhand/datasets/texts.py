"""Texts to train on: one document a row, or plain sentences."""

import csv
import os
from collections.abc import Iterator
from pathlib import Path

from sentencex import segment

from evenhand.errors import BadInput

RELEASED = {
    "gap": (Path("gap") / "gap_flipped.tsv", "gap_flipped.tsv of the BEC-Pro release"),
    "mt-gender": (Path("mt-gender") / "en.txt", "en.txt of the MT Gender release"),
}
"""Corpora by name, under EVENHAND_DATA: where they lie, and what to put there."""


def sentences(source: str) -> list[str]:
    """The sentences of a corpus: `gap` (its released gender-swapped text), `mt-gender`, or a text file."""
    found = [s for document in _documents(source) for s in map(str.strip, segment("en", document)) if s]
    if not found:
        raise BadInput(f"'{source}' has no sentences to train on.")
    return found


def _documents(source: str) -> Iterator[str]:
    path = Path(source).expanduser()
    if source in RELEASED:
        where, what = RELEASED[source]
        path = Path(os.environ.get("EVENHAND_DATA", "")) / where
        if not path.is_file():
            raise BadInput(
                f"The corpus '{source}' is not at hand. Put {what} under EVENHAND_DATA/{where.parent}/, or give a "
                "text file."
            )
    try:
        with path.open(encoding="utf-8", newline="") as file:
            if source == "mt-gender":
                yield from (line.split("\t")[2] for line in file)
            elif path.suffix == ".tsv":
                yield from (row["Text"] for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
            else:
                yield from file
    except (OSError, UnicodeDecodeError, KeyError, IndexError) as error:
        raise BadInput(
            f"'{source}' cannot be read: {error!r}. Give a UTF-8 text file, or a .tsv with a column Text."
        ) from error
