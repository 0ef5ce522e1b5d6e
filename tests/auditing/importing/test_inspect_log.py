"""Logs of inspect_ai are read without it where they are JSON, and what is wrong with one is said."""

import json
import math
import zipfile
from pathlib import Path
from typing import Any

import pytest

from evenhand import BadInput, compare, from_scores
from evenhand.auditing.importing import inspect_log
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.core.way import Way
from evenhand.datasets import load

pytestmark = pytest.mark.usefixtures("without_pages")

NEUTRAL = [-100.0, 0.0, -100.0]


def sample(id: str, epoch: int = 1, **score: Any) -> dict[str, Any]:
    answer = score or {"logps": NEUTRAL, "probabilities": False}
    scores = {"nli_labels": {"value": {"nli-coal": 0.0}, "metadata": answer}}
    return {"id": id, "epoch": epoch, "metadata": {"dataset": "nli-en"}, "scores": scores}


def log(*samples: dict[str, Any], **other: Any) -> dict[str, Any]:
    """A log as inspect writes it, as far as we read it; of the first pairs of nli-en, unless samples are given."""
    ours = {"datasets": {"nli-en": {"version": 1, "options": {}}}, "labels": ["True", "Neither", "False"]}
    spec = {"task": "evenhand/nli", "model": "openai/gpt", "metadata": {"evenhand": ours}}
    found = samples or tuple(sample(item.id) for item in load("nli-en").items[:4])
    return {"version": 2, "status": "success", "eval": spec, "plan": {}, "samples": list(found), **other}


def written(content: Any, path: Path) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def archived(content: dict[str, Any], path: Path) -> Path:
    """The same as an archive that needs no Zstandard."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for one in content.pop("samples"):
            archive.writestr(f"samples/{one['id']}_epoch_{one['epoch']}.json", json.dumps(one))
        archive.writestr("header.json", json.dumps(content))
    return path


@pytest.mark.parametrize("suffix", [".json", ".eval"])
def test_how_a_log_was_asked_is_part_of_its_model(tmp_path: Path, suffix: str) -> None:
    runs = []
    for settings in ({}, {"system_message": "Be fair."}, {"temperature": 0.5}):
        content = log()
        content["eval"]["model_generate_config"] = settings
        path = (written if suffix == ".json" else archived)(content, tmp_path / f"log{suffix}")
        runs.append(from_scores(path, out=tmp_path / "runs"))
    assert [run.record.model.removeprefix("openai/gpt") for run in runs] == [
        "",
        ", system prompt “Be fair.”",
        ", temperature 0.5",
    ]
    assert [run.record.asked.system for run in runs] == ["", "Be fair.", ""]
    assert len({run.record.fingerprint for run in runs}) == 3
    assert compare(*runs).runs


@pytest.mark.parametrize("suffix", [".json", ".eval"])
def test_a_log_becomes_a_run_of_its_model(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"log{suffix}"
    run = from_scores((written if suffix == ".json" else archived)(log(), path), out=tmp_path / "runs")
    assert run.record.model == "openai/gpt"
    assert run.path == tmp_path / "runs" / "openai--gpt"
    assert {task.measure: task.limit for task in run.record.tasks} == dict.fromkeys(
        ("nli-coal", "fraction-neutral", "fraction-entailment", "fraction-contradiction"), 4
    )


def test_the_command_needs_no_dataset_and_replaces_the_run_of_the_logs_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    written(log(), tmp_path / "log.json")
    assert run_command(app, ["import", "log.json"]) == 0
    assert run_command(app, ["import", "log.json", "--fresh", "--yes"]) == 0
    assert "openai/gpt" in capsys.readouterr().out
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["openai--gpt"]


def test_answers_of_several_epochs_are_one_of_mean_probabilities(tmp_path: Path) -> None:
    half = [math.log(0.5), math.log(0.25), math.log(0.25)]
    samples = [
        sample("one", 1, logps=half, probabilities=True),
        sample("one", 2, logps=[math.log(0.1), math.log(0.45), math.log(0.45)], probabilities=True),
        sample("one", 3, note="the reply is empty"),
        *(sample("two", epoch, note="the reply is empty") for epoch in (1, 2)),
        sample("two", 3, logps=half, probabilities=True),
        *(sample("three", epoch, logps=NEUTRAL, probabilities=epoch == 1) for epoch in (1, 2, 3)),
    ]
    found = inspect_log.read(written(log(*samples), tmp_path / "log.json"))
    assert found is not None
    one, two, three = found.rows["nli-en"]
    assert one.numbers == pytest.approx([math.log(0.3), math.log(0.35), math.log(0.35)])
    assert (two.numbers, two.note) == ((), "the reply is empty")
    assert three.numbers == pytest.approx(NEUTRAL)
    assert found.probable == {"one", "two"}
    assert found.epochs == 3


def texts_log(status: str = "success", version: int | None = None) -> dict[str, Any]:
    """A log of our task `stories` with two texts after one prompt; the first was cut."""
    options = {"subjects": "activities", "forms": "story", "chat": True}
    dataset = {"version": version or load("stories-en").version, "options": options}
    config = {"temperature": 0.7, "max_tokens": 30, "max_retries": 3}
    spec = {
        "task": "evenhand/stories",
        "model": "openai/gpt",
        "metadata": {"evenhand": {"datasets": {"stories-en": dataset}, "texts": True}},
    }
    said = [("They met. She", "max_tokens"), ("She sang", "stop")]
    samples = [
        {
            "id": "story/hunts",
            "epoch": epoch,
            "input": "Write.",
            "output": {"choices": [{"message": {"content": text}, "stop_reason": ends}]},
        }
        for epoch, (text, ends) in enumerate(said, 1)
    ]
    return {"version": 2, "status": status, "eval": spec, "plan": {"config": config}, "samples": samples}


@pytest.mark.parametrize("suffix", [".json", ".eval"])
def test_texts_of_our_task_are_scored_as_they_were_asked_for(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"log{suffix}"
    run = from_scores((written if suffix == ".json" else archived)(texts_log(), path), out=tmp_path / "runs")
    assert run.record.model == "openai/gpt, temperature 0.7"
    assert run.record.asked == Way(chat=True, temperature=0.7)
    assert run.record.tasks[0].measure_options["longest"] == 30
    (name,) = run.datasets
    scores = run.scores_of(name, "written-undetected").set_index("id")["score"]
    assert scores["story/hunts"] == 0.5  # the last word of a text that was cut may be the beginning of another


def test_a_log_of_texts_that_is_unfinished_or_of_another_version_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="inspect eval-retry"):
        from_scores(written(texts_log(status="started"), tmp_path / "log.json"), out=tmp_path / "runs")
    with pytest.raises(BadInput, match="version 99 of 'stories-en"):
        from_scores(written(texts_log(version=99), tmp_path / "log.json"), out=tmp_path / "runs")


FAILED = {"id": "one", "epoch": 1, "metadata": {"dataset": "nli-en"}, "error": {"message": "gone"}}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (log(eval={"task": "gsm8k", "metadata": None}), "a log of the task 'gsm8k', which is not evenhand's"),
        (log(status="started"), "did not finish: started. Finish it with: inspect eval-retry"),
        (log(status="error", error={"message": "No key."}), "did not finish: error, 'No key.'"),
        (log(samples=None), "none of the samples that .*Leave out --no-log-samples"),
        (log({**FAILED, "error": None}), "none of the scores that .*Score it with inspect score"),
        (log(FAILED), "no item of|No row of log.json is an item of 'nli-en'"),
        (log(sample("one", logps=["x", 0, 0])), "a log-probability must be a finite number. Got 'x'"),
        (log(sample("one", logps=[0.0, math.nan, 0.0])), "must be a finite number. Got nan"),
        (log({"id": "one"}), "cannot be read as a log of inspect_ai: no 'epoch'"),
        (log(eval={"task": "t", "metadata": {"evenhand": {"datasets": {"nli-en": 1}}}}), "cannot be read as a log"),
    ],
)
def test_what_is_wrong_with_a_log_is_a_sentence(tmp_path: Path, content: Any, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        from_scores(written(content, tmp_path / "log.json"), out=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04" + bytes(60)])
def test_a_damaged_archive_is_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(content)
    with pytest.raises(BadInput, match="cannot be read"):
        from_scores(path, out=tmp_path / "runs")


def test_an_archive_that_would_fill_the_memory_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_log, "LARGEST", 100)
    with pytest.raises(BadInput, match="limit of 100"):
        from_scores(archived(log(), tmp_path / "log.eval"), out=tmp_path / "runs")


def test_half_a_log_is_one_that_did_not_finish(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("_journal/start.json", "{}")
    with pytest.raises(BadInput, match="no header"):
        from_scores(tmp_path / "log.eval", out=tmp_path / "runs")


def test_a_log_of_another_version_of_the_pairs_is_refused(tmp_path: Path) -> None:
    content = log()
    content["eval"]["metadata"]["evenhand"]["datasets"]["nli-en"]["version"] = 9
    with pytest.raises(BadInput, match="version 9"):
        from_scores(written(content, tmp_path / "log.json"), out=tmp_path / "runs")


def test_a_json_file_that_is_no_log_is_left_to_its_own_reader(tmp_path: Path) -> None:
    assert inspect_log.read(written({"intrasentence": []}, tmp_path / "a.json")) is None
    assert inspect_log.read(written("{", tmp_path / "b.json")) is None
    with pytest.raises(BadInput, match="no file"):
        from_scores(tmp_path / "none.eval", out=tmp_path / "runs")
    with pytest.raises(BadInput, match="`dataset` .*Got none"):
        from_scores(tmp_path / "a.json", out=tmp_path / "runs")
