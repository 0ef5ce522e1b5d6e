"""Texts drawn from a causal model, token by token, all rows of a batch at once."""

import copy
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from evenhand.models.planning.plan import Ids


class Paths:
    """Texts in the making, a row each and all of one length: what may come next, and how to go on.

    Keys and values of what is written are kept, if the network can do with them alone.
    """

    def __init__(self, model: Any, prompts: Sequence[Ids], *, cached: bool | None = None) -> None:
        from transformers import DynamicCache

        self._model = model
        self._ids = torch.tensor(prompts, device=model.network.device)
        if cached is None:
            cached = can_cache(model)
        self._cache: Any = DynamicCache(config=model.network.config) if cached else None
        self.logits = self._run(self._ids, self._cache)
        """Of the next token, (rows, vocabulary) in float32."""

    def _run(self, ids: Tensor, cache: Any) -> Tensor:
        rows = torch.arange(len(ids), device=ids.device)
        last = torch.full_like(rows, ids.shape[1] - 1)
        kept: dict[str, Any] = {"use_cache": False} if cache is None else {"past_key_values": cache, "use_cache": True}
        found: Tensor = self._model.logits(rows, last, input_ids=ids, **kept)
        return found.float()

    def keep(self, rows: Tensor) -> None:
        """Go on with these rows alone; one that is given several times becomes several."""
        self._ids, self.logits = self._ids[rows], self.logits[rows]
        if self._cache is not None:
            self._cache.batch_select_indices(rows)

    def step(self, tokens: Tensor) -> None:
        """Append a token to each row."""
        self._ids = torch.cat([self._ids, tokens[:, None]], dim=1)
        self.logits = self._run(self._ids if self._cache is None else tokens[:, None], self._cache)

    def ahead(self, rows: Tensor, tokens: Tensor) -> Tensor:
        """What may come next if each of these rows went on with its token; the rows stay as they are."""
        if self._cache is None:
            return self._run(torch.cat([self._ids[rows], tokens[:, None]], dim=1), None)
        cache = copy.copy(self._cache)
        cache.layers = [copy.copy(layer) for layer in cache.layers]
        cache.batch_select_indices(rows)
        return self._run(tokens[:, None], cache)


def can_cache(model: Any) -> bool:
    """Whether kept keys and values change nothing: recurrent networks keep other things, and are run anew each time."""
    if not hasattr(model, "_caches"):
        ids = [token for token in range(model._size) if token not in model.tokenizer.all_special_ids][:3]
        first = tuple(ids[:2])
        whole = Paths(model, [(*first, ids[2])], cached=False)
        try:
            step = Paths(model, [first, first], cached=True)
            step.keep(torch.tensor([1], device=model.network.device))
            step.step(torch.tensor(ids[2:], device=model.network.device))
            model._caches = model._close(whole.logits, step.logits)
        except (RuntimeError, IndexError, TypeError, ValueError, AttributeError):  # it takes no such cache
            model._caches = False
    return bool(model._caches)


@dataclass(frozen=True)
class Draws:
    """One generator for each prompt and text, so that a text does not depend on what else is asked."""

    numbers: Tensor

    @classmethod
    def of(cls, seeds: Sequence[tuple[str, int, int]], longest: int, device: torch.device) -> "Draws":
        """`seeds` has the prompt, the seed and the number of each text."""
        keys = [int.from_bytes(hashlib.sha256(repr(seed).encode()).digest()[:16]) for seed in seeds]
        rows: NDArray[np.float64] = np.stack(
            [np.random.Generator(np.random.Philox(key=key)).random(longest) for key in keys]
        )
        return cls(torch.from_numpy(rows).to(device))

    def tokens(self, rows: Tensor, step: int, weights: Tensor) -> Tensor:
        """A token for each of these texts, drawn by these weights, (rows, vocabulary)."""
        summed = weights.double().cumsum(dim=-1)
        wanted = self.numbers[rows, step, None] * summed[:, -1:]
        return torch.searchsorted(summed, wanted, right=True)[:, 0].clamp_(max=weights.shape[1] - 1)


def ends(model: Any) -> Tensor:
    """Which tokens end a text: special ones."""
    network = model.network
    configs = (network.config, getattr(network, "generation_config", None))
    found = set(model.tokenizer.all_special_ids)
    for config in configs:
        end = getattr(config, "eos_token_id", None)
        found |= set(end if isinstance(end, list | tuple) else [end])
    mask = torch.zeros(model._size, dtype=torch.bool)
    mask[[token for token in found if isinstance(token, int) and 0 <= token < model._size]] = True
    return mask.to(network.device)
