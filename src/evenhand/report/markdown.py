"""Tables in markdown."""

import re
from collections.abc import Collection, Sequence


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, left: Collection[str] = ()) -> str:
    """A table with its heads; columns in `left` are words, the others numbers. Cells are text, whatever they hold."""
    lines = [heads, ["---" if head in left else "--:" for head in heads]]
    shown = [[escaped(cell) for cell in row] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in [*lines, *shown])


def escaped(text: str) -> str:
    """The text with nothing in it that markdown or HTML would take for its own."""
    return re.sub(r"([\\`*_|<>~&]|(?<=\])\()", r"\\\1", re.sub(r"\s+", " ", text))
