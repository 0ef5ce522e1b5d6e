"""Read a model of natural language inference, and refuse one without a trained classifier."""

from collections.abc import Sequence
from typing import Any

import torch
from transformers import AutoModelForSequenceClassification

from evenhand.errors import UnfitModel
from evenhand.models.loading.checkpoint import Checkpoint, read_tokenizer, some
from evenhand.models.loading.labels import order
from evenhand.models.loading.names import Found


def read_nli(
    found: Found, config: Any, dtype: torch.dtype, named: str | Sequence[str], options: dict[str, Any]
) -> Checkpoint:
    """The checkpoint, if its classifier is a trained one and its labels, or those `named`, can be told."""
    outputs = order(found.name, config.id2label, named)
    network, report = AutoModelForSequenceClassification.from_pretrained(
        found.source, config=config, dtype=dtype, output_loading_info=True, **options
    )
    check_head(found, set(report["missing_keys"]))
    tokenizer = read_tokenizer(found.source, options)
    return Checkpoint(found, network, tokenizer, network.state_dict(), outputs)


def check_head(found: Found, missing: set[str]) -> None:
    """Refuse a network of which these weights are missing."""
    if missing:
        raise UnfitModel(
            f"Model '{found.name}' has no trained classifier: it lacks {some(missing)}, which would be random. Its "
            "numbers would mean nothing. Use a checkpoint that was fine-tuned on natural language inference.",
            check="head",
        )
