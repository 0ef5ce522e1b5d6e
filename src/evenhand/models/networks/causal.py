"""Causal language models (GPT-2, Llama and others): likelihoods, choices, blanks among candidates, and texts."""

from collections.abc import Container, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import chain, islice
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from evenhand.core.questions import Embed, Question, Unplanned
from evenhand.errors import UnfitModel
from evenhand.models.base import Numbered
from evenhand.models.networks.embedding import embeddings
from evenhand.models.networks.network import LanguageModel, on_device, pad_inputs
from evenhand.models.networks.writing import writings
from evenhand.models.planning import sequences
from evenhand.models.planning.plan import Ids, Plan, Reading, gc_disabled, split
from evenhand.models.planning.sequences import Asking, Forest, Words, visible_nodes
from evenhand.models.planning.tokens import encode, frame

NODES = 128  # the size of a tree: larger trees share little more, and attention covers all nodes


class CausalLM(LanguageModel):
    """A causal language model that answers in nats.

    Inputs are trees: sentences with the same beginning share the computation of it. Only asked positions are projected
    onto the vocabulary. `start` is the token before the first token of a text. `words` stand for the three NLI labels,
    and are needed to answer `Entail`.
    """

    kind: ClassVar[str] = "causal"
    pad = 0

    def __init__(self, network: Any, tokenizer: Any, *, start: int, words: Words | None = None, **known: Any) -> None:
        self.start = start
        self.words = words
        self._nodes = 0
        super().__init__(network, tokenizer, **known)
        self.fingerprint = sequences.fingerprint(self.fingerprint, words, sequences.template(tokenizer))
        self.chats = sequences.template(tokenizer) is not None
        self.about = {**self.about, "start": tokenizer.convert_ids_to_tokens(start)}

    @gc_disabled()
    def plan(self, questions: Sequence[Question]) -> Plan:
        asked = [sequences.answerable(question, self.words) for question in questions]
        distinct = list({frame(question): question for question in asked}.values())
        texts = (text for question in distinct for text in sequences.texts(question, self.words))
        tokenized = encode(self.tokenizer, texts, 2**31)  # `Sequences` checks lengths, with the start token
        replies = sequences.replies(self.name, self.tokenizer, distinct)
        asking = sequences.Sequences(tokenized, self.start, self.longest, self.words, replies).asking
        return Plan(list(self._readings([asking(question) for question in asked])), self.limit)

    def batched_answers(self, questions: Sequence[Unplanned], answered: Container[int] = ()) -> Iterator[Numbered]:
        for vectors in (True, False):
            numbers = [n for n, question in enumerate(questions) if isinstance(question, Embed) is vectors]
            asked: Any = [questions[n] for n in numbers]
            done = {place for place, n in enumerate(numbers) if n in answered}
            batches = embeddings(self, asked, self.start, done) if vectors else writings(self, asked, done)
            for batch in batches if asked else ():
                yield [(numbers[place], answer) for place, answer in batch]

    def _readings(self, asked: Sequence[Asking]) -> Iterator[Reading]:
        groups = {id(asking.parts): asking.parts for asking in asked}
        parts = dict.fromkeys(part for group in groups.values() for part in group)
        forest = Forest((part.ids[: max(part.asked)] for part in parts if part.asked), self._size, self._nodes)
        reads = {part: forest.reads(part.ids, part.asked) for part in parts}
        joined = {}
        for number, group in groups.items():
            by_part = [reads[part] for part in group]
            joined[number] = tuple(chain(*by_part)), [len(of_part) for of_part in by_part]
        for asking in asked:
            of_group, lengths = joined[id(asking.parts)]
            yield Reading(of_group, asking.note, partial(_finish, asking, lengths))

    @torch.inference_mode()
    def _logits(self, joined: NDArray[np.int64], attention: NDArray[np.int64], places: NDArray[np.int64]) -> Tensor:
        device = self.network.device
        ids, parents = split(joined, self._size)
        inputs: dict[str, Any] = {"input_ids": on_device(ids, device), "use_cache": False}
        if self._nodes:
            sees = on_device(visible_nodes(parents), device)  # (rows, nodes, nodes)
            inputs["position_ids"] = sees.sum(dim=-1) - 1
            lowest = torch.finfo(self.network.dtype).min
            mask = torch.zeros(sees.shape, dtype=self.network.dtype, device=device)
            inputs["attention_mask"] = mask.masked_fill_(~sees, lowest).unsqueeze(1)
        else:
            inputs["attention_mask"] = on_device(attention, device)
        rows, nodes = on_device(places, device).unbind(dim=1)
        return self.logits(rows, nodes, **inputs).float()

    def _try_out(self) -> None:
        """Raise an error if the network looks ahead. Select positions and let inputs branch if that changes no answer.

        It changes nothing in networks with attention over positions. It changes answers in recurrent networks, and in
        networks that derive a bias from the order of the input.
        """
        exact = self.network.dtype == torch.float32 or self._logps_after([(self.start, self.start)]).isfinite().all()
        with nullcontext() if exact else self._in_float32():  # after an overflow: precision is not what is tested
            self._choose_inputs()

    def _choose_inputs(self) -> None:
        a, b, c, d = islice((t for t in range(self._size) if t not in self.tokenizer.all_special_ids), 4)
        sequences = [(self.start, a, b, c), (self.start, a, d, b)]
        first, second = (self._logps_after([ids]) for ids in sequences)
        if not self._close(first[:2], second[:2]):
            raise UnfitModel(
                f"Model '{self.name}' ({type(self.network).__name__}) looks ahead: later tokens of a text change its "
                "predictions of earlier ones, which must not happen in a causal language model. If it is a masked "
                "language model, correct the architecture in its config.json."
            )
        alone = torch.cat([first, second])
        self._picks = True
        self._picks = self._agrees(alone, sequences)
        self._nodes = NODES
        config = self.network.config.get_text_config()
        window = getattr(config, "sliding_window", None) if getattr(config, "use_sliding_window", True) else None
        if not self._agrees(alone, sequences):
            self._nodes = 0
        elif window:
            self.longest = min(self.longest, window)  # in a tree a node attends to all ancestors, however far they are

    def _logps_after(self, sequences: Sequence[Ids]) -> Tensor:
        """The log-probabilities of the next token after every token of the sequences."""
        forest = Forest(sequences, self._size, self._nodes)
        rows = sorted(forest.rows, key=len, reverse=True)
        joined, attention = pad_inputs(rows, self.pad)
        places = [(rows.index(row), node) for ids in sequences for row, node in forest.path(ids)]
        return self._logits(joined, attention, np.array(places)).log_softmax(dim=-1)

    def _agrees(self, alone: Tensor, sequences: Sequence[Ids]) -> bool:
        try:
            return self._close(alone, self._logps_after(sequences))
        except (RuntimeError, IndexError, TypeError, ValueError):  # the network takes no such input
            return False


def _finish(asking: Asking, lengths: Sequence[int], values: list[tuple[float, ...]]) -> tuple[float, ...]:
    """The answer, from the values of the reads of all parts. `lengths` has the number of reads of each part."""
    following = iter(values)
    return asking.finish([tuple(chain(*islice(following, length))) for length in lengths])
