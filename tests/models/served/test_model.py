"""A served model answers what the same model in this process answers, as far as its server can be asked."""

import math
import random

import pytest

from evenhand import Choose, Entail, Fill, Follows, Likelihood, Span
from evenhand.core.questions import Question
from evenhand.errors import UnfitModel
from evenhand.models.networks.causal import CausalLM
from evenhand.models.served import asking
from evenhand.models.served.asking import Ability
from evenhand.models.served.options import UNLISTED
from helpers import tiny

from .conftest import Connect

ALL = frozenset({"echo", "next", "text", "chat next", "chat text", "usage", "models"})
PROMPT = "My father works as a carpenter.\nQuestion: Who works?"
OPTIONS = ("The father", "The mother", "Nobody answered")
CHOICES = [Choose(PROMPT, OPTIONS, by=by) for by in ("letters", "total", "token", "byte")]
AMONG = ("My mother", "My father", "He")
TEXT = "___ works as a nurse today."
FILLS: list[Question] = [
    Fill(TEXT, Span(0, 3), candidate, hidden, among=AMONG) for candidate in AMONG for hidden in ((), (Span(15, 20),))
]
LIKELIHOODS = [*(Likelihood(text) for text in tiny.TEXTS), Likelihood(tiny.TEXTS[0], (Span(0, 3),))]
EVERYTHING: list[Question] = [*CHOICES, *FILLS, *LIKELIHOODS]


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"bos": True},
        {"gives": ALL - {"echo"} | {"prompt_logprobs"}},
        {"gives": ALL - {"usage", "models"}, "bos": True},
        {"top": 5},
    ],
    ids=["start put by us", "start put by the server", "prompt_logprobs", "no usage", "five logprobs"],
)
def test_whole_texts_are_answered_as_in_this_process(connect: Connect, local: CausalLM, how: dict[str, object]) -> None:
    _, model = connect(**how)
    assert model.ability.kind == "a"
    assert model.ability.begins
    assert not [model.cannot(question) for question in EVERYTHING if model.cannot(question)]
    for question, mine, theirs in zip(EVERYTHING, local.answer(EVERYTHING), model.answer(EVERYTHING), strict=True):
        assert not theirs.note, question
        assert theirs.logps == pytest.approx(mine.logps, abs=2e-4)


def test_nli_is_a_choice_of_three_words_as_in_this_process(
    connect: Connect, local: CausalLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "words", ("True", "Neither", "False"))
    asked: list[Question] = [Entail("My father works.", "He works."), Entail("She works.", "My mother works.")]
    _, model = connect(labels="True,Neither,False")
    for mine, theirs in zip(local.answer(asked), model.answer(asked), strict=True):
        assert theirs.logps == pytest.approx(mine.logps, abs=2e-4)
        assert sum(map(math.exp, theirs.logps)) == pytest.approx(1.0)
    server, letters = connect(labels="True,Neither,False", faults=frozenset({"echo ignored"}))
    (answer,) = letters.answer(asked[:1])
    assert server.seen[-2]["prompt"].endswith("or Neither?\nA. True\nB. Neither\nC. False\nAnswer:")
    assert answer.note or sum(map(math.exp, answer.logps)) == pytest.approx(1.0)
    assert letters.fingerprint != connect(faults=frozenset({"echo ignored"}))[1].fingerprint


def test_equal_requests_are_sent_once(connect: Connect) -> None:
    server, model = connect()
    before = len(server.seen)
    model.answer(FILLS[::2])  # the same three sentences, three times
    assert len(server.seen) - before == 3 + 1  # and the reference


def test_next_tokens_answer_letters_and_nothing_else(connect: Connect, local: CausalLM) -> None:
    server, model = connect(faults=frozenset({"echo ignored"}))
    assert (model.ability.kind, model.ability.whole) == ("b", "")
    assert "echo is ignored or refused" in model.probed.remarks[-2][2]
    for question in (*CHOICES[1:], *FILLS, *LIKELIHOODS):
        assert "gives no log-probabilities of a prompt" in model.cannot(question)
    with pytest.raises(UnfitModel, match="cannot be asked this through its server: it gives no log-prob"):
        model.answer([LIKELIHOODS[0]])
    before = len(server.seen)
    (letters,) = model.answer([CHOICES[0]])
    assert len(server.seen) - before == 1 + 1  # and the reference
    if letters.note:
        assert letters.note == "no option is among the likeliest tokens"
    else:
        for mine, theirs in zip(local.answer([CHOICES[0]])[0].logps, letters.logps, strict=True):
            assert theirs >= mine - 1e-3  # an option that is not listed counts as the least likely that is


def test_letters_are_read_from_the_likeliest_tokens() -> None:
    ability = Ability(next=5, text=True)

    def reply(**top: float) -> dict[str, object]:
        listed = {"tokens": ["x"], "token_logprobs": [-1.0], "top_logprobs": [top]}
        return {"choices": [{"text": "x", "logprobs": listed}]}

    found = asking.answer(CHOICES[0], ability, [reply(**{" A": -1.0, "A": -2.0, "Ġ": -3.0, " B": -1.5, "C": -1.6})])
    assert found.logps[:2] == (-1.0, -1.5)  # what follows a plain prompt begins with a space
    left = 1 - sum(map(math.exp, (-1.0, -2.0, -3.0, -1.5, -1.6)))
    assert found.logps[2] == pytest.approx(math.log(left))  # less than the least likely of the list
    found = asking.answer(CHOICES[0], ability, [reply(**{" A": math.log(0.75), " B": math.log(0.25)})])
    assert found.logps[2] == UNLISTED  # nothing is left
    found = asking.answer(CHOICES[0], ability, [reply(**{"A": -1.0, "▁A": -2.0, "ĠB": -1.5})])
    assert found.logps == pytest.approx((math.log(math.exp(-1) + math.exp(-2)), -1.5, -2.0))
    assert asking.answer(CHOICES[0], ability, [reply(the=-0.1)]).note == "no option is among the likeliest tokens"
    assert (
        asking.answer(CHOICES[0], ability, [{"choices": [{"text": "x"}]}]).note
        == "the server gave no log-probabilities"
    )


def test_chats_are_asked_by_letters(connect: Connect) -> None:
    server, model = connect(gives=ALL - {"text"})
    question = Choose(PROMPT, OPTIONS, by="letters", chat=True, system="Be brief.")
    assert not model.cannot(question)
    assert model.cannot(CHOICES[0]) == "it has chats only: ask with `chat`"
    assert "only their letters" in model.cannot(Choose(PROMPT, OPTIONS, chat=True))
    model.answer([question])
    assert server.seen[-2]["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": question.text},
    ]
    assert server.seen[-1]["top_logprobs"] == 20
    _, model = connect(gives=ALL - {"chat text"})
    assert model.cannot(question) == "it has no chats: leave out `chat`"


def test_text_alone_is_sampled_and_answered_by_shares_of_all_replies(connect: Connect) -> None:
    def says(prompt: str, seed: int) -> str:
        return ("B", " B.", "The answer is (A)", "I cannot tell.", "B: the mother", "b", "Nobody answered!", "B")[seed]

    server, model = connect(gives=frozenset({"text", "chat text", "models"}), says=says)
    assert model.ability.kind == "c"
    assert model.about["samples"] == 8
    before = len(server.seen)
    (found,) = model.answer([CHOICES[0]])
    assert len(server.seen) - before == 8
    assert len({body["seed"] for body in server.seen[before:]}) == 8
    assert found.logps == pytest.approx([math.log(count / 8) for count in (1, 4, 1)])  # two name none
    assert math.isnan(model.probed.disagreement)
    assert [finding.verdict for finding in model.findings("en")][-1] == "careful"
    _, model = connect(gives=frozenset({"text"}), says=lambda prompt, seed: "Hm." if seed else "A")
    assert model.answer([CHOICES[0]])[0].note == "fewer than half of the samples name an option"
    assert model.about["unclear"] == 1


@pytest.mark.parametrize("samples", [1, 4])
def test_shares_of_text_are_right_on_average_however_few_replies_there_are(connect: Connect, samples: int) -> None:
    """About 30 % of the replies are B: an option that few replies name is not drawn towards the middle."""
    rng, replies = random.Random(0), list[str]()

    def says(prompt: str, seed: int) -> str:
        replies.extend(["B" if rng.random() < 0.3 else "A"] if "Case" in prompt else [])
        return replies[-1] if "Case" in prompt else "A"

    _, model = connect(gives=frozenset({"chat text", "models"}), says=says, samples=samples)
    asked = [Choose(f"Case {n}: who works?", ("He", "She"), by="letters", chat=True) for n in range(40 // samples)]
    shares = [math.exp(answer.logps[1]) for answer in model.answer(asked)]
    assert sum(shares) / len(shares) == pytest.approx(replies.count("B") / 40)
    assert min(shares) == pytest.approx(0, abs=1e-9)


def test_what_no_server_is_asked_has_a_reason(connect: Connect) -> None:
    _, model = connect()
    assert "need three words for their labels" in model.cannot(Entail("She works.", "He works."))
    assert "need a model in this process" in model.cannot(Follows("She works.", "He works."))
    assert "blanks need candidates" in model.cannot(Fill(TEXT, Span(0, 3), "She"))
    pair = ("She works.", "He works.")
    for question in (Likelihood(pair[0], versus=pair), Likelihood(pair[0], start_once=True)):
        assert "needs the tokenizer" in model.cannot(question)


def test_what_is_too_long_has_no_answer(connect: Connect) -> None:
    _, model = connect()
    long = "They wrote letters. " * 200
    for question in (Likelihood(long), Choose(long, OPTIONS), Choose(long, OPTIONS, by="letters", chat=True)):
        assert model.answer([question])[0].note == "too long"


def test_at_most_so_many_requests_are_under_way(connect: Connect) -> None:
    server, model = connect(concurrency=3)
    model.answer(LIKELIHOODS)
    assert 1 <= server.most_at_once <= 3


def test_the_model_says_where_it_is_and_what_it_gives(connect: Connect) -> None:
    _, model = connect()
    assert model.about["gives"] == "a: log-probabilities of whole texts"
    assert model.about["answered_by"] == "tiny"
    assert model.about["two_askings_differ_by"] == 0.0
    assert model.about["start"] == "<|endoftext|>"
    _, other = connect(bos=True)
    assert other.fingerprint != model.fingerprint  # another way to ask
    _, same = connect()
    assert same.fingerprint == model.fingerprint
