"""Reading and rewriting files of texts, by paragraph, line or row, with everything else in them unchanged."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any, Literal

from evenhand.core.files import json_lines
from evenhand.datasets.files.plain_text import TEXT, read_plain
from evenhand.datasets.files.rows import parquet_batches, rows, unquoted
from evenhand.errors import BadInput
from evenhand.text.edits import Edit, Edits

ROW_GROUP = 65_536
"""Rows that are written to a parquet file together."""
Texts = tuple[str, ...]
"""The texts of a document: one for each column that is swapped."""


def is_paragraphs(source: Path, lines: bool) -> bool:
    """Whether the documents of a file are the paragraphs of one text."""
    return source.suffix == TEXT and not lines


def read_texts(source: Path, columns: Sequence[str], *, lines: bool = False) -> Iterator[Texts]:
    """The texts of each document, empty where it has none. Those of a text file are its paragraphs, or its `lines`."""
    if source.suffix == TEXT:
        yield from ((text,) for text in read_plain(source, lines=lines))
        return
    checked = rows(source, columns, hint="Name it with `column`.", surrogates=True)
    if source.suffix == ".jsonl":  # parsed again: `rows` checks each line, but turns numbers into texts
        for (line, _), (_, row) in zip(checked, json_lines(source), strict=True):
            yield tuple(_text(row.get(column), f"{source}, line {line}") for column in columns)
    elif source.suffix == ".parquet":
        next(checked, None)  # raises an error if the file cannot be used
        for number, row in enumerate(chain.from_iterable(parquet_batches(source, columns, only=True)), start=1):
            yield tuple(_text(row[column], f"{source}, row {number}") for column in columns)
    else:
        yield from (tuple(row[column] for column in columns) for _, row in checked)


def _text(value: object, place: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadInput(f"{place}: a text is needed. Got {value!r}, of type {type(value).__name__}.")
    return value


Both = Callable[[Texts, Edits], list[Texts]]
"""The texts of a document and their edits -> the texts of each document to write."""
Record = tuple[str, dict[str, Any]]
"""A row as it is in the file, and its values; headers, comments and empty lines have none."""


def write_texts(
    file: IO[bytes], source: Path, columns: Sequence[str], edits: Iterator[Edits], both: Both, *, lines: bool = False
) -> None:
    """Write `source` with each document replaced by what `both` makes of it and its edits.

    Rows whose text is unchanged are copied to the byte; others keep their quoting, if it is one of the usual styles.
    """
    if source.suffix == ".parquet":
        _write_parquet(file, source, columns, edits, both)
    elif source.suffix == TEXT:
        for texts, document in zip(read_texts(source, columns, lines=lines), edits, strict=True):
            for (one,) in both(texts, document):
                file.write(one.encode())
    else:
        _write_records(file, source, columns, edits, both)


def _write_records(file: IO[bytes], source: Path, columns: Sequence[str], edits: Iterator[Edits], both: Both) -> None:
    ended = True
    records, written = _FORMATS[source.suffix]
    for raw, row in records(source):
        lines, end = [raw], raw[len(raw.rstrip("\r\n")) :]
        if row:
            rows = _rows(row, columns, next(edits), both)
            lines = [raw if new is row else written(raw, row, new) + end for new in rows]
        for line in lines:
            file.write((line if ended else f"\n{line}").encode())
            ended = line.endswith(("\n", "\r"))


def _rows(row: dict[str, Any], columns: Sequence[str], edits: Edits, both: Both) -> Iterator[dict[str, Any]]:
    old = tuple(row[column] or "" for column in columns)
    marked = next((column for column in columns if row[column] and _is_annotated(row, column)), "")
    for new in both(old, edits):
        changed = {column: new[i] for i, column in enumerate(columns) if new[i] != old[i]}
        annotations = _annotations(row, changed[marked], edits[columns.index(marked)]) if marked in changed else {}
        yield {**row, **annotations, **changed} if changed else row


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
            yield raw, dict(zip(head, fields, strict=bool(fields)))


def _csv_row(raw: str, old: dict[str, str], row: dict[str, str]) -> str:
    quoted = _csv_line(old.values(), csv.QUOTE_ALL) == raw.rstrip("\r\n")
    return _csv_line(row.values(), csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL)


def _csv_line(fields: Iterable[str], quoting: Literal[0, 1]) -> str:
    line = io.StringIO(newline="")
    csv.writer(line, quoting=quoting, lineterminator="\r\n").writerow(fields)  # so that both are quoted in a field
    return line.getvalue().removesuffix("\r\n")


def _tsv_records(source: Path) -> Iterator[Record]:
    with source.open(encoding="utf-8", newline="\n") as file:
        before, lines = _head(file)
        first = next(lines)
        head = first.rstrip("\r\n").split("\t")
        yield before + first, {}
        for raw in lines:
            fields = raw.rstrip("\r\n").split("\t") if raw.strip() else []
            yield raw, {name: unquoted(field) for name, field in zip(head, fields, strict=bool(fields))}


def _tsv_row(raw: str, old: dict[str, str], row: dict[str, str]) -> str:
    fields = []
    for field, name in zip(raw.rstrip("\r\n").split("\t"), row, strict=True):
        quoted = '"' + row[name].replace('"', '""') + '"'
        fields.append(field if old[name] == row[name] else row[name] if field == old[name] else quoted)
    return "\t".join(fields)


def _jsonl_records(source: Path) -> Iterator[Record]:
    with source.open(encoding="utf-8", newline="") as file:
        for raw in file:
            yield raw, json.loads(raw) if raw.strip() else {}


def _jsonl_row(raw: str, old: dict[str, Any], row: dict[str, Any]) -> str:
    body = raw.strip()
    spaced = json.dumps(old, ensure_ascii=body.isascii(), separators=(",", ":")) != body
    separators = (", ", ": ") if spaced else (",", ":")
    made = json.dumps(row, ensure_ascii=body.isascii(), separators=separators)
    try:
        made.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which must be escaped
        return json.dumps(row, separators=separators)
    return made


def _head(file: IO[str]) -> tuple[str, Iterator[str]]:
    """The byte order mark and the comments before a table, and its lines from the header on."""
    kept = ""
    for line in file:
        plain = line.removeprefix("﻿")
        if not plain.startswith("#"):
            return kept + line[: len(line) - len(plain)], chain([plain], file)
        kept += line
    return kept, iter(())


def _write_parquet(
    file: IO[bytes], source: Path, columns: Sequence[str], documents: Iterator[Edits], both: Both
) -> None:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile, ParquetWriter

    with ParquetFile(source) as original:
        schema = original.schema_arrow
    try:
        with ParquetWriter(file, schema) as writer:
            for batch in parquet_batches(source, columns, size=ROW_GROUP):
                kept = [new for row in batch for new in _rows(row, columns, next(documents), both)]
                writer.write_table(pa.Table.from_pylist(kept, schema=schema))
    except pa.ArrowException as error:
        raise BadInput(f"'{source}' has a column that cannot be written again: {error}. Leave it out.") from error


_FORMATS: dict[str, tuple[Callable[[Path], Iterator[Record]], Callable[[str, dict[str, Any], dict[str, Any]], str]]] = {
    ".csv": (_csv_records, _csv_row),
    ".tsv": (_tsv_records, _tsv_row),
    ".jsonl": (_jsonl_records, _jsonl_row),
}
"""What reads the records of a file, and what writes other values in the style of one, without the line end."""


MARKED = ("Pronoun", "A", "B")


def _is_annotated(row: Mapping[str, Any], column: str) -> bool:
    """Whether a row has GAP's columns, and they agree with the text in `column`."""
    for name in MARKED:
        marked, start = row.get(name), str(row.get(f"{name}-offset"))
        if not (isinstance(marked, str) and start.isdecimal() and row[column].startswith(marked, int(start))):
            return False
    return True


def _annotations(row: Mapping[str, Any], text: str, edits: Sequence[Edit]) -> dict[str, Any]:
    """Pronoun, A, B and their offsets in the rewritten text. Offsets keep their type: numbers, or digits in a text."""
    found = {}
    for name in MARKED:
        offset = row[f"{name}-offset"]
        start = int(offset)
        stop = start + len(row[name])
        before = sum(len(e.new) - len(e.old) for e in edits if e.start < start)
        inside = sum(len(e.new) - len(e.old) for e in edits if start <= e.start < stop)
        found[f"{name}-offset"] = type(offset)(start + before)
        found[name] = text[start + before : stop + before + inside]
    return found
