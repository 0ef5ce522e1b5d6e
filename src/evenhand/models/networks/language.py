"""A network that projects onto a vocabulary: what masked and causal models share."""

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from evenhand.models.networks.network import NetworkModel, on_device, padded
from evenhand.models.planning.plan import Batch


class LanguageModel(NetworkModel):
    """A language model: its cells are tokens at places of an input, and their values log-probabilities."""

    pad = 0
    """What fills up an input to the length of the longest."""

    @abstractmethod
    def _logits(self, ids: NDArray[np.int64], attention: NDArray[np.int64], places: NDArray[np.int64]) -> Tensor:
        """The network's output at these places (rows and positions): (places, vocabulary) in float32."""

    def _cells(self, batch: Batch) -> Tensor:
        ids, attention = padded(batch.inputs, self.pad)
        places, which, tokens = batch.places()
        logits = self._logits(ids, attention, places)
        where, token = on_device(np.stack([which, tokens]), logits.device)
        return logits[where, token] - logits.logsumexp(dim=-1)[where]
