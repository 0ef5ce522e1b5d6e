"""No part of a checkpoint is dropped in silence, and no part of a network is random."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

import evenhand
from evenhand import Likelihood
from evenhand.errors import UnfitModel
from evenhand.models.loading.names import BUNDLED
from helpers import tiny


def configured(folder: Path, **settings: object) -> Path:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | settings))
    return folder


FEWER = {"distilbert": "n_layers", "gpt2": "n_layer", "bloom": "n_layer"}
LAYERED = ["bert-uncased", "distilbert", "roberta", "xlm-roberta", "convbert", "fnet", "deberta-v2"]


@pytest.mark.parametrize("family", [*LAYERED, *tiny.CAUSAL])
def test_a_configuration_with_fewer_layers_than_weights_is_refused(family: str, tmp_path: Path) -> None:
    save = tiny.save_causal if family in tiny.CAUSAL else tiny.save
    folder = configured(save(family, tmp_path / "model"), **{FEWER.get(family, "num_hidden_layers"): 1})
    with pytest.raises(UnfitModel, match=r"^\d+ tensors in the weights of 'model' have no place .* save_pretrained"):
        evenhand.load(str(folder))


def test_fewer_layers_of_a_classifier_are_refused_too(tmp_path: Path) -> None:
    folder = configured(tiny.save_classifier("bert-uncased", tmp_path / "model"), num_hidden_layers=1)
    with pytest.raises(UnfitModel, match=r"^16 tensors in the weights .*bert\.encoder\.layer\.1\."):
        evenhand.load(str(folder))


def test_more_layers_than_weights_are_no_matter_of_the_head(tmp_path: Path) -> None:
    folder = configured(tiny.save("bert-uncased", tmp_path / "model"), num_hidden_layers=3)
    with pytest.raises(UnfitModel, match=r"weights of 'model' lack 16 tensors .*bert\.encoder\.layer\.2.* random"):
        evenhand.load(str(folder))


def test_a_part_of_a_layer_is_not_dropped(tmp_path: Path) -> None:
    folder = configured(tiny.save("deberta-v2", tmp_path / "model"), relative_attention=False)
    with pytest.raises(UnfitModel, match="9 tensors in the weights .*rel_embeddings|pos_key_proj"):
        evenhand.load(str(folder))


@pytest.mark.parametrize(
    ("family", "head"), [("bert-uncased", "BertForPreTraining"), ("albert", "AlbertForPreTraining")]
)
def test_other_heads_and_a_pooler_may_be_there(family: str, head: str, tmp_path: Path) -> None:
    folder = tiny.save(family, tmp_path / "model", head=head)
    assert any("pooler" in name for name in load_file(folder / "model.safetensors"))
    assert evenhand.load(str(folder)).answer([Likelihood("She is a nurse.")])[0].logp < 0


def test_constants_of_older_releases_may_be_there(tmp_path: Path) -> None:
    bert, gpt2 = tiny.save("bert-uncased", tmp_path / "bert"), tiny.save_causal("gpt2", tmp_path / "gpt2")
    for folder, constants in (
        (bert, ("bert.embeddings.position_ids",)),
        (gpt2, ("transformer.h.0.attn.bias", "transformer.h.0.attn.masked_bias")),
    ):
        weights = load_file(folder / "model.safetensors") | {name: torch.ones(1) for name in constants}
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
        assert evenhand.load(str(folder)).answer([Likelihood("She is a nurse.")])[0].logp < 0


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    """A copy of the bundled adapter."""
    return shutil.copytree(BUNDLED / "mini-en-nli", tmp_path / "adapter")


def test_an_adapter_without_some_of_its_tensors_is_refused(adapter: Path) -> None:
    weights = load_file(adapter / "adapter_model.safetensors")
    kept = {name: tensor for name, tensor in weights.items() if "encoder.layer.5" not in name}
    assert len(weights) - len(kept) == 12
    save_file(kept, adapter / "adapter_model.safetensors", metadata={"format": "pt"})
    with pytest.raises(UnfitModel, match=r"^12 tensors of the adapter 'adapter' are not in its file: .*layer\.5\."):
        evenhand.load(str(adapter))


def test_an_adapter_with_tensors_that_its_base_has_no_place_for_is_refused(adapter: Path) -> None:
    weights = load_file(adapter / "adapter_model.safetensors")
    more = {name.replace("layer.5", "layer.7"): tensor.clone() for name, tensor in weights.items()}
    save_file(weights | more, adapter / "adapter_model.safetensors", metadata={"format": "pt"})
    with pytest.raises(
        UnfitModel, match=r"^12 tensors of the adapter 'adapter' have no place in its base: .*layer\.7\."
    ):
        evenhand.load(str(adapter))


def test_every_bundled_model_and_every_one_of_evenhand_models_is_whole(models: Path) -> None:
    folders = [path.parent for root in (BUNDLED, models) for path in root.glob("*/*config.json")]
    for folder in {path for path in folders if path.name != "training"}:
        labels = "" if (folder / "config.json").is_file() else "entailment,neutral,contradiction"
        evenhand.load(str(folder), labels=labels)
