"""Reading and rewriting files of texts, by paragraph, line or row, with everything else in them unchanged."""

import csv
import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise
from pathlib import Path
from secrets import token_hex
from typing import IO, Any, Literal, TypeVar

from evenhand.datasets.files.plain_text import TEXT, read_plain
from evenhand.datasets.files.rows import check_type, parquet_batches, rows
from evenhand.errors import BadInput
from evenhand.text.edits import Edit, Edits, apply_edits, are_changed

ROW_GROUP = 65_536
"""Rows that are written to a parquet file together."""
CHARACTERS = 1_000_000
"""The most characters of a section of documents, unless a single document has more."""
Document = TypeVar("Document")
Texts = tuple[str, ...]
"""The texts of a document, one for each column that is swapped."""


@dataclass(frozen=True)
class Job:
    """The settings of a swap. The repr has those that decide the edits, and names the file where the edits are kept."""

    columns: tuple[str, ...]
    lines: bool
    """Whether each line of a text file is a document; otherwise its paragraphs are."""
    how: Mapping[str, Any]
    """The arguments of `swapper`."""
    share: float
    seed: int
    first: int = 0
    """The number of the first document, where several files are swapped."""
    augment: bool = field(default=False, repr=False)
    trail: bool = field(default=False, repr=False)
    force: bool = field(default=False, repr=False)
    unchanged: bool = field(default=False, repr=False)
    """Whether a file is written even if nothing changes in it."""
    jobs: int | None = field(default=None, repr=False)
    engine: str = field(default="local", repr=False)
    address: str | None = field(default=None, repr=False)
    workers: int | None = field(default=None, repr=False)


def is_paragraphs(source: Path, job: Job) -> bool:
    """Whether the documents of a file are the paragraphs of one text."""
    return source.suffix == TEXT and not job.lines


def read_texts(source: Path, job: Job) -> Iterator[Texts]:
    """The texts of each document; a missing text is empty."""
    if source.suffix == TEXT:
        yield from ((text,) for text in read_plain(source, lines=job.lines))
        return
    unit = "row" if source.suffix == ".parquet" else "line"
    for number, row in _numbered_rows(source, job):
        for column in (column for column in job.columns if row[column] is not None):
            check_type(row[column], f"{source}, {unit} {number}: '{column}'")
        yield tuple(row[column] or "" for column in job.columns)


def joined_texts(source: Path, job: Job) -> Iterator[str]:
    """The texts of each document as one."""
    return map(" ".join, read_texts(source, job))


def check_paragraphs(source: Path, job: Job) -> None:
    """Raise an error, for `share` and `augment`, if a text of many lines is a single paragraph."""
    if is_paragraphs(source, job):
        first, *others = [text for (text,) in islice(read_texts(source, job), 2)] or [""]
        lines = first.strip("\r\n").splitlines()
        if len(lines) > 1 and all(map(str.strip, lines)) and not any(map(str.strip, others)):
            raise BadInput(
                f"'{source}' has no empty lines, so it is a single paragraph, but `share` and `augment` need several "
                "paragraphs. If each of its lines is a document, give `lines=True`."
            )


def _numbered_rows(source: Path, job: Job) -> Iterator[tuple[int, dict[str, Any]]]:
    return rows(source, job.columns, hint="Name it with `column`.", as_is=True)


def sections(documents: Iterable[Document], length: Callable[[Document], int], most: float) -> Iterator[list[Document]]:
    """The documents in sections of at most `most` documents or CHARACTERS characters, each for one task of a worker."""
    section, size = list[Document](), 0
    for document in documents:
        size += length(document)
        if section and (size > CHARACTERS or len(section) == most):
            yield section
            section, size = [], length(document)
        section.append(document)
    if section:
        yield section


def write_texts(file: IO[bytes], source: Path, job: Job, edits: Iterator[Edits]) -> None:
    """Write `source` with each document rewritten or, with `augment`, followed by its rewritten version.

    Rows whose text is unchanged are copied byte by byte; other rows keep their quoting, if its style is a usual one.
    """
    if source.suffix == ".parquet":
        _write_parquet(file, source, job, edits)
    elif source.suffix == TEXT:
        for texts, document in zip(read_texts(source, job), edits, strict=True):
            *originals, (new,) = _versions(texts, document, job)
            for (text,) in originals:
                file.write(_add_separator(text, job.lines).encode())
            file.write(new.encode())
    else:
        _write_records(file, source, job, edits)


def _versions(texts: Texts, edits: Edits, job: Job) -> list[Texts]:
    """The texts to write for a document: with `augment` the original ones first, then the rewritten ones."""
    new = tuple(map(apply_edits, texts, edits))
    return [texts, new] if job.augment and are_changed(edits) else [new]


def _add_separator(text: str, lines: bool) -> str:
    """A line with its line end, or a paragraph with an empty line after it."""
    end = "\r\n" if "\r\n" in text else "\n"
    if not text.endswith(("\n", "\r")):
        text += end
    blank = len(text.splitlines()) > len(text.rstrip().splitlines())
    return text if lines or blank else text + end


def _write_records(file: IO[bytes], source: Path, job: Job, edits: Iterator[Edits]) -> None:
    """Write the rows: each has the lines up to the next row. Lines before the first row, and empty lines, stay."""
    rewrite, ended = _REWRITES[source.suffix], True
    with source.open(encoding="utf-8", newline="\n" if source.suffix == ".tsv" else "") as original:
        for (number, row), (after, _) in pairwise(chain([(1, {})], _numbered_rows(source, job), [(sys.maxsize, {})])):
            lines = list(islice(original, after - number))
            if row:
                stop = max((i for i, line in enumerate(lines, start=1) if line.strip()), default=1)
                raw = "".join(lines[:stop])
                body = raw.rstrip("\r\n")
                new = _changes(row, next(edits), job)
                lines[:stop] = [rewrite(body, row, each) + raw[len(body) :] if each else raw for each in new]
            for line in lines:
                file.write((line if ended else f"\n{line}").encode())
                ended = line.endswith(("\n", "\r"))


def _changes(row: Mapping[str, Any], edits: Edits, job: Job) -> Iterator[dict[str, Any]]:
    """The changes in each row to write in place of `row`; with `augment`, the unchanged row comes first."""
    columns = job.columns
    old = tuple(row[column] or "" for column in columns)
    marked = next((column for column in columns if row[column] and _is_annotated(row, column)), "")
    for new in _versions(old, edits, job):
        changed = {column: new[i] for i, column in enumerate(columns) if new[i] != old[i]}
        yield changed | (_annotations(row, changed[marked], edits[columns.index(marked)]) if marked in changed else {})


def _csv_row(body: str, row: dict[str, str], changed: dict[str, str]) -> str:
    quoted = _csv_line(row.values(), csv.QUOTE_ALL) == body
    return _csv_line((row | changed).values(), csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL)


def _csv_line(fields: Iterable[str], quoting: Literal[0, 1]) -> str:
    line = io.StringIO(newline="")
    csv.writer(line, quoting=quoting, lineterminator="\r\n").writerow(fields)  # so that fields with \r or \n are quoted
    return line.getvalue().removesuffix("\r\n")


def _tsv_row(body: str, row: dict[str, str], changed: dict[str, str]) -> str:
    fields = dict(zip(row, body.split("\t"), strict=True))
    for name, text in changed.items():
        fields[name] = text if fields[name] == row[name] else '"' + text.replace('"', '""') + '"'
    return "\t".join(fields.values())


def _jsonl_row(body: str, row: dict[str, Any], changed: dict[str, Any]) -> str:
    mark = token_hex()  # for numbers, whose digits stay as they are
    old = json.loads(body, parse_int=mark.__add__, parse_float=mark.__add__)

    def text(row: dict[str, Any], separators: tuple[str, str], *, ascii_only: bool = body.isascii()) -> str:
        return re.sub(f'"{mark}(.*?)"', r"\1", json.dumps(row, ensure_ascii=ascii_only, separators=separators))

    separators = (",", ":") if text(old, (",", ":")) == body.strip() else (", ", ": ")
    new = text(old | changed, separators)
    try:
        new.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which must be escaped
        return text(old | changed, separators, ascii_only=True)
    return new


_REWRITES: dict[str, Callable[[str, dict[str, Any], dict[str, Any]], str]] = {
    ".csv": _csv_row,
    ".tsv": _tsv_row,
    ".jsonl": _jsonl_row,
}
"""By suffix: a function that writes changed values in the style of the original row, without the line end."""


def _write_parquet(file: IO[bytes], source: Path, job: Job, edits: Iterator[Edits]) -> None:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile, ParquetWriter

    with ParquetFile(source) as original:
        schema = original.schema_arrow
    try:
        with ParquetWriter(file, schema) as writer:
            for batch in parquet_batches(source, job.columns, size=ROW_GROUP):
                new = [row | changed for row in batch for changed in _changes(row, next(edits), job)]
                writer.write_table(pa.Table.from_pylist(new, schema=schema))
    except pa.ArrowException as error:
        raise BadInput(f"'{source}' has a column that cannot be written: {error}. Remove the column.") from error


def write_edit_log(file: IO[bytes], documents: Iterable[Edits], columns: Sequence[str]) -> None:
    """Write a line for each document; if several columns are swapped, each edit names its column."""
    for number, edits in enumerate(documents):
        listed = [
            ({"column": column} if len(columns) > 1 else {}) | edit._asdict()
            for column, each in zip(columns, edits, strict=True)
            for edit in each
        ]
        file.write((json.dumps({"document": number, "edits": listed}, ensure_ascii=False) + "\n").encode())


MARKED = ("Pronoun", "A", "B")


def _is_annotated(row: Mapping[str, Any], column: str) -> bool:
    """Whether a row has GAP's columns, and they agree with the text in `column`."""
    for name in MARKED:
        word, start = row.get(name), str(row.get(f"{name}-offset"))
        is_place = start.isdecimal() and len(start) < 12
        if not (isinstance(word, str) and is_place and row[column].startswith(word, int(start))):
            return False
    return True


def _annotations(row: Mapping[str, Any], text: str, edits: Sequence[Edit]) -> dict[str, Any]:
    """Pronoun, A, B and their offsets in the rewritten text. Offsets keep their type: numbers, or digits in a text."""
    marks = {}
    for name in MARKED:
        offset = row[f"{name}-offset"]
        start = int(offset)
        stop = start + len(row[name])
        before = sum(len(e.new) - len(e.old) for e in edits if e.start < start)
        inside = sum(len(e.new) - len(e.old) for e in edits if start <= e.start < stop)
        marks[f"{name}-offset"] = type(offset)(start + before)
        marks[name] = text[start + before : stop + before + inside]
    return marks
