"""Likelihoods of sentences, ours and minicons': what the CPU and the GPU benchmarks share."""

from collections.abc import Sequence
from copy import copy
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

from evenhand.core.model import Model
from evenhand.core.questions import Likelihood
from evenhand.models.loading.checkpoint import quiet


def likelihoods(model: Model, texts: Sequence[str]) -> list[float]:
    """Ours: pseudo-log-likelihoods of a masked model, log-likelihoods of a causal one."""
    return [answer.logp for answer in model.answer([Likelihood(text) for text in texts])]


def minicons(folder: str, tokenizer: Any, device: str = "cpu", dtype: torch.dtype = torch.float32) -> Any:
    """The peer, with the method of the tokenizer that it calls and transformers 5 has dropped."""
    from minicons.scorer import MaskedLMScorer

    with quiet():
        network = AutoModelForMaskedLM.from_pretrained(folder, dtype=dtype).to(device)
    tokenizer.batch_encode_plus = tokenizer.__call__
    return MaskedLMScorer(network, device, tokenizer=tokenizer)


def minicons_pll(peer: Any, texts: Sequence[str], batch: int) -> list[float]:
    """The peer's, so many sentences at a time."""
    return [
        score
        for start in range(0, len(texts), batch)
        for score in peer.sequence_score(
            list(texts[start : start + batch]), reduction=lambda x: x.sum(0).item(), PLL_metric="original"
        )
    ]


def minicons_causal(folder: str, tokenizer: Any, device: str = "cpu", dtype: torch.dtype = torch.float32) -> Any:
    """The peer for causal models; what it does to a tokenizer without a token for padding is not done to ours."""
    from minicons.scorer import IncrementalLMScorer

    with quiet():
        network = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype).to(device).eval()
    return IncrementalLMScorer(network, device, tokenizer=copy(tokenizer))


def minicons_likelihoods(peer: Any, texts: Sequence[str], batch: int) -> list[float]:
    """The peer's, from the start token on, so many sentences at a time."""
    return [
        score
        for start in range(0, len(texts), batch)
        for score in peer.sequence_score(
            list(texts[start : start + batch]), reduction=lambda x: x.sum(0).item(), bos_token=True
        )
    ]
