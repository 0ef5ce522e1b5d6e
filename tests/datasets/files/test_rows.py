"""Reading users' files: every format gives the same rows, and bad ones are refused with file and line."""

import json
import time
from pathlib import Path

import pandas as pd
import pytest

from evenhand import BadInput
from evenhand.datasets.files.rows import rows
from helpers import tables

TEXTS = ['He said "no", twice.', "A, b; c", "ÄÖÜ 漢字"]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_every_format_gives_the_same_rows(tmp_path: Path, suffix: str) -> None:
    file = tables.write(pd.DataFrame({"text": TEXTS, "n": ["1", "2", "3"]}), tmp_path / f"a{suffix}")
    table = [row for _, row in rows(file, ("text",))]
    assert [row["text"] for row in table] == TEXTS
    assert [row["n"] for row in table] == ["1", "2", "3"]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl"])
def test_a_hundred_thousand_columns_take_no_longer_than_as_many_rows(tmp_path: Path, suffix: str) -> None:
    """A name that is looked for among all others for each of them would take minutes."""
    path, names = tmp_path / f"a{suffix}", ["text", *map(str, range(100_000))]
    mark = "\t" if suffix == ".tsv" else ","
    made = json.dumps(dict.fromkeys(names, "x")) if suffix == ".jsonl" else mark.join(names) + "\n" + mark.join(names)
    path.write_text(made + "\n")
    start = time.monotonic()
    ((_, row),) = rows(path, ("text",))
    assert len(row) == len(names)
    assert time.monotonic() - start < 5


def test_a_csv_of_a_spreadsheet_that_writes_semicolons_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('\ufefftext;n\n"so; then";1,5\n')
    assert list(rows(tmp_path / "a.csv", ("text",))) == [(2, {"text": "so; then", "n": "1,5"})]
    (tmp_path / "a.csv").write_text("text;n,m\nso;1,2\n")
    assert list(rows(tmp_path / "a.csv", ())) == [(2, {"text;n": "so;1", "m": "2"})]


def test_quotes_in_a_tsv_are_text_and_comments_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text('# a warning\n# another\ntext\tn\n"Quiet," she said.\t1\n')
    assert list(rows(path, ("text",))) == [(4, {"text": '"Quiet," she said.', "n": "1"})]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.csv", "txet,n\nx,1\n", "'text'.*'txet'"),
        ("a.tsv", "text\tn\nx\n", "line 2: 2 fields .*Got 1"),
        ("a.csv", "text,n\nx\n", "line 2: 2 fields .*Got 1"),
        ("a.csv", '# a comment\ntext,n\n\n"x\ny",1\n"a\nb\nc"\n', "line 6: 2 fields"),
        ("a.jsonl", '{"text": "x"}\n{oops}\n', "line 2: not JSON"),
        ("a.jsonl", "[1]\n", "line 1: .*object"),
        ("a.jsonl", '{"txt": "x"}\n', "line 1: .*'text'"),
        ("a.parquet", "not parquet", "parquet file"),
        ("a.xlsx", "", ".csv, .tsv, .jsonl, .parquet"),
    ],
)
def test_a_bad_file_is_refused_with_its_place(tmp_path: Path, name: str, text: str, says: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(BadInput, match=says):
        list(rows(path, ("text",)))


def test_a_missing_file_and_a_wrong_encoding_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no file"):
        list(rows(tmp_path / "none.csv", ("text",)))
    (tmp_path / "latin.csv").write_bytes("text\nÄ\n".encode("latin-1"))
    with pytest.raises(BadInput, match="UTF-8"):
        list(rows(tmp_path / "latin.csv", ("text",)))
