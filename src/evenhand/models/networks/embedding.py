"""Vectors of texts and of words in texts, from the layers of a network: answers to `Embed`."""

from collections.abc import Container, Iterator, Sequence
from itertools import groupby
from typing import Any

import torch
from torch import Tensor

from evenhand.core.progress import part
from evenhand.core.questions import Answer, Embed, Layer
from evenhand.errors import UnfitModel
from evenhand.models.planning.plan import Ids
from evenhand.models.planning.tokens import TokenizedText, Unanswerable, encode


def embeddings(
    model: Any, questions: Sequence[Embed], start: int | None, answered: Container[int] = ()
) -> Iterator[list[tuple[int, Answer]]]:
    """The answers to the questions whose number is not in `answered`, by batch. `start` is the token before a text.

    All questions about a text share one pass. The texts of a batch have the same length, so none is padded. Batches are
    made from all questions, so that a resumed run has the same numbers as an uninterrupted run.
    """
    for layer in dict.fromkeys(question.layer for question in questions):
        _check_layer(model, layer)
    inputs: dict[Ids, dict[int, list[int]]] = {}
    missing: list[tuple[int, Answer]] = []
    for number, (ids, positions, note) in enumerate(_tokens(model, questions, start)):
        if note:
            missing.append((number, Answer.none(note)))
        else:
            inputs.setdefault(ids, {})[number] = positions
    yield missing
    ordered = sorted(inputs, key=len, reverse=True)
    batches = [
        some[first : first + size]
        for length, same in groupby(ordered, key=len)
        for size in (max(1, min(model.limit.inputs, model.limit.tokens // length)),)
        for some in (list(same),)
        for first in range(0, len(some), size)
    ]
    with part("Measuring", "tokens", sum(map(len, ordered))) as bar:
        for batch in batches:
            if any(number not in answered for ids in batch for number in inputs[ids]):
                layers = {questions[number].layer for ids in batch for number in inputs[ids]}
                states = _hidden_states(model.network, batch, layers)
                yield [
                    (number, Answer(tuple(states[questions[number].layer][row, positions].mean(dim=0).tolist())))
                    for row, ids in enumerate(batch)
                    for number, positions in inputs[ids].items()
                ]
            bar.update(len(batch) * len(batch[0]))


def _check_layer(model: Any, layer: Layer) -> None:
    count = getattr(model.network.config.get_text_config(), "num_hidden_layers", 0)
    if layer != "input" and not -count - 1 <= layer <= count:
        raise UnfitModel(f"'{model.name}' has the layers 0 (its embeddings) to {count}, and 'input'. Got {layer}.")


def _tokens(model: Any, questions: Sequence[Embed], start: int | None) -> Iterator[tuple[Ids, list[int], str]]:
    """For each question, the tokens of its text, the asked positions, and a note if it has no answer."""
    if start is not None and any(not question.span and question.pooling == "first" for question in questions):
        raise UnfitModel(
            f"'{model.name}' is a causal language model, whose first token has seen nothing of the text. Use the "
            "option pooling=last or pooling=mean."
        )
    longest = model.longest - (start is not None)
    asked = {question.text for question in questions}
    texts = encode(model.tokenizer, (text for each in asked for text in (each, f" {each}")), longest)
    for question in questions:
        try:
            tokenized, shift = _as_in_a_sentence(question, texts)
            of_text = tokenized.usable().positions
            positions = tokenized.inside(question.span.shift(shift)) if question.span else of_text
            if question.pooling == "first":
                positions = positions[:1] if question.span else [0]
            elif question.pooling == "last":
                positions = positions[-1:]
        except Unanswerable as reason:
            yield (), [], str(reason)
            continue
        if start is None:
            yield tokenized.ids, positions, ""
        else:  # the start token replaces special tokens that the tokenizer adds
            yield (start, *(tokenized.ids[p] for p in of_text)), [1 + of_text.index(p) for p in positions], ""


def _as_in_a_sentence(question: Embed, texts: dict[str, TokenizedText]) -> tuple[TokenizedText, int]:
    """The tokens, and 1 if a space was put before a single word, as in GPT's " nurse", unless it takes more tokens."""
    plain, spaced = texts[question.text], texts[f" {question.text}"]
    alone = question.span is not None and question.target == question.text
    return (spaced, 1) if alone and not spaced.note and len(spaced.ids) <= len(plain.ids) else (plain, 0)


@torch.inference_mode()
def _hidden_states(network: Any, batch: Sequence[Ids], layers: set[Layer]) -> dict[Layer, Tensor]:
    """By layer, the vectors of all tokens in float32: (texts, tokens, width)."""
    ids = torch.tensor(batch, device=network.device)
    states: dict[Layer, Tensor] = {}
    if "input" in layers:
        states["input"] = network.get_input_embeddings().weight[ids].float()
    if deep := layers - {"input"}:
        output = network.base_model(input_ids=ids, attention_mask=torch.ones_like(ids), output_hidden_states=True)
        states |= {layer: output.hidden_states[layer].float() for layer in deep if layer != "input"}
    return states
