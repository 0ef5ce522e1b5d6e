"""The runs of tests/stored, which tests read in place of audits, are what audits give today."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from evenhand import Run
from evenhand.datasets import BUILDERS
from evenhand.measures import MEASURES
from evenhand.models.networks.masked import MaskedLM
from helpers.stored_runs import COMMAND, RECIPES, STORED, make, numbers_of, record_of, unpack

RENEW = f"tests/stored is not what audits give now. If that is meant, renew it: {COMMAND}"


@pytest.mark.parametrize("name", ["base", "plain", "before"])
def test_a_stored_run_is_the_one_that_its_audit_gives_now(name: str, tmp_path: Path) -> None:
    """One of each made-up model; what the others hold comes from the same code."""
    there, now = Run.load(unpack(name, tmp_path / "stored")), make(name, tmp_path / "now")
    assert record_of(there) == record_of(now), RENEW
    for what, table in numbers_of(now).items():
        pd.testing.assert_frame_equal(numbers_of(there)[what], table, atol=1e-5, obj=f"{RENEW}. The {what}")


@pytest.mark.parametrize("name", RECIPES)
def test_every_stored_run_is_of_the_present_measures_and_data(name: str, tmp_path: Path) -> None:
    for task in Run.load(unpack(name, tmp_path)).record.tasks:
        assert task.measure_version == MEASURES[task.measure].version, RENEW
        assert task.dataset == "pairs" or task.dataset_version == BUILDERS[task.dataset]().version, RENEW


def test_the_bundled_model_is_the_one_that_was_asked(mini_en: MaskedLM, tmp_path: Path) -> None:
    for name in ("mini-en-pairs", "mini-en-emotions"):
        assert Run.load(unpack(name, tmp_path)).record.fingerprint == mini_en.fingerprint, RENEW


def test_the_folder_has_these_runs_small_and_without_paths_of_a_machine(tmp_path: Path) -> None:
    assert {file.name for file in STORED.iterdir()} == {f"{name}.zip" for name in RECIPES}, RENEW
    assert sum(file.stat().st_size for file in STORED.iterdir()) < 300_000
    for name in RECIPES:
        said = json.dumps(json.loads((unpack(name, tmp_path) / "run.json").read_text(encoding="utf-8")))
        assert not re.search(r'"(/|~|\.\.|[A-Z]:)|/home/|/Users/|/root/', said)
