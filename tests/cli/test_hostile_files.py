"""Files that are not what a command wants: exit code 2 and a short sentence, and nothing is written."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from helpers.template_files import BLANKS, TEMPLATES

HUGE = "0x" + "f" * 5_000
DEEP = "[" * 3_000 + "]" * 3_000
PAIR = {"id": "a", "stereotype": "He is a nurse.", "counterpart": "She is a nurse."}
LONG = "He is here, " * 1_000


@pytest.fixture(autouse=True)
def shallow() -> Iterator[None]:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000)  # as outside of pytest's plug-ins
    yield
    sys.setrecursionlimit(limit)


def refused(capsys: pytest.CaptureFixture[str], *command: object) -> str:
    assert run_command(app, list(map(str, command))) == 2
    said = capsys.readouterr().err
    assert len(said) < 600
    return said


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (TEMPLATES.replace('"mine"', "1979-05-27"), "name must be a text, in quotes"),
        ("about = 1979-05-27\n" + TEMPLATES, "about must be a text, in quotes. Got datetime.date(1979, 5, 27)"),
        ("licence = 07:32:00\n" + BLANKS, "licence must be a text, in quotes"),
        (TEMPLATES.replace('"chess"', "1979-05-27"), "must be a list of words"),
        (BLANKS.replace('"nurse"', "1979-05-27"), "must be a text"),
        (BLANKS.replace('"nurse"', '{text = "nurse", clean = 5}'), "must be a text"),
        (BLANKS.replace('"nurse"', '{text = "nurse", gender = []}'), "must be a text"),
        (BLANKS.replace('"nurse"', '"nurse", "nurse"'), "two items with the id 'jobs/nurse/1'"),
        (f"name = {DEEP}", "not valid TOML: it is nested too deeply"),
        (f"name = {HUGE}", "not valid TOML: it has a number of more than 300 digits"),
        (TEMPLATES.replace("likes", LONG), "characters, and at most 10,000 can be measured"),
        (TEMPLATES.replace("{target}", LONG), "must have the slot {target} exactly once"),
    ],
)
def test_templates(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, says: str) -> None:
    (tmp_path / "mine.toml").write_text(text)
    assert says in refused(capsys, "audit", "--templates", tmp_path / "mine.toml", "--out", tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({**PAIR, "id": "\ud800"}, "line 2: '\\ud800' is half of a surrogate pair"),
        ({**PAIR, "stereotype": "He is \udfff."}, "is half of a surrogate pair"),
        ({**PAIR, "stereotype": LONG}, "line 2: A sentence has 12,000 characters, and at most 10,000"),
        ({**PAIR, "counterpart": [[[LONG]]]}, "line 2: 'counterpart' must be a text. Got"),
        ({**PAIR, "stereotype": {"text": "He is a nurse."}}, "line 2: 'stereotype' must be a text. Got"),
    ],
)
@pytest.mark.parametrize("command", [["audit", "--pairs"], ["datasets", "lint"]])
def test_pairs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str], row: dict[str, object], says: str
) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in ({**PAIR, "id": "first"}, row)))
    out = ["--out", tmp_path / "runs"] if command[0] == "audit" else []
    assert says in refused(capsys, *command, file, *out)
    assert not (tmp_path / "runs").exists()


def test_json_lines_that_are_nested_too_deeply(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text(f'{{"stereotype": {"[" * 100_000}{"]" * 100_000}}}\n')
    assert "line 1: not JSON: it is nested too deeply" in refused(capsys, "audit", "--pairs", file, "--out", tmp_path)
    assert "line 1: not JSON: it is nested too deeply" in refused(capsys, "swap", file, "--column", "stereotype")


@pytest.mark.parametrize("what", ["pipe", "device", "deep", "huge"])
@pytest.mark.parametrize("option", [["gate", "RUN", "--policy"], ["audit", "--out", "RUN", "--templates"]])
def test_policies_and_templates_are_regular_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: list[str], what: str
) -> None:
    file = tmp_path / "mine.toml"
    if what == "pipe":
        os.mkfifo(file)
    elif what == "device":
        file.symlink_to("/dev/zero")
    else:
        file.write_text(f"rule = {DEEP if what == 'deep' else HUGE}")
    said = refused(capsys, *(str(tmp_path / "run") if word == "RUN" else word for word in option), file)
    assert {"deep": "nested too deeply", "huge": "300 digits"}.get(what, "it is not a regular file") in said


@pytest.mark.parametrize("option", [["--batch-size", "9" * 5_000], ["--model-option", f"x={DEEP}"]])
def test_values_of_options(capsys: pytest.CaptureFixture[str], option: list[str]) -> None:
    refused(capsys, "audit", *option)


@pytest.mark.parametrize("name", ["a\0b", "\x1b[2J", "x" * 300, "ü" * 150, "..", ".", " ", "a\nb", "\ud800"])
def test_a_name_that_cannot_be_a_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert "cannot be the name of a folder" in refused(
        capsys, "audit", "--dataset", "tgb", "--name", name, "--out", tmp_path / "runs"
    )
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    "command",
    [
        *(["audit", "--out", "{}"], ["audit", "--pairs", "{}.csv"], ["audit", "--plugin", "{}.py"], ["show", "{}"]),
        *(["compare", "{}", "{}"], ["swap", "{}.txt"], ["swap", "texts.txt", "--out", "{}.txt"], ["corpus", "{}"]),
        *(["corpus", "texts.txt", "--out", "{}"], ["datasets", "lint", "{}.csv"], ["rescore", "{}"], ["track", "{}"]),
        *(["datasets", "export", "tgb", "--as", "lm-eval", "--out", "{}"], ["import", "{}.csv", "--name", "a"]),
    ],
    ids=" ".join,
)
def test_a_name_that_is_too_long(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("texts.txt").write_text("He saw her, and she saw him.\n")
    said = refused(capsys, *(part.replace("{}", "n" * 300) for part in command))
    assert "File name too long" in said
