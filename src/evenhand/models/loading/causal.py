"""Read a causal language model, and refuse one whose numbers would mean nothing."""

from collections.abc import Sequence
from typing import Any

import torch
from transformers import AutoModelForCausalLM
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING, MODEL_FOR_MASKED_LM_MAPPING

from evenhand.errors import BadInput, UnfitModel
from evenhand.models.loading.checkpoint import Checkpoint, read_tokenizer, some
from evenhand.models.loading.names import Found, names_causal
from evenhand.models.planning.sequences import Words

TURN, BETWEEN = "<|im_start|>", "<|endoftext|>"
"""What opens a turn in models tuned for chat, and what stood between the texts that they were trained on before."""


def is_causal(config: Any) -> bool:
    """Was the checkpoint saved as a causal language model, or can it be nothing else?"""
    if getattr(config, "is_encoder_decoder", False):
        return False
    alone = type(config) in MODEL_FOR_CAUSAL_LM_MAPPING and type(config) not in MODEL_FOR_MASKED_LM_MAPPING
    return names_causal(config.architectures) or alone


def read_causal(found: Found, config: Any, dtype: torch.dtype, options: dict[str, Any]) -> Checkpoint:
    """The checkpoint, if its head is a trained one."""
    tokenizer = read_tokenizer(found.source, options)
    network, report = AutoModelForCausalLM.from_pretrained(
        found.source, config=config, dtype=dtype, output_loading_info=True, **options
    )
    if missing := set(report["missing_keys"]):
        raise UnfitModel(
            f"Model '{found.name}' has no trained head of a causal language model: {type(network).__name__} lacks "
            f"{some(missing)}, which would be random. Its numbers would mean nothing. Use a checkpoint that was saved "
            "as a causal language model."
        )
    return Checkpoint(found, network, tokenizer, network.state_dict())


def start_of(read: Checkpoint) -> int:
    """The token that every text begins with: the tokenizer's or the model's own, else the one that ends texts.

    Models that have no token for the beginning were trained on texts with the end's between them, as GPT-2 was. A token
    that opens a turn of a chat is none either: after it comes somebody's role, not a text.
    """
    config, vocabulary = read.network.config, read.tokenizer.get_vocab()
    if read.tokenizer.bos_token == TURN and BETWEEN in vocabulary:
        return int(vocabulary[BETWEEN])
    for name in ("bos_token_id", "eos_token_id"):
        for whose in (read.tokenizer, config):
            token = getattr(whose, name, None)
            token = token[0] if isinstance(token, list) and token else token
            if isinstance(token, int):
                return token
    raise UnfitModel(
        f"Neither the tokenizer nor the configuration of '{read.found.name}' names a token that begins or ends a text "
        "(bos_token, eos_token): what stands before a sentence's first token is unknown. Name one in its "
        "tokenizer_config.json."
    )


def label_words(named: str | Sequence[str]) -> Words | None:
    """The words for entailment, neutral and contradiction; None where none are given."""
    words = [word.strip() for word in (named.split(",") if isinstance(named, str) else named)]
    if not words or words == [""]:
        return None
    if len(words) != 3 or len(set(words)) < 3 or not all(words):
        raise BadInput(
            "labels of a causal model are three different words that stand for entailment, neutral and contradiction, "
            f"in this order, as in True,Neither,False. Got '{','.join(words)}'."
        )
    entailment, neutral, contradiction = words
    return entailment, neutral, contradiction
