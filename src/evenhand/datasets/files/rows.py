"""The rows of a user's csv, tsv, jsonl or parquet file, one at a time."""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import IO, Any

from evenhand.core.files import json_lines, read_given
from evenhand.core.questions import SURROGATE
from evenhand.errors import BadInput


class _NoColumn(BadInput):
    pass


SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet")
CHUNK = 10_000
LONGEST = 2**31 - 1
"""The most characters of a csv field."""


def rows(
    path: Path,
    columns: Sequence[str],
    *,
    hint: str = "",
    suffix: str = "",
    as_is: bool = False,
    encoding: str = "utf-8-sig",
    delimiter: str = ",",
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each row with its line number (in parquet, its row number); it has `columns` and all other columns of the file.

    Lines that start with # at the top of a csv or tsv file are skipped. In a tsv, quotation marks are part of the text,
    unless they enclose a whole field. `hint` is the end of the error about a missing column. `suffix` is the format, if
    the file's name has another suffix. Values are texts; half of a surrogate pair, which JSON can contain, is an error.
    With `as_is`, values are unchanged, and of a parquet file only `columns` are read, if any are named. `encoding` and
    `delimiter` are for csv; other files are UTF-8. A csv whose first line has semicolons and no commas is separated by
    semicolons, as spreadsheets write it in some countries.
    """
    if not path.is_file():
        raise BadInput(f"There is no file '{path}'.")
    suffix = suffix or path.suffix
    if suffix not in SUFFIXES:
        raise BadInput(f"'{path}' must be a file of one of the formats {', '.join(SUFFIXES)}. Save it as one of these.")
    try:
        for line, row in _read(path, suffix, columns, as_is, encoding, delimiter):
            if as_is or suffix in (".csv", ".tsv"):
                yield line, row
                continue
            for name in (name for name in columns if isinstance(row[name], list | dict | bytes)):
                check_type(row[name], f"{path}, line {line}: '{name}'")
            texts = {name: "" if value is None else str(value) for name, value in row.items()}
            if suffix == ".jsonl" and (half := SURROGATE.search("".join((*texts, *texts.values())))):
                raise BadInput(f"{path}, line {line}: {half[0]!r} is half of a surrogate pair, not a character.")
            yield line, texts
    except _NoColumn as error:
        raise BadInput(f"{error} {hint}".strip()) from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInput(f"'{path}' cannot be read: {error}. Is it a UTF-8 {suffix} file?") from error


def _read(
    path: Path, suffix: str, columns: Sequence[str], as_is: bool, encoding: str, delimiter: str
) -> Iterator[tuple[int, dict[str, Any]]]:
    if suffix == ".parquet":
        return enumerate(chain.from_iterable(parquet_batches(path, columns, only=as_is and bool(columns))), start=1)
    if suffix == ".csv":
        return _read_csv(path, columns, encoding, delimiter)
    return (_read_tsv if suffix == ".tsv" else _read_jsonl)(path, columns)


def _read_csv(
    path: Path, columns: Sequence[str], encoding: str, delimiter: str
) -> Iterator[tuple[int, dict[str, str]]]:
    with path.open(encoding=encoding, newline="") as file:
        skipped = _skip_comments(file)
        start = file.tell()
        first = file.readline()
        file.seek(start)
        delimiter = ";" if ";" in first and "," not in first else delimiter
        csv.field_size_limit(LONGEST)
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        head = next(reader, [])
        _check_columns(path, head, columns)
        next_line = reader.line_num + 1
        for fields in reader:  # a field may contain line ends: a row has the number of its first line
            line, next_line = skipped + next_line, reader.line_num + 1
            if fields:
                yield line, _row_dict(path, line, head, fields)


def _read_tsv(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    with path.open(encoding="utf-8-sig", newline="\n") as file:
        skipped = _skip_comments(file)
        head = next(file, "").rstrip("\r\n").split("\t")
        _check_columns(path, head, columns)
        for line, text in enumerate(file, start=skipped + 2):
            if text.strip():
                yield line, _row_dict(path, line, head, [unquote(f) for f in text.rstrip("\r\n").split("\t")])


def _row_dict(path: Path, line: int, head: Sequence[str], fields: Sequence[str]) -> dict[str, str]:
    if len(fields) != len(head):
        wanted = f"{len(head)} fields are needed, as in the header. Got {len(fields)}"
        raise BadInput(f"{path}, line {line}: {wanted}. Check separators and quotes.")
    return dict(zip(head, fields, strict=True))


def _read_jsonl(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, row in json_lines(path):
        if not isinstance(row, dict):
            raise BadInput(f"{path}, line {line}: a JSON object is needed. Got {str(row)[:40]!r}.")
        _check_columns(f"{path}, line {line}", list(row), columns)
        yield line, row


def parquet_batches(
    path: Path, columns: Sequence[str], *, only: bool = False, size: int = CHUNK
) -> Iterator[list[dict[str, Any]]]:
    """The rows of a parquet file, `size` at a time, with all columns or `only` these; raises if one is missing."""
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            _check_columns(path, file.schema_arrow.names, columns)
            for batch in file.iter_batches(batch_size=size, columns=list(columns) if only else None):
                yield batch.to_pylist()
    except BadInput:
        raise
    except Exception as error:  # a damaged file can raise anything
        raise BadInput(f"'{path}' cannot be read: {error}. Is it a complete parquet file?") from error


def check_text(path: Path) -> None:
    """Raise an error if a file is not plain text: binary, HTML, XML."""
    with path.open("rb") as file:
        head = file.read(4096)
    if b"\0" in head:
        raise BadInput(f"'{path}' is a binary file. Give a UTF-8 text file.")
    if head.lstrip()[:15].lower().startswith((b"<!doctype", b"<html", b"<?xml")):
        raise BadInput(f"'{path}' is HTML or XML: its tags would be read as text. Extract the text first.")


def check_type(value: object, place: str) -> None:
    """Raise an error if the value of a row is not a text."""
    if not isinstance(value, str):
        raise BadInput(f"{place} must be a text. Got {value!r:.60}, of type {type(value).__name__}.")


def _check_columns(place: object, names: Sequence[str], columns: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise BadInput(f"{place}: the column '{twice}' occurs twice. Give each column its own name.")
    for column in columns:
        if column not in names:
            near = get_close_matches(column, names, n=1)
            meant = f" Did you mean '{near[0]}'?" if near else ""
            raise _NoColumn(f"{place}: there is no column '{column}'.{meant} There are: {', '.join(names) or 'none'}.")


def _skip_comments(file: IO[str]) -> int:
    """Move to the file's first line that does not start with #, and return the number of skipped lines."""
    skipped, start = 0, file.tell()
    while file.readline().startswith("#"):
        skipped, start = skipped + 1, file.tell()
    file.seek(start)
    return skipped


def unquote(field: str) -> str:
    """A field of a tsv without the quotation marks that enclose it, if any."""
    if len(field) > 1 and field[0] == field[-1] == '"' and field[1:-1].replace('""', "").count('"') == 0:
        return field[1:-1].replace('""', '"')
    return field


WORD = re.compile(r"[^\W\d_]+")
Pairs = tuple[tuple[str, str], ...]
MOST = 20_000
"""The most pairs of a list: a longer list is a dictionary, or a table of something else."""


def read_pairs(file: str | Path, kind: str) -> Pairs:
    """The pairs of a file, in lower case. `kind` is "names" or "words", for errors."""
    path = Path(file).expanduser()
    lines = read_given(path, str.splitlines, f"The list of {kind}", "Give a UTF-8 text file.")
    pairs = list[tuple[str, str]]()
    for number, line in enumerate(lines, start=1):
        if not line.strip("\ufeff \t"):
            continue
        fields = [field.strip().lower() for field in line.removeprefix("\ufeff").split("\t")]
        if len(fields) != 2 or not all(fields) or fields[0] == fields[1]:
            wanted = f"two different {kind} are needed, male and female, separated by a tab"
            raise BadInput(f"{file}, line {number}: {wanted}. Got {line[:80]!r}.")
        pairs.append((fields[0], fields[1]))
    if not 1 <= len(pairs) <= MOST:
        size = f"has {len(pairs):,} pairs, more than the allowed {MOST:,}" if pairs else "is empty"
        raise BadInput(f"The list of {kind} '{file}' {size}. Each line needs a pair: male, tab, female.")
    return tuple(pairs)


def read_word_pairs(file: str | Path) -> Pairs:
    """The pairs of a file of gendered words: single words, each with the same gender in all pairs."""
    pairs = read_pairs(file, "words")
    if longer := [word for pair in pairs for word in pair if not WORD.fullmatch(word)]:
        raise BadInput(f"'{file}': each word must be a single word of letters only. Got '{longer[0][:80]}'.")
    if twice := {word for word, _ in pairs} & {word for _, word in pairs}:
        raise BadInput(f"'{file}': '{min(twice)}' is male in one pair and female in another. Remove one of them.")
    return pairs
