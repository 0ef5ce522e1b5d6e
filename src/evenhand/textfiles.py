"""Files of texts as they come in and go out again: one text a line or a row, everything else in it as it was."""

import csv
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from evenhand.datasets.rows import rows
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


def write_texts(file: IO[bytes], source: Path, column: str, edits: Iterator[list[Edit]], both: Both) -> None:
    """Write `source` anew with each text replaced by what `both` makes of it and its edits."""
    _WRITERS[source.suffix](file, source, column, edits, both)


def _write_txt(file: IO[bytes], source: Path, column: str, documents: Iterator[list[Edit]], both: Both) -> None:
    for text, edits in zip(read_texts(source, column), documents, strict=True):
        for one in both(text, edits):
            file.write(one.encode())


def _table_rows(source: Path, column: str, documents: Iterator[list[Edit]], both: Both) -> Iterator[dict[str, str]]:
    for (_, row), edits in zip(rows(source, (column,)), documents, strict=True):
        for text in both(row[column], edits):
            annotated = column == "Text" and set(row) >= gap.COLUMNS and text != row[column]
            yield gap.followed(row, text, edits) if annotated else {**row, column: text}


def _write_csv(file: IO[bytes], source: Path, column: str, documents: Iterator[list[Edit]], both: Both) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    found = _table_rows(source, column, documents, both)
    first = next(found)
    writer = csv.DictWriter(text, list(first), lineterminator="\n")
    writer.writeheader()
    writer.writerow(first)
    writer.writerows(found)
    text.detach()


def _write_tsv(file: IO[bytes], source: Path, column: str, documents: Iterator[list[Edit]], both: Both) -> None:
    found = _table_rows(source, column, documents, both)
    first = next(found)
    for row in ({name: name for name in first}, first):
        file.write(("\t".join(row.values()) + "\n").encode())
    for row in found:
        file.write(("\t".join(row.values()) + "\n").encode())


def _write_jsonl(file: IO[bytes], source: Path, column: str, documents: Iterator[list[Edit]], both: Both) -> None:
    for (_, row), edits in zip(_objects(source, column, ""), documents, strict=True):
        for value in both(row[column], edits) if row[column] is not None else [None]:
            made = {**row, column: value}
            try:
                file.write((json.dumps(made, ensure_ascii=False) + "\n").encode())
            except UnicodeEncodeError:  # half of a surrogate pair: as it can be written
                file.write((json.dumps(made) + "\n").encode())


def _write_parquet(file: IO[bytes], source: Path, column: str, documents: Iterator[list[Edit]], both: Both) -> None:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile, ParquetWriter

    with ParquetFile(source) as original, ParquetWriter(file, original.schema_arrow) as writer:
        for batch in original.iter_batches():
            kept = []
            for row in batch.to_pylist():
                edits = next(documents)
                texts = both(row[column], edits) if row[column] is not None else [None]
                kept += [{**row, column: text} for text in texts]
            writer.write_table(pa.Table.from_pylist(kept, schema=original.schema_arrow))


_WRITERS: dict[str, Callable[..., None]] = {
    TEXT: _write_txt,
    ".csv": _write_csv,
    ".tsv": _write_tsv,
    ".jsonl": _write_jsonl,
    ".parquet": _write_parquet,
}
