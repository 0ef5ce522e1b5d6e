"""Requests are sent at once as far as the server answers more of them so, and each gets its reply once."""

from evenhand import Choose
from evenhand.core.questions import Question
from helpers import tiny

from .conftest import Connect

LETTERS: list[Question] = [
    Choose(f"{text} Case {n}.", ("He", "She"), by="letters") for n, text in enumerate(tiny.TEXTS * 8)
]
A = {
    "choices": [{"logprobs": {"tokens": [" A"], "token_logprobs": [-0.1], "top_logprobs": [{" A": -0.1, " B": -3.0}]}}]
}
NEXT = frozenset({"next", "text", "usage", "models"})


def test_it_grows_up_to_what_is_allowed_and_never_beyond(connect: Connect) -> None:
    server, model = connect(gives=NEXT, concurrency=4)
    assert server.most_at_once == 1  # what the server can do is found out by single requests
    server.replies, server.delay = lambda body, chat: (200, A), 0.03
    model.reference = {}  # would be answered with the same
    assert len(model.answer(LETTERS)) == len(LETTERS)
    assert 2 < server.most_at_once <= 4
    asked = [body["prompt"] for body in server.seen if "Case" in body["prompt"]]
    assert len(asked) == len(set(asked)) == len(LETTERS)


def test_one_at_once_is_one(connect: Connect) -> None:
    server, model = connect(gives=NEXT, delay=0.002, concurrency=1)
    model.answer(LETTERS[:20])
    assert server.most_at_once == 1


def test_a_server_with_two_slots_gets_few_more_requests_than_it_has_slots(connect: Connect) -> None:
    server, model = connect(gives=NEXT, concurrency=8)
    server.replies, server.delay, server.slots = lambda body, chat: (200, A), 0.08, 2
    model.reference = {}  # would be answered with the same
    model.answer(LETTERS[:40])
    assert 2 <= server.most_at_once < 8


def test_a_busy_server_gets_fewer_and_every_question_its_answer_once(connect: Connect) -> None:
    server, model = connect(gives=NEXT, concurrency=8)
    _, sound = connect(gives=NEXT)
    server.delay, server.busy_above = 0.02, 3
    questions = LETTERS[:40]
    given = list(model.answers(questions))
    assert sorted(number for number, _ in given) == list(range(40))
    assert [answer for _, answer in sorted(given, key=lambda one: one[0])] == sound.answer(questions)
    asked = [body["prompt"] for body in server.seen if "Case" in body["prompt"]]
    assert len(asked) == len(set(asked)) == 40
    assert 0 < server.refused < 10
    assert model.client.pace.now < 8
