"""Barza 2023: its arithmetic, its contradictions, and the study on the bundled model."""

import tomllib
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import evenhand
from evenhand import BadInput
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.errors import ModelNotFound
from evenhand.papers import barza2023, reproduce
from evenhand.papers.base import Reproduction
from evenhand.papers.equalising import SIZES
from helpers import tiny

pytestmark = pytest.mark.usefixtures("without_pages", "unexamined", "few_draws")

NUMBERS = tomllib.loads((files("evenhand.papers") / "data" / "barza2023.toml").read_text("utf-8"))
CATEGORIES = ("occupation", "benevolent", "hostile")


@pytest.mark.parametrize("table", ["table3", "table4"])
def test_the_combined_rows_are_the_means_of_the_others(table: str) -> None:
    for model, combined in NUMBERS[table]["combined"].items():
        mean = sum(NUMBERS[table][category][model] for category in CATEGORIES) / 3
        assert combined == pytest.approx(mean, abs=0.011), model  # truncated or rounded


def test_the_text_contradicts_table_3() -> None:
    worst = {category: max(NUMBERS["table3"][category], key=NUMBERS["table3"][category].get) for category in CATEGORIES}
    assert worst == {"occupation": "BERT-large", "benevolent": "ALBERT-large", "hostile": "BERT-large"}
    assert any("ALBERT-large, 5.11" in note for note in NUMBERS["notes"])


def test_the_text_contradicts_table_5() -> None:
    for row in NUMBERS["table5"].values():
        assert abs(row["gap_50"]) <= abs(row["debias"])
        assert abs(row["debias"]) < abs(row["gap_100"]) < abs(row["gap_150"]) < abs(row["base"])
    assert "50 do not help" in barza2023.TABLE_5


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    """The study, of samples, on a tiny model that stands for BERT-base, and on another that was 'debiased'."""
    folder = tmp_path_factory.mktemp("study")
    base = tiny.save("roberta", folder / "bert-base-uncased")
    post = tiny.save("roberta", folder / "debiased")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(barza2023, "audit", partial(evenhand.audit, limit=150))
        return reproduce("barza2023", models=[str(base)], post=str(post), out=folder / "runs")


def test_every_published_cell_is_there(study: Reproduction) -> None:
    for table, n in (("3", 24), ("4", 16), ("5", 10)):
        assert study.cells[(study.cells["table"] == table)]["published"].notna().sum() == n


def test_what_was_measured_stands_beside_what_was_published(study: Reproduction) -> None:
    cells = study.cells.set_index(["table", "group", "model or column"])["ours"]
    values = study.runs[0].values
    hostile = values[(values["measure"] == "likelihood-difference") & (values["category"] == "hostile")]
    asld = hostile[hostile["about"].isna()]["value"].item()
    assert cells[("3", "hostile", "BERT-base")] == asld
    assert cells[("4", "hostile", "base")] == asld
    assert pd.notna(cells[("4", "hostile", "debias")])
    assert pd.isna(cells[("4", "hostile", "toxic")])
    assert pd.notna(cells[("5", "pregnancy", "debias")])
    differences = study.cells.dropna(subset=["published", "ours"])
    assert (differences["ours"] - differences["published"]).equals(differences["difference"])


def test_examples_sizes_and_kinds_are_there(study: Reproduction) -> None:
    tables = study.cells.groupby("table").size()
    assert tables["4.1.2"] == 10
    assert tables["4.2.2"] == 3
    scored = study.runs[0].scores_of("tgb", "likelihood-difference").dropna(subset="score").groupby("category").size()
    assert tables["Fig. 6"] == sum(size <= n for n in scored for size in SIZES) > 0
    assert tables["2"] == 6
    r = study.cells[study.cells["what"] == "r"]["ours"]
    assert r.between(-1, 1).all()


def test_a_model_called_bert_base_is_held_to_the_printed_values(study: Reproduction) -> None:
    assert "values for single sentences are not met" in study.notes[0]  # it is a random network


def test_the_printed_values_are_met_by_the_real_model(tmp_path: Path) -> None:
    """Wherever bert-base-uncased is at hand: in the Hub's cache, or under EVENHAND_MODELS."""
    try:
        model = evenhand.load("google-bert/bert-base-uncased")
    except (ModelNotFound, BadInput):
        pytest.skip("bert-base-uncased is not at hand")
    cells = pd.DataFrame(barza2023._examples(NUMBERS, model))
    records: Any = cells.to_dict("records")
    assert "are met" in barza2023._note_closeness(records)


def test_unknown_papers_and_options_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadInput, match="Did you mean 'barza2023'"):
        reproduce("barza203")
    with pytest.raises(BadInput, match="not an option"):
        reproduce("barza2023", finetune="gap", out=tmp_path)
    assert run_command(app, ["reproduce", "bartl2020", "--model", "a", "--model", "b"]) == 2
    assert "takes one --model" in capsys.readouterr().err
