"""Compute what somebody asked for, and nothing else of the last layer, whatever the architecture."""

from functools import partial
from typing import Any

from torch import Tensor


class Picking:
    """Hooks that keep the asked positions alone, as one sequence, from where on a network treats each by itself.

    With them in place `logits(rows, positions, **inputs)` gives (places, vocabulary) from (batch, length, width). The
    head never sees the other positions and, in BERT and its kin, neither does what follows attention in the last
    layer: an eighth of the work of six layers, where one position of an input is asked about.
    """

    def __init__(self, network: Any) -> None:
        self.network = network
        # The hooks hold this list, not the object: a cycle would keep a dropped model in memory.
        self._asked: list[tuple[Tensor, Tensor]] = []
        self._early = None
        if (after_attention := _after_last_attention(network.base_model)) is not None:
            self._early = after_attention.register_forward_pre_hook(partial(_pick_early, self._asked))
        network.base_model.register_forward_hook(partial(_pick, self._asked))

    def late(self) -> bool:
        """Pick between body and head alone from now on; False where that was so already."""
        if self._early is None:
            return False
        self._early.remove()
        self._early = None
        return True

    def logits(self, rows: Tensor, positions: Tensor, network: Any = None, **inputs: Tensor) -> Tensor:
        """The head's output at these places; `network` is what our network was wrapped in meanwhile, if it was."""
        self._asked.append((rows, positions))
        try:
            logits: Tensor = (network or self.network)(**inputs).logits[0]  # (places, vocabulary)
        finally:
            self._asked.clear()
        return logits


class FirstPosition:
    """The same for a classifier that reads an input's first position, as BERT and its kin do.

    `logits(**inputs)` gives (batch, labels); what follows attention in the last layer sees the first positions alone.
    """

    def __init__(self, network: Any) -> None:
        self.network = network
        self._wanted: list[bool] = []  # not the object, as above
        if (after_attention := _after_last_attention(network.base_model)) is not None:
            after_attention.register_forward_pre_hook(partial(_pick_first, self._wanted))

    def logits(self, **inputs: Tensor) -> Tensor:
        """The classifier's output."""
        self._wanted.append(True)
        try:
            logits: Tensor = self.network(**inputs).logits
        finally:
            self._wanted.clear()
        return logits


def _pick_first(wanted: list[bool], module: Any, args: Any) -> Any:
    return tuple(each[:, :1] for each in args) if wanted else args  # (batch, 1, width)


def _after_last_attention(body: Any) -> Any:
    """The module that the last layer's attention hands its result to, where it is found as in BERT."""
    layers = getattr(getattr(body, "encoder", None), "layer", None)
    return getattr(getattr(layers[-1], "attention", None), "output", None) if layers else None


def _pick_early(asked: list[tuple[Tensor, Tensor]], module: Any, args: Any) -> Any:
    """Attention's result and what it is added to, both at the asked places; nothing is left for the later hook."""
    if not asked:
        return args
    places = asked.pop()
    return tuple(each[places].unsqueeze(0) for each in args)  # (1, places, width)


def _pick(asked: list[tuple[Tensor, Tensor]], module: Any, args: Any, output: Any) -> Any:
    if not asked:
        return output
    picked = output[0][asked[0]].unsqueeze(0)  # (1, places, width)
    if isinstance(output, tuple):
        return picked, *output[1:]
    output.last_hidden_state = picked
    return output
