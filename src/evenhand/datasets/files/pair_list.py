"""A user's list of pairs, words or names: a male and a female one on each line, separated by a tab."""

import re
from pathlib import Path

from evenhand.core.files import read_given
from evenhand.errors import BadInput

WORD = re.compile(r"[^\W\d_]+")
Pairs = tuple[tuple[str, str], ...]
MOST = 20_000
"""The most pairs of a list: a longer one is a dictionary, or a table of something else."""


def read_pairs(file: str | Path, what: str) -> Pairs:
    """The pairs of a file, in lower case; an error says which line is not a pair. `what` are names or words."""
    path = Path(file).expanduser()
    lines = read_given(path, str.splitlines, f"The list of {what}", "Give a UTF-8 text file.")
    found = list[tuple[str, str]]()
    for number, line in enumerate(lines, start=1):
        if not line.strip("\ufeff \t"):
            continue
        fields = [field.strip().lower() for field in line.removeprefix("\ufeff").split("\t")]
        if len(fields) != 2 or not all(fields) or fields[0] == fields[1]:
            raise BadInput(
                f"{file}, line {number}: two different {what} are needed, the male one, a tab, and the female one. Got "
                f"{line[:80]!r}."
            )
        found.append((fields[0], fields[1]))
    if not 1 <= len(found) <= MOST:
        size = f"has {len(found):,} pairs, and may have {MOST:,}" if found else "is empty"
        raise BadInput(f"The list of {what} '{file}' {size}: a pair on each line, male, tab, female.")
    return tuple(found)


def read_word_pairs(file: str | Path) -> Pairs:
    """The pairs of a file of gendered words: single words, each of one gender throughout."""
    found = read_pairs(file, "words")
    if longer := [word for pair in found for word in pair if not WORD.fullmatch(word)]:
        raise BadInput(f"'{file}': single words are needed, of letters alone. Got '{longer[0][:80]}'.")
    if twice := {word for word, _ in found} & {word for _, word in found}:
        raise BadInput(f"'{file}': '{min(twice)}' is a male word in one pair and a female one in another.")
    return found
