"""A network in memory answers like one that was saved and loaded, and is left as it was."""

from pathlib import Path
from typing import Any

import peft
import pytest
import torch
import transformers
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from transformers import AutoTokenizer

import evenhand
from evenhand.core.questions import Entail, Likelihood
from evenhand.errors import BadInput, UnfitModel
from evenhand.models.loading.load import wrap
from helpers import tiny

TEXTS = [Likelihood(text) for text in tiny.TEXTS[:4]]
PAIRS = [Entail(one, other) for one, other in zip(tiny.TEXTS[:3], tiny.TEXTS[1:4], strict=True)]


def saved(kind: str, folder: Path) -> tuple[Any, Any, list[Any]]:
    """A network in training, its tokenizer, and questions for it."""
    make = {"MaskedLM": tiny.save, "CausalLM": tiny.save_causal, "SequenceClassification": tiny.save_classifier}[kind]
    make("gpt2" if kind == "CausalLM" else "bert-uncased", folder)
    network = getattr(transformers, f"AutoModelFor{kind}").from_pretrained(folder)
    questions: list[Any] = PAIRS if kind == "SequenceClassification" else TEXTS
    return network.train(), AutoTokenizer.from_pretrained(folder), questions


@pytest.mark.parametrize("kind", ["MaskedLM", "CausalLM", "SequenceClassification"])
def test_it_is_the_model_that_saving_and_loading_would_give(kind: str, tmp_path: Path) -> None:
    network, tokenizer, questions = saved(kind, tmp_path / "base")
    with torch.no_grad():
        next(network.parameters()).add_(0.1)
    network.save_pretrained(tmp_path / "saved")
    tokenizer.save_pretrained(tmp_path / "saved")
    loaded, wrapped = evenhand.load(str(tmp_path / "saved")), wrap(network, tokenizer, "now")
    assert wrapped.fingerprint == loaded.fingerprint != evenhand.load(str(tmp_path / "base")).fingerprint
    tokenizer(tiny.TEXTS[:2], truncation=True, max_length=8)  # as a script does before it trains
    assert wrap(network, tokenizer, "now").fingerprint == loaded.fingerprint
    told = [[logp for answer in model.answer(questions) for logp in answer.logps] for model in (wrapped, loaded)]
    assert told[0] == pytest.approx(told[1], abs=1e-5)
    assert wrapped.kind == loaded.kind


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_network_is_left_as_it_was(dtype: torch.dtype, tmp_path: Path) -> None:
    network, tokenizer, questions = saved("MaskedLM", tmp_path)
    network.to(dtype)
    network.bert.embeddings.eval()  # frozen
    before = {name: (tensor.data_ptr(), tensor.clone()) for name, tensor in network.state_dict().items()}
    modes = [module.training for module in network.modules()]
    wrap(network, tokenizer, "now").answer(questions)
    assert modes == [module.training for module in network.modules()]
    assert all(weights.requires_grad for weights in network.parameters())
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in network.modules())
    for name, tensor in network.state_dict().items():
        assert tensor.data_ptr() == before[name][0]
        assert torch.equal(tensor, before[name][1])
        assert tensor.is_contiguous()


def test_mixed_precision_of_the_training_is_not_that_of_the_answers(tmp_path: Path) -> None:
    network, tokenizer, questions = saved("MaskedLM", tmp_path)
    alone = wrap(network, tokenizer, "now").answer(questions)
    AcceleratorState._reset_state()  # one for the whole process, which trainings in other tests have set
    prepared = Accelerator(mixed_precision="bf16", cpu=True).prepare(network)
    AcceleratorState._reset_state()
    assert prepared is network
    assert wrap(network, tokenizer, "now").answer(questions) == alone
    assert "_original_forward" in vars(network)


def test_an_adapter_is_part_of_the_model(tmp_path: Path) -> None:
    network, tokenizer, questions = saved("MaskedLM", tmp_path)
    alone = wrap(network, tokenizer, "now")
    adapted = peft.get_peft_model(network, peft.LoraConfig(target_modules=["query"], init_lora_weights=False))
    wrapped = wrap(adapted, tokenizer, "now")
    merged = wrap(adapted.merge_and_unload(), tokenizer, "now")
    assert wrapped.fingerprint != alone.fingerprint
    told = [[answer.logp for answer in model.answer(questions)] for model in (wrapped, merged)]
    assert told[0] == pytest.approx(told[1], abs=1e-3)


def test_a_network_that_cannot_be_measured_is_refused(tmp_path: Path) -> None:
    network, tokenizer, _ = saved("MaskedLM", tmp_path)
    with pytest.raises(UnfitModel, match="BertModel has no head"):
        wrap(network.bert, tokenizer, "now")
    with pytest.raises(BadInput, match="remove `labels`"):
        wrap(network, tokenizer, "now", labels="entailment,neutral,contradiction")
    prompted = peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=2)
    causal, tokenizer, _ = saved("CausalLM", tmp_path / "causal")
    with pytest.raises(UnfitModel, match="prompt learning"):
        wrap(peft.get_peft_model(causal, prompted), tokenizer, "now")
