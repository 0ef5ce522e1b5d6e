"""A plain text file with one number on each line, in the order of the dataset's items."""

from pathlib import Path

from evenhand.core.files import read_given
from evenhand.errors import BadInput
from evenhand.formats.incoming.rows import ScoredRow, numbers


def read(path: Path) -> list[ScoredRow]:
    """The numbers, in order; an empty line between two of them is an error, since the order would be lost."""
    whole = read_given(path, str, "", "Give a UTF-8 text file with a number on each line.")
    found = []
    for line, text in enumerate(whole.removeprefix("\ufeff").rstrip().splitlines(), start=1):
        where = f"{path}, line {line}"
        if not text.strip():
            raise BadInput(f"{where} is empty. Each line is the score of one item, in the order of the dataset.")
        found.append(ScoredRow(where, numbers(where, ["the line"], [text])))
    return found
