"""Read a masked language model, and refuse one without a trained head."""

from typing import Any

import torch
from transformers import AutoModelForMaskedLM
from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING

from evenhand.errors import UnfitModel
from evenhand.models.loading.checkpoint import Checkpoint, read_tokenizer, some
from evenhand.models.loading.names import Found


def read_masked(found: Found, config: Any, dtype: torch.dtype, options: dict[str, Any]) -> Checkpoint:
    """The checkpoint, if its numbers mean something."""
    if not _is_masked(config) and getattr(config, "is_encoder_decoder", False):
        raise UnfitModel(
            f"Model '{found.name}' is of the kind '{config.model_type}', an encoder-decoder: it reads one text and "
            "writes another, and has no probability of a text by itself. Use a masked or a causal language model."
        )
    if not _is_masked(config):
        raise UnfitModel(
            f"Model '{found.name}' is of the kind '{config.model_type}', which is no masked language model and "
            "no causal one. Use one that is: BERT, RoBERTa, ALBERT, DeBERTa, ModernBERT; GPT-2, Llama and the like."
        )
    tokenizer = read_tokenizer(found.source, options)
    network, missing = _weights(found, config, dtype, options)
    if missing:
        raise UnfitModel(
            f"Model '{found.name}' has no trained masked-language-model head: {', '.join(config.architectures or ())}"
            f" lacks {some(missing)}, which would be random. Its numbers would mean nothing. "
            "Use a checkpoint that was saved as a masked language model.",
            check="head",
        )
    if tokenizer.mask_token_id is None:
        raise UnfitModel(
            f"The tokenizer of '{found.name}' has no mask token. Use a masked language model's own.", check="mask token"
        )
    return Checkpoint(found, network, tokenizer, network.state_dict())


def _weights(found: Found, config: Any, dtype: torch.dtype, options: dict[str, Any]) -> tuple[Any, set[str]]:
    """The network, and what of it the checkpoint lacks."""
    settings = {"dtype": dtype, "output_loading_info": True, **options}
    network, report = AutoModelForMaskedLM.from_pretrained(found.source, config=config, **settings)
    if any(key.startswith("lm_predictions.") for key in report["unexpected_keys"]) and getattr(config, "legacy", False):
        # DeBERTa's first checkpoints have their trained head under a name that the library reads only when told so.
        config.legacy = False
        network, report = AutoModelForMaskedLM.from_pretrained(found.source, config=config, **settings)
    return network, set(report["missing_keys"])


def _is_masked(config: Any) -> bool:
    return type(config) in MODEL_FOR_MASKED_LM_MAPPING or "AutoModelForMaskedLM" in (
        getattr(config, "auto_map", None) or {}
    )
