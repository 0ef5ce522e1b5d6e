"""The training loop (batches, schedule, checkpoints, an error if the loss diverges) and the model that it writes."""

import json
import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import DistributedDataParallelKwargs, InitProcessGroupKwargs
from safetensors import SafetensorError
from torch import Tensor
from torch.nn.functional import gelu
from transformers import get_linear_schedule_with_warmup
from transformers.activations import GELUActivation

from evenhand.core.files import prepare, write_whole
from evenhand.core.progress import bar, showing
from evenhand.errors import BadInput, ModelError, RunError
from evenhand.models.loading.checkpoint import quiet
from evenhand.models.loading.names import find
from evenhand.training import processes

log = logging.getLogger(__name__)

CHECKPOINT = ".checkpoint.pt"
CARD = "README.md"
POOL = 50
"""The number of consecutive batches within which examples are sorted by length."""
IGNORED = -100
"""The label of tokens that are not predicted."""
EVERY = 120.0
"""Seconds between checkpoints."""
PATIENCE = timedelta(days=7)
"""How long processes wait for the first process, which may measure a model before it trains."""
Tensors = dict[str, Tensor]
"""The inputs of a network and their labels; the first dimension is the example."""


def batches(lengths: Sequence[int], size: int, seed: int) -> Iterator[list[int]]:
    """Yield the indices of all examples in batches of `size` of similar length, in an order that the seed decides."""
    chance = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(lengths), generator=chance).tolist()
    for start in range(0, len(order), POOL * size):
        part = sorted(order[start : start + POOL * size], key=lengths.__getitem__)
        cut = [part[i : i + size] for i in range(0, len(part), size)]
        yield from (cut[number] for number in torch.randperm(len(cut), generator=chance).tolist())


def pad_rows(rows: Sequence[Sequence[int]], fill: int) -> Tensor:
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
    """The share of the steps during which the learning rate rises."""
    weight_decay: float = 0.0
    clip: float = 1.0
    longest: int = 128
    seed: int = 42

    def __post_init__(self) -> None:
        for name, least in (("epochs", 1), ("batch", 1), ("seed", 0)):
            if getattr(self, name) < least:
                raise BadInput(f"`{name}` must be at least {least}. Got {getattr(self, name)}.")
        if not 0 < self.learning_rate < math.inf:
            raise BadInput(f"`learning_rate` must be above 0 and finite, as 2e-5 is. Got {self.learning_rate}.")


@dataclass(frozen=True)
class Saved:
    """A checkpoint file with the state of a training: all that the next step depends on."""

    path: Path
    made_of: str
    parts: Mapping[str, Any]
    """Network, optimizer and schedule, by name."""

    def save(self, losses: Sequence[float]) -> None:
        states = {name: part.state_dict() for name, part in self.parts.items()}
        state = {"made_of": self.made_of, **states, "losses": list(losses)}

        def fill(file: IO[bytes]) -> None:
            try:
                torch.save(state, file)
            except RuntimeError as error:  # torch turns an OSError into a RuntimeError
                raise OSError(f"the disk may be full ({error})") from error

        write_whole(self.path, fill)

    def resume(self) -> list[float]:
        """Load the state and return the losses so far; none if there is no checkpoint of the same training."""
        if not self.path.exists():
            return []
        try:
            state = torch.load(self.path, map_location="cpu", weights_only=True)
        except Exception:  # a broken file can raise anything
            log.warning(f"The checkpoint '{self.path}' cannot be read. Starting over.")
            return []
        if state["made_of"] != self.made_of:
            log.warning(f"The checkpoint '{self.path}' is of another model, text or recipe. Starting over.")
            return []
        for name, part in self.parts.items():
            part.load_state_dict(state[name])
        log.info(f"Resuming from step {len(state['losses']):,}.")
        return list(state["losses"])


def make_accelerator() -> Accelerator:
    """The accelerator that shares the training among the processes that a launcher started."""
    count = processes()
    accelerator = Accelerator(
        cpu=count > 1 and not torch.accelerator.is_available(),
        kwargs_handlers=[
            InitProcessGroupKwargs(timeout=PATIENCE),
            # Some weights get no gradient: the same weights in every batch.
            DistributedDataParallelKwargs(static_graph=True),
        ],
    )
    if accelerator.num_processes != count:
        raise BadInput(
            f"{count} processes were started, but they cannot train together on '{accelerator.device}'. "
            "Start one process, without a launcher."
        )
    return accelerator


def train(
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
    """Train the network in place, and return the loss of every step.

    `tensors` makes a batch of the examples with the given indices; `loss` sums the losses of its predicted tokens or
    labels. Random numbers are seeded at every step, so a resumed training draws the same as an uninterrupted one. A
    checkpoint is written to `out` every `every` seconds; if the loss is not finite, the last checkpoint is kept.
    Several processes make the same batches, and each trains on its share of every batch.
    """
    steps = recipe.epochs * math.ceil(len(lengths) / recipe.batch)
    epochs = (batches(lengths, recipe.batch, recipe.seed + epoch) for epoch in range(recipe.epochs))
    use_fast_gelu(network)
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
    accelerator.wait_for_everyone()  # all processes have read the checkpoint before it is overwritten
    writes = accelerator.is_main_process
    if writes and not losses:
        saved.save(losses)  # so that there is a checkpoint if the first step fails
    last = time.monotonic()
    with showing(None if writes else False), bar("Training", "steps", total=steps, initial=len(losses)) as shown:
        for numbers in islice(chain.from_iterable(epochs), len(losses), None):
            _seed(recipe.seed, len(losses))  # every process masks the same tokens
            batch = tensors(numbers)
            predicted = int((batch["labels"] != IGNORED).sum())
            _seed(recipe.seed, len(losses), accelerator.process_index)  # and drops out different neurons
            share = {name: each.to(accelerator.device) for name, each in _share(batch, accelerator).items()}
            # Gradients are averaged over processes, so each process multiplies its share by the number of processes.
            part = loss(network, share) * accelerator.num_processes / predicted
            value = accelerator.reduce(part.detach(), "mean")
            _check_finite("loss", value, losses, saved)
            accelerator.backward(part)
            norm = accelerator.clip_grad_norm_(network.parameters(), recipe.clip)
            _check_finite("gradient", norm, losses, saved)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            losses.append(value.item())
            shown.update()
            shown.set_postfix(loss=f"{recent_loss(losses):.3f}")
            if writes and time.monotonic() - last > every:
                saved.save(losses)
                last = time.monotonic()
    return losses


def recent_loss(losses: Sequence[float]) -> float:
    """The mean loss of the last 50 steps."""
    last = losses[-50:]
    return sum(last) / len(last)


def model_card(base: str, what: str, recipe: Recipe, losses: Sequence[float]) -> str:
    """The text of the model card: base model, training data, recipe, and the loss at the start and the end."""
    return (
        f"# Fine-tuned from {find(base).name} by evenhand\n\n{what}\n\nRecipe: `{json.dumps(asdict(recipe))}`\n\n"
        f"Training loss: {recent_loss(losses[:50]):.3f} at first, {recent_loss(losses):.3f} at last.\n"
    )


def _share(batch: Tensors, accelerator: Accelerator) -> Tensors:
    """The examples of a batch that this process trains on; if there are none, one example without predictions."""
    rank, count = accelerator.process_index, accelerator.num_processes
    if rank < len(batch["labels"]):
        return {name: each[rank::count] for name, each in batch.items()}
    return {name: torch.full_like(each[:1], IGNORED) if name == "labels" else each[:1] for name, each in batch.items()}


def _seed(*numbers: int) -> None:
    torch.manual_seed(int(np.random.SeedSequence(numbers).generate_state(1)[0]))


def _check_finite(what: str, value: Tensor, losses: Sequence[float], saved: Saved) -> None:
    if not torch.isfinite(value):
        raise ModelError(
            f"The {what} is {value.item()} at step {len(losses)}. Lower the learning rate. "
            f"The last good checkpoint is in '{saved.path}'."
        )


def is_finished(out: Path) -> bool:
    """Whether a training in `out` has finished: it has the card, which is written last, and no checkpoint anymore."""
    return (out / CARD).is_file() and not (out / CHECKPOINT).exists()


def write_model(out: Path, network: Any, tokenizer: Any, card: str) -> None:
    """Write weights, tokenizer and card, then delete the checkpoint: see `is_finished`."""
    try:
        with quiet():
            network.save_pretrained(out)
            tokenizer.save_pretrained(out)
    except (OSError, SafetensorError) as error:
        raise RunError(
            f"The model cannot be written to '{out}': {error}. Free some space and run the same command again. It "
            "continues from the last checkpoint."
        ) from error
    write_whole(out / CARD, lambda file: file.write(card.encode()))
    (out / CHECKPOINT).unlink(missing_ok=True)


class _Gelu(torch.autograd.Function):
    """x Phi(x), with Phi the normal distribution function; its derivative is Phi(x) + x phi(x).

    On ARM, torch 2.13's own derivative takes six times as long as this one, and a tenth of the whole training time.
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


def use_fast_gelu(network: Any) -> None:
    """Replace the GELUs of a network on a CPU by `_Gelu`. Results change by rounding only."""
    for module in network.modules() if network.device.type == "cpu" else ():
        if isinstance(module, GELUActivation) and module.act is gelu:
            module.act = _Gelu.apply
