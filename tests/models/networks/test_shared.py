"""What holds for masked, causal and NLI networks: how questions are batched and kept changes no answer."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenhand import Entail, Fill, Likelihood, Remembering, Span
from evenhand.core.questions import Question
from evenhand.errors import ModelError
from evenhand.models.networks.causal import CausalLM
from evenhand.models.networks.masked import MaskedLM
from evenhand.models.networks.network import NetworkModel
from evenhand.models.networks.nli import NliModel
from evenhand.models.planning.plan import Batch, Limit
from helpers import naive, tiny
from helpers.typed import load

CLOSE = 5e-5
WORDS = ("True", "Neither", "False")
NURSE, SHE = "She is a nurse.", Span(0, 3)
Pool = list[tuple[Question, Sequence[float]]]


@dataclass
class Network:
    """A tiny model, and questions of many lengths with the naive loop's answers."""

    model: NetworkModel
    pool: Pool

    @property
    def questions(self) -> list[Question]:
        return [question for question, _ in self.pool]


def masked(folder: Path) -> tuple[MaskedLM, Iterable[tuple[Question, Sequence[float]]]]:
    model = load(MaskedLM, str(tiny.save("bert-uncased", folder)))

    def pool() -> Iterable[tuple[Question, Sequence[float]]]:
        for text in tiny.TEXTS:
            yield Likelihood(text), naive.likelihood(model, text)
            yield Likelihood(text, within_word=True), naive.likelihood(model, text, within_word=True)
            seen, weights = naive.unmasked(model, text)
            yield Likelihood(text, masked="none"), seen
            weighed = [logp * weight for logp, weight in zip(seen, weights, strict=True)]
            yield Likelihood(text, masked="none", attention=True), weighed
            for word in ("she", "he", "nobody"):
                whole, blank = f"{word} wrote letters. {text}", Span(0, len(word))
                yield Fill(whole, blank, word), naive.fill(model, whole, blank)

    return model, pool()


def causal(folder: Path) -> tuple[CausalLM, Iterable[tuple[Question, Sequence[float]]]]:
    tokenizer = tiny.continuing_bytes()
    tokenizer.model_max_length = 128  # a prompt is longer than a sentence
    tiny.save_causal("gpt2", folder, tokenizer=tokenizer, max_position_embeddings=128)
    model = load(CausalLM, str(folder), labels=WORDS)

    def pool() -> Iterable[tuple[Question, Sequence[float]]]:
        """Many begin alike."""
        for text, within_word in product((*tiny.TEXTS, *(t[: len(t) // 2] for t in tiny.TEXTS)), (False, True)):
            yield Likelihood(text, within_word=within_word), naive.following(model, text)[0]
        for attribute, hidden in product(("nurse", "carpenter", "lodging manager"), (False, True)):
            for question, sentences, until in naive.fills(f"{{}} works as a {attribute}.", attribute, hidden):
                place = question.among.index(question.answer)
                yield question, [naive.compared(model, sentences, until)[place]]
        for premise in tiny.TEXTS[:3]:
            prompt = f"{premise}\nQuestion: He works. True, False or Neither?\nAnswer:"
            yield Entail(premise, "He works."), naive.compared(model, [f"{prompt} {word}" for word in WORDS])

    return model, pool()


def nli(folder: Path) -> tuple[NliModel, Iterable[tuple[Question, Sequence[float]]]]:
    model = load(NliModel, str(tiny.save_classifier("bert-uncased", folder)))
    pairs = product(tiny.TEXTS, tiny.TEXTS[:2])
    return model, ((Entail(*pair), naive.entail(model, *pair)) for pair in pairs)


MAKERS: tuple[Callable[[Path], tuple[Any, Any]], ...] = (masked, causal, nli)


@pytest.fixture(scope="module", params=MAKERS, ids=lambda make: make.__name__)
def network(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Network:
    model, pool = request.param(tmp_path_factory.mktemp("tiny") / "tiny")
    return Network(model, list(pool))


def check(network: Network, places: Sequence[int]) -> None:
    """The answers to these questions, asked together, are those of the naive loop."""
    chosen = [network.pool[place] for place in places]
    for answer, (_, wanted) in zip(network.model.answer([question for question, _ in chosen]), chosen, strict=True):
        assert not answer.note
        assert answer.logps == pytest.approx(wanted, abs=CLOSE)


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_order_duplicates_batching_and_sharing_change_no_answer(network: Network, data: st.DataObject) -> None:
    places = data.draw(st.lists(st.integers(0, len(network.pool) - 1), min_size=1, max_size=12))
    sizes = {"tokens": st.integers(1, 400), "inputs": st.integers(1, 20), "positions": st.integers(1, 30)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(network.model, "limit", Limit(**{name: data.draw(size) for name, size in sizes.items()}))
        if isinstance(network.model, CausalLM):
            patch.setattr(network.model, "_nodes", data.draw(st.sampled_from((0, 1, 20, 256))))
        check(network, places)


def test_each_distinct_input_goes_through_the_network_once(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, ...]] = []
    forward = network.model._cells

    def seeing(batch: Batch) -> Any:
        seen.extend(batch.inputs)
        return forward(batch)

    monkeypatch.setattr(network.model, "_cells", seeing)
    questions = network.questions
    if isinstance(network.model, MaskedLM):  # which reads attention apart
        questions = [question for question in questions if not getattr(question, "attention", False)]
    network.model.answer([*questions, *questions[::-1]])
    assert len(seen) == len(set(seen)) == network.model.plan(questions).inputs


def test_a_stopped_run_goes_on_to_the_same_bits_and_is_then_kept(
    network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, store = network.model, tmp_path / "answers.sqlite"
    monkeypatch.setattr(model, "limit", Limit(tokens=60, inputs=2, positions=1000))
    if isinstance(model, CausalLM):
        monkeypatch.setattr(model, "_nodes", 30)
    wanted = model.answer(network.questions)
    begin, started = model._begin, []

    def stopping(batch: Batch) -> Any:
        started.append(batch.key)
        if len(started) == 5:
            raise KeyboardInterrupt
        return begin(batch)

    monkeypatch.setattr(model, "_begin", stopping)
    with pytest.raises(KeyboardInterrupt):
        Remembering(model, store).answer(network.questions)
    assert Remembering(model, store).answer(network.questions) == wanted
    assert len(set(started)) == len(started) - 1  # the one that was stopped
    kept = Remembering(model, store)
    assert kept.answer(network.questions) == wanted
    assert (kept.work.kept, kept.work.batches) == (len(set(network.questions)), 0)


def test_out_of_memory_halves_the_batch_and_goes_on(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    model = network.model
    forward, tried = model._cells, []

    def small_memory(batch: Batch) -> Any:
        tried.append(batch.tokens)
        if batch.tokens > 80:
            raise torch.OutOfMemoryError("too much")
        return forward(batch)

    monkeypatch.setattr(model, "_cells", small_memory)
    monkeypatch.setattr(model, "_too_large", math.inf)
    monkeypatch.setattr(model, "limit", Limit(tokens=10**6, inputs=16, positions=10**6))
    if isinstance(model, CausalLM):
        monkeypatch.setattr(model, "_nodes", 1)
    check(network, [place for place, question in enumerate(network.questions) if type(question) is not Fill][:40])
    failed = [tokens for tokens in tried if tokens > 80]
    assert len(failed) > 1
    assert failed == sorted(set(failed), reverse=True)  # what failed once, or is larger, is not tried again


def test_out_of_memory_on_one_input_is_an_error_with_the_size(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_memory(batch: object) -> object:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes.")

    monkeypatch.setattr(network.model, "_cells", no_memory)
    monkeypatch.setattr(network.model, "_too_large", math.inf)
    with pytest.raises(ModelError, match=r"out of memory.* \d+ tokens"):
        network.model.answer(network.questions[:1])


def test_nan_from_the_network_is_no_number(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network.model, "_cells", lambda batch: torch.full((sum(map(len, batch.cells)),), math.nan))
    assert network.model.answer(network.questions[:1])[0].note == "not a finite number"


LONG = "nurse " * 700
UNANSWERED: dict[str, list[tuple[Question, str]]] = {
    "masked": [
        (Fill(NURSE, SHE, "Ж"), "unknown word"),
        (Fill("She is a Ж.", SHE, "She"), "unknown word"),
        (Likelihood("She is a 護士."), "unknown word"),
        (Likelihood("She is \U0001f980.", masked="none"), "unknown word"),
        (Likelihood("She is \U0001f980.", masked="none", attention=True), "unknown word"),
        (Likelihood("She is a [MASK]."), "special token in the text"),
        (Likelihood("She is [MASK].", masked="none"), "special token in the text"),
        (Likelihood(LONG), "too long"),
        (Likelihood(LONG, masked="none"), "too long"),
        (Likelihood(LONG, masked="none", attention=True), "too long"),
        (Fill(NURSE, SHE, LONG), "too long"),
        (Likelihood("nurse", skip=(Span(0, 5),)), "nothing left outside the skipped spans"),
        (Fill(NURSE, SHE, "she", among=("she",)), "candidates do not differ"),
        (Fill("This man is here.", Span(5, 7), "ma"), "part of a piece"),
        (Likelihood("This man is here.", skip=(Span(5, 7),)), "part of a piece"),
        (Likelihood("She is.", versus=("She is.", "24 24")), "no token shared with the other sentence"),
        (
            Likelihood("She is.", masked="changed", versus=("She is.", "She is 24.")),
            "no token that the other sentence lacks",
        ),
    ],
    "causal": [
        (Likelihood("She is a Ж."), "unknown word"),
        (Fill("___ is a nurse.", SHE, "Ж", among=("Ж", "He")), "unknown word"),
        (Likelihood("She is a <s>."), "special token in the text"),
        (Likelihood(LONG), "too long"),
        (Likelihood("nurse", skip=(Span(0, 5),)), "nothing left outside the skipped spans"),
        (Likelihood("This manager is here.", skip=(Span(5, 6),)), "part of a piece"),
        (Fill("The nurse is ___.", Span(13, 16), "a man", (Span(4, 9),), among=("a man", "ill")), "attribute before"),
        (Fill("___ left.", SHE, "He", among=("He",)), "candidates do not differ"),
    ],
    "nli": [
        (Entail("She is a nurse. " * 7, "She is a nurse. " * 9), "too long"),
        (Entail("She is a Ж.", NURSE), "unknown word"),
        (Entail(NURSE, "She is a 護士."), "unknown word"),
        (Entail(NURSE, "\u200b"), "unknown word"),
        (Entail("She is a [MASK].", NURSE), "special token in the text"),
        (Entail("She is a nurse. [SEP] He is", NURSE), "special token in the text"),
    ],
}


@pytest.mark.parametrize("kind", UNANSWERED)
def test_what_cannot_be_answered_is_nan_with_the_reason(kind: str, tmp_path: Path) -> None:
    """In one call, together with a question that can be answered."""
    known: Question = Entail(NURSE, NURSE) if kind == "nli" else Likelihood(NURSE)
    if kind == "causal":
        model: NetworkModel = load(CausalLM, str(tiny.save_causal("llama", tmp_path / "llama")))
    else:
        model = (masked if kind == "masked" else nli)(tmp_path / "tiny")[0]
    *answers, answered = model.answer([*(question for question, _ in UNANSWERED[kind]), known])
    assert not answered.note
    for answer, (question, note) in zip(answers, UNANSWERED[kind], strict=True):
        assert answer.note.startswith(note), question
        assert math.isnan(answer.logps[0] if kind == "nli" else answer.logp)
