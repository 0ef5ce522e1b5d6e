"""A model that is larger than the memory there is."""

from pathlib import Path

import pytest

import evenhand
from evenhand import ModelError
from evenhand.models.loading import files
from helpers import tiny


def test_a_model_that_does_not_fit_is_refused_with_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(tiny.save("bert-uncased", tmp_path / "tiny", hidden_size=512, intermediate_size=2048))
    needed = 4 * sum(weights.numel() for weights in evenhand.load(folder).network.parameters())
    monkeypatch.setattr(files, "free", lambda: int(0.9 * needed))
    message = rf"its weights take {needed / 2**30:.2f} GiB as float32, and {0.9 * needed / 2**30:.2f} GiB are free"
    with pytest.raises(ModelError, match=message):
        evenhand.load(folder)
    assert evenhand.load(folder, dtype="bfloat16").name == "tiny"


def test_a_container_may_have_less_than_its_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(files, "LIMIT", limit)
    whole = files.free()
    limit.write_text("max\n")
    assert files.free() == pytest.approx(whole, rel=0.2)
    limit.write_text("1048576\n")
    limit.with_name("memory.current").write_text("48576\n")
    assert files.free() == 1_000_000
