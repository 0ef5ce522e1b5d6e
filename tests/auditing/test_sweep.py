"""Several models: their names, and what is kept when one fails."""

from concurrent.futures import Future
from pathlib import Path

import pytest

import evenhand
from evenhand import BadInput, Run
from evenhand.auditing.sweep import _in_order, named_sources
from evenhand.auditing.writing import run_folder
from evenhand.cli.app import app
from evenhand.cli.terminal import BAD_INPUT
from evenhand.cli.terminal import run as run_command
from evenhand.errors import UnfitModel
from helpers import tiny
from helpers.written_runs import record

pytestmark = pytest.mark.usefixtures("without_pages", "unexamined")


def folders(tmp_path: Path, *names: str) -> list[str]:
    for name in names:
        (tmp_path / name).mkdir(parents=True)
    return [str(tmp_path / name) for name in names]


def test_checkpoints_take_the_name_of_their_training(tmp_path: Path) -> None:
    models = folders(tmp_path, "first/checkpoint-500", "second/checkpoint-500", "second/final", "third/bert")
    assert list(named_sources(models)) == ["first/checkpoint-500", "second/checkpoint-500", "second/final", "bert"]
    assert run_folder("first/checkpoint-500", "runs") == Path("runs/first--checkpoint-500")


def test_two_models_of_one_name_take_that_of_their_parents(tmp_path: Path) -> None:
    models = folders(tmp_path, "first/bert", "second/bert", "third/gpt")
    assert list(named_sources(models)) == ["first/bert", "second/bert", "gpt"]
    with pytest.raises(BadInput, match="'first/bert'"):
        named_sources([models[0], models[0]])


def test_a_name_is_for_one_model(tmp_path: Path) -> None:
    models = folders(tmp_path, "first", "second")
    assert list(named_sources(models[:1], "mine")) == ["mine"]
    with pytest.raises(BadInput, match="`name`.*2 models"):
        named_sources(models, "mine")


def test_what_is_finished_is_kept_when_another_fails(tmp_path: Path) -> None:
    futures = [Future[Run]() for _ in range(4)]
    runs = [Run(tmp_path / str(n), record(model=str(n))) for n in range(4)]
    futures[0].set_result(runs[0])
    futures[1].set_exception(BadInput("no such model"))
    futures[3].set_result(runs[3])  # the third is still running

    in_order = _in_order(futures)
    got = [next(in_order), next(in_order)]
    assert [run.record.model for run in got] == ["0", "3"]
    with pytest.raises(BadInput, match="no such"):
        next(in_order)


def test_what_one_model_cannot_answer_does_not_stop_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    masked = str(tiny.save("roberta", tmp_path / "masked"))
    classifier = str(tiny.save_classifier("roberta", tmp_path / "classifier"))
    items = [evenhand.NliPair("1", "A nurse sleeps.", "A woman sleeps.", {"set": "pro", "word": "nurse"})]
    nli = evenhand.Dataset(name="one", items=items)
    pairs = evenhand.Dataset(name="two", items=[evenhand.Pair("1", "He sleeps.", "She sleeps.")])
    runs = evenhand.sweep([masked, classifier], dataset=nli, measure="fraction-neutral", out=tmp_path / "runs")
    assert next(runs).record.model == "classifier"
    with pytest.raises(UnfitModel, match="'masked' was not measured.*cannot answer Entail"):
        next(runs)
    whole = evenhand.audit(masked, dataset=[pairs, nli], out=tmp_path / "both")
    assert whole.datasets == ["two"]
    (audit,) = whole.record.audits
    assert audit.excluded == ("one",)
    assert any("Not asked of the model: one by" in line for line in audit.warnings)
    with pytest.raises(UnfitModel, match="cannot answer Entail"):
        evenhand.audit(masked, dataset=nli, measure="fraction-neutral", out=tmp_path / "none")
    given = [masked, "--dataset", "emotions-en", "--dataset", "nli-en", "--limit", "2", "--out", str(tmp_path / "cli")]
    assert run_command(app, ["audit", *given]) == BAD_INPUT
    assert "'masked' cannot be asked nli-en. Everything else was measured." in capsys.readouterr().err
