"""Fine-tune a masked language model on sentences."""

import dataclasses
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import Tensor
from torch.nn.functional import cross_entropy
from tqdm.auto import tqdm
from transformers import get_linear_schedule_with_warmup

from evenhand.errors import BadInput, ModelError
from evenhand.models import load
from evenhand.models.loading import quiet
from evenhand.models.picking import Picking

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


def finetune(base: str, texts: Sequence[str], recipe: Recipe, out: Path) -> Path:
    """Train `base` on these sentences and save weights, tokenizer and card in `out`."""
    accelerator = Accelerator()
    set_seed(recipe.seed)
    model = load(base)
    network, tokenizer = model.network.train(), model.tokenizer
    longest = min(recipe.longest, model.longest)
    encoded = [ids[:longest] for ids in tokenizer(list(texts), verbose=False)["input_ids"]]
    encoded = [ids for ids in encoded if len(ids) > 2]
    if not encoded:
        raise BadInput("There is nothing to train on: no text has a piece of its own.")

    steps = recipe.epochs * math.ceil(len(encoded) / recipe.batch)
    optimizer = torch.optim.AdamW(network.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay)
    schedule = get_linear_schedule_with_warmup(optimizer, int(recipe.warmup * steps), steps)
    network, optimizer = accelerator.prepare(network, optimizer)
    picking = Picking(accelerator.unwrap_model(network))
    losses: list[float] = []
    with tqdm(total=steps, unit=" steps", disable=None, leave=False, dynamic_ncols=True) as bar:
        for epoch in range(recipe.epochs):
            for batch in _batches(encoded, recipe, epoch):
                ids, attention = _padded(batch, tokenizer.pad_token_id or 0)  # (batch, length)
                ids, labels = _masked(ids, attention, tokenizer, recipe.masked)
                rows, positions = (labels != IGNORED).nonzero(as_tuple=True)
                device = accelerator.device
                logits = picking.logits(
                    rows.to(device), positions.to(device), input_ids=ids.to(device), attention_mask=attention.to(device)
                )
                loss = cross_entropy(logits, labels[rows, positions].to(device))
                if not torch.isfinite(loss):
                    raise ModelError(f"The loss is {loss.item()} at step {len(losses)}. Lower the learning rate.")
                accelerator.backward(loss)
                accelerator.clip_grad_norm_(network.parameters(), recipe.clip)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
                losses.append(loss.item())
                bar.update()
                bar.set_postfix(loss=f"{_recent(losses):.3f}")
    with quiet():
        accelerator.unwrap_model(network).save_pretrained(out)
        tokenizer.save_pretrained(out)
    (out / "README.md").write_text(_card(base, len(encoded), recipe, losses), encoding="utf-8")
    return out


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
