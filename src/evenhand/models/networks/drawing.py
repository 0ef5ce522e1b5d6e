"""Draw texts from a causal model token by token, for all rows of a batch at once."""

import copy
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from evenhand.models.planning.plan import Ids

BLOCK = 256
"""First a block of this many tokens is drawn, then a token of it. Summing over all tokens takes 12 times as long."""
BELOW_ONE = 1 - 1e-12
"""Numbers are clamped to this: a number that was rounded to 1 would draw a token of weight 0."""


class Paths:
    """Unfinished texts, one in each row, with the logits of their next tokens.

    Keys and values of written tokens are cached if that changes no answer. Prompts shorter than the longest are padded
    on the left.
    """

    def __init__(self, model: Any, prompts: Sequence[Ids], *, cached: bool | None = None) -> None:
        from transformers import DynamicCache

        self._model = model
        device, longest = model.network.device, max(map(len, prompts))
        missing = [longest - len(ids) for ids in prompts]
        self._padded = any(missing)
        self._padding = torch.tensor(missing, device=device)
        """The number of padding tokens at the left of each row."""
        padded = [(model.pad,) * n + ids for n, ids in zip(missing, prompts, strict=True)]
        self._ids = torch.tensor(padded, device=device)
        if cached is None:
            cached = can_cache(model)
        self._cache: Any = DynamicCache(config=model.network.config) if cached else None
        self.logits = self._run(self._ids, self._padding, self._cache, first=True)
        """The logits of the next token, in float32: (rows, vocabulary)."""

    def _run(self, ids: Tensor, padding: Tensor, cache: Any, *, first: bool = False) -> Tensor:
        """The logits after these tokens. Unless `first`, the cache already holds all tokens but the last."""
        inputs: dict[str, Any] = {"input_ids": ids, "use_cache": False}
        if cache is not None:
            new = ids if first else ids[:, -1:]
            inputs = {"input_ids": new, "use_cache": True, "past_key_values": cache}
        length = inputs["input_ids"].shape[1]
        if self._padded:
            places = torch.arange(ids.shape[1], device=ids.device) - padding[:, None]
            inputs |= {"attention_mask": (places >= 0).long(), "position_ids": places[:, -length:].clamp_min(0)}
        rows = torch.arange(len(ids), device=ids.device)
        logits: Tensor = self._model.logits(rows, torch.full_like(rows, length - 1), **inputs)
        return logits.float()

    def keep(self, rows: Tensor) -> None:
        """Keep only these rows. A row that is named several times is repeated."""
        if len(rows) == len(self._ids) and torch.equal(rows, torch.arange(len(rows), device=rows.device)):
            return
        self._ids, self._padding, self.logits = self._ids[rows], self._padding[rows], self.logits[rows]
        if self._cache is not None:
            self._cache.batch_select_indices(rows)

    def step(self, tokens: Tensor) -> None:
        """Append a token to each row, and compute the logits after it."""
        self._ids = torch.cat([self._ids, tokens[:, None]], dim=1)
        self.logits = self._run(self._ids, self._padding, self._cache)

    def ahead(self, rows: Tensor, tokens: Tensor) -> Tensor:
        """The logits after these rows with these tokens appended. Does not change the rows."""
        cache = copy.copy(self._cache)
        if cache is not None:
            cache.layers = [copy.copy(layer) for layer in cache.layers]
            cache.batch_select_indices(rows)
        return self._run(torch.cat([self._ids[rows], tokens[:, None]], dim=1), self._padding[rows], cache)


def can_cache(model: Any) -> bool:
    """Whether cached keys and values change no answer. Recurrent networks, whose state is another, are run anew."""
    if not hasattr(model, "_caches"):
        model._caches = _same_beside(model, 1, cached=True)
    return bool(model._caches)


def can_pad(model: Any) -> bool:
    """Whether padding changes no answer, so that a batch may have prompts of several lengths."""
    if not hasattr(model, "_pads"):
        model._pads = _same_beside(model, 4, cached=can_cache(model))
    return bool(model._pads)


@torch.inference_mode()
def _same_beside(model: Any, times: int, *, cached: bool) -> bool:
    """Whether a text gets the same logits beside a text `times` as long as it gets alone and without a cache."""
    device = model.network.device
    *ids, token = islice((t for t in range(model._size) if t not in model.tokenizer.all_special_ids), 3)
    alone = Paths(model, [tuple(ids)], cached=False)
    try:
        beside = Paths(model, [(*ids,) * times, tuple(ids)], cached=cached)
        beside.keep(torch.tensor([1], device=device))
        same = model._close(alone.logits, beside.logits)
        for paths in (alone, beside):
            paths.step(torch.tensor([token], device=device))
        return same and bool(model._close(alone.logits, beside.logits))
    except (RuntimeError, IndexError, TypeError, ValueError, AttributeError):  # the network takes no such input
        return False


@dataclass(frozen=True)
class Draws:
    """Random numbers, from a generator for each text, so that a text does not depend on other questions."""

    numbers: Tensor

    @classmethod
    def of(cls, seeds: Sequence[tuple[str, int, int]], longest: int, device: torch.device) -> "Draws":
        """`seeds` has the prompt, the seed and the number of each text. A text gets `longest` numbers."""
        keys = [int.from_bytes(hashlib.sha256(repr(seed).encode()).digest()[:16]) for seed in seeds]
        rows: NDArray[np.float64] = np.stack(
            [np.random.Generator(np.random.Philox(key=key)).random(longest) for key in keys]
        )
        return cls(torch.from_numpy(rows).to(device))

    def tokens(self, texts: Tensor, step: int, weights: Tensor, rows: Tensor) -> Tensor:
        """A token for each of these texts, drawn by the weights of its row; `weights` is (rows, vocabulary)."""
        size, numbers = weights.shape[1], self.numbers[texts, step]
        whole = size - size % BLOCK
        by_block = weights[:, :whole].view(len(weights), whole // BLOCK, BLOCK).sum(dim=2)
        rest = weights[:, whole:].sum(dim=1, keepdim=True)
        blocks, numbers = _draw(torch.cat([by_block, rest], dim=1)[rows].double(), numbers)
        columns = blocks[:, None] * BLOCK + torch.arange(BLOCK, device=weights.device)
        inside = weights[rows[:, None], columns.clamp(max=size - 1)].double()
        places, _ = _draw(inside.masked_fill_(columns >= size, 0.0), numbers)
        return (blocks * BLOCK + places).clamp_(max=size - 1)


def _draw(weights: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor]:
    """Draw a column of each row of `weights`: the one that its number falls into if columns are as wide as weights.

    Numbers are between 0 and 1. Returns how far into its column each lies, too, again from 0 to 1.
    """
    upto = weights.cumsum(dim=1)
    wanted = numbers[:, None].clamp(0.0, BELOW_ONE) * upto[:, -1:]
    columns = torch.searchsorted(upto, wanted, right=True).clamp_(max=weights.shape[1] - 1)
    width = weights.gather(1, columns)
    within = (wanted - upto.gather(1, columns) + width) / width
    return columns[:, 0], within[:, 0]


def ends(model: Any) -> Tensor:
    """For each token of the vocabulary, whether it ends a text: special tokens, and end tokens of the configuration."""
    network = model.network
    configs = (network.config, getattr(network, "generation_config", None))
    ending = set(model.tokenizer.all_special_ids)
    for config in configs:
        end = getattr(config, "eos_token_id", None)
        ending |= set(end if isinstance(end, list | tuple) else [end])
    mask = torch.zeros(model._size, dtype=torch.bool)
    mask[[token for token in ending if isinstance(token, int) and 0 <= token < model._size]] = True
    return mask.to(network.device)
