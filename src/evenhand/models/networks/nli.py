"""Models of natural language inference (sequence classifiers with three labels): answers to `Entail`."""

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from evenhand.core.questions import Entail, Question, Span
from evenhand.errors import UnfitModel
from evenhand.models.networks.hooks import FirstPosition
from evenhand.models.networks.japanese import JapaneseTokenizer
from evenhand.models.networks.network import NetworkModel, on_device, padded
from evenhand.models.planning.plan import Batch, Ids, Limit, Plan, Read, Reading
from evenhand.models.planning.running import uncollected
from evenhand.models.planning.tokens import TokenizedPair, encode_pairs


class NliModel(NetworkModel):
    """A classifier of premise and hypothesis that answers in nats: entailment, neutral, contradiction.

    The tokenizer joins the two as its family does. Where the network tells them apart by token types, a token of an
    input is `token + type * size`, `size` being the number of the network's embeddings: one number for both, so that a
    batch is named by all that it is. `order` has the network's outputs for the three labels.
    """

    kind: ClassVar[str] = "nli"

    def __init__(
        self, network: Any, tokenizer: Any, *, order: tuple[int, int, int], limit: Limit, **known: Any
    ) -> None:
        super().__init__(network, tokenizer, limit=limit, **known)
        self.order = order
        self._size = network.get_input_embeddings().weight.shape[0]
        self._types = token_types(network)
        self._first = FirstPosition(network)
        self._picks = self._picking_changes_nothing()
        if not self._padding_changes_nothing():
            self.limit = replace(limit, enough=0)

    @uncollected()
    def plan(self, questions: Sequence[Question]) -> Plan:
        """The batches that answer these questions."""
        pairs = [_answerable(question) for question in questions]
        distinct = list(dict.fromkeys(pairs))
        encoded = dict(zip(distinct, encode_pairs(self.tokenizer, distinct, self.longest), strict=True))
        return Plan([self._reading(encoded[pair]) for pair in pairs], self.limit)

    def count_tokens(self, places: Sequence[tuple[str, Span]]) -> list[int]:
        """For each text and span, the number of tokens; 0 where the text cannot be represented."""
        if not isinstance(self.tokenizer, JapaneseTokenizer):
            return super().count_tokens(places)
        # It does not say where a token stands: all that can be told is whether there are tokens for the text.
        found = encode_pairs(self.tokenizer, [(text, text) for text, _ in places], self.longest)
        return [0 if pair.note else len(pair.ids) // 2 for pair in found]

    def _reading(self, pair: TokenizedPair) -> Reading:
        if pair.note:
            return Reading(note=pair.note)
        ids = pair.ids
        if pair.types and max(pair.types) < self._types:
            ids = tuple(token + kind * self._size for token, kind in zip(ids, pair.types, strict=True))
        return Reading((Read(ids, tuple((0, label) for label in self.order)),))

    def _cells(self, batch: Batch) -> Tensor:
        wanted = [(row, label) for row, cells in enumerate(batch.cells) for _, label in cells]
        logps = self._logps(batch.inputs)
        rows, labels = on_device(np.array(wanted), logps.device).unbind(dim=1)
        return logps[rows, labels]

    @torch.inference_mode()
    def _logps(self, inputs: Sequence[Ids]) -> Tensor:
        joined, attention = padded(inputs, self.tokenizer.pad_token_id or 0)
        types, ids = np.divmod(joined, self._size)
        named: dict[str, NDArray[np.int64]] = {"input_ids": ids, "attention_mask": attention}
        if self._types > 1:
            named["token_type_ids"] = types
        there = {name: on_device(array, self.network.device) for name, array in named.items()}
        logits: Tensor = self._first.logits(**there) if self._picks else self.network(**there).logits
        return logits.float().log_softmax(dim=-1)  # (inputs, labels)

    def _picking_changes_nothing(self) -> bool:
        """Does the classifier read the first position alone? BART's reads the last."""
        inputs = [pair.ids for pair in encode_pairs(self.tokenizer, [("a a a", "a"), ("a", "a a a")], 2**31)]
        with self._in_float32():  # half precision might hide a difference
            self._picks = False
            whole = self._logps(inputs)
            self._picks = True
            try:
                return torch.allclose(self._logps(inputs), whole, atol=1e-4, rtol=1e-4)
            except (RuntimeError, IndexError, TypeError, ValueError):
                return False

    def _padding_changes_nothing(self) -> bool:
        """Does the network ignore what it should not attend to?"""
        short, long = (
            next(encode_pairs(self.tokenizer, [pair], 2**31)).ids for pair in (("a", "a"), ("a a a", "a a a"))
        )
        alone, beside = self._logps([short])[0], self._logps([long, short])[1]
        close = 1e-3 if self.network.dtype == torch.float32 else 0.2
        return torch.allclose(alone, beside, atol=close, rtol=0)


def token_types(network: Any) -> int:
    """How many texts of an input the network tells apart: RoBERTa takes types but knows one, DistilBERT takes none."""
    takes = "token_type_ids" in inspect.signature(network.forward).parameters
    return int(getattr(network.config, "type_vocab_size", 0)) if takes else 0


def _answerable(question: Question) -> tuple[str, str]:
    """Premise and hypothesis, if it is a question for a model of natural language inference."""
    if isinstance(question, Entail):
        return question.premise, question.hypothesis
    raise UnfitModel(
        f"A model of natural language inference cannot answer {type(question).__name__} questions. They are for a "
        "masked language model; for this one there is --suite nli."
    )
