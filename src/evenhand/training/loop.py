"""The training loop: batches, schedule, checkpoints, a stop when the loss diverges."""

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import DistributedDataParallelKwargs, InitProcessGroupKwargs
from torch import Tensor
from torch.nn.functional import gelu
from transformers import get_linear_schedule_with_warmup
from transformers.activations import GELUActivation

from evenhand.core.files import prepare
from evenhand.core.progress import bar, showing
from evenhand.errors import BadInput, ModelError
from evenhand.models.loading.names import find
from evenhand.training.checkpoint import CHECKPOINT, Saved
from evenhand.training.processes import processes

POOL = 50
"""Batches within which examples are sorted by length."""
IGNORED = -100
"""The label of what is not predicted."""
EVERY = 120.0
"""Seconds between checkpoints."""
PATIENCE = timedelta(days=7)
"""How long processes wait for the first one, which may measure a model before it trains."""
Tensors = dict[str, Tensor]
"""The inputs of a network and their labels; the first dimension is the example."""


def batches(lengths: Sequence[int], size: int, seed: int) -> Iterator[list[int]]:
    """The numbers of all examples, `size` at a time, of similar length, in an order that depends on the seed."""
    chance = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(lengths), generator=chance).tolist()
    for start in range(0, len(order), POOL * size):
        part = sorted(order[start : start + POOL * size], key=lengths.__getitem__)
        cut = [part[i : i + size] for i in range(0, len(part), size)]
        yield from (cut[number] for number in torch.randperm(len(cut), generator=chance).tolist())


def padded(rows: Sequence[Sequence[int]], fill: int) -> Tensor:
    """The rows as one tensor, padded to the longest."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[fill] * (longest - len(row))] for row in rows])  # (batch, length)


@dataclass(frozen=True)
class Recipe:
    """How to fine-tune: AdamW with a linear schedule."""

    learning_rate: float
    epochs: int
    batch: int
    warmup: float = 0.0
    """The share of the steps during which the rate rises."""
    weight_decay: float = 0.0
    clip: float = 1.0
    longest: int = 128
    seed: int = 42

    def __post_init__(self) -> None:
        for name, least in (("epochs", 1), ("batch", 1), ("seed", 0)):
            if getattr(self, name) < least:
                raise BadInput(f"{name} must be at least {least}. Got {getattr(self, name)}.")
        if not 0 < self.learning_rate < math.inf:
            raise BadInput(f"The learning rate must be above 0, as in 2e-5. Got {self.learning_rate}.")


def together() -> Accelerator:
    """The device to train on, shared with the other processes that a launcher started."""
    count = processes()
    accelerator = Accelerator(
        cpu=count > 1 and not torch.accelerator.is_available(),
        kwargs_handlers=[
            InitProcessGroupKwargs(timeout=PATIENCE),
            # Some weights get no gradient, and they are the same in every batch.
            DistributedDataParallelKwargs(static_graph=True),
        ],
    )
    if accelerator.num_processes != count:
        raise BadInput(
            f"{count} processes were started, but they cannot train together on '{accelerator.device}'. "
            "Start one process, without a launcher."
        )
    return accelerator


def learn(
    network: Any,
    lengths: Sequence[int],
    tensors: Callable[[Sequence[int]], Tensors],
    loss: Callable[[Any, Tensors], Tensor],
    recipe: Recipe,
    accelerator: Accelerator,
    *,
    out: Path,
    made_of: str,
    every: float = EVERY,
) -> list[float]:
    """Train the network in place, and give the loss of every step.

    `tensors` makes a batch of the examples with these numbers; `loss` sums the losses of what is predicted in it.
    Random numbers are seeded at every step, so a resumed training draws the same as an uninterrupted one. A checkpoint
    is written to `out` every `every` seconds; when the loss is not finite, the last one stays. Several processes make
    the same batches, and each takes its share of them.
    """
    steps = recipe.epochs * math.ceil(len(lengths) / recipe.batch)
    epochs = (batches(lengths, recipe.batch, recipe.seed + epoch) for epoch in range(recipe.epochs))
    quicken(network)
    optimizer = torch.optim.AdamW(
        network.parameters(),
        lr=recipe.learning_rate,
        weight_decay=recipe.weight_decay,
        fused=network.device.type in ("cpu", "cuda"),
    )
    schedule = get_linear_schedule_with_warmup(optimizer, int(recipe.warmup * steps), steps)
    network, optimizer = accelerator.prepare(network.train(), optimizer)
    prepare(out)
    parts = {"network": accelerator.unwrap_model(network), "optimizer": optimizer, "schedule": schedule}
    saved = Saved(out / CHECKPOINT, made_of, parts)
    losses = saved.resume()
    accelerator.wait_for_everyone()  # all have read it before it is overwritten
    writes = accelerator.is_main_process
    if writes and not losses:
        saved.save(losses)  # so that there is a good state from the first step on
    last = time.monotonic()
    with showing(None if writes else False), bar("Training", "steps", total=steps, initial=len(losses)) as shown:
        for numbers in islice(chain.from_iterable(epochs), len(losses), None):
            _seed(recipe.seed, len(losses))  # every process masks the same tokens
            batch = tensors(numbers)
            predicted = int((batch["labels"] != IGNORED).sum())
            _seed(recipe.seed, len(losses), accelerator.process_index)  # and drops out different neurons
            share = {name: each.to(accelerator.device) for name, each in _share(batch, accelerator).items()}
            # Gradients are averaged over processes, so each share of the sum is multiplied by their number.
            part = loss(network, share) * accelerator.num_processes / predicted
            value = accelerator.reduce(part.detach(), "mean")
            _check("loss", value, losses, saved)
            accelerator.backward(part)
            norm = accelerator.clip_grad_norm_(network.parameters(), recipe.clip)
            _check("gradient", norm, losses, saved)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            losses.append(value.item())
            shown.update()
            shown.set_postfix(loss=f"{recent(losses):.3f}")
            if writes and time.monotonic() - last > every:
                saved.save(losses)
                last = time.monotonic()
    return losses


def recent(losses: Sequence[float]) -> float:
    """The mean loss of the last 50 steps."""
    last = losses[-50:]
    return sum(last) / len(last)


def card(base: str, what: str, recipe: Recipe, losses: Sequence[float]) -> str:
    """The model card: what was trained on what, by which recipe, and how the loss changed."""
    return (
        f"# Fine-tuned from {find(base).name} by evenhand\n\n{what}\n\nRecipe: `{json.dumps(asdict(recipe))}`\n\n"
        f"Training loss: {recent(losses[:50]):.3f} at first, {recent(losses):.3f} at last.\n"
    )


def _share(batch: Tensors, accelerator: Accelerator) -> Tensors:
    """This process's examples; if there are none, one example of which nothing is predicted."""
    rank, count = accelerator.process_index, accelerator.num_processes
    if rank < len(batch["labels"]):
        return {name: each[rank::count] for name, each in batch.items()}
    return {name: torch.full_like(each[:1], IGNORED) if name == "labels" else each[:1] for name, each in batch.items()}


def _seed(*numbers: int) -> None:
    torch.manual_seed(int(np.random.SeedSequence(numbers).generate_state(1)[0]))


def _check(what: str, value: Tensor, losses: Sequence[float], saved: Saved) -> None:
    if not torch.isfinite(value):
        raise ModelError(
            f"The {what} is {value.item()} at step {len(losses)}. Lower the learning rate. "
            f"The last good checkpoint is in '{saved.path}'."
        )


class _Gelu(torch.autograd.Function):
    """x Phi(x), with Phi the normal distribution function; its derivative is Phi(x) + x phi(x).

    On ARM, torch 2.13 takes six times as long for that derivative, a tenth of the whole training time.
    """

    @staticmethod
    def forward(context: Any, x: Tensor) -> Tensor:
        below = (x * math.sqrt(0.5)).erf_().add_(1).mul_(0.5)
        context.save_for_backward(x, below)
        return x * below

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> Tensor:
        x, below = context.saved_tensors
        density: Tensor = (x * x).mul_(-0.5).exp_().mul_(1 / math.sqrt(2 * math.pi))
        return density.mul_(x).add_(below).mul_(gradient)


def quicken(network: Any) -> None:
    """Replace the GELUs of transformers by ours in a network on a CPU. Results change by rounding only."""
    for module in network.modules() if network.device.type == "cpu" else ():
        if isinstance(module, GELUActivation) and module.act is gelu:
            module.act = _Gelu.apply
