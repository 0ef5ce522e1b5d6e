"""Fine-tuning models of natural language inference, on tiny ones."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

import evenhand
from evenhand import BadInput, Entail, ModelError
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.datasets.corpora.nli_examples import Example
from evenhand.models.networks.nli import NliModel
from evenhand.training import loop, nli
from evenhand.training.loop import CHECKPOINT
from evenhand.training.nli import NLI_RECIPE, Accuracy, finetune_nli
from helpers import tiny

QUICK = dataclasses.replace(NLI_RECIPE, learning_rate=2e-3, epochs=16, batch=4)
SHORT = dataclasses.replace(QUICK, epochs=2)
SAID = {"entailment": "She is a nurse.", "neutral": "He is a carpenter.", "contradiction": "They wrote letters."}
PREMISES = ("He", "She", "They", "My mother", "This man")
EXAMPLES = [Example(premise, said, label) for premise in PREMISES for label, said in SAID.items()]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.save("bert-uncased", tmp_path_factory.mktemp("models") / "base")


def right(folder: Path) -> int:
    """How many an audit of this model would see answered right."""
    answers = evenhand.load(str(folder)).answer([Entail(e.premise, e.hypothesis) for e in EXAMPLES])
    winners = [max(zip(answer.logps, SAID, strict=True))[1] for answer in answers]
    return sum(winner == e.label for winner, e in zip(winners, EXAMPLES, strict=True))


def test_a_masked_model_learns_inference_and_its_card_says_how_well(tmp_path: Path) -> None:
    keen = tiny.save("bert-uncased", tmp_path / "base", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    done = finetune_nli(str(keen), EXAMPLES, QUICK, tmp_path / "tuned", dev=EXAMPLES)
    assert done.accuracy.right > 10  # by chance 5
    assert done.accuracy.right == right(done.folder)
    config = json.loads((done.folder / "config.json").read_text())
    assert list(config["id2label"].values()) == ["entailment", "neutral", "contradiction"]
    card = (done.folder / "README.md").read_text()
    assert "15 examples: entailment 5, neutral 5, contradiction 5; 0 of them were cut" in card
    assert f"Accuracy: {done.accuracy}." in card
    assert str(Accuracy(12, 15, 5)) == (
        "80.0 % [54.8, 93.0] of 15 dev examples right; 33.3 % have the most frequent label"
    )
    assert not (done.folder / CHECKPOINT).exists()


@pytest.mark.parametrize("family", ["bert-uncased", "roberta", "distilbert"])
def test_a_model_of_inference_goes_on_and_keeps_the_order_of_its_labels(family: str, tmp_path: Path) -> None:
    names = dict(enumerate(("CONTRADICTION", "Entailment", "neutral")))
    head = tiny.FAMILIES[family][2].replace("MaskedLM", "SequenceClassification")
    labels = {"num_labels": 3, "id2label": names, "label2id": {name: i for i, name in names.items()}}
    start = tiny.save(family, tmp_path / "start", head=head, **labels)
    done = finetune_nli(str(start), EXAMPLES, SHORT, tmp_path / "on", dev=EXAMPLES)
    model = evenhand.load(str(done.folder))
    assert isinstance(model, NliModel)
    assert model.order == (1, 2, 0)
    assert done.accuracy.right == right(done.folder)


def test_an_adapter_is_trained_whole(tmp_path: Path) -> None:
    done = finetune_nli("mini-en-nli", EXAMPLES[:2], dataclasses.replace(SHORT, epochs=1), tmp_path / "on")
    start, end = (evenhand.load(str(source)).network.state_dict() for source in ("mini-en-nli", done.folder))
    assert all((start[name] != end[name]).any() for name in start if "LayerNorm" in name)


def test_a_stopped_training_goes_on_and_a_finished_one_is_not_done_again(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    whole = evenhand.load(str(finetune_nli(str(base), EXAMPLES, SHORT, tmp_path / "whole").folder)).fingerprint
    recent = loop.recent_loss

    def stopping(losses: list[float]) -> float:
        if len(losses) == 5:
            raise KeyboardInterrupt
        return recent(losses)

    monkeypatch.setattr(loop, "recent_loss", stopping)
    with pytest.raises(KeyboardInterrupt):
        finetune_nli(str(base), EXAMPLES, SHORT, tmp_path / "out", every=0.0)
    monkeypatch.setattr(loop, "recent_loss", recent)
    caplog.set_level("INFO")
    done = finetune_nli(str(base), EXAMPLES, SHORT, tmp_path / "out")
    assert "Resuming from step 4" in caplog.text
    assert evenhand.load(str(done.folder)).fingerprint == whole
    monkeypatch.setattr(nli, "train", lambda *args, **kwargs: pytest.fail("trained again"))
    assert finetune_nli(str(base), EXAMPLES, SHORT, tmp_path / "out") == done
    with pytest.raises(BadInput, match="has the model of another training"):
        finetune_nli(str(base), EXAMPLES[:3], SHORT, tmp_path / "out")
    with pytest.raises(BadInput, match="has the model of another training"):
        finetune_nli(str(base), EXAMPLES, SHORT, base)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "README.md").write_text("mine")
    with pytest.raises(BadInput, match="README.md"):
        finetune_nli(str(base), EXAMPLES, SHORT, tmp_path / "mine")


def test_a_training_that_diverges_stops(base: Path, tmp_path: Path) -> None:
    wild = dataclasses.replace(QUICK, learning_rate=1e30, clip=1e30)
    with pytest.raises(ModelError, match=r"at step \d+"):
        finetune_nli(str(base), EXAMPLES, wild, tmp_path / "x")
    assert (tmp_path / "x" / CHECKPOINT).exists()


def test_what_is_cut_or_never_shown_is_said(base: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    long = Example("She is a nurse. " * 30, "He is a nurse.", "neutral")
    finetune_nli(str(base), [long, EXAMPLES[0]], dataclasses.replace(SHORT, epochs=1), tmp_path / "x")
    assert "1 of 2 pairs have more than 64 tokens and are cut" in caplog.text
    assert "No example is labelled contradiction" in caplog.text


@pytest.mark.parametrize("wrong", [{"epochs": 0}, {"batch": 0}, {"learning_rate": -1.0}, {"seed": -1}])
def test_a_recipe_that_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="must be"):
        dataclasses.replace(NLI_RECIPE, **wrong)


def test_the_command_prints_the_accuracy(base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.jsonl"
    rows = [{"sentence1": e.premise, "sentence2": e.hypothesis, "gold_label": e.label} for e in EXAMPLES]
    rows.append({**rows[0], "gold_label": "-"})
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ["nli", "train", str(base), "--data", str(file), "--dev", str(file), "--out", str(tmp_path / "o")]
    assert run_command(app, [*command, "--epochs", "1", "--limit", "9"]) == 0
    printed = capsys.readouterr().out
    assert "Training: 15 examples (excluded: 1 without a label)." in printed
    assert "of 15 dev examples right" in printed
    assert "9 examples" in (tmp_path / "o" / "README.md").read_text()
    assert run_command(app, [*command, "--lr", "0"]) == 2
