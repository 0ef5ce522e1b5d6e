"""BiasCallback measures while transformers' Trainer trains, and changes nothing about the training."""

import logging
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers
from transformers import AutoTokenizer, DataCollatorForLanguageModeling, Trainer, TrainerCallback, TrainingArguments
from transformers.integrations import integration_utils

import evenhand
from evenhand import Finding, Gate, Rule, Run
from evenhand.errors import BadInput, EvenhandError, UnfitModel
from evenhand.gate.verdict import Verdict
from evenhand.integrations import BiasCallback
from helpers import tiny

pytestmark = pytest.mark.usefixtures("without_pages", "unexamined")

PAIRS: dict[str, Any] = {"dataset": "tgb", "measure": "likelihood-difference", "limit": 40, "first": 1}
KEY = "bias/tgb/likelihood-difference"
HELPERS = Path(__file__).parents[1] / "helpers"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.save("bert-uncased", tmp_path_factory.mktemp("base"))


def train(
    base: Path, out: Path, *callbacks: TrainerCallback, resume: str | None = None, random: bool = True, **how: Any
) -> Trainer:
    """A training of a few steps; dropout draws random numbers in each, and masks do if they are `random`."""
    transformers.set_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(base)
    usual: dict[str, Any] = {"max_steps": 4, "learning_rate": 1e-2, "logging_steps": 1, "save_strategy": "no"}
    usual |= {"per_device_train_batch_size": 3, "report_to": "none", "disable_tqdm": True, "use_cpu": True}
    trainer = Trainer(
        transformers.AutoModelForMaskedLM.from_pretrained(base),
        TrainingArguments(str(out), **usual | how, dataloader_pin_memory=False),
        train_dataset=[dict(tokenizer(text)) for text in tiny.TEXTS],
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=random),
        processing_class=tokenizer,
        callbacks=list(callbacks),
    )
    trainer.train(resume_from_checkpoint=resume)
    return trainer


def logged(trainer: Trainer, key: str = KEY) -> dict[int, float]:
    return {line["step"]: line[key] for line in trainer.state.log_history if key in line}


@pytest.mark.parametrize("how", [{}, pytest.param({"gradient_checkpointing": True}, marks=pytest.mark.proof)], ids=str)
def test_the_training_ends_with_the_same_weights(how: dict[str, Any], base: Path, tmp_path: Path) -> None:
    alone = train(base, tmp_path, **how)
    watched = train(base, tmp_path, BiasCallback(**PAIRS, every=1, out=tmp_path / "runs"), **how)
    assert sorted(logged(watched)) == [1, 2, 3, 4]
    pairs = zip(alone.model.state_dict().values(), watched.model.state_dict().values(), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)
    losses = [[line["loss"] for line in trainer.state.log_history if "loss" in line] for trainer in (alone, watched)]
    assert losses[0] == losses[1]
    assert len(losses[0]) == 4  # though the values of the same step were logged before
    assert watched.model.training


def test_each_step_is_a_run_on_the_same_items_as_an_audit_of_its_checkpoint(base: Path, tmp_path: Path) -> None:
    out = tmp_path / "runs"
    trainer = train(base, tmp_path, BiasCallback(**PAIRS, every=2, out=out), max_steps=5)
    assert [path.name for path in sorted(out.iterdir())] == ["step-000002", "step-000004", "step-000005"]
    runs = [Run.load(path) for path in sorted(out.iterdir())]
    assert len({run.record.fingerprint for run in runs}) == 3
    assert len({tuple(run.scores["id"]) for run in runs}) == 1
    assert [run.values_of("tgb")[0].value for run in runs] == list(logged(trainer).values())
    assert len(evenhand.compare(*runs[:2]).frame)
    trainer.save_model(str(tmp_path / "last"))
    options = {name: PAIRS[name] for name in ("dataset", "measure", "limit")}
    again = evenhand.audit(tmp_path / "last", **options, out=tmp_path / "audited")
    assert again.record.fingerprint == runs[-1].record.fingerprint
    assert again.scores["score"].tolist() == pytest.approx(runs[-1].scores["score"].tolist(), abs=1e-5, nan_ok=True)


class Stopper(TrainerCallback):  # type: ignore[misc]
    """Ends a training after its epoch, as an evaluation does with EarlyStoppingCallback: after our own hooks."""

    def on_epoch_end(self, args: Any, state: Any, control: Any, **given: Any) -> Any:
        control.should_training_stop = True
        return control


def test_the_last_weights_are_measured_where_another_callback_ends_the_training(base: Path, tmp_path: Path) -> None:
    bias = BiasCallback(**PAIRS, every=1000, out=tmp_path / "runs")
    trainer = train(base, tmp_path, bias, Stopper(), max_steps=-1, num_train_epochs=3)
    last = trainer.state.global_step
    assert trainer.state.epoch == 1
    assert bias.measured == [last]
    assert sorted(logged(trainer)) == [last]


class Writer:
    """What TensorBoard would draw."""

    def __init__(self) -> None:
        self.drawn: dict[tuple[str, int], float] = {}

    def add_scalar(self, name: str, value: float, step: int) -> None:
        self.drawn[name, step] = value

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_, **__: None


def test_tensorboard_gets_every_value_also_the_last(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(integration_utils, "is_tensorboard_available", lambda: True)
    monkeypatch.setitem(sys.modules, "tensorboardX", SimpleNamespace(SummaryWriter=Writer))
    writer = Writer()
    board = integration_utils.TensorBoardCallback(writer)
    trainer = train(base, tmp_path, board, BiasCallback(**PAIRS, every=2, out=tmp_path / "runs"), max_steps=3)
    drawn = {step: value for (name, step), value in writer.drawn.items() if name == f"train/{KEY}"}
    assert drawn == logged(trainer)
    assert sorted(drawn) == [2, 3]


def test_a_training_that_another_callback_ends_is_measured_at_its_end(base: Path, tmp_path: Path) -> None:
    class Ending(TrainerCallback):  # type: ignore[misc]
        def on_log(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            control.should_training_stop = state.global_step == 2

    trainer = train(base, tmp_path, BiasCallback(**PAIRS, every=50, out=tmp_path / "runs"), Ending())
    assert sorted(logged(trainer)) == [2]


def gate(**bound: Any) -> Gate:
    return Gate([Rule(measure="likelihood-difference", **bound)], max_unscored=1.0, allow_unfit=True)


def test_a_rule_that_fails_stops_the_training_and_says_why(
    base: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bias = BiasCallback(**PAIRS, every=2, out=tmp_path / "runs", gate=gate(low=1000))
    trainer = train(base, tmp_path, bias, max_steps=9)
    assert trainer.state.global_step == 2
    assert bias.stopped.startswith("Training was stopped at step 2 by the gate: tgb")
    assert bias.stopped in caplog.messages
    assert (tmp_path / "runs" / "step-000002" / "gate.json").exists()


def test_a_rule_that_is_undecided_does_not(base: Path, tmp_path: Path) -> None:
    bias = BiasCallback(**PAIRS | {"limit": 4}, every=2, out=tmp_path / "runs", gate=gate(low=9))
    assert train(base, tmp_path, bias).state.global_step == 4
    assert not bias.stopped


def test_no_worse_is_compared_with_the_first_run(base: Path, tmp_path: Path) -> None:
    bias = BiasCallback(**PAIRS, every=1, out=tmp_path / "runs", gate=gate(worse_by_at_most=0))
    train(base, tmp_path, bias, max_steps=2)
    assert not (tmp_path / "runs" / "step-000001" / "gate.json").exists()
    first, second = (Run.load(tmp_path / "runs" / f"step-00000{step}") for step in (1, 2))
    change = evenhand.compare(first, second).frame["change"]
    assert Verdict.load(second.path).rules[0].value == pytest.approx(change[0])


@pytest.mark.proof
def test_a_resumed_training_keeps_its_runs_and_measures_no_weights_twice(tmp_path: Path) -> None:
    base = tiny.save("bert-uncased", tmp_path / "base", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    how: dict[str, Any] = {"save_strategy": "steps", "save_steps": 2, "random": False}
    out, halfway = tmp_path / "runs", str(tmp_path / "checkpoint-2")
    first = train(base, tmp_path, BiasCallback(**PAIRS, every=1, out=out), **how)
    before = {path: path.stat().st_mtime_ns for path in out.glob("*/run.json")}
    bias = BiasCallback(**PAIRS, every=1, out=out)
    again = train(base, tmp_path, bias, resume=halfway, **how)
    assert bias.measured == [3, 4]
    assert logged(again) == logged(first)
    assert before == {path: path.stat().st_mtime_ns for path in out.glob("*/run.json")}
    other = train(base, tmp_path, BiasCallback(**PAIRS, every=1, out=out), resume=halfway, **how | {"random": True})
    assert logged(other)[4] != logged(first)[4]  # trained in another way: the run is replaced
    assert Run.load(out / "step-000004").values_of("tgb")[0].value == logged(other)[4]
    with pytest.raises(EvenhandError, match="another training, up to step-000004"):
        train(base, tmp_path, BiasCallback(**PAIRS, every=1, out=out))
    with pytest.raises(EvenhandError, match="another sample"):
        train(base, tmp_path, BiasCallback(**PAIRS | {"limit": 10}, every=1, out=out), resume=halfway, **how)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"suite": "becprp"}, "Did you mean 'becpro'"),
        ({"every": 0}, "`every` must be a whole number of steps, at least 1"),
        ({"every": 2.5}, "Got 2.5"),
        ({"first": -1}, "`first`"),
        ({"limit": 0}, "`limit` must"),
        ({"dataset": "tgp"}, "Did you mean 'tgb'"),
        ({"gate": "nowhere.toml"}, "nowhere.toml"),
        ({"gate": []}, "without rules"),
    ],
    ids=str,
)
def test_what_is_wrong_with_its_parameters_is_said_at_once(given: dict[str, Any], says: str) -> None:
    with pytest.raises(EvenhandError) as caught:
        BiasCallback(**{"every": 10} | given)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"suite": "nli"}, "Entail"),
        ({"dataset": "tgb", "gate": [Rule(measure="association", within=1)]}, "measure 'association'"),
        (
            {"dataset": "tgb", "gate": [Rule(measure="pronoun", worse_by_at_most=1)]},
            "measure 'pronoun'",
        ),
        ({"dataset": "tgb", "limit": 40, "tokenizer": None}, "no tokenizer"),
    ],
    ids=str,
)
def test_what_does_not_suit_the_model_is_said_before_the_first_step(
    given: dict[str, Any], says: str, base: Path, tmp_path: Path
) -> None:
    given = dict(given)
    tokenizer = given.pop("tokenizer", AutoTokenizer.from_pretrained(base))
    bias = BiasCallback(every=10, out=tmp_path / "runs", **given)
    network = transformers.AutoModelForMaskedLM.from_pretrained(base)
    args = TrainingArguments(str(tmp_path), use_cpu=True, report_to="none", max_steps=1, dataloader_pin_memory=False)
    trainer = Trainer(network, args, train_dataset=[{}], processing_class=tokenizer, callbacks=[bias])
    with pytest.raises(EvenhandError) as caught:
        trainer.train()
    assert says in str(caught.value)
    assert not (tmp_path / "runs").exists()


def test_a_model_that_the_doctor_finds_unfit_is_refused_before_the_first_step(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finding = Finding("head", "unfit", "Nobody trained it.")
    monkeypatch.setattr("evenhand.auditing.measuring.preflight", lambda *_: (finding,))
    bias = BiasCallback(**PAIRS | {"first": 0}, every=1, out=tmp_path / "runs")
    for _ in range(2):  # the second time its run is there
        with pytest.raises(UnfitModel, match="^Head: .*trained.* `first`"):
            train(base, tmp_path, bias)


def test_a_model_that_fails_the_gate_already_is_not_trained(base: Path, tmp_path: Path) -> None:
    bias = BiasCallback(**PAIRS | {"first": 0}, every=1, out=tmp_path / "runs", gate=gate(low=1000))
    with pytest.raises(BadInput, match="before the first step: tgb"):
        train(base, tmp_path, bias)


def test_a_folder_with_other_runs_is_refused(base: Path, tmp_path: Path) -> None:
    table = evenhand.Table(lambda question: [-1.0], name="other", fingerprint="other")
    evenhand.audit(table, dataset="tgb", limit=10, out=tmp_path / "runs")
    with pytest.raises(EvenhandError, match="not of a step"):
        train(base, tmp_path, BiasCallback(**PAIRS, every=1, out=tmp_path / "runs"))


def test_it_is_for_a_trainer() -> None:
    with pytest.raises(BadInput, match="is for the Trainer"):
        BiasCallback(**PAIRS, every=1).on_train_begin(None, None, None)


@pytest.mark.parametrize("kind", ["causal", "nli"])
def test_causal_models_and_nli_classifiers_are_measured(kind: str, tmp_path: Path) -> None:
    what: dict[str, Any]
    key = KEY if kind == "causal" else "bias/nli-en/"
    if kind == "causal":
        base = tiny.save_causal("gpt2", tmp_path / "base")
        network: Any = transformers.AutoModelForCausalLM.from_pretrained(base)
        what = {"dataset": "tgb", "measure": "likelihood-difference"}
    else:
        base = tiny.save_classifier("bert-uncased", tmp_path / "base")
        network = transformers.AutoModelForSequenceClassification.from_pretrained(base)
        what = {"suite": "nli"}
    tokenizer = AutoTokenizer.from_pretrained(base)
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    rows = [dict(tokenizer(text)) for text in tiny.TEXTS[:2]]
    rows = [row | {"labels": row["input_ids"] if kind == "causal" else 1} for row in rows]
    how: dict[str, Any] = {"use_cpu": True, "report_to": "none", "dataloader_pin_memory": False}
    args = TrainingArguments(str(tmp_path), max_steps=2, per_device_train_batch_size=1, **how)
    bias = BiasCallback(**what, every=1, limit=12, first=1, out=tmp_path / "runs")
    trainer = Trainer(network, args, train_dataset=rows, processing_class=tokenizer, callbacks=[bias])
    trainer.train()
    found = [line["step"] for line in trainer.state.log_history if any(name.startswith(key) for name in line)]
    assert found == [1, 2]
    assert {Run.load(path).record.audits[0].kind for path in (tmp_path / "runs").iterdir()} == {kind}


def test_the_share_of_the_time_is_printed_and_warnings_are_not_repeated(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        train(base, tmp_path, BiasCallback(**PAIRS, every=2, out=tmp_path / "runs"))
    assert "Measured bias at 2 steps in" in capsys.readouterr().out
    assert len([line for line in caplog.messages if "target words of tgb are unknown" in line]) == 1


@pytest.mark.proof
def test_of_two_processes_one_measures_and_both_stop(base: Path, tmp_path: Path) -> None:
    paths = os.pathsep.join([str(HELPERS.parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, str(HELPERS / "trained_together.py"), str(base), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Measured bias at 1 step in") == 1
    assert sorted(path.read_text() for path in tmp_path.glob("rank-*")) == ["stopped at 2, logged 1"] * 2
