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

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def released(data: Path) -> list[dict[str, str]]:
    with (data / "becpro" / "BEC-Pro_EN.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.fixture(scope="module")
def ours() -> list[dict[str, str]]:
    table = datasets.load("becpro-en").table()
    return [{"": str(index), **row} for index, row in zip(table.index, table.to_dict("records"), strict=True)]


@pytest.mark.parametrize("column", ["", "Sentence", "Template", "Person", "Gender", "Profession", "Prof_Gender"])
def test_all_rows_are_the_releases(released: list[dict[str, str]], ours: list[dict[str, str]], column: str) -> None:
    assert len(released) == len(ours) == 5400
    assert [row[column] for row in ours] == [row[column] for row in released]


@pytest.mark.parametrize(
    ("column", "defects"),
    [
        ("Sent_TM", LODGING_MANAGER),
        ("Sent_AM", POSITION_OF),
        ("Sent_TAM", LODGING_MANAGER | POSITION_OF),
    ],
)
def test_masks_differ_in_the_known_defects_and_nowhere_else(
    released: list[dict[str, str]], ours: list[dict[str, str]], column: str, defects: set[int]
) -> None:
    differ = {i for i in range(5400) if ours[i][column] != released[i][column]}
    assert differ == defects


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
