"""What chat models behind servers do: they are asked, counted or refused before a number is made of it."""

import math
from collections import Counter
from collections.abc import Callable
from itertools import cycle
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response

from evenhand import Choose
from evenhand.core.model import check_answer
from evenhand.core.questions import Question, Write
from evenhand.errors import ModelError, ModelNotFound, UnfitModel
from evenhand.models.served import asking, replies
from evenhand.models.served.asking import REPLY_TOKENS, THOUGHT_TOKENS, Ability
from evenhand.models.served.model import ServedModel
from evenhand.models.served.options import REFUSING, THINKING, UNCLEAR
from helpers.openai_server import FakeServer

from .conftest import Connect

Body = dict[str, Any]
Replies = Callable[[Body, bool], tuple[int, Body] | None]

CHATS = frozenset({"chat next", "chat text", "models", "usage"})
ALL = CHATS | {"next", "text"}
LETTERS = Choose("Who works?", ("He", "She"), by="letters", chat=True)
EXACT = Choose("Who works?", ("He", "She"), by="letters", chat=True, exact=True)
LIMITS = ("max_tokens", "max_completion_tokens")


def said(content: Any, finished: str = "stop", usage: Body | None = None, **message: Any) -> tuple[int, Body]:
    """A reply in a chat."""
    choice = {"index": 0, "finish_reason": finished, "message": {"role": "assistant", "content": content, **message}}
    return 200, {"model": "tiny", "choices": [choice], "usage": usage or {"prompt_tokens": 20, "completion_tokens": 1}}


def refused(says: str, status: int = 400) -> tuple[int, Body]:
    return status, {"error": {"message": says, "type": "invalid_request_error"}}


def tokens(body: Body) -> int:
    """The limit of tokens of a request."""
    return next(int(body[name]) for name in LIMITS if name in body)


def thinking(thought: Callable[[bool], tuple[int, Body]]) -> Replies:
    """A model that thinks with 100 tokens; `thought` is its reply, when it had enough tokens and when not."""
    return lambda body, chat: thought(tokens(body) > 100) if chat else None


THINKERS: dict[str, Replies] = {
    "apart, as vLLM had it": thinking(
        lambda done: said("B", reasoning_content="A? B!") if done else said(None, "length", reasoning_content="A?")
    ),
    "apart, as vLLM and Ollama have it": thinking(
        lambda done: said("B", reasoning="A? B!") if done else said("", "length", reasoning="A?")
    ),
    "in the text": thinking(lambda done: said("<think>A? B!</think>\n\nB" if done else "<think>A?", "stop")),
    "in the text, begun by the template": thinking(
        lambda done: said("A? No, B!\n</think>\n\nB") if done else said("A? I wonder whether", "length")
    ),
    "unseen, as OpenAI has it": thinking(
        lambda done: (
            said("B", usage={"completion_tokens": 120, "completion_tokens_details": {"reasoning_tokens": 100}})
            if done
            else said(
                "", "length", usage={"completion_tokens": 16, "completion_tokens_details": {"reasoning_tokens": 16}}
            )
        )
    ),
    "unseen, with an error where it has too few tokens": thinking(
        lambda done: (
            said("B") if done else refused("Could not finish the message because model output limit was reached.")
        )
    ),
    "in parts, as Mistral has it": thinking(
        lambda done: (
            said([{"type": "thinking", "thinking": [{"text": "A? B!"}]}, {"type": "text", "text": "B"}])
            if done
            else said([{"type": "thinking", "thinking": [{"text": "A?"}]}], "length")
        )
    ),
}


@pytest.mark.parametrize("how", THINKERS)
def test_a_model_that_thinks_gets_tokens_for_it_and_is_asked_for_text(connect: Connect, how: str) -> None:
    server, model = connect(gives=CHATS, replies=THINKERS[how], samples=4)
    assert model.ability.thinks
    assert (model.ability.kind, model.ability.chat_next) == ("c", 0)
    (remark,) = (remark for remark in model.probed.remarks if remark[0] == "thoughts")
    assert remark[1] == "careful"
    (answer,) = model.answer([LETTERS])
    assert answer.logps[1] > answer.logps[0]  # B, not the A of its thoughts
    assert {tokens(body) for body in server.seen[-4:]} == {REPLY_TOKENS + THOUGHT_TOKENS}
    assert "gives text only" in model.cannot(EXACT)
    assert "it thinks before it writes" in model.cannot(Write("Write.", chat=True))


def test_a_model_that_does_not_think_is_asked_for_its_next_token(connect: Connect) -> None:
    for reply, most in ((said("A"), REPLY_TOKENS), (said("A long story, and I", "length"), THOUGHT_TOKENS)):
        server, model = connect(gives=CHATS, replies=lambda body, chat, r=reply: None if "logprobs" in body else r)
        assert (model.ability.thinks, model.ability.chat_next) == (False, 20)
        assert max(map(tokens, server.seen)) == most  # what is cut is asked for once more, with more tokens


@pytest.mark.parametrize(
    ("reply", "note"),
    [
        (said("", "length"), THINKING),
        (said(None, "length", reasoning="Is it he or she?"), THINKING),
        (said("<think>Is it he or she?", "length"), THINKING),
        (said(None, refusal="I cannot help with that."), REFUSING),
        (said("", "content_filter"), REFUSING),
        (said(""), UNCLEAR),
        (said(None), UNCLEAR),
        (said([]), UNCLEAR),
        (said("I'm sorry, but I can't say that she does."), UNCLEAR),
        (said("Both of them."), UNCLEAR),
    ],
)
def test_replies_without_an_option_are_counted_with_the_reason(
    connect: Connect, reply: tuple[int, Body], note: str
) -> None:
    server, model = connect(gives=frozenset({"chat text", "models"}), samples=4)
    server.replies = lambda body, chat: reply
    (answer,) = model.answer([LETTERS])
    assert answer.note == note
    assert model.about["unclear"] == 1


def test_the_advice_for_thoughts_without_an_end_is_in_the_reason() -> None:
    assert "Turn its thinking off in the server" in THINKING
    assert THINKING.startswith(UNCLEAR)
    assert REFUSING.startswith(UNCLEAR)


def test_no_text_has_a_reason_where_the_model_only_thinks() -> None:
    reply = said("", "length", reasoning="She")[1]
    answer = asking.answer(Write("Write.", chat=True), Ability(chat_text=True), [reply])
    assert answer.note == asking.NO_TEXT


@pytest.mark.parametrize(
    ("reply", "text"),
    [(said(None, refusal="I cannot."), ""), (said("She", "content_filter"), "She"), (said(""), "")],
)
def test_a_refusal_is_a_text_like_any_other(reply: tuple[int, Body], text: str) -> None:
    """Without gender as a rule: left out, the prompts that a model refuses would not be seen to be undetected."""
    answer = asking.answer(Write("Write.", chat=True), Ability(chat_text=True), [reply[1]])
    assert (answer.text, answer.note) == (text, "")


def test_parts_of_a_message_are_one_text() -> None:
    parts = [
        {"type": "thinking", "thinking": "A?"},
        {"type": "text", "text": "She "},
        {"type": "text", "text": "works."},
    ]
    assert replies.text(said(parts)[1]) == "She works."


def test_a_limit_by_another_name_is_used_in_every_chat(connect: Connect) -> None:
    def like_newer_models(body: Body, chat: bool) -> tuple[int, Body] | None:
        if "max_tokens" in body:
            return refused("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
        return refused("'logprobs' is not supported with this model.") if "logprobs" in body else said("A")

    server, model = connect(gives=CHATS, replies=like_newer_models, samples=2)
    assert (model.ability.limit, model.ability.kind) == ("max_completion_tokens", "c")
    model.answer([LETTERS])
    assert not [body for body in server.seen[-2:] if "max_tokens" in body or "logprobs" in body]


NO_TEMPERATURE = "Unsupported parameter: 'temperature' is not supported with this model."


def without_temperature(body: Body, chat: bool) -> tuple[int, Body] | None:
    return refused(NO_TEMPERATURE) if "temperature" in body else said("A") if chat else None


def test_a_model_that_refuses_a_temperature_cannot_be_asked_at_1(connect: Connect) -> None:
    with pytest.raises(UnfitModel, match="temperature 1.*Unsupported"):
        connect(gives=frozenset({"chat text"}), replies=without_temperature)


def test_it_is_asked_without_one_where_its_own_is_1_by_the_documentation(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(body: Body, chat: bool) -> tuple[int, Body] | None:
        says = "Unsupported value: 'temperature'. Only the default (1) value is supported."
        return refused(says) if "temperature" in body else said("A")

    server, model = connect(gives=frozenset({"chat text"}), replies=told, samples=2)
    assert (model.ability.kind, model.ability.warm) == ("c", False)
    assert "1 by OpenAI's documentation" in str(model.about["temperature"])
    assert [remark[1] for remark in model.probed.remarks if remark[0] == "temperature"] == ["careful"]
    model.answer([LETTERS])
    assert not [body for body in server.seen[-2:] if "temperature" in body]
    hot = Write("Write.", chat=True, temperature=0.5)
    assert "it takes no temperature" in model.cannot(hot)
    assert not model.cannot(Write("Write.", chat=True))

    monkeypatch.setattr("evenhand.models.served.probe.DEFAULT_URL", model.client.address.base_url)
    server.replies = without_temperature  # at OpenAI's own address the documentation says it
    assert not ServedModel(model.client.address).ability.warm
    _, usual = connect()
    assert "temperature" not in usual.about


def test_log_probabilities_that_chats_alone_lack_are_seen(connect: Connect) -> None:
    server, model = connect(gives=ALL - {"chat next"}, samples=4)
    assert (model.ability.kind, model.ability.next > 0, model.ability.chat_next) == ("b", True, 0)
    assert "In chats it gives text only" in next(
        says for check, _, says, _ in model.probed.remarks if check == "server"
    )
    assert (model.about["samples"], model.about["unclear"]) == (4, 0)
    plain = Choose("Who works?", ("He", "She"), by="letters", exact=True)
    assert not model.cannot(plain)
    assert "gives text only" in model.cannot(EXACT)
    (answer,) = model.answer([LETTERS])
    assert sum("seed" in body for body in server.seen) == 4
    assert answer.logps[0] > answer.logps[1]
    assert connect(gives=ALL - {"chat next"}, samples=8)[1].fingerprint != model.fingerprint
    assert connect(gives=ALL, samples=8)[1].fingerprint == connect(gives=ALL, samples=4)[1].fingerprint


def test_too_few_of_the_likeliest_tokens_are_not_used(connect: Connect) -> None:
    def lists(count: int) -> Replies:
        listed = [{"token": token, "logprob": -1.5, "bytes": None} for token in "ABCD"[:count]]

        def reply(body: Body, chat: bool) -> tuple[int, Body] | None:
            if not chat or not body.get("logprobs"):
                return None
            status, found = said("A")
            found["choices"][0]["logprobs"] = {"content": [{**listed[0], "top_logprobs": listed}]}
            return status, found

        return reply

    for count, used in ((1, 0), (2, 0), (3, 3), (4, 4)):
        _, model = connect(gives=CHATS, replies=lists(count), samples=2)
        assert model.ability.chat_next == used
        assert [says for check, _, says, _ in model.probed.remarks if check == "next tokens"] == (
            []
            if used
            else [f"Of the 20 likeliest tokens asked for it lists {count}, too few to compare options: not used."]
        )


@pytest.mark.parametrize("status", [400, 422, 500])
@pytest.mark.parametrize(
    "says",
    [
        "System role not supported",
        "Conversation roles must alternate user/assistant/user/assistant/...",
        "While executing CallExpression in source: {{ raise_exception('System role not supported') }}",
        "The chat template failed to render: 'system' is undefined",
    ],
)
def test_a_template_without_a_system_role_is_a_sentence_at_once(connect: Connect, status: int, says: str) -> None:
    server, model = connect(gives=CHATS, patience=60.0)
    server.replies = lambda body, chat: refused(says, status) if body["messages"][0]["role"] == "system" else None
    with pytest.raises(ModelError, match="`system`"):
        model.answer([Choose("Who works?", ("He", "She"), by="letters", chat=True, system="Be brief.")])
    assert not model.answer([LETTERS])[0].note.startswith("The server")


def test_an_error_500_of_another_kind_is_tried_again(connect: Connect) -> None:
    server, model = connect(gives=CHATS)
    failures = [refused("Internal error", 500), refused("Internal error", 500)]
    server.replies = lambda body, chat: failures.pop() if failures else None
    assert len(model.answer([LETTERS])) == 1
    assert not failures


def test_completions_in_a_chat_template_are_not_used(connect: Connect) -> None:
    """Ollama puts a prompt into the model's template: the tokens that it counts show it."""

    def templated(body: Body, chat: bool) -> tuple[int, Body] | None:
        if chat:
            return None
        usage = {"prompt_tokens": 11 + len(body["prompt"]) // 4, "completion_tokens": 1}
        return 200, {"model": "tiny", "choices": [{"index": 0, "text": "A", "finish_reason": "length"}], "usage": usage}

    _, model = connect(gives=ALL, replies=templated)
    assert (model.ability.kind, model.ability.text, model.ability.chat_next) == ("b", False, 20)
    assert [remark[1] for remark in model.probed.remarks if remark[0] == "completions"] == ["careful"]
    assert model.cannot(Choose("Who works?", ("He", "She"), by="letters")) == "it has chats only: ask with `chat`"
    long = Choose("They wrote 24 letters; nobody answered. " * 4, ("He", "She"), by="letters", chat=True)
    assert model.answer([long])[0].note != "the server has cut the prompt"


def test_a_list_of_models_that_fails_is_not_needed(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    """transformers serve has none where the Hub's cache is missing."""

    async def failing(self: FakeServer, request: Request) -> Response:
        return Response("Internal Server Error", 500)

    monkeypatch.setattr(FakeServer, "models", failing)
    assert connect(patience=60.0)[1].ability.kind == "a"


def test_a_revision_behind_the_name_is_the_same_model(connect: Connect) -> None:
    _, model = connect(shaped=lambda reply, chat: {**reply, "model": "tiny@main"})
    assert model.about["answered_by"] == "tiny@main"
    with pytest.raises(ModelNotFound, match="'tinyish' answers in its place"):
        connect(shaped=lambda reply, chat: {**reply, "model": "tinyish"})


def test_two_models_behind_one_name_are_refused(connect: Connect) -> None:
    names = cycle(("tiny@one", "tiny@other"))
    with pytest.raises(ModelError, match="Two models answer to the name 'tiny': 'tiny@one' and 'tiny@other'"):
        connect(shaped=lambda reply, chat: {**reply, "model": next(names)})


def test_a_server_that_forgets_its_numbers_is_refused(connect: Connect) -> None:
    asked = Counter[str]()

    def forgetting(body: Body, chat: bool) -> tuple[int, Body] | None:
        asked[str(body)] += 1
        return None if asked[str(body)] < 2 else (200, {"model": "tiny", "choices": [{"text": "A"}]})

    with pytest.raises(UnfitModel, match=r"\d+ and then \d log-probabilities. Turn logprobs on"):
        connect(replies=forgetting)


ASKED: list[Question] = [Choose("Who works?", ("he", "she"), by="words", chat=True)]


@pytest.mark.parametrize(
    ("top", "expected"),
    [
        ({"he": -0.5, "she": -1.5, "they": -3.0}, (-0.5, -1.5)),
        ({" He": -0.5, "SHE": -1.5, "the": -3.0}, (-0.5, -1.5)),
        ({"the": -0.5, "there": -1.5, "A": -3.0}, "no option is among the likeliest tokens"),
        ({"he": -0.5, "sh": -1.5, "A": -3.0}, "an option may begin with a listed token"),
        ({"A": -0.5, "B": -1.5, "C": -3.0}, "no option is among the likeliest tokens"),
    ],
)
def test_an_option_in_words_is_a_whole_token(top: dict[str, float], expected: tuple[float, ...] | str) -> None:
    listed = [{"token": token, "logprob": logp} for token, logp in top.items()]
    reply = {"choices": [{"logprobs": {"content": [{**listed[0], "top_logprobs": listed}]}}]}
    answer = asking.answer(ASKED[0], Ability(chat_next=20, chat_text=True), [reply])
    if isinstance(expected, str):
        assert answer.note.startswith(expected)
    else:
        assert answer.logps == expected


def test_log_probabilities_that_are_all_infinite_are_no_answer() -> None:
    listed = [{"token": token, "logprob": -math.inf} for token in ("A", "C", "D")]
    reply = {"choices": [{"logprobs": {"content": [{**listed[0], "top_logprobs": listed}]}}]}
    answer = asking.answer(LETTERS, Ability(chat_next=20, chat_text=True), [reply])
    assert "finite" in check_answer(LETTERS, answer).note


def test_digits_are_asked_for_as_letters_are(connect: Connect) -> None:
    server, model = connect(gives=CHATS)
    model.answer([Choose("Who works?", ("He", "She"), by="digits", chat=True, language="de")])
    assert server.seen[-2]["messages"][-1]["content"].endswith(
        "1. He\n2. She\nAntworten Sie mit einer Ziffer und sonst nichts."
    )
    listed = [{"token": token, "logprob": logp} for token, logp in (("2", -0.5), ("1", -1.5), ("12", -3.0))]
    reply = {"choices": [{"logprobs": {"content": [{**listed[0], "top_logprobs": listed}]}}]}
    asked = Choose("Who works?", ("He", "She"), by="digits", chat=True)
    assert asking.answer(asked, Ability(chat_next=20, chat_text=True), [reply]).logps == (-1.5, -0.5)
