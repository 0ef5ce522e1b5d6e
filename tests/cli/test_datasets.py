"""`evenhand datasets`."""

from pathlib import Path

import pytest

from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.datasets.files.rows import rows
from helpers import every_dataset


def test_an_export_replaces_a_file_only_if_forced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["datasets", "export", "tgb", "--out", str(tmp_path / "tgb.tsv")]
    (tmp_path / "tgb.tsv").write_text("mine")
    assert run_command(app, command) == 2
    assert "exists already" in capsys.readouterr().err
    assert (tmp_path / "tgb.tsv").read_text() == "mine"
    assert run_command(app, [*command, "--force"]) == 0
    assert len((tmp_path / "tgb.tsv").read_text().splitlines()) == 301


def test_tabs_and_line_breaks_are_shown_as_spaces_and_not_exported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = tmp_path / "pairs.csv"
    pairs.write_text('id,stereotype,counterpart\n"a\tb","He is\nhere.","She is here."\n')
    option = ["--option", f"file={pairs}"]
    assert run_command(app, ["datasets", "show", "pairs", *option]) == 0
    assert "a b\tHe is here.\tShe is here." in capsys.readouterr().out
    assert run_command(app, ["datasets", "export", "pairs", *option, "--out", str(tmp_path / "out.tsv")]) == 2
    refused = capsys.readouterr().err
    assert "cannot have tabs or line breaks in its fields" in refused
    assert not (tmp_path / "out.tsv").exists()
    for ending in ("csv", "jsonl"):
        assert f"out.{ending}" in refused
        assert run_command(app, ["datasets", "export", "pairs", *option, "--out", str(tmp_path / f"out.{ending}")]) == 0
        ((_, row),) = rows(tmp_path / f"out.{ending}", ())
        assert (row["id"], row["stereotype"]) == ("a\tb", "He is\nhere.")


@pytest.mark.parametrize("name", every_dataset.NAMES)
def test_every_dataset_reads_back_from_its_table(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a .tsv where no field has a line break."""
    dataset = every_dataset.loaded(name, tmp_path)
    monkeypatch.setattr("evenhand.datasets.load", lambda *_, **__: dataset)  # built once
    option = [f"--option={key}={value}" for key, value in every_dataset.options(name, tmp_path).items()]
    table = dataset.table()
    columns = {str(column): table[column].astype(object).where(table[column].notna(), "") for column in table}
    written = [dict(zip(columns, map(str, row), strict=True)) for row in zip(*columns.values(), strict=True)]
    for ending in ("tsv", "csv", "jsonl"):
        file = tmp_path / f"table.{ending}"
        done = run_command(app, ["datasets", "export", name, *option, "--out", str(file)])
        if ending == "tsv" and any("\n" in text for row in written for text in row.values()):
            assert done == 2
            continue
        assert done == 0
        assert [{column: row[column] for column in columns} for _, row in rows(file, ())] == written


def test_a_table_has_the_format_of_its_ending(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["datasets", "export", "tgb", "--out", str(tmp_path / "tgb.csv")]
    assert run_command(app, [*command, "--as", "tsv"]) == 2
    assert "must end in .tsv. Got" in capsys.readouterr().err
    assert run_command(app, [*command, "--as", "csv"]) == 0
