"""Plain text in paragraphs, whose hard-wrapped lines are joined without moving a character."""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from evenhand.core.files import real_path
from evenhand.datasets.files.rows import SUFFIXES, check_text
from evenhand.errors import BadInput

TEXT, LOG = ".txt", ".trail.jsonl"
"""The file suffixes of texts, and of the edit logs of a swap, which are not texts."""
LONGEST = 200_000
"""The most characters of a paragraph. A longer one, without empty lines, is cut at the end of a line or sentence."""
LONGEST_LINE = 2**28
"""The number of characters from which a line is too long for a document."""
WRAP = re.compile(r"(?<=\S)([ \t]*)(\r\n|\n|\r)(?=[ \t]*\S)")
"""A line end inside a paragraph."""
ITEM = re.compile(r"[ \t]*(?:[-*•>|#=_~+]|\d+[.)]\s|\S+:$)")
"""How a line of a list, a quotation, a table or a heading begins, which does not continue the line before."""


def paragraphs(lines: Iterable[str]) -> Iterator[str]:
    r"""The paragraphs of a text, each with the empty lines after it: joined, they give the same text.

    >>> list(paragraphs(["He saw\n", "her.\n", "\n", "She left."]))
    ['He saw\nher.\n\n', 'She left.']
    """
    taken, size, begun, ended = list[str](), 0, False, False
    for line in lines:
        blank = not line.strip()
        if taken and ((ended and not blank) or size + len(line) > LONGEST):
            yield "".join(taken)
            taken, size, begun, ended = [], 0, False, False
        taken.append(line)
        size += len(line)
        begun, ended = begun or not blank, begun and (ended or blank)
    if taken:
        yield "".join(taken)


def unwrap(paragraph: str) -> str:
    r"""The paragraph with its wrapped lines joined by spaces; its length is the same, so positions stay valid.

    A line end stays if a list item, a quotation or a heading follows, or if the next word, with a capital letter, would
    have fitted on the line: verse, addresses.

    >>> unwrap("The book that he gave to her\nlay open, and\nshe read.\n")
    'The book that he gave to her lay open, and she read.\n'
    """
    if "\n" not in paragraph and "\r" not in paragraph:
        return paragraph
    width = max(map(len, paragraph.splitlines()))

    def join(match: re.Match[str]) -> str:
        start = max(paragraph.rfind("\n", 0, match.start()), paragraph.rfind("\r", 0, match.start())) + 1
        rest = paragraph[match.end() : match.end() + 80]
        word = next(iter(rest.split(maxsplit=1)), "")
        fits = match.start() - start + 1 + len(word) <= width - 8
        if ITEM.match(rest) or (fits and not word[0].islower()):
            return match[0]
        return match[1] + " " * len(match[2])

    return WRAP.sub(join, paragraph)


def read_plain(path: Path, *, lines: bool = False) -> Iterator[str]:
    """The documents of a text file, with their line ends: its paragraphs, or each of its `lines`.

    Memory does not grow with the file: a paragraph has at most 200,000 characters, and a longer line is cut between
    words. With `lines`, a line of 268 million characters is an error.
    """
    with _convert_errors(path), path.open(encoding="utf-8", newline="") as file:
        if not lines:
            yield from paragraphs(_split_long_lines(file))
            return
        while line := file.readline(LONGEST_LINE):
            if len(line) == LONGEST_LINE:
                raise BadInput(
                    f"'{path}' has a line of more than {LONGEST_LINE:,} characters, which is too long for a document. "
                    "Without `lines` it is read in parts."
                )
            yield line


def _split_long_lines(file: IO[str]) -> Iterator[str]:
    """The lines of a file. A line longer than LONGEST is cut into parts, after a sentence or between words."""
    rest = ""
    while part := file.readline(LONGEST):
        part, rest = rest + part, ""
        if not part.endswith(("\n", "\r")) and len(part) >= LONGEST:
            stop = max(part.rfind(mark) for mark in (". ", "! ", "? ")) + 2
            stop = stop if stop > 1 else part.rfind(" ") + 1 or len(part)
            part, rest = part[:stop], part[stop:]
        yield part
    if rest:
        yield rest


@contextmanager
def _convert_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError as error:
        raise BadInput(f"'{path}' is not UTF-8: {error}. Convert it, as in: iconv -f latin1 -t utf-8.") from error
    except OSError as error:
        raise BadInput(f"'{path}' cannot be read: {error.strerror or error}.") from error


def texts_in(folder: Path, *, decoded: bool = False) -> list[Path]:
    """The text files in a folder and its subfolders, in a fixed order; hidden files are excluded.

    Raises BadInput if there are none, or if a link leads out of the folder, to files that the user did not name. With
    `decoded`, all files are read, and it raises BadInput if one is not UTF-8, before any output is written.
    """
    paths, resolved = list[Path](), real_path(folder)
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        texts = [
            Path(parent, name)
            for name in sorted(names)
            if not name.startswith(".") and Path(name).suffix in (TEXT, *SUFFIXES) and not name.endswith(LOG)
        ]
        for path in (*texts, *(Path(parent, name) for name in folders)):
            if path.is_symlink() and (resolved not in real_path(path).parents or not path.exists()):
                raise BadInput(f"'{path}' is a link that is broken or leads out of '{folder}'. Remove or replace it.")
        paths += texts
    if not paths:
        raise BadInput(f"The folder '{folder}' has no texts, files that end in {TEXT}, {', '.join(SUFFIXES)}.")
    for path in paths:
        if path.suffix != ".parquet":
            check_text(path)
            with _convert_errors(path), path.open(encoding="utf-8") as file:
                while decoded and file.read(2**20):
                    pass
    return paths
