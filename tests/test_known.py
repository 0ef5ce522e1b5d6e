"""The suite of well-known datasets: what suits the kind of model, and is there."""

import logging
from pathlib import Path

import pytest

from evenhand import suites
from evenhand.errors import DataNotFound, UnfitModel


def test_without_any_of_them_it_says_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    monkeypatch.setattr("evenhand.datasets.files.releases.cache", lambda: tmp_path / "none")
    with pytest.raises(DataNotFound, match="crows-pairs, .*datasets fetch.*EVENHAND_DATA"):
        suites.tasks("known")


def test_it_is_for_language_models() -> None:
    with pytest.raises(UnfitModel, match="masked, causal.*'nli'"):
        suites.tasks("known", kind="nli")


@pytest.mark.parametrize("kind", ["masked", "causal"])
def test_what_was_fetched_is_measured(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "gest"
    folder.mkdir()
    rows = "".join(f"I am number {n}.,{n}\n" for n in range(1, 17))
    (folder / "gest_1.1.csv").write_text("sentence,stereotype\n" + rows)
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    monkeypatch.setattr("evenhand.datasets.files.releases.cache", lambda: tmp_path / "none")
    with caplog.at_level(logging.INFO):
        (task,) = suites.tasks("known", kind=kind)
    assert (task.dataset.name, task.measure.name) == ("gest" if kind == "masked" else "gest-causal", "gest")
    assert "not fetched: crows-pairs" in caplog.text


@pytest.mark.parametrize("kind", ["masked", "causal"])
def test_all_of_them_are_there(data: Path, kind: str) -> None:
    for language, pairs in suites.BY_KIND["known"][kind].items():
        found = suites.tasks("known", language, kind=kind)
        assert [(task.dataset.name, task.measure.name) for task in found] == pairs
