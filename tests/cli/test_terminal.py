"""What is printed: nothing that a terminal would obey."""

import fcntl
import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Group
from rich.table import Table
from rich.text import Text

from evenhand import BadInput
from evenhand.cli import terminal
from evenhand.cli.terminal import print_json

HOSTILE = "\x1b]0;mine\x07\x1b[2Jfine\x9b31m\x7f\b"


def table(text: str) -> Table:
    made = Table("head")
    made.add_row(text)
    return made


@pytest.mark.parametrize("what", [HOSTILE, Text(HOSTILE), table(HOSTILE), Group(Text("a"), table(HOSTILE))])
def test_control_characters_of_data_do_not_reach_the_terminal(what: object, capsys: pytest.CaptureFixture[str]) -> None:
    terminal.show(what)
    said = capsys.readouterr().out
    assert "fine" in said
    assert not set(said) & set("\x1b\x07\x9b\x7f\b")


def test_line_ends_and_tabs_stay(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.show("a\tb\r\nc")
    assert capsys.readouterr().out == "a\tb\nc\n"


def test_nor_those_of_errors_and_log_lines(capsys: pytest.CaptureFixture[str]) -> None:
    def fails(_: object) -> None:
        logging.getLogger("evenhand").warning(f"careful {HOSTILE}")
        raise BadInput(f"bad {HOSTILE}")

    assert terminal.run(fails, []) == terminal.BAD_INPUT
    said = capsys.readouterr().err
    assert "bad" in said
    assert not set(said) & set("\x1b\x07\x9b\x7f\b")


def test_log_lines_count_as_read_only_where_both_streams_go_to_a_terminal(
    monkeypatch: pytest.MonkeyPatch, log_as_before: None
) -> None:
    def audit(_: object) -> None:
        logging.getLogger("evenhand").warning("Not asked of the server.")
        raise SystemExit(0)

    terminal.run(audit, [])
    assert terminal.logged_lines() == ""
    for stream in (sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    assert "Not asked of the server." in terminal.logged_lines()


def test_json_says_which_characters_there_were(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"text": HOSTILE})
    said = capsys.readouterr().out
    assert json.loads(said) == {"text": HOSTILE}
    assert not set(said) & set("\x1b\x07\x9b\x7f\b")


def test_a_reader_who_has_seen_enough_ends_a_table_quietly(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)  # less than the table, so that it cannot be written whole
    with (tmp_path / "err").open("w") as err, os.fdopen(reader) as table:
        command = [sys.executable, "-m", "evenhand", "datasets", "list"]
        process = subprocess.Popen(command, stdout=writer, stderr=err)
        os.close(writer)
        assert os.read(table.fileno(), 10)
    assert process.wait() == 141
    assert "evenhand:" not in (tmp_path / "err").read_text()
