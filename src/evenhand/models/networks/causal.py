"""Causal language models (GPT-2, Llama and their kin): answers to `Likelihood`, and to `Fill` among candidates."""

from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, islice
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from evenhand.core.questions import Question, frame
from evenhand.errors import UnfitModel
from evenhand.models.networks.hooks import Picking
from evenhand.models.networks.network import LanguageModel, on_device, padded
from evenhand.models.planning import sequences
from evenhand.models.planning.plan import Ids, Plan, Read, Reading
from evenhand.models.planning.running import uncollected
from evenhand.models.planning.sequences import Asking, Words
from evenhand.models.planning.tokens import encode
from evenhand.models.planning.trees import Forest, seen

NODES = 128  # of a tree: more would share little more, and attention is over all of them


class CausalLM(LanguageModel):
    """A causal language model that answers in nats.

    Inputs are trees: sentences that begin alike go through the network together, their beginning once. Only the tokens
    that somebody asked about are projected onto the vocabulary. `start` is the token that stands before the first
    token, `words` are those that stand for the labels of inference, if it is to answer `Entail`.
    """

    kind: ClassVar[str] = "causal"

    def __init__(self, network: Any, tokenizer: Any, *, start: int, words: Words | None = None, **known: Any) -> None:
        super().__init__(network, tokenizer, **known)
        self.start = start
        self.words = words
        self.fingerprint = sequences.fingerprint(self.fingerprint, words)
        self.about = {**self.about, "start": tokenizer.convert_ids_to_tokens(start)}
        self._size = network.get_input_embeddings().weight.shape[0]
        self._picking = Picking(network)
        self._picks = False
        self._nodes = 0
        self._try_out()

    @uncollected()
    def plan(self, questions: Sequence[Question]) -> Plan:
        """The batches that answer these questions."""
        asked = [sequences.answerable(question, self.words) for question in questions]
        distinct = {frame(question): question for question in asked}.values()
        texts = list(dict.fromkeys(text for question in distinct for text in sequences.texts(question, self.words)))
        tokenized = dict(
            zip(texts, encode(self.tokenizer, texts, 2**31), strict=True)
        )  # its length is without the start
        asking = sequences.Sequences(tokenized, self.start, self.longest, self.words).asking
        return Plan(list(self._readings([asking(question) for question in asked])), self.limit)

    def _readings(self, asked: Sequence[Asking]) -> Iterator[Reading]:
        alike = {id(asking.parts): asking.parts for asking in asked}
        parts = dict.fromkeys(part for found in alike.values() for part in found)
        forest = Forest((part.ids[: max(part.asked)] for part in parts if part.asked), self._size, self._nodes)
        reads = {part: forest.reads(part.ids, part.asked) for part in parts}
        joined = {number: _Joined([reads[part] for part in found]) for number, found in alike.items()}
        for asking in asked:
            yield joined[id(asking.parts)].reading(asking)

    @torch.inference_mode()
    def _logits(self, joined: NDArray[np.int64], attention: NDArray[np.int64], places: NDArray[np.int64]) -> Tensor:
        device = self.network.device
        parents, ids = np.divmod(joined, self._size)
        inputs: dict[str, Any] = {"input_ids": on_device(ids, device), "use_cache": False}
        if self._nodes:
            sees = on_device(seen(parents), device)  # (rows, nodes, nodes)
            inputs["position_ids"] = sees.sum(dim=-1) - 1
            lowest = torch.finfo(self.network.dtype).min
            mask = torch.zeros(sees.shape, dtype=self.network.dtype, device=device)
            inputs["attention_mask"] = mask.masked_fill_(~sees, lowest).unsqueeze(1)
        else:
            inputs["attention_mask"] = on_device(attention, device)
        rows, nodes = on_device(places, device).unbind(dim=1)
        if self._picks:
            return self._picking.logits(rows, nodes, **inputs).float()
        logits: Tensor = self.network(**inputs).logits[rows, nodes]
        return logits.float()

    def _try_out(self) -> None:
        """Refuse a network that looks ahead. Pick positions and let inputs branch where that changes nothing.

        It does not with attention over positions, whichever kind they are of, but with recurrent networks, and those
        that make a bias of their own from the order of the input.
        """
        if self.network.dtype != torch.float32 and not self._tried([(self.start, self.start)]).isfinite().all():
            with self._in_float32():  # it overflows: what is tried here is the network, not the precision
                self._try()
        else:
            self._try()

    def _try(self) -> None:
        a, b, c, d = islice((t for t in range(self._size) if t not in self.tokenizer.all_special_ids), 4)
        sequences = [(self.start, a, b, c), (self.start, a, d, b)]
        one, other = (self._tried([ids]) for ids in sequences)
        if not self._close(one[:2], other[:2]):
            raise UnfitModel(
                f"Model '{self.name}' ({type(self.network).__name__}) looks ahead: what comes later in a text changes "
                "its predictions before. A causal language model does not. If it is a masked one, its config.json "
                "names the wrong architecture."
            )
        alone = torch.cat([one, other])
        self._picks = True
        self._picks = self._same(alone, sequences)
        self._nodes = NODES
        if not self._same(alone, sequences):
            self._nodes = 0
        elif window := _window(self.network.config.get_text_config()):
            self.longest = min(self.longest, window)  # a tree says itself what each node sees, near or far

    def _tried(self, sequences: Sequence[Ids]) -> Tensor:
        """The log-probabilities after every token of the sequences."""
        forest = Forest(sequences, self._size, self._nodes)
        rows = sorted(forest.rows, key=len, reverse=True)
        joined, attention = padded(rows, self.pad)
        places = [(rows.index(row), node) for ids in sequences for row, node in forest.path(ids)]
        return self._logits(joined, attention, np.array(places)).log_softmax(dim=-1)

    def _same(self, alone: Tensor, sequences: Sequence[Ids]) -> bool:
        try:
            return self._close(alone, self._tried(sequences))
        except (RuntimeError, IndexError, TypeError, ValueError):  # it takes no such input
            return False

    def _close(self, one: Tensor, other: Tensor) -> bool:
        close = 1e-3 if self.network.dtype == torch.float32 else 0.2
        return one.shape == other.shape and torch.allclose(one, other, atol=close, rtol=0)


class _Joined:
    """The reads of several parts in a row, and the way back: values by part."""

    def __init__(self, reads: Sequence[tuple[Read, ...]]) -> None:
        self.reads = tuple(chain(*reads))
        stops = list(accumulate(map(len, reads)))
        self.slices = [slice(start, stop) for start, stop in zip([0, *stops], stops, strict=False)]

    def reading(self, asking: Asking) -> Reading:
        return Reading(self.reads, asking.note, lambda values: asking.finish(self._by_part(values)))

    def _by_part(self, values: list[tuple[float, ...]]) -> list[tuple[float, ...]]:
        return [tuple(chain(*values[part])) for part in self.slices]


def _window(config: Any) -> int | None:
    """How far back some layer of the network looks, where that is not to the beginning."""
    return getattr(config, "sliding_window", None) if getattr(config, "use_sliding_window", True) else None
