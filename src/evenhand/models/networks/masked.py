"""Masked language models (BERT and similar models), which answer `Fill`, `Likelihood` and, with a head, `Follows`."""

from collections.abc import Container, Iterator, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from evenhand.core.questions import Embed, Follows, Question, Span, Unplanned
from evenhand.errors import UnfitModel
from evenhand.models.base import Numbered
from evenhand.models.networks.embedding import embeddings
from evenhand.models.networks.network import LanguageModel, log_probabilities, on_device, pad_inputs
from evenhand.models.planning import masking
from evenhand.models.planning.plan import FOLLOWS, PLAIN, WEIGHED, Batch, Plan, gc_disabled, split
from evenhand.models.planning.tokens import encode, encode_pairs, frame, texts


class MaskedLM(LanguageModel):
    """A masked language model that answers in nats.

    Only asked positions are projected onto the vocabulary. Padding is never attended to. For questions with attention,
    the weight of a token is the attention that it gets, averaged over layers, heads and all tokens of the input,
    including special tokens. `next_sentence` is the next-sentence head in float32, or None.
    """

    kind: ClassVar[str] = "masked"

    def __init__(self, network: Any, tokenizer: Any, *, next_sentence: Any = None, **known: Any) -> None:
        self.next_sentence = next_sentence and next_sentence.to(network.device)
        super().__init__(network, tokenizer, **known)

    @gc_disabled()
    def plan(self, questions: Sequence[Question]) -> Plan:
        head = self.next_sentence is not None
        asked = [masking.answerable(question, next_sentence=head) for question in questions]
        distinct = {frame(question): question for question in asked}.values()
        tokenized = encode(self.tokenizer, (text for question in distinct for text in texts(question)), self.longest)
        pairs = [(question.first, question.second) for question in asked if isinstance(question, Follows)]
        in_pairs = encode_pairs(self.tokenizer, pairs, self.longest)
        masked = masking.Masked(tokenized, in_pairs, self.tokenizer.mask_token_id, self._size)
        return Plan([masked.reading(question) for question in asked], self.limit)

    def batched_answers(self, questions: Sequence[Unplanned], answered: Container[int] = ()) -> Iterator[Numbered]:
        asked = [question for question in questions if isinstance(question, Embed)]
        if len(asked) < len(questions):
            raise UnfitModel(f"'{self.name}' is a masked language model, which writes no texts. Use a causal one.")
        return embeddings(self, asked, None, answered)

    @torch.inference_mode()
    def likeliest(self, text: str, blank: Span, n: int = 10) -> list[tuple[str, float]]:
        """The `n` likeliest tokens in the blank of a text, with their log-probabilities in nats.

        A token may be a part of a word. Special tokens are excluded. The list is empty if the text is too long.
        """
        masked = text[: blank.start] + self.mask + text[blank.stop :]
        ids = np.array([self.tokenizer(masked, verbose=False)["input_ids"]])
        masks = np.flatnonzero(ids[0] == self.tokenizer.mask_token_id)
        if len(masks) != 1 or ids.shape[1] > self.longest:
            return []
        logps = self._logits(ids, np.ones_like(ids), np.array([(0, masks[0])])).log_softmax(dim=-1)[0]  # (vocabulary,)
        special = set(self.tokenizer.all_special_ids)
        logps = logps[: len(self.tokenizer)]  # some heads have more outputs than there are tokens
        best = logps.topk(min(n + len(special), len(logps)))
        pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        words = [(self.tokenizer.decode([token]).strip(), logp) for token, logp in pairs if token not in special]
        return words[:n]

    @torch.inference_mode()
    def _logits(self, ids: NDArray[np.int64], attention: NDArray[np.int64], places: NDArray[np.int64]) -> Tensor:
        device = self.network.device
        rows, positions = on_device(places, device).unbind(dim=1)
        inputs = {"input_ids": on_device(ids, device)}
        if device.type != "cuda" or not attention.all():  # transformers would ask the GPU whether all are ones
            inputs["attention_mask"] = on_device(attention, device)
        return self.logits(rows, positions, **inputs).float()

    def _cells(self, batch: Batch) -> Tensor:
        """Run the inputs of each kind of cells (see `plan.join`) together, and the kinds one after another."""
        run = {PLAIN: super()._cells, WEIGHED: self._weigh, FOLLOWS: self._next_sentence}
        _, kinds = split(np.array([max(token for _, token in cells) for cells in batch.cells]), self._size)
        if len(distinct := np.unique(kinds)) == 1:
            return run[distinct[0]](batch)
        of_cell = np.repeat(kinds, [len(cells) for cells in batch.cells])
        values = torch.empty(len(of_cell), device=self.network.device)
        for kind in distinct:
            alike = batch.only(np.flatnonzero(kinds == kind))
            values[torch.from_numpy(np.flatnonzero(of_cell == kind))] = run[kind](alike)
        return values

    @torch.inference_mode()
    def _weigh(self, batch: Batch) -> Tensor:
        """The log-probabilities of the cells, multiplied by the attention to the token if the cell is WEIGHED."""
        ids, attention = pad_inputs(batch.inputs, self.pad)
        places, which, asked = batch.places()
        tokens, kinds = split(asked, self._size)
        device = self.network.device
        real = on_device(attention, device)  # (rows, length)
        rows, positions = on_device(places, device).unbind(dim=1)
        usual = self.network.config._attn_implementation
        self.network.set_attn_implementation("eager")  # faster implementations do not return attention weights
        try:
            output = self.network(input_ids=on_device(ids, device), attention_mask=real, output_attentions=True)
        finally:
            self.network.set_attn_implementation(usual)
        layers = output.attentions or ()
        square = (ids.shape[1], ids.shape[1])
        if not layers or any(layer is None or layer.shape[2:] != square for layer in layers):
            raise UnfitModel(
                f"'{self.name}' ({type(self.network).__name__}) does not return attention weights, which `aula` needs. "
                "Use `aul`, which weighs all tokens equally."
            )
        each = torch.stack([layer.float().mean(dim=1) for layer in layers]).mean(dim=0)  # (rows, from, to)
        weights = (each * real.unsqueeze(2)).sum(dim=1) / real.sum(dim=1, keepdim=True)  # (rows, to)
        logps = log_probabilities(output.logits[rows, positions].float(), which, tokens)
        where, weighed = on_device(np.stack([which, kinds == WEIGHED]), device)
        return torch.where(weighed.bool(), logps * weights[rows, positions][where], logps)

    @torch.inference_mode()
    def _next_sentence(self, batch: Batch) -> Tensor:
        """The log-probabilities of the next-sentence head, which reads the first position."""
        rows = torch.arange(len(batch.inputs), device=self.network.device)

        def network(**inputs: Tensor) -> SimpleNamespace:
            hidden = self.network.base_model(**inputs)[0].float()
            return SimpleNamespace(logits=self.next_sentence(hidden))

        logits = self.logits(rows, torch.zeros_like(rows), network, **self._pair_inputs(batch.inputs))
        return self._labels(batch, logits.log_softmax(dim=-1))  # (inputs, 2)

    def _try_out(self) -> None:
        mask = self.tokenizer.mask_token_id
        some = np.array([[mask, 0, 1]])
        # A head that mixes positions gets whole sequences. No known family has such a head.
        run = partial(self._logits, some, np.ones_like(some), np.array([(0, 2), (0, 0)]))
        self._picks = self._picking_keeps(run, 1e-2) or (self._pick_late() and self._picking_keeps(run, 1e-2))
        ids = np.array([[mask, *[token for token in range(20) if token not in self.tokenizer.all_special_ids][:3]]])
        padded = np.concatenate([ids, np.full((1, 4), self.pad)], axis=1)
        attention = np.array([[1, 1, 1, 1, 0, 0, 0, 0]])
        places = np.array([(0, 0), (0, 3)])
        alone = self._logits(ids, np.ones_like(ids), places)
        other = ids[:, [0, 3, 2, 3]]  # another token to the right of the mask
        if torch.equal(alone[0], self._logits(other, np.ones_like(ids), places)[0]):
            config = self.network.config
            settings = [f'"{setting}"' for setting in ("is_decoder", "causal") if getattr(config, setting, False)]
            raise UnfitModel(
                f"'{self.name}' reads texts only from the left: text to the right of a blank changes nothing. A "
                f"masked language model reads both sides. Set {' and '.join(settings) or 'its causal mask'} to false "
                'in its config.json; if it was trained that way, its "architectures" must name a causal one.',
                check="right context",
            )
        self._check_padding(alone.log_softmax(-1), self._logits(padded, attention, places).log_softmax(-1))
