"""A causal model chooses among options as the slow and obvious loop does, and reads a context once for all of them."""

import math
from pathlib import Path

import pytest

from evenhand import Choose, Likelihood
from evenhand.errors import UnfitModel
from evenhand.models.networks.causal import CausalLM
from evenhand.models.networks.masked import MaskedLM
from helpers import naive, tiny
from helpers.typed import load

CLOSE = 5e-5
CONTEXT = "My father works as a carpenter, and my mother works as a nurse. They had a good day at work."
PROMPT = f"{CONTEXT}\nWho works as a nurse?"
OPTIONS = ("The mother", "The father", "Nobody answered")


@pytest.fixture(scope="module", params=["gpt2", "gpt-neox", "bloom"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> CausalLM:
    tokenizer = tiny.chatting(tiny.CAUSAL[request.param][0]())
    folder = tmp_path_factory.mktemp("tiny") / request.param
    tiny.save_causal(request.param, folder, tokenizer=tokenizer, max_position_embeddings=512)
    return load(CausalLM, str(folder))


def answered(model: CausalLM, question: Choose) -> tuple[float, ...]:
    (answer,) = model.answer([question])
    assert not answer.note
    return answer.logps


def test_a_choice_by_total_token_and_byte_is_that_of_the_naive_loop(model: CausalLM) -> None:
    tokens = [naive.option(model, PROMPT, f" {option}") for option in OPTIONS]
    totals = [math.fsum(found) for found in tokens]
    assert answered(model, Choose(PROMPT, OPTIONS)) == pytest.approx(totals, abs=CLOSE)
    by_token = [total / len(found) for total, found in zip(totals, tokens, strict=True)]
    assert answered(model, Choose(PROMPT, OPTIONS, by="token")) == pytest.approx(by_token, abs=CLOSE)
    by_byte = [total / len(option.encode()) for total, option in zip(totals, OPTIONS, strict=True)]
    assert answered(model, Choose(PROMPT, OPTIONS, by="byte")) == pytest.approx(by_byte, abs=CLOSE)


def test_letters_are_asked_below_a_list(model: CausalLM) -> None:
    listed = f"{PROMPT}\nA. The mother\nB. The father\nC. Nobody answered\nAnswer:"
    wanted = [math.fsum(naive.option(model, listed, f" {letter}")) for letter in "ABC"]
    assert answered(model, Choose(PROMPT, OPTIONS, by="letters")) == pytest.approx(wanted, abs=CLOSE)


def test_a_chat_puts_system_prompt_and_question_into_the_template(model: CausalLM) -> None:
    before = f"<|system|>Be brief.<|end|><|user|>{PROMPT}<|end|><|assistant|>"
    wanted = [math.fsum(naive.option(model, before, option, templated=True)) for option in OPTIONS]
    assert answered(model, Choose(PROMPT, OPTIONS, chat=True, system="Be brief.")) == pytest.approx(wanted, abs=CLOSE)
    assert answered(model, Choose(PROMPT, OPTIONS, chat=True)) != pytest.approx(wanted, abs=CLOSE)


def test_a_question_cannot_bring_the_templates_own_tokens(model: CausalLM) -> None:
    for question in (
        Choose(f"{PROMPT}<|assistant|>", OPTIONS, chat=True),
        Choose(PROMPT, ("a", "b<|end|>"), chat=True),
    ):
        (answer,) = model.answer([question])
        assert answer.note == "special token in the text"


def test_options_share_the_computation_of_their_context(model: CausalLM) -> None:
    if not model._nodes:
        pytest.skip("it takes no trees")
    long = " ".join([CONTEXT] * 4)
    questions = [Choose(f"{long}\nWho works?", OPTIONS, by=by) for by in ("total", "token", "byte")]
    alone = model.plan([Likelihood(f"{long}\nWho works?")])
    plan = model.plan(questions)
    assert plan.inputs == 1
    more = sum(len(naive.option(model, f"{long}\nWho works?", f" {option}")) for option in OPTIONS)
    tokens = sum(batch.tokens for batch in plan.batches)
    assert tokens <= sum(batch.tokens for batch in alone.batches) + more
    assert tokens > 128  # longer than a tree of sentences


def test_letters_need_the_context_alone(model: CausalLM) -> None:
    plan = model.plan([Choose(PROMPT, OPTIONS, by="letters")])
    assert plan.inputs == 1 or not model._nodes


def test_what_is_too_long_has_no_answer(model: CausalLM) -> None:
    for chat in (False, True):
        (answer,) = model.answer([Choose("They work. " * 300, OPTIONS, chat=chat)])
        assert answer.note == "too long"


def test_a_model_without_a_chat_template_says_so(tmp_path: Path) -> None:
    model = load(CausalLM, str(tiny.save_causal("gpt2", tmp_path / "plain")))
    with pytest.raises(UnfitModel, match="has no chat template. Leave out `chat`"):
        model.plan([Choose("Who?", OPTIONS, chat=True)])


def test_a_template_that_refuses_a_system_prompt_is_told(tmp_path: Path) -> None:
    tokenizer = tiny.continuing_bytes()
    tokenizer.chat_template = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}x"
    model = load(CausalLM, str(tiny.save_causal("gpt2", tmp_path / "strict", tokenizer=tokenizer)))
    with pytest.raises(UnfitModel, match="refuses the prompt: no system.*`system`"):
        model.plan([Choose("Who?", OPTIONS, chat=True, system="Be brief.")])


def test_another_template_is_another_model(tmp_path: Path) -> None:
    prints = []
    for number, template in enumerate((None, "a", "b")):
        tokenizer = tiny.continuing_bytes()
        tokenizer.chat_template = template
        folder = tiny.save_causal("gpt2", tmp_path / str(number), tokenizer=tokenizer)
        prints.append(load(CausalLM, str(folder)).fingerprint)
    assert len(set(prints)) == 3


def test_masked_models_refuse_it(mini_en: MaskedLM) -> None:
    with pytest.raises(UnfitModel, match="Choose.*causal"):
        mini_en.plan([Choose("Who?", OPTIONS)])
