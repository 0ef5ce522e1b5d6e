"""Fine-tune a masked language model on sentences."""

import dataclasses
import hashlib
import json
import logging
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import Tensor
from torch.nn.functional import cross_entropy
from tqdm.auto import tqdm
from transformers import get_linear_schedule_with_warmup

from evenhand.errors import BadInput, ModelError
from evenhand.folder import prepare, write_whole
from evenhand.models import load
from evenhand.models.checkpoint import quiet
from evenhand.models.picking import Picking

log = logging.getLogger(__name__)

IGNORED = -100


@dataclass(frozen=True)
class Recipe:
    """How to fine-tune: AdamW with a linear schedule, 15 % of pieces predicted (80/10/10)."""

    learning_rate: float
    epochs: int
    batch: int
    warmup: float = 0.0
    """Share of the steps during which the rate rises."""
    weight_decay: float = 0.0
    clip: float = 1.0
    masked: float = 0.15
    longest: int = 128
    seed: int = 42


RECIPES = {
    "default": Recipe(learning_rate=2e-4, epochs=1, batch=32, warmup=0.06),
    "bartl-paper": Recipe(learning_rate=5e-5, epochs=3, batch=1, warmup=0.1, longest=256),
    "bartl-released": Recipe(learning_rate=2e-5, epochs=3, batch=1, longest=256),
}
"""The paper says 5e-5 and a warm-up of unstated length (we take a tenth); its released code has 2e-5 and none."""


FEW = 500
"""Sentences below which little can be learned."""
EVERY = 120.0
"""Seconds between checkpoints."""
CHECKPOINT = ".checkpoint.pt"


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
    set_seed(recipe.seed)
    model = load(base)
    network, tokenizer = model.network.train(), model.tokenizer
    longest = min(recipe.longest, model.longest)
    encoded = tokenizer(list(texts), truncation=True, max_length=longest, verbose=False)["input_ids"]
    encoded = [ids for ids in encoded if len(ids) > 2]
    if not encoded:
        raise BadInput("There is nothing to train on: no text has a piece of its own.")
    if len(encoded) < FEW:
        log.warning(f"Only {len(encoded):,} sentences to train on: expect little change, or overfitting.")

    steps = recipe.epochs * math.ceil(len(encoded) / recipe.batch)
    optimizer = torch.optim.AdamW(network.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay)
    schedule = get_linear_schedule_with_warmup(optimizer, int(recipe.warmup * steps), steps)
    network, optimizer = accelerator.prepare(network, optimizer)
    bare = accelerator.unwrap_model(network)
    picking = Picking(bare)
    prepare(out)
    made_of = hashlib.sha256(repr((model.fingerprint, encoded, recipe)).encode()).hexdigest()
    saved = _Saved(out / CHECKPOINT, made_of, bare, optimizer, schedule)
    losses = saved.resume()
    if not losses:
        saved.save(losses)  # there is a last good state from the first step on
    done, last = len(losses), time.monotonic()
    with tqdm(total=steps, initial=done, unit=" steps", disable=None, leave=False, dynamic_ncols=True) as bar:
        for batch in islice(_epochs(encoded, recipe), done, None):
            ids, attention = _padded(batch, tokenizer.pad_token_id or 0)  # (batch, length)
            ids, labels = _masked(ids, attention, tokenizer, recipe.masked)
            rows, positions = (labels != IGNORED).nonzero(as_tuple=True)
            device = accelerator.device
            logits = picking.logits(
                rows.to(device), positions.to(device), input_ids=ids.to(device), attention_mask=attention.to(device)
            )
            loss = cross_entropy(logits, labels[rows, positions].to(device))
            if not torch.isfinite(loss):
                kept = f" The last good checkpoint is in '{saved.path}'." if saved.path.exists() else ""
                raise ModelError(f"The loss is {loss.item()} at step {len(losses)}. Lower the learning rate.{kept}")
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(network.parameters(), recipe.clip)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            losses.append(loss.item())
            bar.update()
            bar.set_postfix(loss=f"{_recent(losses):.3f}")
            if time.monotonic() - last > every:
                saved.save(losses)
                last = time.monotonic()
    with quiet():
        bare.save_pretrained(out)
        tokenizer.save_pretrained(out)
    card = _card(base, len(encoded), recipe, losses).encode()
    write_whole(out / "README.md", lambda file: file.write(card))
    saved.path.unlink(missing_ok=True)
    return out


@dataclass(frozen=True)
class _Saved:
    """Where training stands, in a file: all that makes the next step what it would have been."""

    path: Path
    made_of: str
    network: Any
    optimizer: Any
    schedule: Any

    def save(self, losses: Sequence[float]) -> None:
        state = {
            "made_of": self.made_of,
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "chance": torch.get_rng_state(),
            "losses": list(losses),
        }
        write_whole(self.path, lambda file: torch.save(state, file))

    def resume(self) -> list[float]:
        """The losses so far; none where there is no checkpoint of the same base, texts and recipe."""
        if not self.path.exists():
            return []
        try:
            state = torch.load(self.path, weights_only=True)
        except Exception:  # whatever a broken file makes the reader raise
            log.warning(f"The checkpoint '{self.path}' cannot be read: starting anew.")
            return []
        if state["made_of"] != self.made_of:
            log.warning(f"The checkpoint '{self.path}' is of another model, text or recipe: starting anew.")
            return []
        self.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.schedule.load_state_dict(state["schedule"])
        torch.set_rng_state(state["chance"])
        log.info(f"Going on from step {len(state['losses']):,}.")
        return list(state["losses"])


def _epochs(encoded: Sequence[list[int]], recipe: Recipe) -> Iterator[list[list[int]]]:
    for epoch in range(recipe.epochs):
        yield from _batches(encoded, recipe, epoch)


def _batches(encoded: Sequence[list[int]], recipe: Recipe, epoch: int) -> Iterator[list[list[int]]]:
    """Batches of like length in random order: little padding, and still another order every epoch."""
    chance = torch.Generator().manual_seed(recipe.seed + epoch)
    order = torch.randperm(len(encoded), generator=chance).tolist()
    pool = 50 * recipe.batch
    for start in range(0, len(order), pool):
        part = sorted(order[start : start + pool], key=lambda i: len(encoded[i]))
        batches = [part[i : i + recipe.batch] for i in range(0, len(part), recipe.batch)]
        for number in torch.randperm(len(batches), generator=chance).tolist():
            yield [encoded[i] for i in batches[number]]


def _padded(batch: Sequence[list[int]], pad: int) -> tuple[Tensor, Tensor]:
    longest = max(map(len, batch))
    ids = torch.tensor([[*one, *[pad] * (longest - len(one))] for one in batch])
    attention = torch.tensor([[1] * len(one) + [0] * (longest - len(one)) for one in batch])
    return ids, attention


def _masked(ids: Tensor, attention: Tensor, tokenizer: object, share: float) -> tuple[Tensor, Tensor]:
    """Choose pieces to predict; of these 80 % become the mask, 10 % a random piece, 10 % stay (Devlin et al. 2019)."""
    special = torch.isin(ids, torch.tensor(tokenizer.all_special_ids)) | (attention == 0)  # type: ignore[attr-defined]
    chance = torch.rand(ids.shape).masked_fill(special, 1.0)
    chosen = (chance < share) | (chance == chance.min())  # at least one, or a short sentence would be no step at all
    labels = torch.where(chosen, ids, IGNORED)
    fate = torch.rand(ids.shape)
    ids = torch.where(chosen & (fate < 0.8), tokenizer.mask_token_id, ids)  # type: ignore[attr-defined]
    anything = torch.randint(len(tokenizer), ids.shape)  # type: ignore[arg-type]
    return torch.where(chosen & (fate >= 0.9), anything, ids), labels


def _recent(losses: Sequence[float]) -> float:
    last = losses[-50:]
    return sum(last) / len(last)


def _card(base: str, n: int, recipe: Recipe, losses: Sequence[float]) -> str:
    settings = json.dumps(dataclasses.asdict(recipe))
    return (
        f"# Fine-tuned from {base} by evenhand\n\nMasked language modelling on {n:,} sentences.\n\n"
        f"Recipe: `{settings}`\n\nTraining loss: {_recent(losses[:50]):.3f} at first, {_recent(losses):.3f} at last.\n"
    )
