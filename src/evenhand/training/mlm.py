"""Fine-tune a masked language model on sentences."""

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from evenhand.errors import BadInput
from evenhand.models import load_masked
from evenhand.training import loop
from evenhand.training.loop import EVERY, IGNORED, Tensors, make_accelerator, model_card, pad_rows, train, write_model

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Recipe(loop.Recipe):
    """How to fine-tune: AdamW with a linear schedule, 15 % of tokens predicted (80/10/10)."""

    masked: float = 0.15
    pads_with_mask: bool = False
    """Pad as the released code of Bartl et al. (2020) does: see `_pad_with_mask`."""


RECIPES = {
    "default": Recipe(learning_rate=2e-4, epochs=1, batch=32, warmup=0.06),
    "bartl-paper": Recipe(learning_rate=5e-5, epochs=3, batch=1, warmup=0.1, longest=256),
    "bartl-released": Recipe(learning_rate=2e-5, epochs=3, batch=1, longest=256),
    "bartl-released-padded": Recipe(learning_rate=2e-5, epochs=3, batch=1, longest=256, pads_with_mask=True),
}
"""Bartl et al. (2020) state a learning rate of 5e-5 and a warm-up of unknown length (ours is a tenth of the steps).
Their released code has 2e-5, no warm-up, and an error in its padding that only `bartl-released-padded` reproduces."""

FEW = 500
"""The number of sentences below which a warning is logged."""


def finetune(base: str, texts: Sequence[str], recipe: Recipe, out: Path, *, every: float = EVERY) -> Path:
    """Train `base` on these sentences and save weights, tokenizer and card in `out`.

    A checkpoint is written to `out` every `every` seconds. The same call resumes from the checkpoint, and on one CPU
    ends with the same weights. If the loss is not finite, the last checkpoint is kept. Under a launcher (torchrun) each
    process trains on its share of every batch, and the first process writes.
    """
    accelerator = make_accelerator()
    model = load_masked(base, device=str(accelerator.device))
    tokenizer = model.tokenizer
    longest = min(recipe.longest, model.longest)
    if recipe.pads_with_mask:
        encoded = _pad_with_mask(texts, tokenizer, longest)
    else:
        encoded = tokenizer(list(texts), truncation=True, max_length=longest, verbose=False)["input_ids"]
        encoded = [ids for ids in encoded if len(ids) > 2]
    if not encoded:
        raise BadInput("The texts have no tokens to train on. Give texts that are not empty.")
    if len(encoded) < FEW:
        log.warning(f"There are only {len(encoded):,} sentences to train on. Expect little change, or overfitting.")

    def tensors(numbers: Sequence[int]) -> Tensors:
        rows = [encoded[number] for number in numbers]
        ids, attention = pad_rows(rows, tokenizer.pad_token_id or 0), pad_rows([[1] * len(row) for row in rows], 0)
        ids, labels = _mask_tokens(ids, attention, tokenizer, recipe.masked, mask_too=recipe.pads_with_mask)
        return {"input_ids": ids, "attention_mask": attention, "labels": labels}

    def loss(network: Any, batch: Tensors) -> Tensor:
        labels = batch.pop("labels")
        rows, positions = (labels != IGNORED).nonzero(as_tuple=True)
        logits = model.logits(rows, positions, network, **batch)  # (predicted, vocabulary)
        return cross_entropy(logits, labels[rows, positions], reduction="sum")

    lengths = [len(ids) for ids in encoded]
    made_of = hashlib.sha256(repr((model.fingerprint, encoded, recipe)).encode()).hexdigest()
    losses = train(model.network, lengths, tensors, loss, recipe, accelerator, out=out, made_of=made_of, every=every)
    if accelerator.is_main_process:
        what = f"Masked language modelling on {len(encoded):,} sentences."
        write_model(out, model.network, tokenizer, model_card(base, what, recipe, losses))
    accelerator.wait_for_everyone()
    return out


def _pad_with_mask(texts: Sequence[str], tokenizer: Any, longest: int) -> list[list[int]]:
    """The tokens of each text, cut or padded with the mask token to one length, as the code of Bartl et al. does.

    The length is the number of words, split at spaces, of the longest text, rounded up to a power of two (256 for GAP).
    The network attends to the padding. Padding tokens may be chosen for prediction, with themselves as the answer: on
    GAP, seven of eight predicted tokens are padding.
    """
    rows = tokenizer(list(texts), verbose=False)["input_ids"]
    texts_with_ids = [(text, ids) for text, ids in zip(texts, rows, strict=True) if len(ids) > 2]
    most = max((len(text.split()) for text, _ in texts_with_ids), default=1)
    length = min(longest, 1 << (most - 1).bit_length())
    return [[*ids[:length], *[tokenizer.mask_token_id] * (length - len(ids))] for _, ids in texts_with_ids]


def _mask_tokens(
    ids: Tensor, attention: Tensor, tokenizer: Any, share: float, *, mask_too: bool = False
) -> tuple[Tensor, Tensor]:
    """The token ids after masking, and the labels. Of the chosen tokens, 80 % become the mask, 10 % a random token.

    The other 10 % stay (Devlin et al. 2019). Special tokens are never chosen, except the mask itself with `mask_too`.
    """
    spared = set(tokenizer.all_special_ids) - ({tokenizer.mask_token_id} if mask_too else set())
    special = torch.isin(ids, torch.tensor(sorted(spared))) | (attention == 0)
    chance = torch.rand(ids.shape).masked_fill(special, 1.0)
    chosen = (chance < share) | (chance == chance.min())  # at least one, or a short sentence would train nothing
    labels = torch.where(chosen, ids, IGNORED)
    fate = torch.rand(ids.shape)
    ids = torch.where(chosen & (fate < 0.8), tokenizer.mask_token_id, ids)
    anything = torch.randint(len(tokenizer), ids.shape)
    return torch.where(chosen & (fate >= 0.9), anything, ids), labels
