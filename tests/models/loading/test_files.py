"""Checkpoints from anywhere: what is not a model is refused in a sentence, before a library reads it."""

import json
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from transformers import PreTrainedModel

import evenhand
from evenhand import ModelError
from evenhand.core.files import LARGEST
from evenhand.models.loading.names import find, kind
from helpers import tiny


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.save("bert-uncased", tmp_path_factory.mktemp("models") / "whole")


@pytest.fixture
def model(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "model"))


def change(path: Path, **values: object) -> None:
    data = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(data | values))


def refused(model: Path, says: str) -> str:
    assert kind(find(str(model))) in ("", "masked")  # the first look must not fail, nor wait
    with pytest.raises(ModelError, match=says) as error:
        evenhand.load(str(model))
    assert len(str(error.value)) <= 500
    return str(error.value)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"])
@pytest.mark.parametrize("what", ["pipe", "device"])
def test_a_pipe_or_a_device_is_not_read(model: Path, name: str, what: str) -> None:
    (model / name).unlink()
    os.mkfifo(model / name) if what == "pipe" else (model / name).symlink_to("/dev/zero")
    refused(model, f"{name} is not a regular file")


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "adapter_config.json"])
def test_a_file_of_any_size_is_not_read(model: Path, name: str) -> None:
    with (model / name).open("ab") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(ModelError, match=f"{name} has 268,435,457 bytes"):
        evenhand.load(str(model))


@pytest.mark.parametrize("value", [5, "BertForMaskedLM", [5], {"a": 1}])
def test_architectures_of_a_wrong_type_are_refused(model: Path, value: object) -> None:
    change(model / "config.json", architectures=value)
    refused(model, "architectures in config.json must be a list of names")


@pytest.mark.parametrize("value", ["x", [], 0, -5, True, float("inf"), float("nan")])
def test_a_longest_input_that_is_no_number_is_refused(model: Path, value: object) -> None:
    change(model / "tokenizer_config.json", model_max_length=value)
    refused(model, "model_max_length in tokenizer_config.json must be a number")


@pytest.mark.parametrize("text", ["[" * 3_000 + "]" * 3_000, '{"a":' * 100_000, "5", "[]", "\xff", ""])
@pytest.mark.parametrize("name", ["config.json", "tokenizer_config.json"])
def test_json_that_holds_no_settings_is_refused(model: Path, name: str, text: str) -> None:
    (model / name).write_text(text, encoding="latin-1")
    refused(model, f"{name} (cannot be read|must hold)")


@pytest.mark.parametrize("away", ["../other/model.safetensors", "/etc/model.safetensors", "a/../../b.safetensors"])
def test_an_index_that_names_weights_elsewhere_is_refused(model: Path, away: str) -> None:
    (model / "model.safetensors").rename(model.parent / "model.safetensors")
    change(model / "model.safetensors.index.json", metadata={}, weight_map={"bert.weight": away})
    refused(model, "names weights outside the folder")


@pytest.fixture
def on_hub(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The snapshot of a Hub model in the local cache, whose files are links to where the contents are kept."""
    snapshot = tmp_path / "models--me--mine" / "snapshots" / ("0" * 40)
    (tmp_path / "models--me--mine" / "refs").mkdir(parents=True)
    (tmp_path / "models--me--mine" / "refs" / "main").write_text("0" * 40)
    blobs = shutil.copytree(whole, tmp_path / "models--me--mine" / "blobs")
    snapshot.mkdir(parents=True)
    for blob in blobs.iterdir():
        (snapshot / blob.name).symlink_to(Path("../../blobs") / blob.name)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    return snapshot


def test_links_in_the_cache_of_the_hub_are_no_fault(whole: Path, on_hub: Path) -> None:
    fingerprint = evenhand.load(str(whole)).fingerprint
    assert evenhand.load("me/mine").fingerprint == evenhand.load(str(on_hub)).fingerprint == fingerprint


@pytest.mark.parametrize("away", ["../../blobs/model.safetensors", "/etc/model.safetensors"])
def test_an_index_on_the_hub_that_names_weights_elsewhere_is_refused(on_hub: Path, away: str) -> None:
    (on_hub / "model.safetensors").unlink()
    change(on_hub / "model.safetensors.index.json", metadata={}, weight_map={"bert.weight": away})
    with pytest.raises(ModelError, match="index.json names weights outside"):
        evenhand.load("me/mine")


def test_settings_on_the_hub_have_the_right_types(on_hub: Path) -> None:
    change(on_hub / "config.json", architectures=5)
    with pytest.raises(ModelError, match="architectures"):
        evenhand.load("me/mine")


class Code:
    """What a pickle file can do when it is opened."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return os.mkdir, ("ran",)


@pytest.mark.parametrize("content", [pickle.dumps(Code()), b"nothing"])
def test_nobody_is_told_to_run_the_code_in_a_pickle_file(
    model: Path, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(model.parent)
    (model / "model.safetensors").unlink()
    (model / "pytorch_model.bin").write_bytes(content)
    said = refused(model, "pickle file .* Get them as safetensors")
    assert "weights_only" not in said
    assert not (model.parent / "ran").exists()


def test_weights_of_other_shapes_are_said_to_be_so(model: Path) -> None:
    change(model / "config.json", hidden_size=64)
    assert "above" not in refused(model, "The shapes of its weights are not those that config.json describes")


@pytest.mark.parametrize("heads", [-1, 0])
def test_settings_with_which_nothing_can_be_computed_are_refused(model: Path, heads: int) -> None:
    change(model / "config.json", num_attention_heads=heads)
    refused(model, "cannot be loaded")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("num_hidden_layers", 10_000_000), ("hidden_size", 10**9), ("vocab_size", 10**12), ("num_labels", 10**9)),
        *(("intermediate_size", 10**400), ("text_config", {"num_hidden_layers": 10**7})),
    ],
)
def test_sizes_that_no_weights_can_fill_are_refused_before_a_network_is_built(
    model: Path, name: str, value: object
) -> None:
    change(model / "config.json", **{name: value})
    refused(model, "in config.json is [0-9,…]+.* but its weights allow at most [0-9,]+")


@pytest.mark.parametrize("name", ["attn_implementation", "_attn_implementation"])
def test_a_configuration_cannot_ask_for_a_kernel(model: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    asked = []

    def adjusted(self: PreTrainedModel, wanted: str | None, *more: Any, **how: Any) -> str:
        asked.append(wanted)
        return "eager"

    monkeypatch.setattr(PreTrainedModel, "_check_and_adjust_attn_implementation", adjusted)
    change(model / "config.json", **{name: "somebody/kernel"})
    evenhand.load(str(model))
    assert asked
    assert "somebody/kernel" not in asked
