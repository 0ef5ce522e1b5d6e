"""An answer that depends on its neighbours or on rounding is seen, and so is one that is no number."""

import contextlib
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import evenhand
from evenhand import Answer, Table
from evenhand.checks.base import Case, NotChecked
from evenhand.checks.doctor import Check
from evenhand.checks.stability import batching, half_precision, numbers
from evenhand.core.questions import Question
from helpers import tiny
from helpers.checked import Leaky, Make, one


def test_leaky_padding_is_unfit_where_it_reaches_answers(make: Make) -> None:
    model = make("convbert")
    assert model.limit.enough == 0  # loading has noticed, so
    assert one(batching, model).verdict == "fine"
    model.limit = replace(model.limit, enough=10**9)
    finding = one(batching, model)
    assert finding.verdict == "unfit"
    assert "`batch_size=1`" in finding.do


@pytest.mark.parametrize(("nats", "verdict"), [(1e-5, "fine"), (1e-3, "careful"), (1e-1, "unfit")])
def test_what_rounding_explains_is_no_leak(nats: float, verdict: str) -> None:
    finding = one(batching, Leaky(nats))
    assert finding.verdict == verdict
    assert f"answers differ by {5 * nats:.1g} nats at most" in finding.says  # six at once, or one


def test_an_answer_that_only_others_let_a_model_give_is_unfit() -> None:
    class Shy(Leaky):
        """Answers nothing alone."""

        def answer(self, questions: Sequence[Question]) -> list[Answer]:
            return [Answer((-1.0,)) if questions[1:] else Answer.none("alone") for _ in questions]

    assert one(batching, Shy()).verdict == "unfit"


@pytest.mark.parametrize("check", [numbers, batching])
def test_a_model_that_answers_nothing_is_left_out(check: Check) -> None:
    mute = Table(lambda question: Answer.none("no"))
    with pytest.raises(NotChecked, match="batching and precision"):
        list(check(Case(mute, "en")))


def test_half_precision_that_overflows_asks_for_care(make: Make) -> None:
    model = make()
    assert one(half_precision, model).verdict == "fine"
    with torch.no_grad():
        model.network.bert.embeddings.LayerNorm.weight.mul_(1e6)
    finding = one(half_precision, model)
    assert finding.verdict == "careful"
    assert "float16 gives answers that are not numbers" in finding.says
    assert list(half_precision(Case(model, "en", thorough=False))) == []
    assert one(numbers, model).verdict == "fine"


def test_answers_that_overflow_and_are_redone_are_counted(tmp_path: Path) -> None:
    half = evenhand.load(str(tiny.save("bert-uncased", tmp_path / "model")), dtype="float16")
    assert one(numbers, half).verdict == "fine"
    assert one(half_precision, half).says.startswith("float16 is ")
    with torch.no_grad():
        half.network.bert.embeddings.LayerNorm.weight.fill_(6e4)
    finding = one(numbers, half)
    assert finding.verdict == "careful"
    assert "overflowed in float16 and were computed again in float32" in finding.says
    assert finding.do == "Measure in float32, or bfloat16."


def test_answers_that_are_no_numbers_are_unfit(make: Make) -> None:
    model = make()
    with torch.no_grad():
        model.network.bert.embeddings.LayerNorm.weight.fill_(math.nan)
    assert one(numbers, model).verdict == "unfit"


def test_log_probabilities_above_0_are_unfit() -> None:
    finding = one(numbers, Table(lambda question: (5.0,)))
    assert finding.verdict == "unfit"
    assert finding.says == "6 of 6 answers in float32 are unusable: a log-probability above 0."


def test_casting_leaves_the_model_as_it_is(make: Make) -> None:
    model = make()
    questions, before = Case(model, "en").ordinary
    cast = model.cast("float16")
    with contextlib.suppress(evenhand.ModelError):  # a processor without it
        model.cast("bfloat16")
    assert torch.backends.mkldnn.enabled
    assert cast.network.dtype == torch.float16
    assert cast.fingerprint != model.fingerprint
    assert model.network.dtype == torch.float32
    assert model.answer(questions) == before
