"""Several processes train one model."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import evenhand
from evenhand import Likelihood
from evenhand.training.mlm import finetune
from helpers import tiny
from helpers.together import RECIPE

HELPERS = Path(__file__).parents[1] / "helpers"


def test_two_processes_learn_what_one_does_and_go_on_where_they_stopped(tmp_path: Path) -> None:
    base = tiny.save("bert-uncased", tmp_path / "base", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    alone = finetune(str(base), tiny.TEXTS, RECIPE, tmp_path / "alone")
    paths = os.pathsep.join([str(HELPERS.parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, str(HELPERS / "together.py"), str(base), str(tmp_path / "both")],
        env={**os.environ, "ACCELERATE_USE_CPU": "1", "PYTHONPATH": paths},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("Resuming from step 4") <= 1
    one, two = ((folder / "README.md").read_text() for folder in (alone, tmp_path / "both"))
    assert one == two  # the mean loss of all steps, among others
    questions = [Likelihood(text) for text in tiny.TEXTS]
    answers = [[a.logp for a in evenhand.load(str(f)).answer(questions)] for f in (alone, tmp_path / "both", base)]
    assert answers[0] == pytest.approx(answers[1], abs=0.02)
    assert answers[0] != pytest.approx(answers[2], abs=1)
