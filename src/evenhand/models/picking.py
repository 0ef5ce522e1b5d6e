"""Project only the asked positions onto the vocabulary, whatever the architecture."""

from typing import Any

from torch import Tensor


class Picking:
    """A hook between a network's body and its head that keeps the asked positions, as one sequence.

    With it in place `logits(rows, positions, **inputs)` gives (places, vocabulary) from (batch, length, width), and
    the head never sees the other positions.
    """

    def __init__(self, network: Any) -> None:
        self.network = network
        self._asked: tuple[Tensor, Tensor] | None = None
        network.base_model.register_forward_hook(self._pick)

    def logits(self, rows: Tensor, positions: Tensor, **inputs: Tensor) -> Tensor:
        """The head's output at these places."""
        self._asked = rows, positions
        try:
            logits: Tensor = self.network(**inputs).logits[0]  # (places, vocabulary)
        finally:
            self._asked = None
        return logits

    def _pick(self, module: Any, args: Any, output: Any) -> Any:
        if self._asked is None:
            return output
        picked = output[0][self._asked].unsqueeze(0)  # (1, places, width)
        if isinstance(output, tuple):
            return picked, *output[1:]
        output.last_hidden_state = picked
        return output
