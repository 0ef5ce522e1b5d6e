"""Fine-tune a masked language model on sentences."""

import dataclasses
import hashlib
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from torch import Tensor
from torch.nn.functional import cross_entropy

from evenhand.errors import BadInput
from evenhand.models import load
from evenhand.models.picking import Picking
from evenhand.training import loop
from evenhand.training.batches import padded
from evenhand.training.loop import EVERY, IGNORED, Tensors, course, learn
from evenhand.training.saving import write_model

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Recipe(loop.Recipe):
    """How to fine-tune: AdamW with a linear schedule, 15 % of pieces predicted (80/10/10)."""

    masked: float = 0.15


RECIPES = {
    "default": Recipe(learning_rate=2e-4, epochs=1, batch=32, warmup=0.06),
    "bartl-paper": Recipe(learning_rate=5e-5, epochs=3, batch=1, warmup=0.1, longest=256),
    "bartl-released": Recipe(learning_rate=2e-5, epochs=3, batch=1, longest=256),
}
"""The paper says 5e-5 and a warm-up of unstated length (we take a tenth); its released code has 2e-5 and none."""

FEW = 500
"""Sentences below which little can be learned."""


def finetune(base: str, texts: Sequence[str], recipe: Recipe, out: Path, *, every: float = EVERY) -> Path:
    """Train `base` on these sentences and save weights, tokenizer and card in `out`.

    A checkpoint is written there every so many seconds. The same call after a kill goes on from it, and on one CPU ends
    with the same weights; when the loss is no number, the checkpoint of the last good step stays.
    """
    accelerator = Accelerator()
    if accelerator.num_processes > 1:
        raise BadInput(
            f"Fine-tuning runs in one process. Got {accelerator.num_processes}: start it without a launcher."
        )
    model = load(base, device=str(accelerator.device))
    network, tokenizer = model.network, model.tokenizer
    longest = min(recipe.longest, model.longest)
    encoded = tokenizer(list(texts), truncation=True, max_length=longest, verbose=False)["input_ids"]
    encoded = [ids for ids in encoded if len(ids) > 2]
    if not encoded:
        raise BadInput("There is nothing to train on: no text has a piece of its own.")
    if len(encoded) < FEW:
        log.warning(f"Only {len(encoded):,} sentences to train on: expect little change, or overfitting.")
    picking = Picking(network)

    def tensors(numbers: Sequence[int]) -> Tensors:
        rows = [encoded[number] for number in numbers]
        ids, attention = padded(rows, tokenizer.pad_token_id or 0), padded([[1] * len(row) for row in rows], 0)
        ids, labels = _masked(ids, attention, tokenizer, recipe.masked)
        return {"input_ids": ids, "attention_mask": attention, "labels": labels}

    def loss(network: Any, batch: Tensors) -> Tensor:
        labels = batch.pop("labels")
        rows, positions = (labels != IGNORED).nonzero(as_tuple=True)
        logits = picking.logits(rows, positions, **batch)  # (predicted, vocabulary)
        return cross_entropy(logits, labels[rows, positions], reduction="sum")

    losses = learn(
        network,
        [len(ids) for ids in encoded],
        tensors,
        loss,
        recipe,
        accelerator=accelerator,
        out=out,
        made_of=hashlib.sha256(repr((model.fingerprint, encoded, recipe)).encode()).hexdigest(),
        every=every,
    )
    card = (
        f"# Fine-tuned from {base} by evenhand\n\nMasked language modelling on {len(encoded):,} sentences.\n\n"
        f"Recipe: `{json.dumps(dataclasses.asdict(recipe))}`\n\n{course(losses)}\n"
    )
    write_model(out, network, tokenizer, card)
    return out


def _masked(ids: Tensor, attention: Tensor, tokenizer: Any, share: float) -> tuple[Tensor, Tensor]:
    """Choose pieces to predict; of these 80 % become the mask, 10 % a random piece, 10 % stay (Devlin et al. 2019)."""
    special = torch.isin(ids, torch.tensor(tokenizer.all_special_ids)) | (attention == 0)
    chance = torch.rand(ids.shape).masked_fill(special, 1.0)
    chosen = (chance < share) | (chance == chance.min())  # at least one, or a short sentence would be no step at all
    labels = torch.where(chosen, ids, IGNORED)
    fate = torch.rand(ids.shape)
    ids = torch.where(chosen & (fate < 0.8), tokenizer.mask_token_id, ids)
    anything = torch.randint(len(tokenizer), ids.shape)
    return torch.where(chosen & (fate >= 0.9), anything, ids), labels
