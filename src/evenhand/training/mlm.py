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
from evenhand.training.loop import EVERY, IGNORED, Tensors, card, make_accelerator, pad_rows, train, write_model

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
"""Bartl et al. (2020) state 5e-5 and a warm-up of unknown length (we take a tenth). Their released code has 2e-5, no
warm-up, and a fault in its padding that only `bartl-released-padded` copies."""

FEW = 500
"""With fewer sentences little can be learned."""


def finetune(base: str, texts: Sequence[str], recipe: Recipe, out: Path, *, every: float = EVERY) -> Path:
    """Train `base` on these sentences and save weights, tokenizer and card in `out`.

    A checkpoint is written there every `every` seconds. The same call resumes from it, and on one CPU ends with the
    same weights; when the loss is not finite, the last checkpoint stays. Under a launcher (torchrun) each process takes
    its share of every batch, and the first one writes.
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
        raise BadInput("There is nothing to train on: no text has a token.")
    if len(encoded) < FEW:
        log.warning(f"Only {len(encoded):,} sentences to train on: expect little change, or overfitting.")

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
        write_model(out, model.network, tokenizer, card(base, what, recipe, losses))
    accelerator.wait_for_everyone()
    return out


def _pad_with_mask(texts: Sequence[str], tokenizer: Any, longest: int) -> list[list[int]]:
    """The tokens of each text, cut or padded with the mask token to one length, as the code of Bartl et al. does.

    The length is the next power of two of the most words that a text has (256 for GAP), split at spaces. The padding
    is attended to like text. Since it is not [PAD], it may be chosen for prediction, with itself as the answer: on GAP,
    seven of eight predicted tokens are padding.
    """
    rows = tokenizer(list(texts), verbose=False)["input_ids"]
    texts_with_ids = [(text, ids) for text, ids in zip(texts, rows, strict=True) if len(ids) > 2]
    most = max((len(text.split()) for text, _ in texts_with_ids), default=1)
    length = min(longest, 1 << (most - 1).bit_length())
    return [[*ids[:length], *[tokenizer.mask_token_id] * (length - len(ids))] for _, ids in texts_with_ids]


def _mask_tokens(
    ids: Tensor, attention: Tensor, tokenizer: Any, share: float, *, mask_too: bool = False
) -> tuple[Tensor, Tensor]:
    """Choose tokens to predict: 80 % become the mask, 10 % a random token, 10 % stay (Devlin et al. 2019).

    Special tokens are never chosen, except the mask itself with `mask_too`.
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
