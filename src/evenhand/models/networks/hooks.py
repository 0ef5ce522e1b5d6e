"""Hooks that compute only the positions that were asked about in the last layer, whatever the architecture."""

from collections.abc import Callable
from functools import partial
from typing import Any

from torch import Tensor

Pick = Callable[[Tensor], Tensor]
"""Takes the asked positions out of a tensor (batch, length, width)."""


class Picking:
    """Hooks that keep only the picked positions from where a network treats each by itself.

    In BERT and similar models, what follows attention in the last layer skips the others: of six layers, that saves an
    eighth of the work, where one position of an input is asked about. With `before_head`, the head skips them, whatever
    the architecture.
    """

    def __init__(self, network: Any, *, before_head: bool) -> None:
        self.network = network
        # The hooks hold this list, not the object: a cycle would keep a dropped model in memory.
        self._asked: list[Pick] = []
        self._early = None
        if (after_attention := _after_last_attention(network.base_model)) is not None:
            self._early = after_attention.register_forward_pre_hook(partial(_pick_early, self._asked))
        if before_head:
            network.base_model.register_forward_hook(partial(_pick, self._asked))

    def late(self) -> bool:
        """Pick only between body and head from now on; False where that was so already."""
        if self._early is None:
            return False
        self._early.remove()
        self._early = None
        return True

    def logits(self, pick: Pick | None, network: Any = None, **inputs: Any) -> Tensor:
        """The head's output, at the picked positions if any; `network` is the wrapper around ours, if there is one."""
        self._asked += [pick] if pick else []
        try:
            logits: Tensor = (network or self.network)(**inputs).logits
        finally:
            self._asked.clear()
        return logits


def _after_last_attention(body: Any) -> Any:
    """The module that takes the result of the last layer's attention; None where it is not found as in BERT."""
    layers = getattr(getattr(body, "encoder", None), "layer", None)
    return getattr(getattr(layers[-1], "attention", None), "output", None) if layers else None


def _pick_early(asked: list[Pick], module: Any, args: Any) -> Any:
    """Pick from attention's result and from what it is added to; nothing is left for the later hook."""
    return tuple(map(asked.pop(), args)) if asked else args


def _pick(asked: list[Pick], module: Any, args: Any, output: Any) -> Any:
    if not asked:
        return output
    picked = asked[0](output[0])  # (1, places, width)
    if isinstance(output, tuple):
        return picked, *output[1:]
    output.last_hidden_state = picked
    return output
