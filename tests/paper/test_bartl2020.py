"""Bartl, Nissim and Gatt 2020: our BEC-Pro against the released one, row by row."""

import csv
from pathlib import Path

import pytest

from evenhand import datasets
from evenhand.cli import _run

LODGING_MANAGER = {3625, 3985, 4345, 4705, 5065}
"""The release masks the "man" of "manager" too, in Sent_TM and Sent_TAM."""
POSITION_OF = set(range(4321, 4662, 20))
"""The release masks the "of" of "position of" too, in Sent_AM and Sent_TAM."""

ERNAEHRUNGSBERATER = {1809, 2169, 2529, 2889, 3249}
"""The release masks the "Er" of "Ernährungsberater" too, in Sent_TM and Sent_TAM."""

pytestmark = pytest.mark.data


def released(data: Path, language: str) -> list[dict[str, str]]:
    with (data / "becpro" / f"BEC-Pro_{language.upper()}.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def ours(language: str) -> list[dict[str, str]]:
    table = datasets.load(f"becpro-{language}").table()
    return [{"": str(index), **row} for index, row in zip(table.index, table.to_dict("records"), strict=True)]


@pytest.mark.parametrize("language", ["en", "de"])
def test_all_rows_are_the_releases(data: Path, language: str) -> None:
    theirs, mine = released(data, language), ours(language)
    assert len(theirs) == len(mine) == 5400
    assert list(mine[0]) == list(theirs[0])
    for column in set(mine[0]) - {"Sent_TM", "Sent_AM", "Sent_TAM"}:
        assert [row[column] for row in mine] == [row[column] for row in theirs]


@pytest.mark.parametrize(
    ("language", "column", "defects"),
    [
        ("en", "Sent_TM", LODGING_MANAGER),
        ("en", "Sent_AM", POSITION_OF),
        ("en", "Sent_TAM", LODGING_MANAGER | POSITION_OF),
        ("de", "Sent_TM", ERNAEHRUNGSBERATER),
        ("de", "Sent_AM", set()),
        ("de", "Sent_TAM", ERNAEHRUNGSBERATER),
    ],
)
def test_masks_differ_in_the_known_defects_and_nowhere_else(
    data: Path, language: str, column: str, defects: set[int]
) -> None:
    theirs, mine = released(data, language), ours(language)
    assert {i for i in range(5400) if mine[i][column] != theirs[i][column]} == defects


def test_23_rows_in_all() -> None:
    assert len(LODGING_MANAGER | POSITION_OF) == 23


def test_the_export_is_the_released_file_but_for_the_defects(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(["datasets", "export", "becpro-en", "--out", str(tmp_path / "ours.tsv")]) == 0
    assert "5,400 rows" in capsys.readouterr().out
    ours = (tmp_path / "ours.tsv").read_bytes().split(b"\n")
    theirs = (data / "becpro" / "BEC-Pro_EN.tsv").read_bytes().split(b"\n")
    assert len(ours) == len(theirs)
    assert {i - 1 for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b} == LODGING_MANAGER | POSITION_OF
