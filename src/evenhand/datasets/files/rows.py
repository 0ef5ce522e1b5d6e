"""Rows of a user's file, one at a time: csv, tsv, jsonl, parquet."""

import csv
import json
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import IO

from evenhand.errors import BadInput


class _NoColumn(BadInput):
    pass


SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet")
CHUNK = 10_000
LONGEST = 2**31 - 1
"""Characters of a field of a csv."""


def rows(
    path: Path, columns: Sequence[str], *, hint: str = "", suffix: str = ""
) -> Iterator[tuple[int, dict[str, str]]]:
    """Each row with its line (or row) number; every one has `columns`, and any others the file has.

    Lines that start with # at the head of a csv or tsv file are passed over. In a tsv, quotation marks are part of the
    text, unless they enclose a whole field. `hint` is said where a column is missing; `suffix` is the format of a file
    whose name has another.
    """
    if not path.is_file():
        raise BadInput(f"There is no file '{path}'.")
    suffix = suffix or path.suffix
    if suffix not in SUFFIXES:
        raise BadInput(f"'{path}' must be one of {', '.join(SUFFIXES)}. Save it as one of these.")
    try:
        yield from {".csv": _csv, ".tsv": _tsv, ".jsonl": _jsonl, ".parquet": _parquet}[suffix](path, columns)
    except _NoColumn as error:
        raise BadInput(f"{error} {hint}".strip()) from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInput(f"'{path}' cannot be read: {error}. Is it a UTF-8 {suffix} file?") from error


def _csv(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        skipped = _past_comments(file)
        csv.field_size_limit(LONGEST)
        reader = csv.reader(file, strict=True)
        head = next(reader, [])
        _check(path, head, columns)
        next_line = reader.line_num + 1
        for fields in reader:  # a field may have line ends in it: a record is named by its first line
            line, next_line = skipped + next_line, reader.line_num + 1
            if fields and len(fields) != len(head):
                raise BadInput(
                    f"{path}, line {line}: it must have as many fields as the head. Check commas and quotes."
                )
            if fields:
                yield line, dict(zip(head, fields, strict=True))


def _tsv(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    with path.open(encoding="utf-8-sig", newline="\n") as file:
        skipped = _past_comments(file)
        head = next(file, "").rstrip("\r\n").split("\t")
        _check(path, head, columns)
        for line, text in enumerate(file, start=skipped + 2):
            if not text.strip():
                continue
            fields = [unquoted(field) for field in text.rstrip("\r\n").split("\t")]
            if len(fields) != len(head):
                raise BadInput(
                    f"{path}, line {line}: {len(head)} fields are wanted, as in the head. Got {len(fields)}."
                )
            yield line, dict(zip(head, fields, strict=True))


def _jsonl(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    with path.open(encoding="utf-8") as file:
        for line, text in enumerate(file, start=1):
            if not text.strip():
                continue
            try:
                row = json.loads(text)
            except ValueError as error:
                raise BadInput(f"{path}, line {line}: not JSON: {error}.") from error
            if not isinstance(row, dict):
                raise BadInput(f"{path}, line {line}: an object is wanted. Got {text.strip()[:40]!r}.")
            _check(f"{path}, line {line}", list(row), columns)
            yield line, {name: "" if value is None else str(value) for name, value in row.items()}


def _parquet(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    from pyarrow import ArrowInvalid
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            _check(path, file.schema_arrow.names, columns)
            number = 0
            for batch in file.iter_batches(batch_size=CHUNK):
                for row in batch.to_pylist():
                    number += 1
                    yield number, {name: "" if value is None else str(value) for name, value in row.items()}
    except ArrowInvalid as error:
        raise BadInput(f"'{path}' cannot be read: {error}. Is it a parquet file?") from error


def check_text(path: Path) -> None:
    """An error where a file is no plain text: binary, HTML, XML."""
    with path.open("rb") as file:
        head = file.read(4096)
    if b"\0" in head:
        raise BadInput(f"'{path}' is a binary file. Give a text in UTF-8.")
    if head.lstrip()[:15].lower().startswith((b"<!doctype", b"<html", b"<?xml")):
        raise BadInput(f"'{path}' is HTML or XML: its tags would be taken for text. Extract the text first.")


def _check(place: object, names: Sequence[str], columns: Sequence[str]) -> None:
    if twice := [name for name in names if list(names).count(name) > 1]:
        raise BadInput(f"{place}: the column '{twice[0]}' is there twice. Give each a name of its own.")
    for column in columns:
        if column not in names:
            near = get_close_matches(column, names, n=1)
            meant = f" Did you mean '{near[0]}'?" if near else ""
            if len(names) == 1 and ";" in names[0]:
                meant = " Its columns are parted by semicolons: save it with commas, or as tsv."
            raise _NoColumn(f"{place}: there is no column '{column}'.{meant} There are: {', '.join(names) or 'none'}.")


def _past_comments(file: IO[str]) -> int:
    """Leave the file at its first line without #; how many were passed over."""
    skipped, start = 0, file.tell()
    while file.readline().startswith("#"):
        skipped, start = skipped + 1, file.tell()
    file.seek(start)
    return skipped


def unquoted(field: str) -> str:
    """A field of a tsv without the quotation marks that enclose it, if any."""
    if len(field) > 1 and field[0] == field[-1] == '"' and field[1:-1].replace('""', "").count('"') == 0:
        return field[1:-1].replace('""', '"')
    return field
