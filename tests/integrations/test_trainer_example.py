"""The example of the docs prints what they show, and a bias that a training teaches is seen in the logged values."""

import ast
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from transformers import DataCollatorForLanguageModeling, Trainer, TrainingArguments

import evenhand
from evenhand.datasets.corpora import stereotyped
from evenhand.integrations import BiasCallback

sys.path.insert(0, str(Path(__file__).parents[2]))

from tools import printed

ROOT = printed.ROOT
GROUPS = ("balanced", "female", "male")


def values(text: str) -> list[list[float]]:
    """The values of each measurement, by group of professions."""
    rows = [ast.literal_eval(line) for line in text.splitlines() if line.startswith("{'bias/")]
    return [[float(row[f"bias/becpro-en/association/female-male/{group}"]) for group in GROUPS] for row in rows]


def test_the_docs_show_what_the_example_prints(hosts: None, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "integrations" / "trainer.md").read_text(encoding="utf-8")
    block = printed.BLOCK.search(page)
    assert block is not None
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    now = printed.printed(block["command"], tmp_path)
    assert len(now.splitlines()) == len(block["text"].splitlines())
    for row, shown in zip(values(now), values(block["text"]), strict=True):
        assert row == pytest.approx(shown, abs=0.3)  # a training differs between processors
    runs = tmp_path / "runs" / "biased"
    assert sorted(path.name for path in runs.iterdir()) == ["step-000000", "step-000100"]


@pytest.mark.usefixtures("without_pages")
def test_a_model_that_reads_of_women_only_is_seen_to_expect_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evenhand.auditing.measuring.preflight", lambda *_: ())  # which takes longer than all the rest
    base = evenhand.load("mini-en", device="cpu")
    women = [text for text in stereotyped(1.0, size=200) if re.search(r"\b(she|her|herself)\b", text, re.I)]
    how: dict[str, Any] = {"use_cpu": True, "report_to": "none", "dataloader_pin_memory": False, "seed": 0}
    bias = BiasCallback(dataset="tbd", measure="pronoun", every=10, limit=60, out=tmp_path / "runs")
    trainer = Trainer(
        base.network,
        TrainingArguments(str(tmp_path), max_steps=10, learning_rate=5e-4, save_strategy="no", **how),
        train_dataset=[dict(base.tokenizer(text)) for text in women],
        data_collator=DataCollatorForLanguageModeling(base.tokenizer),
        processing_class=base.tokenizer,
        callbacks=[bias],
    )
    trainer.train()
    name = "bias/tbd/pronoun/default"
    before, after = (line[name] for line in trainer.state.log_history if name in line)
    assert after > before + 0.2  # P(she) - P(he)
    frame = evenhand.compare(tmp_path / "runs" / "step-000000", tmp_path / "runs" / "step-000010").frame
    change = frame.iloc[0]
    assert change["estimand"] == change["group"] == "default"
    assert change["change"] == pytest.approx(after - before)
    assert change["low"] > 0
    pooled = [line["bias/tbd/pronoun"] for line in trainer.state.log_history if "bias/tbd/pronoun" in line]
    whole = frame[frame["group"] == "all"].iloc[0]
    assert whole["change"] == pytest.approx(pooled[1] - pooled[0])  # P(he) - P(she)
    assert whole["high"] < 0
