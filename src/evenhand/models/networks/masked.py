"""Masked language models (BERT and its kin): answers to `Fill` and `Likelihood`."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from evenhand.core.questions import Question, frame
from evenhand.models.networks.hooks import Picking
from evenhand.models.networks.network import LanguageModel, on_device
from evenhand.models.planning import masking
from evenhand.models.planning.plan import Limit, Plan
from evenhand.models.planning.running import uncollected
from evenhand.models.planning.tokens import encode


class MaskedLM(LanguageModel):
    """A masked language model that answers in nats.

    Only the positions that somebody asked about are projected onto the vocabulary; padding is never attended to.
    """

    kind: ClassVar[str] = "masked"

    def __init__(self, network: Any, tokenizer: Any, *, limit: Limit, **known: Any) -> None:
        super().__init__(network, tokenizer, limit=limit, **known)
        self.pad = tokenizer.pad_token_id or 0
        self._picking = Picking(network)
        self._picks = self._picking_changes_nothing()
        if not self._padding_changes_nothing():
            self.limit = replace(limit, enough=0)

    @uncollected()
    def plan(self, questions: Sequence[Question]) -> Plan:
        """The batches that answer these questions."""
        asked = [masking.answerable(question) for question in questions]
        distinct = {frame(question): question for question in asked}.values()
        texts = list(dict.fromkeys(text for question in distinct for text in masking.texts(question)))
        tokenized = dict(zip(texts, encode(self.tokenizer, texts, self.longest), strict=True))
        masked = masking.Masked(tokenized, self.tokenizer.mask_token_id)
        return Plan([masked.reading(question) for question in asked], self.limit)

    @torch.inference_mode()
    def _logits(self, ids: NDArray[np.int64], attention: NDArray[np.int64], places: NDArray[np.int64]) -> Tensor:
        """The network's output at these places (rows and positions); attention is left out where it is all."""
        device = self.network.device
        rows, positions = on_device(places, device).unbind(dim=1)
        inputs = {"input_ids": on_device(ids, device)}
        if device.type != "cuda" or not attention.all():  # given one, the library asks the GPU whether it is all
            inputs["attention_mask"] = on_device(attention, device)
        return self.logits(rows, positions, **inputs).float()

    def logits(self, rows: Tensor, positions: Tensor, network: Any = None, **inputs: Tensor) -> Tensor:
        """The network's output at these places, (places, vocabulary); `network` is what it is wrapped in, if it is."""
        if self._picks:
            return self._picking.logits(rows, positions, network, **inputs)
        logits: Tensor = (network or self.network)(**inputs).logits[rows, positions]
        return logits

    def _picking_changes_nothing(self) -> bool:
        """Is every position treated alike from where they are picked? So it is in known families; others are tried."""
        ids = np.array([[self.tokenizer.mask_token_id, 0, 1]])
        places = np.array([(0, 2), (0, 0)])
        self._picks = False
        whole = self._logits(ids, np.ones_like(ids), places)
        self._picks = True
        try:
            picked = self._logits(ids, np.ones_like(ids), places)
            if picked.shape == whole.shape and torch.allclose(picked, whole, atol=1e-2, rtol=1e-2):
                return True
        except (RuntimeError, IndexError, TypeError):
            pass
        return self._picking_changes_nothing() if self._picking.late() else False

    def _padding_changes_nothing(self) -> bool:
        """Does the network ignore what it should not attend to? Convolutions and Fourier mixers do not."""
        ids = np.full((1, 8), self.tokenizer.mask_token_id)
        ids[0, 1:4] = [token for token in range(20) if token not in self.tokenizer.all_special_ids][:3]
        padded = np.concatenate([ids[:, :4], np.full((1, 4), self.pad)], axis=1)
        attention = np.array([[1, 1, 1, 1, 0, 0, 0, 0]])
        places = np.array([(0, 0), (0, 3)])
        alone = self._logits(ids[:, :4], np.ones((1, 4), dtype=np.int64), places)
        beside = self._logits(padded, attention, places)
        close = 1e-3 if self.network.dtype == torch.float32 else 0.2
        return torch.allclose(alone.log_softmax(-1), beside.log_softmax(-1), atol=close, rtol=0)
