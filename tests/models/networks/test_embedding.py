"""Vectors from the layers of networks, against transformers called by hand."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

import evenhand
from evenhand import Embed, Likelihood, Question, Remembering, Span
from evenhand.core.model import ask
from evenhand.errors import UnfitModel
from evenhand.models.networks.causal import CausalLM
from evenhand.models.networks.embedding import _as_in_a_sentence
from evenhand.models.networks.masked import MaskedLM
from helpers import tiny
from helpers.typed import load

TEXT = "The nurse met the unhappily married carpenter."
NURSE, SPLIT = Span(4, 9), Span(18, 27)


def states(model: Any, ids: list[int]) -> Any:
    with torch.inference_mode():
        return model.network.base_model(input_ids=torch.tensor([ids]), output_hidden_states=True).hidden_states


def numbers(model: Any, *questions: Embed) -> list[Any]:
    answers = ask(model, questions)
    assert not any(answer.note for answer in answers)
    return [np.array(answer.numbers) for answer in answers]


def test_a_masked_model_gives_the_vectors_of_its_layers(mini_en: MaskedLM) -> None:
    encoded = mini_en.tokenizer(TEXT, return_offsets_mapping=True)
    ids = encoded["input_ids"]
    inside = [n for n, (start, stop) in enumerate(encoded["offset_mapping"]) if 18 <= start < stop <= 27]
    assert len(inside) > 1
    layers = states(mini_en, ids)
    table = mini_en.network.get_input_embeddings().weight.detach()
    asked = [
        (Embed(TEXT), layers[-1][0, 0]),
        (Embed(TEXT, pooling="mean"), layers[-1][0, 1:-1].mean(0)),
        (Embed(TEXT, pooling="last", layer=2), layers[2][0, len(ids) - 2]),
        (Embed(TEXT, SPLIT, pooling="first"), layers[-1][0, inside[0]]),
        (Embed(TEXT, SPLIT, pooling="last", layer=0), layers[0][0, inside[-1]]),
        (Embed(TEXT, SPLIT, -2, "mean"), layers[-2][0, inside].mean(0)),
        (Embed(TEXT, SPLIT, "input", "mean"), table[[ids[n] for n in inside]].mean(0)),
    ]
    for found, (_, wanted) in zip(numbers(mini_en, *(question for question, _ in asked)), asked, strict=True):
        assert found == pytest.approx(wanted.numpy(), abs=1e-5)


def test_a_word_has_one_vector_in_the_table_of_embeddings_wherever_it_stands(mini_en: MaskedLM) -> None:
    alone, inside = numbers(mini_en, Embed("nurse", Span(0, 5), "input", "mean"), Embed(TEXT, NURSE, "input", "mean"))
    assert (alone == inside).all()


def test_all_questions_about_a_text_share_one_pass(mini_en: MaskedLM, monkeypatch: pytest.MonkeyPatch) -> None:
    passes: list[int] = []
    handle = mini_en.network.base_model.register_forward_hook(lambda *_: passes.append(1))
    try:
        numbers(mini_en, Embed(TEXT), Embed(TEXT, NURSE), Embed(TEXT, SPLIT, 1, "mean"), Embed(TEXT, SPLIT, "input"))
    finally:
        handle.remove()
    assert len(passes) == 1


@pytest.mark.parametrize("family", [name for name in tiny.CAUSAL if name != "mamba"])
def test_a_causal_model_reads_after_its_start_token(family: str, tmp_path: Path) -> None:
    model = load(CausalLM, str(tiny.save_causal(family, tmp_path / family)))
    text = "She is a nurse."
    ids = [model.start, *model.tokenizer(text, add_special_tokens=False)["input_ids"]]
    layers = states(model, ids)
    last, mean, word = numbers(
        model, Embed(text, pooling="last"), Embed(text, pooling="mean"), Embed(text, Span(9, 14), 1, "last")
    )
    assert last == pytest.approx(layers[-1][0, -1].numpy(), abs=1e-5)
    assert mean == pytest.approx(layers[-1][0, 1:].mean(0).numpy(), abs=1e-5)
    inside = model.tokenizer(text, add_special_tokens=False).char_to_token(13) + 1
    assert word == pytest.approx(layers[1][0, inside].numpy(), abs=1e-5)
    with pytest.raises(UnfitModel, match="pooling=last"):
        model.answer([Embed(text)])


@pytest.mark.parametrize("layer", [7, -8])
def test_a_layer_that_is_not_there_is_an_error(layer: int, mini_en: MaskedLM) -> None:
    with pytest.raises(UnfitModel, match=f"to 6.* Got {layer}"):
        mini_en.answer([Embed(TEXT, layer=layer)])


def test_a_classifier_of_pairs_gives_no_vectors() -> None:
    with pytest.raises(UnfitModel, match="NLI.*Embed"):
        evenhand.load("mini-en-nli").answer([Embed(TEXT)])


TOKENS = {"brother": 1, " brother": 1, "sister": 2, " sister": 1, "nurse": 1, " nurse": 2}


def test_words_of_a_test_all_have_their_space_where_it_costs_no_token() -> None:
    """Else "brother", a token in both forms, and " sister", one with its space alone, differ in more than gender."""
    texts: Any = {text: SimpleNamespace(ids=(1,) * n, note="") for text, n in TOKENS.items()}
    chosen = [_as_in_a_sentence(Embed(word, Span(0, len(word))), texts)[1] for word in ("brother", "sister", "nurse")]
    assert chosen == [1, 1, 0]


def test_kept_vectors_take_four_bytes_a_number_and_are_not_asked_for_again(mini_en: MaskedLM, tmp_path: Path) -> None:
    import sqlite3

    questions: list[Question] = [Embed(TEXT), Likelihood("The nurse sings."), Embed(TEXT, NURSE, 2)]
    first = Remembering(mini_en, tmp_path / "answers.sqlite").answer(questions)
    assert [len(answer.numbers) for answer in first[::2]] == [mini_en.network.config.hidden_size] * 2
    assert first == mini_en.answer(questions)
    with sqlite3.connect(tmp_path / "answers.sqlite") as store:
        sizes = [size for (size,) in store.execute("SELECT length(logps) FROM answers WHERE question LIKE '%embed%'")]
    assert sizes == [4 * mini_en.network.config.hidden_size] * 2
    again = Remembering(mini_en, tmp_path / "answers.sqlite")
    assert again.answer(questions) == first
    assert again.work.kept == 3
    assert again.work.batches == 0


def test_a_text_that_is_too_long_or_unknown_has_no_vector(mini_en: MaskedLM) -> None:
    long, special = ask(mini_en, [Embed("nurse " * 2_000), Embed("a [MASK] of")])
    assert (long.note, special.note) == ("too long", "special token in the text")
