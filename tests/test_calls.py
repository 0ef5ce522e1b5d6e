"""What users call: how much it does, whatever it measures."""

import sys
from pathlib import Path
from typing import Any

import pytest

import evenhand
from evenhand import BadInput, Gate, Rule, Table
from evenhand.auditing.sweep import named_sources
from evenhand.models.engines import ENGINES, Engine
from evenhand.models.loading.names import find
from evenhand.runs.record import read_record
from helpers.audited_runs import leaning, pairs

pytestmark = pytest.mark.usefixtures("without_pages")


def test_a_name_is_resolved_once_and_the_record_is_read_twice(tmp_path: Path) -> None:
    """The record: before the model is loaded, and again when the folder is locked."""
    evenhand.audit("mini-en", dataset="tgb", limit=4, out=tmp_path)
    counted = {find.__code__: 0, read_record.__code__: 0}

    def count(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code in counted:
            counted[frame.f_code] += 1

    sys.setprofile(count)
    try:
        evenhand.audit("mini-en", dataset="tgb", limit=4, out=tmp_path)
    finally:
        sys.setprofile(None)
    assert counted[find.__code__] == 1
    assert counted[read_record.__code__] <= 2


@pytest.mark.parametrize("models", [["mini-en"], [Table({}, "mine", "f" * 32)]])
def test_an_option_that_nobody_knows_is_an_error_before_anything_is_measured(models: list[Any]) -> None:
    with pytest.raises(TypeError, match="'limt'") as error:
        evenhand.sweep(models, limt=5)  # type: ignore[call-arg]
    assert error.value.__notes__ == ["Did you mean 'limit'?"]


def test_options_for_loading_reach_a_model_whose_name_is_also_a_plugins_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENGINES, "mini-en", Engine(lambda rest: Table({}, rest, "f" * 32)))
    (source,) = named_sources(["mini-en"], dtype="bfloat16").values()
    assert source.loading == {"dtype": "bfloat16"}
    (source,) = named_sources(["mini-en:large"], dtype="float32").values()  # the default, which it need not know
    assert (source.name, source.loading) == ("large", {})
    with pytest.raises(BadInput, match="'mini-en:' 'dtype'"):
        named_sources(["mini-en:large"], dtype="bfloat16")


def test_a_damaged_run_is_judged_when_all_is_measured_not_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An audit that adds a dataset to a run whose results were cut off first scores these again."""
    monkeypatch.setattr("evenhand.auditing.measuring.preflight", lambda *_: ())
    one, two = (pairs(tmp_path).rename(tmp_path / f"{name}.csv") for name in ("one", "two"))
    rule = Rule(measure="likelihood-lean", dataset="two", within=100)
    model, out = Table(leaning(1.0), name="mine", fingerprint="f" * 32), tmp_path / "runs"
    run = evenhand.audit(model, pairs=one, out=out)
    (run.path / "scores.parquet").write_bytes(b"")
    both = evenhand.audit(model, pairs=two, out=out, gate=Gate([rule]))
    assert both.datasets == ["one", "two"]
    assert evenhand.rescore(both).datasets == both.datasets
