"""Texts to train on: one document a row, or plain sentences."""

import csv
import os
from collections.abc import Iterator
from pathlib import Path

from sentencex import segment

from evenhand.errors import BadInput

GAP_FLIPPED = Path("gap") / "gap_flipped.tsv"


def sentences(source: str) -> list[str]:
    """The sentences of a corpus: `gap` (its released gender-swapped text, from EVENHAND_DATA) or a text file."""
    found = [s for document in _documents(source) for s in map(str.strip, segment("en", document)) if s]
    if not found:
        raise BadInput(f"'{source}' has no sentences to train on.")
    return found


def _documents(source: str) -> Iterator[str]:
    path = Path(source).expanduser()
    if source == "gap":
        path = Path(os.environ.get("EVENHAND_DATA", "")) / GAP_FLIPPED
        if not path.is_file():
            raise BadInput(
                "The gender-swapped GAP corpus is not at hand. Put gap_flipped.tsv of the BEC-Pro release under "
                "EVENHAND_DATA/gap/, or give a text file."
            )
    try:
        with path.open(encoding="utf-8", newline="") as file:
            if path.suffix == ".tsv":
                yield from (row["Text"] for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
            else:
                yield from file
    except (OSError, UnicodeDecodeError, KeyError) as error:
        raise BadInput(
            f"'{source}' cannot be read: {error!r}. Give a UTF-8 text file, or a .tsv with a column Text."
        ) from error
