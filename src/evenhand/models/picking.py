"""Project only the asked positions onto the vocabulary, whatever the architecture."""

from functools import partial
from typing import Any

from torch import Tensor


class Picking:
    """A hook between a network's body and its head that keeps the asked positions, as one sequence.

    With it in place `logits(rows, positions, **inputs)` gives (places, vocabulary) from (batch, length, width), and
    the head never sees the other positions.
    """

    def __init__(self, network: Any) -> None:
        self.network = network
        # The hook holds this list, not the object: a cycle would keep a dropped model in memory.
        self._asked: list[tuple[Tensor, Tensor]] = []
        network.base_model.register_forward_hook(partial(_pick, self._asked))

    def logits(self, rows: Tensor, positions: Tensor, **inputs: Tensor) -> Tensor:
        """The head's output at these places."""
        self._asked.append((rows, positions))
        try:
            logits: Tensor = self.network(**inputs).logits[0]  # (places, vocabulary)
        finally:
            self._asked.clear()
        return logits


def _pick(asked: list[tuple[Tensor, Tensor]], module: Any, args: Any, output: Any) -> Any:
    if not asked:
        return output
    picked = output[0][asked[0]].unsqueeze(0)  # (1, places, width)
    if isinstance(output, tuple):
        return picked, *output[1:]
    output.last_hidden_state = picked
    return output
