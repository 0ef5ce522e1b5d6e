"""NLI classifiers (natural language inference: three labels for a pair of texts), which answer `Entail`."""

import inspect
from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from evenhand.core.questions import Entail, Question, Span
from evenhand.errors import UnfitModel
from evenhand.models.networks.japanese import JapaneseTokenizer
from evenhand.models.networks.network import NetworkModel
from evenhand.models.planning.plan import Batch, Ids, Plan, Read, Reading, gc_disabled
from evenhand.models.planning.tokens import TokenizedPair, built_in, encode_pairs


class NliModel(NetworkModel):
    """A classifier of premise and hypothesis that answers in nats: entailment, neutral, contradiction.

    The tokenizer joins the two texts. `order` has the indices of the network's outputs for the three labels.
    """

    kind: ClassVar[str] = "nli"

    def __init__(self, network: Any, tokenizer: Any, *, order: tuple[int, int, int], **known: Any) -> None:
        self.order = order
        self._types = token_types(network)
        super().__init__(network, tokenizer, **known)

    @gc_disabled()
    def plan(self, questions: Sequence[Question]) -> Plan:
        asked = [_entail(question) for question in questions]
        encoded = {
            unknown: encode_pairs(
                self.tokenizer, [_pair(q) for q in asked if q.unknown == unknown], self.longest, unknown=unknown
            )
            for unknown in {question.unknown for question in asked}
        }
        return Plan([self._reading(encoded[question.unknown][_pair(question)]) for question in asked], self.limit)

    def count_tokens(self, places: Sequence[tuple[str, Span]]) -> list[int]:
        if not isinstance(self.tokenizer, JapaneseTokenizer):
            return super().count_tokens(places)
        # It has no offsets, so the tokens of the whole text are counted: half of those of the text paired with itself.
        encoded = encode_pairs(self.tokenizer, [(text, text) for text, _ in places], self.longest)
        return [0 if encoded[text, text].note else len(encoded[text, text].ids) // 2 for text, _ in places]

    def _reading(self, pair: TokenizedPair) -> Reading:
        if pair.note:
            return Reading(note=pair.note)
        ids = pair.with_types(self._size, self._types)
        return Reading((Read(ids, tuple((0, label) for label in self.order)),))

    def _cells(self, batch: Batch) -> Tensor:
        return self._labels(batch, self._logps(batch.inputs))

    @torch.inference_mode()
    def _logps(self, inputs: Sequence[Ids]) -> Tensor:
        first = (lambda each: each[:, :1]) if self._picks else None  # BERT's classifier reads the first position
        logits = self._output(first, **self._pair_inputs(inputs, typed=self._types > 1))
        return logits.float().log_softmax(dim=-1)  # (inputs, labels)

    def _try_out(self) -> None:
        some = self._inputs(("a a a", "a"), ("a", "a a a"))
        with self._in_float32():  # half precision might hide a difference; BART's classifier reads the last position
            self._picks = self._picking_keeps(lambda: self._logps(some), 1e-4)
        first, second = self._logps(some)
        if torch.equal(first, second):
            raise UnfitModel(
                f"The classifier of '{self.name}' gives the same answer to every question: its first position sees no "
                'other. Set "is_decoder" to false in its config.json, or use another checkpoint.',
                check="right context",
            )
        short, long = self._inputs(("a", "a"), ("a a a", "a a a"))
        self._check_padding(self._logps([short])[0], self._logps([long, short])[1])

    def _inputs(self, *pairs: tuple[str, str]) -> list[Ids]:
        return [pair.ids for pair in encode_pairs(self.tokenizer, pairs, 2**31).values()]


def token_types(network: Any) -> int:
    """The number of token types of the network: 2 for BERT, 1 for RoBERTa, 0 for DistilBERT, which takes none."""
    takes = "token_type_ids" in inspect.signature(network.forward).parameters
    return int(getattr(network.config, "type_vocab_size", 0)) if takes else 0


def _pair(question: Entail) -> tuple[str, str]:
    return question.premise, question.hypothesis


def _entail(question: Question) -> Entail:
    """The question. Raises an error if it is not an `Entail`."""
    if isinstance(question, Entail):
        return question
    known = built_in(question, "An NLI classifier")
    raise UnfitModel(
        f"An NLI classifier cannot answer {type(known).__name__} questions. Use a masked language model, or measure "
        "this classifier with `suite='nli'`."
    )
