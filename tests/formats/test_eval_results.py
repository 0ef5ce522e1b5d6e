"""The Hub's evaluation results, read back by the Hub's own parser."""

from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]
from huggingface_hub import EvalResultEntry, parse_eval_result_entries

import evenhand
from evenhand import BadInput
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from helpers.written_runs import HOSTILE, Made


def parsed(text: str) -> list[EvalResultEntry]:
    return parse_eval_result_entries(yaml.safe_load(text))


def test_values_come_back_with_the_rest_in_the_notes(made: Made) -> None:
    whole, group = parsed(evenhand.export(made(), "eval-results"))
    assert (whole.dataset_id, whole.task_id, whole.value) == ("evenhand/tgb", "likelihood-lean", -1 / 3)
    assert (group.task_id, group.value) == ("likelihood-lean/gender=female", 0.25)
    assert whole.date == "2026-01-02T03:04:05+00:00"
    numbers = ("interval [0.125, 0.5]", "n 3", "unscored 0", "neutral value 0")
    for said in (*numbers, "likelihood-lean version 2", "tgb version 3", "f" * 32):
        assert said in (group.notes or "")


def test_the_file_goes_to_its_place_in_a_repository(made: Made, tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    command = ["export", str(made().path), "--as", "eval-results", "--out", str(repository), "--hub", "tgb=me/pairs"]
    assert run_command(app, command) == 0
    assert [path.name for path in repository.rglob("*.*") if path.is_file()] == ["evenhand.yaml"]
    (first, _) = parsed((repository / ".eval_results" / "evenhand.yaml").read_text(encoding="utf-8"))
    assert first.dataset_id == "me/pairs"


def test_ids_that_cannot_be_are_refused(made: Made) -> None:
    with pytest.raises(BadInput, match="Got True"):
        evenhand.export(made(), "eval-results", hub=True)
    with pytest.raises(BadInput, match="Got 'pairs'"):
        evenhand.export(made(), "eval-results", hub={"tgb": "pairs"})
    with pytest.raises(BadInput, match="'tbg'.* 'tgb'"):
        evenhand.export(made(), "eval-results", hub={"tbg": "me/pairs"})
    assert run_command(app, ["export", str(made().path), "--as", "eval-results", "--hub", "tgb"]) == 2


def test_hostile_names_come_back(made: Made) -> None:
    _, group = parsed(evenhand.export(made(model=HOSTILE, dataset=HOSTILE, label=HOSTILE), "eval-results"))
    assert group.task_id == f"likelihood-lean/gender={HOSTILE}"
    assert HOSTILE in (group.notes or "")
