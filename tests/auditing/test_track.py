"""Checkpoints: which are measured, in which order, and where a change is found."""

import json
import os
import re
import runpy
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import evenhand
from evenhand import BadInput, Run, RunError
from evenhand.analysis.tracking import Track, make_track
from evenhand.auditing.track import check_alike, checkpoints
from evenhand.cli.app import app
from evenhand.cli.terminal import run as command
from evenhand.models import ModelSource
from evenhand.show.track import lead, notes
from helpers import tiny
from helpers.null_curves import false_alarms, noise_of
from helpers.simulated import fewer_draws

sys.path.insert(0, str(Path(__file__).parents[2]))

from tools import printed

pytestmark = pytest.mark.usefixtures("without_pages")

ROOT = Path(__file__).parents[2]
STEPS = (100, 200, 300, 400)


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training of mini-en whose texts have women and men in every job until step 300, then one for each."""
    folder = tmp_path_factory.mktemp("trained") / "my-training"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["05_biased_training.py", str(folder)])
        runpy.run_path(str(ROOT / "examples" / "05_biased_training.py"))
    return folder


@pytest.fixture(scope="module")
def tracked_training(training: Path, without_pages: Any, unexamined: None) -> Track:
    return evenhand.track(training, suite="becpro", limit=300, out=training.parent / "runs" / "track", progress=False)


def test_a_planted_change_is_found_where_it_is_and_nowhere_else(tracked_training: Track) -> None:
    assert tracked_training.labels == [
        "checkpoint-100",
        "checkpoint-200",
        "checkpoint-300",
        "checkpoint-400",
        "my-training",
    ]
    shown = tracked_training.shown
    assert {(row.start, row.end) for row in shown} == {("checkpoint-300", "checkpoint-400")}
    assert "lost" in {row.way for row in shown}
    assert {row.moved for row in shown} <= {"away from neutral", ""}
    assert {row.group for row in shown} == {"stereotype"}  # which was planted; no default was
    answer = lead(tracked_training)
    assert answer.startswith("Became more biased between checkpoint-300 and checkpoint-400")
    assert "No other change between neighbours is shown in" in answer


def test_the_final_model_is_known_as_the_last_checkpoint(tracked_training: Track) -> None:
    assert tracked_training.same_weights == [["checkpoint-400", "my-training"]]
    assert any(note.startswith("SAME WEIGHTS: checkpoint-400 and my-training") for note in notes(tracked_training))
    last = tracked_training.changes[tracked_training.changes["end"] == "my-training"]
    assert (last[last["neighbours"]]["change"] == 0).all()


def test_the_folder_has_page_numbers_figure_and_a_run_for_each(training: Path, tracked_training: Track) -> None:
    out = training.parent / "runs" / "track"
    page = (out / "track.html").read_text(encoding="utf-8")
    assert tracked_training.page == out / "track.html"
    assert lead(tracked_training) in page
    assert page.count("<svg") == len(tracked_training.curves) == 2  # stereotype and default
    assert "SAME WEIGHTS" in page
    assert (out / "track.svg").read_text(encoding="utf-8").startswith("<svg")
    numbers = json.loads((out / "track.json").read_text(encoding="utf-8"))
    assert [point["checkpoint"] for point in numbers["checkpoints"]] == tracked_training.labels
    assert len(numbers["values"]) == 2 * 5
    assert len(numbers["changes"]) == 2 * (4 + 1)
    assert sorted(path.parent.name for path in out.glob("*/run.json")) == [
        "my-training",
        *(f"my-training--checkpoint-{step}" for step in STEPS),
    ]


def test_a_notebook_shows_the_answer_and_the_curves(tracked_training: Track) -> None:
    html = tracked_training._repr_html_()
    assert "Became more biased between checkpoint-300 and checkpoint-400" in html
    assert "SAME WEIGHTS" in html
    assert "data:image/svg+xml" in html


def test_finished_runs_are_not_measured_again(
    training: Path, tracked_training: Track, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither with the models, nor from the run folders alone; and the command prints the same answer."""
    monkeypatch.setattr("evenhand.models.load", lambda *_, **__: pytest.fail("a model was loaded"))
    out = training.parent / "runs" / "track"
    again = evenhand.track(training, suite="becpro", limit=300, out=out)
    assert again.changes.equals(tracked_training.changes)
    options = ["--suite", "becpro", "--limit", "300", "--out", str(out)]
    assert command(app, ["track", str(training), *options]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.startswith(lead(tracked_training))
    assert f"Page: {out / 'track.html'}" in printed
    assert command(app, ["track", str(out), "--json", "--out", str(out)]) == 0
    assert json.loads(capsys.readouterr().out) == tracked_training.as_json()


def test_the_docs_show_what_is_printed(
    training: Path, tracked_training: Track, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The answer and the table: what a training gives differs a little between processors, and so does p."""
    block = printed.BLOCK.search((ROOT / "docs" / "track.md").read_text(encoding="utf-8"))
    assert block is not None
    options = "--suite becpro --limit 300"
    assert block["command"].endswith(f"COLUMNS=100 evenhand track my-training {options}")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(training.parent)
    assert command(app, ["track", "my-training", *options.split()]) == 0
    out = printed.part(capsys.readouterr().out, block["text"])
    shown, now = (re.split(r"\n{2,}", text) for text in (block["text"], out))
    answer = lead(tracked_training)
    assert all(" ".join(text[0].split()).startswith(answer) for text in (shown, now))
    assert re.findall(r"[a-z]+", shown[1]) == re.findall(r"[a-z]+", now[1])
    tables = [[float(word) for word in re.findall(r"[+-]\d\.\d{3}", text[1])] for text in (shown, now)]
    assert tables[0] == pytest.approx(tables[1], abs=0.02)
    assert shown[2] == now[2]


def test_a_checkpoint_that_was_written_again_is_not_taken_for_measured(
    training: Path, tracked_training: Track, tmp_path: Path
) -> None:
    out = tmp_path / "runs"
    shutil.copytree(training.parent / "runs" / "track", out)
    other = tmp_path / "my-training"
    shutil.copytree(training, other)
    shutil.copytree(training / "checkpoint-100", other / "checkpoint-200", dirs_exist_ok=True)
    for path in (other / "checkpoint-200").iterdir():
        os.utime(path)
    with pytest.raises(RunError, match="checkpoint-200' have changed"):
        evenhand.track(other, suite="becpro", limit=300, out=out, progress=False)


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["checkpoint-100", "checkpoint-1000"], ["100", "1000"]),
        (["step-000000", "step-000500"], ["0", "500"]),
        (["mini-en", "final"], ["mini-en", "final"]),
        (["checkpoint-5", "final"], ["5", "final"]),
    ],
)
def test_short_labels_are_the_numbers_of_checkpoints_and_the_names_of_others(
    names: list[str], short: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Track, "labels", names)
    assert Track.__new__(Track).short_labels == short


def test_curves_without_any_change_have_few_false_alarms(training: Path, tracked_training: Track) -> None:
    """At most 5 %: of 24 trainings of three curves each, more than 4 with an alarm have a chance of 1 % at 5 %."""
    run = Run.load(tracked_training.runs[0])
    curves = make_track([run, run]).curves
    noise = noise_of(run, curves)
    with fewer_draws():
        wrong = [any(false_alarms(run, curves, noise, 4, seed)) for seed in range(24)]
    assert sum(wrong) <= 4


def model(folder: Path, **settings: object) -> Path:
    """What looks like a model before it is loaded."""
    folder.mkdir(parents=True)
    known = {"architectures": ["BertForMaskedLM"], "model_type": "bert", "vocab_size": 100, "hidden_size": 8}
    (folder / "config.json").write_text(json.dumps(known | settings))
    (folder / "tokenizer.json").write_text("{}")
    return folder


def test_checkpoints_are_in_the_order_of_their_numbers_then_the_final_model(tmp_path: Path) -> None:
    folder = tmp_path / "training"
    steps = [model(folder / f"checkpoint-{step}") for step in (1000, 200, 30)]
    (folder / "runs").mkdir()
    in_order = [str(path) for path in reversed(steps)]
    assert checkpoints([folder]) == in_order
    assert checkpoints(steps) == in_order
    model(tmp_path / "other")
    (folder / "config.json").write_bytes((tmp_path / "other" / "config.json").read_bytes())
    assert checkpoints(str(folder)) == [*in_order, str(folder)]
    assert checkpoints([tmp_path / "other", steps[0]]) == [str(tmp_path / "other"), str(steps[0])]


def test_run_folders_stand_for_checkpoints(tmp_path: Path) -> None:
    for name in ("step-000500", "step-001000", "step-000050"):
        (tmp_path / "kept" / name).mkdir(parents=True)
        (tmp_path / "kept" / name / "run.json").write_text("{}")
    points = checkpoints(tmp_path / "kept")
    assert [Path(path).name for path in points] == ["step-000050", "step-000500", "step-001000"]
    assert all(isinstance(path, Path) for path in points)


def test_revisions_of_a_hub_model() -> None:
    assert checkpoints("owner/name", ["step1", "step2"]) == ["owner/name@step1", "owner/name@step2"]
    assert checkpoints(["owner/name@step1", "owner/name@refs/pr/2"]) == ["owner/name@step1", "owner/name@refs/pr/2"]
    for given in (["owner/name", "owner/other"], ["mini-en"], ["owner/name@main"]):
        with pytest.raises(BadInput, match="`revision`"):
            checkpoints(given, ["step1", "step2"])


def empty(folder: Path) -> list[Path]:
    folder.mkdir()
    return [folder]


def without(folder: Path) -> list[Path]:
    (folder / "logs").mkdir(parents=True)
    return [folder]


def interrupted(folder: Path) -> list[Path]:
    model(folder / "checkpoint-1")
    (folder / "checkpoint-2").mkdir()
    return [folder]


def without_tokenizer(folder: Path) -> list[Path]:
    for name in ("checkpoint-1", "checkpoint-2"):
        (model(folder / name) / "tokenizer.json").unlink()
    return [folder]


def single(folder: Path) -> list[Path]:
    model(folder / "checkpoint-1")
    return [folder]


def twice(folder: Path) -> list[Path]:
    return [model(folder), folder]


def without_order(folder: Path) -> list[Path]:
    for name in ("before", "after"):
        (folder / name).mkdir(parents=True)
        (folder / name / "run.json").write_text("{}")
    return [folder]


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (empty, "is empty"),
        (without, "neither"),
        (interrupted, "checkpoint-2' has no config.json"),
        (without_tokenizer, "checkpoint-1' has no tokenizer"),
        (single, "Got .*checkpoint-1"),
        (twice, "twice"),
        (without_order, "after and before have no number"),
        (lambda folder: ["mini-en"], "Got 'mini-en'"),
        (lambda folder: [], "Got none"),
        (lambda folder: ["openai:gpt", "mini-en"], "weights of 'openai:gpt'"),
    ],
)
def test_what_is_no_curve_is_refused(made: Callable[[Path], list[Any]], says: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=says):
        evenhand.track(made(tmp_path / "training"), out=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"architectures": ["GPT2LMHeadModel"]}, "kind masked and causal"),
        ({"architectures": ["RobertaForMaskedLM"]}, "architecture BertForMaskedLM and RobertaForMaskedLM"),
        ({"vocab_size": 200}, "vocab_size 100 and 200"),
    ],
)
def test_different_architectures_are_refused_before_a_model_is_loaded(
    settings: dict[str, Any], says: str, tmp_path: Path
) -> None:
    given = [model(tmp_path / "a"), model(tmp_path / "b", **settings)]
    with pytest.raises(BadInput, match=f"'a' and 'b' .*{says}"):
        evenhand.track(given, suite="becpro", out=tmp_path / "runs")


def test_a_run_of_another_architecture_is_refused(tracked_training: Track, tmp_path: Path) -> None:
    other = model(tmp_path / "b", architectures=["RobertaForMaskedLM"])
    with pytest.raises(BadInput, match="architecture Bert"):
        check_alike({"a": tracked_training.runs[0], "b": ModelSource.of(other)})


def test_runs_of_other_items_are_refused_before_a_model_is_loaded(tracked_training: Track, tmp_path: Path) -> None:
    run = tracked_training.runs[0].path
    given = [run, model(tmp_path / "b", vocab_size=None, hidden_size=None)]
    with pytest.raises(BadInput, match="limit 300.* limit 200"):
        evenhand.track(given, suite="becpro", limit=200, out=tmp_path / "runs")
    with pytest.raises(BadInput, match="has nothing"):
        evenhand.track(given, suite="emotions", out=tmp_path / "runs")


def test_what_finished_runs_measured_is_not_chosen_again(tracked_training: Track, tmp_path: Path) -> None:
    runs = [run.path for run in tracked_training.runs[:2]]
    with pytest.raises(BadInput, match="`suite`"):
        evenhand.track(runs, suite="gbef", out=tmp_path / "track")
    with pytest.raises(BadInput, match="'nothere'"):
        evenhand.track("nothere")


def test_a_folder_with_other_runs_is_refused(tracked_training: Track, tmp_path: Path) -> None:
    out = tmp_path / "runs"
    shutil.copytree(tracked_training.runs[0].path, out / "stranger")
    with pytest.raises(RunError, match="not on this curve: stranger"):
        evenhand.track([tiny.save("bert-uncased", tmp_path / name) for name in ("a", "b")], out=out)
    assert isinstance(Run.load(out / "stranger"), Run)
