"""Files of texts as they come in and go out again: one text a line or a row, everything else in it as it was."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any, Literal

from evenhand.datasets.files.rows import rows, unquoted
from evenhand.errors import BadInput
from evenhand.mitigation import gap
from evenhand.mitigation.swap import Edit

TEXT = ".txt"


def read_texts(source: Path, column: str) -> Iterator[str]:
    """The text of each document; nothing where there is none."""
    hint = "Name it: --column NAME."
    if source.suffix == ".jsonl":
        yield from (_text(row.get(column), f"{source}, line {line}") for line, row in _objects(source, column, hint))
    elif source.suffix == ".parquet":
        yield from (
            _text(value, f"{source}, row {n}") for n, value in enumerate(_column(source, column, hint), start=1)
        )
    elif source.suffix != TEXT:
        yield from (row[column] for _, row in rows(source, (column,), hint=hint))
    else:
        try:
            with source.open(encoding="utf-8", newline="") as file:
                yield from file
        except UnicodeDecodeError as error:
            raise BadInput(f"'{source}' is not UTF-8: {error}. Convert it, as in: iconv -f latin1 -t utf-8.") from error


def _text(value: object, place: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadInput(f"{place}: a text is wanted. Got {value!r}, of the kind {type(value).__name__}.")
    return value


def _objects(source: Path, column: str, hint: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a jsonl file, their values as they are."""
    plain = rows(source, (column,), hint=hint)  # which checks each line
    with source.open(encoding="utf-8") as file:
        for (line, _), text in zip(plain, (line for line in file if line.strip()), strict=True):
            yield line, json.loads(text)


def _column(source: Path, column: str, hint: str) -> Iterator[object]:
    from pyarrow.parquet import ParquetFile

    next(rows(source, (column,), hint=hint), None)  # says what is wrong with the file
    with ParquetFile(source) as file:
        for batch in file.iter_batches(columns=[column]):
            yield from batch.column(0).to_pylist()


Both = Callable[[str, list[Edit]], list[str]]
"""A text and its edits -> the texts to write."""
Record = tuple[str, dict[str, Any] | None, Callable[[dict[str, Any]], str]]
"""A row as it stands in the file, its values (None where it has none: heads, comments, empty lines), and how to write
other values as it is written."""


def write_texts(file: IO[bytes], source: Path, column: str, edits: Iterator[list[Edit]], both: Both) -> None:
    """Write `source` anew with each text replaced by what `both` makes of it and its edits.

    Rows whose text stays are written as they stand, to the byte; others with the quoting they have, where it is one
    of the usual.
    """
    if source.suffix == ".parquet":
        _write_parquet(file, source, column, edits, both)
    elif source.suffix == TEXT:
        for text, document in zip(read_texts(source, column), edits, strict=True):
            for one in both(text, document):
                file.write(one.encode())
    else:
        _write_records(file, _RECORDS[source.suffix](source), column, edits, both)


def _write_records(
    file: IO[bytes], records: Iterator[Record], column: str, edits: Iterator[list[Edit]], both: Both
) -> None:
    ended = True
    for raw, row, written in records:
        lines = [raw]
        if row is not None:
            lines = [raw if new is row else written(new) for new in _rows(row, column, next(edits), both)]
        for line in lines:
            file.write((line if ended else f"\n{line}").encode())
            ended = line.endswith(("\n", "\r"))


def _rows(row: dict[str, Any], column: str, edits: list[Edit], both: Both) -> Iterator[dict[str, Any]]:
    """The row with each of the texts; itself where the text is its own."""
    text = row[column]
    if text is None:
        yield row
        return
    for new in both(text, edits):
        if new == text:
            yield row
        else:
            yield gap.followed(row, column, new, edits) if gap.is_annotated(row, column) else {**row, column: new}


def _csv_records(source: Path) -> Iterator[Record]:
    taken: list[str] = []

    def noted(lines: Iterator[str]) -> Iterator[str]:
        for line in lines:
            taken.append(line)
            yield line

    with source.open(encoding="utf-8", newline="") as file:
        before, lines = _head(file)
        reader = csv.reader(noted(lines))
        head = next(reader)
        for fields in chain([[]], reader):
            raw = before + "".join(taken)
            before = ""
            taken.clear()
            yield raw, dict(zip(head, fields, strict=True)) if fields else None, partial(_csv_row, raw, fields)


def _csv_row(raw: str, fields: list[str], row: dict[str, str]) -> str:
    end = raw[len(raw.rstrip("\r\n")) :]
    quoting: Literal[0, 1] = csv.QUOTE_ALL if _csv_line(fields, csv.QUOTE_ALL, end) == raw else csv.QUOTE_MINIMAL
    return _csv_line(row.values(), quoting, end)


def _csv_line(fields: Iterable[str], quoting: Literal[0, 1], end: str) -> str:
    line = io.StringIO(newline="")
    csv.writer(line, quoting=quoting, lineterminator=end).writerow(fields)
    return line.getvalue()


def _tsv_records(source: Path) -> Iterator[Record]:
    with source.open(encoding="utf-8", newline="\n") as file:
        before, lines = _head(file)
        first = next(lines)
        head = first.rstrip("\r\n").split("\t")
        yield before + first, None, partial(_tsv_row, first, {})
        for raw in lines:
            row: dict[str, str] = {}
            if raw.strip():
                fields = raw.rstrip("\r\n").split("\t")
                row = {name: unquoted(field) for name, field in zip(head, fields, strict=True)}
            yield raw, row or None, partial(_tsv_row, raw, row)


def _tsv_row(raw: str, old: dict[str, str], row: dict[str, str]) -> str:
    end = raw[len(raw.rstrip("\r\n")) :]
    fields = []
    for field, name in zip(raw.rstrip("\r\n").split("\t"), row, strict=True):
        quoted = '"' + row[name].replace('"', '""') + '"'
        fields.append(field if old[name] == row[name] else row[name] if field == old[name] else quoted)
    return "\t".join(fields) + end


def _jsonl_records(source: Path) -> Iterator[Record]:
    with source.open(encoding="utf-8", newline="") as file:
        for raw in file:
            row = json.loads(raw) if raw.strip() else {}
            yield raw, row or None, partial(_jsonl_row, raw, row)


def _jsonl_row(raw: str, old: dict[str, Any], row: dict[str, Any]) -> str:
    body = raw.strip()
    spaced = json.dumps(old, ensure_ascii=body.isascii(), separators=(",", ":")) != body
    separators = (", ", ": ") if spaced else (",", ":")
    made = json.dumps(row, ensure_ascii=body.isascii(), separators=separators)
    try:
        made.encode()
    except UnicodeEncodeError:  # half of a surrogate pair: as it can be written
        made = json.dumps(row, separators=separators)
    return made + raw[len(raw.rstrip("\r\n")) :]


def _head(file: IO[str]) -> tuple[str, Iterator[str]]:
    """The mark of UTF-8 and the comments before a table, and its lines from the head on."""
    kept = ""
    for line in file:
        plain = line.removeprefix("﻿")
        if not plain.startswith("#"):
            return kept + line[: len(line) - len(plain)], chain([plain], file)
        kept += line
    return kept, iter(())


def _write_parquet(file: IO[bytes], source: Path, column: str, documents: Iterator[list[Edit]], both: Both) -> None:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile, ParquetWriter

    with ParquetFile(source) as original, ParquetWriter(file, original.schema_arrow) as writer:
        for batch in original.iter_batches():
            kept = [new for row in batch.to_pylist() for new in _rows(row, column, next(documents), both)]
            writer.write_table(pa.Table.from_pylist(kept, schema=original.schema_arrow))


_RECORDS: dict[str, Callable[[Path], Iterator[Record]]] = {
    ".csv": _csv_records,
    ".tsv": _tsv_records,
    ".jsonl": _jsonl_records,
}
