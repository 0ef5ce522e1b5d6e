"""Run folders that evenhand 0.1.0 left: they open, show, compare and rescore to the values they had."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

import evenhand
from evenhand import Run
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command

pytestmark = pytest.mark.usefixtures("without_pages")

MADE = Path(__file__).parent / "made-by-0.1.0"
RUNS = sorted(path.name for path in MADE.iterdir() if path.is_dir())


@pytest.mark.parametrize("name", RUNS)
def test_rescoring_gives_the_values_it_had(name: str, tmp_path: Path) -> None:
    path = Path(shutil.copytree(MADE / name, tmp_path / name))
    before = Run.load(path)
    (path / "results.json").write_text("[]")  # so that nothing but the kept answers can give them
    (path / "scores.parquet").unlink()
    again = evenhand.rescore(path)
    pd.testing.assert_frame_equal(again.values, Run.load(MADE / name).values, rtol=1e-9)
    assert again.record.fingerprint == before.record.fingerprint


@pytest.mark.parametrize("name", RUNS)
def test_it_is_shown_with_every_dataset_and_measure(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(app, ["show", str(MADE / name)]) == 0
    shown = capsys.readouterr().out
    for task in Run.load(MADE / name).record.tasks:
        assert task.dataset in shown
        assert task.measure in shown


def test_comparing_gives_the_changes_it_gave() -> None:
    kept = pd.DataFrame(json.loads((MADE / "compared.json").read_text(encoding="utf-8")))
    found = evenhand.compare(MADE / "emotions", MADE / "emotions-noisy").frame
    pd.testing.assert_frame_equal(found[list(kept)], kept, rtol=1e-9)
