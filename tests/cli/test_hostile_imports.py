"""Files of scores that nobody meant: exit code 2 and a sentence, in little time and memory."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from evenhand.auditing.importing import inspect_log
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.datasets import load

pytestmark = pytest.mark.usefixtures("without_pages")

IDS = [item.id for item in load("tgb").items]
TGB = ("--dataset", "tgb", "--measure", "likelihood-difference")
DEEP = "[" * 100_000 + "]" * 100_000
HUGE = "9" * 400
DOC = {"id": "1", "dataset": "tgb", "version": 1, "choices": [], "context": ""}


def refused(capsys: pytest.CaptureFixture[str], file: Path, *options: str) -> str:
    assert run_command(app, ["import", str(file), *options, "--out", str(file.parent / "runs")]) == 2
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert not (file.parent / "runs").exists()
    return said


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([{"id": IDS[0], "score": 1}, {"score": 2}], "line 2 has no 'id'. Every row needs id, score"),
        ([{"id": IDS[0], "score": 1}, {"id": IDS[1]}], "line 2 has no 'score'"),
        ([{"id": one, "score": 1.7e308} for one in IDS], "finite number. Got '1.7e+308'. It is a number beyond"),
        ([{"id": one, "score": -1e300} for one in IDS], "It is a number beyond 1e60"),
        (f'{{"id": "{IDS[0]}", "score": {HUGE}}}', "must be a finite number"),
        (f'{{"id": {DEEP}}}', "line 1: not JSON: it is nested too deeply"),
        ('{"data": 5}', "needs a column 'id' or 'text'"),
        (
            [{"arguments": [["a", "b"]], "doc": {**DOC, "options": 5}, "resps": [[1]]}],
            "the options of the task must be an object",
        ),
    ],
)
def test_json_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str], rows: Any, says: str) -> None:
    file = tmp_path / "scores.jsonl"
    file.write_text(rows if isinstance(rows, str) else "".join(json.dumps(row) + "\n" for row in rows))
    assert says in refused(capsys, file, *TGB)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"data": 5}', "is not a file of StereoSet's predictions"),
        (f'{{"intrasentence": [{{"id": "a", "score": {HUGE}}}]}}', "the score of 'a' must be a number"),
        ('{"intrasentence": [{"id": "a", "score": 1e300}]}', "the score of 'a' must be a number"),
        (f'{{"intrasentence": {DEEP}}}', "it is nested too deeply"),
    ],
)
def test_predictions(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, says: str) -> None:
    file = tmp_path / "predictions.json"
    file.write_text(text)
    assert says in refused(capsys, file, *TGB)


def archive(path: Path, ours: Any, *, padding: int = 0) -> Path:
    """A log of inspect_ai whose header says `ours` of evenhand; `padding` zeros are in it, too."""
    spec = {"task": "evenhand/nli", "model": "m", "metadata": {"evenhand": ours}}
    metadata = {"logps": [-1.0, -2.0, -3.0]}
    one = {"id": load("nli-en").items[0].id, "epoch": 1, "metadata": {"dataset": "nli-en"}}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as made:
        made.writestr("header.json", json.dumps({"eval": spec, "status": "success"}))
        made.writestr("samples/1.json", json.dumps(one | {"scores": {"nli_labels": {"metadata": metadata}}}))
        if padding:
            made.writestr("samples/zeros.json", b"0" * padding)
    return path


@pytest.mark.parametrize(
    "ours",
    [
        {"datasets": {"nli-en": None}},
        {"datasets": {"nli-en": 5}},
        {"datasets": {"nli-en": []}},
        {"datasets": {"nli-en": {}}},
        {"datasets": {"nli-en": {"version": 1, "options": 5}}},
        {"datasets": {"nli-en": {"version": 1, "options": "x"}}},
        {"datasets": {"nli-en": {"version": 1, "options": {}}}, "labels": 5},
        {"datasets": ["nli-en"]},
    ],
)
def test_headers_of_logs(tmp_path: Path, capsys: pytest.CaptureFixture[str], ours: Any) -> None:
    assert "cannot be read as a log of inspect_ai" in refused(capsys, archive(tmp_path / "log.eval", ours))


def test_an_archive_that_decompresses_to_too_much_is_not_opened(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert inspect_log.WHOLE == 2**30
    monkeypatch.setattr(inspect_log, "WHOLE", 10**7)
    ours = {"datasets": {"nli-en": {"version": 1, "options": {}}}, "labels": [1, None, "c"]}
    file = archive(tmp_path / "log.eval", ours, padding=10**7)
    assert file.stat().st_size < 10**5
    assert "more than the limit of 10,000,000" in refused(capsys, file)
    assert run_command(app, ["import", str(archive(file, ours)), "--out", str(tmp_path / "runs")]) == 0
