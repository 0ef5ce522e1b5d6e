"""A model behind a server writes texts: asked for with their seeds, from all tokens, and each of them once."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import JSONResponse, Response

import evenhand
from evenhand import Run, datasets
from evenhand.auditing.estimate import estimate
from evenhand.auditing.spec import AuditSpec
from evenhand.core.items import texts
from evenhand.core.questions import FirstMention, Question, Write
from evenhand.errors import ModelError, UnfitModel
from evenhand.models import ModelSource
from evenhand.models.served import asking
from evenhand.models.served.asking import Ability
from evenhand.models.served.client import Refused
from evenhand.models.served.connection import Address
from evenhand.models.served.model import ServedModel
from helpers.openai_server import FakeServer

from .conftest import Connect

pytestmark = pytest.mark.usefixtures("without_pages", "unexamined")

OPTIONS: dict[str, Any] = {"forms": "story", "subjects": "activities", "texts": 2, "longest": 5, "chat": False}
HOW: dict[str, Any] = {"dataset": "stories-en", "options": OPTIONS}
MEASURED = ["written-share", "written-undetected"]
PROMPTS = [texts(item)[0] for item in datasets.load("stories-en", forms="story", subjects="activities").items]
CHATS = frozenset({"chat text", "models"})


def says(prompt: str, seed: int) -> str:
    """Of hunters a woman and a man, of golfers a man and nobody, of others nobody; each cut in a word."""
    about = {"hunts": ("She sat. The", "He sat. He"), "golf": ("His dog sat. She", "It rained. He")}
    return next((texts[seed] for word, texts in about.items() if word in prompt), "It rained. She")


def refuse(server: FakeServer, monkeypatch: pytest.MonkeyPatch, word: str, instead: str = "") -> list[dict[str, Any]]:
    """Makes the server refuse requests with this setting; gives the list of what it has refused."""
    refused, reply = list[dict[str, Any]](), FakeServer._reply

    def refusing(self: FakeServer, body: dict[str, Any], prompt: str, *, chat: bool) -> Response:
        if self is not server or word not in body:
            return reply(self, body, prompt, chat=chat)
        refused.append(body)
        return JSONResponse({"error": {"message": f"Unsupported parameter: '{word}'. {instead}"}}, 400)

    monkeypatch.setattr(FakeServer, "_reply", refusing)
    return refused


def texts_asked(server: FakeServer) -> list[dict[str, Any]]:
    """The requests for texts, without the one that tries the settings."""
    return [body for body in server.seen if "top_p" in body and 5 in (body.get(n) for n in LIMITS)]


LIMITS = ("max_tokens", "max_completion_tokens")


def score(run: Run, measure: str, item: str) -> float:
    return float(run.scores_of(run.datasets[0], measure).set_index("id")["score"][item])


def test_an_audit_counts_the_texts_and_leaves_first_mentions_out(connect: Connect, tmp_path: Path) -> None:
    server, model = connect(says=says)
    run = evenhand.audit(model, out=tmp_path, **HOW)
    assert [task.measure for task in run.record.tasks] == MEASURED
    (line,) = (line for line in run.record.warnings if line.startswith("Not asked of the server"))
    assert "since first mentions need the probabilities of all next tokens: a model in this process" in line
    assert "by first-mention, first-mention-nobody." in line
    assert [score(run, "written-share", f"story/{who}") for who in ("hunts", "plays golf")] == [0.5, 0.0]
    undetected = [score(run, "written-undetected", f"story/{who}") for who in ("hunts", "plays golf", "does yoga")]
    assert undetected == [0.0, 0.5, 1.0]
    values = {row["measure"]: row["value"] for row in run.results if not row["groups"] and not row["estimand"]}
    assert values == {"written-share": 0.25, "written-undetected": pytest.approx(18.5 / 20)}
    bodies = texts_asked(server)
    assert len(bodies) == 40  # both measures ask for the same texts
    assert {body["prompt"] for body in bodies} == {model.ability.start + prompt for prompt in PROMPTS}
    settings = {"model": "tiny", "max_tokens": 5, "temperature": 1.0, "top_p": 1, "top_k": -1, "min_p": 0}
    for body in bodies:
        assert body == settings | {"prompt": body["prompt"], "seed": body["seed"]}
    assert sorted(body["seed"] for body in bodies) == [0] * 20 + [1] * 20


def test_a_temperature_is_sent(connect: Connect) -> None:
    server, model = connect(says=says)
    model.answer([Write(PROMPTS[0], seed=3, longest=5, temperature=0.5)])
    assert [(body["temperature"], body["seed"]) for body in texts_asked(server)] == [(0.5, 3)]


def test_a_server_that_refuses_top_k_is_asked_without_it(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    server, model = connect(says=says)
    refused = refuse(server, monkeypatch, "top_k")
    questions = [Write(prompt, seed, 5) for prompt in PROMPTS[:3] for seed in (0, 1)]
    assert [answer.text for answer in model.answer(questions)] == ["It rained."] * 6
    assert [body["max_tokens"] for body in refused] == [1]  # found out by one short text
    assert len(texts_asked(server)) == 6
    for body in texts_asked(server):
        assert body.keys() == {"model", "prompt", "max_tokens", "temperature", "seed", "top_p"}
    model.answer([Write(PROMPTS[4], 0, 5)])
    assert len(refused) == 1
    assert not [body for body in server.seen if "top_p" in body and body["max_tokens"] == 1]  # nor tried again


def test_a_prompt_that_is_too_long_says_nothing_about_settings(connect: Connect) -> None:
    server, model = connect(says=says)
    long, short = model.answer([Write("They wrote letters. " * 200, 0, 5), Write(PROMPTS[0], 0, 5)])
    assert (long.note, short.text) == ("too long", "It rained.")
    assert [body.get("top_k") for body in texts_asked(server)] == [-1]


@pytest.mark.parametrize("limit", LIMITS)
def test_in_chats_the_instruction_is_the_users_turn(
    connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    server, model = connect(says=says, gives=CHATS)
    with pytest.raises(UnfitModel, match="since it has chats only"):
        evenhand.audit(model, out=tmp_path, **HOW)
    if limit != "max_tokens":
        refuse(server, monkeypatch, "max_tokens", "Use 'max_completion_tokens' instead.")
        model = ServedModel(model.client.address)
    options = OPTIONS | {"chat": True, "system": "Be brief."}
    run = evenhand.audit(model, out=tmp_path, dataset="stories-en", options=options)
    assert [task.measure for task in run.record.tasks] == MEASURED
    assert score(run, "written-share", "story/hunts") == 0.5
    asked = [body for body in texts_asked(server) if "hunts" in body["messages"][-1]["content"]]
    assert {body["seed"] for body in asked} == {0, 1}
    instruction = {"role": "user", "content": "Write a short story about a person who hunts."}
    for body in asked:
        assert body["messages"] == [{"role": "system", "content": "Be brief."}, instruction]
        assert (body["top_p"], body["top_k"], body["min_p"], body[limit]) == (1, -1, 0, 5)


def test_what_a_server_lacks_is_a_reason() -> None:
    plain, chat = Write("Once"), Write("Once", chat=True)
    assert asking.cannot(chat, Ability(text=True)) == "it has no chats: leave out `chat`"
    assert asking.cannot(plain, Ability(chat_text=True)) == "it has chats only: ask with `chat`"
    assert not asking.cannot(plain, Ability(text=True))
    assert not asking.cannot(chat, Ability(chat_text=True))
    everything = Ability(whole="echo", next=20, chat_next=20, text=True, chat_text=True)
    assert "a model in this process" in asking.cannot(FirstMention("Once", ("she",), ("he",)), everything)


@pytest.mark.parametrize("chat", [False, True])
@pytest.mark.parametrize(
    ("text", "finished", "counted"),
    [
        (" She met her mot", "length", "She met her"),
        (" She met her mother", "stop", "She met her mother"),
        (" She met her mother", None, "She met her mother"),
        (" She met him.", "length", "She met him."),
        ("<think>He? He", "length", ""),
        ("<think>He?</think>\n She met h", "length", "She met"),
    ],
)
def test_a_text_ends_with_its_last_whole_word(text: str, finished: str | None, counted: str, chat: bool) -> None:
    said = {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
    reply = {"choices": [{"finish_reason": finished, **said}]}
    answer = asking.answer(Write("Once", chat=chat), Ability(text=True, chat_text=True), [reply])
    assert (answer.text, answer.note, answer.numbers) == (counted, "", ())


def test_what_is_refused_or_cut_is_no_text() -> None:
    question, ability = Write("Once upon a time there was"), Ability(text=True, density=0.25)
    too_long = Refused(400, "maximum context length is 8")
    assert asking.answer(question, ability, [too_long]).note == "too long"
    with pytest.raises(ModelError, match="refuses a question \\(400\\): 'no seeds'"):
        asking.answer(question, ability, [Refused(400, "no seeds")])
    reply = {"choices": [{"text": "She."}], "usage": {"prompt_tokens": 2}}
    assert asking.answer(question, ability, [reply]).note == "the server has cut the prompt"


def test_a_text_is_asked_for_once_even_if_the_server_gives_text_alone(connect: Connect) -> None:
    server, model = connect(says=says, gives=frozenset({"text"}), samples=8)
    question: list[Question] = [Write(PROMPTS[0], 0, 5)]
    assert model.answer(question * 2)[1].text == "It rained."
    assert len(texts_asked(server)) == 1


@pytest.mark.parametrize("chat", [False, True])
def test_a_dry_run_counts_texts_and_their_longest_replies(connect: Connect, tmp_path: Path, chat: bool) -> None:
    server, model = connect(says=says)
    how = HOW | {"options": OPTIONS | {"chat": chat}}
    before = len(server.seen)
    costs = estimate(ModelSource.of("openai:tiny"), AuditSpec.of(**how))
    assert len(server.seen) == before
    assert [cost.kind for cost in costs] == ["a", "b", "c"]
    for cost in costs:
        assert (cost.requests, cost.reply_tokens) == (40, 40 * 5)
        assert [task.rpartition(" by ")[2] for task in cost.left_out] == ["first-mention", "first-mention-nobody"]
    evenhand.audit(model, out=tmp_path, **how)
    sent = texts_asked(server)
    assert len(sent) == 40
    prompts = [body["messages"][-1]["content"] if chat else body["prompt"] for body in sent]
    own = 0 if chat else len(model.ability.start)
    assert {cost.prompt_tokens for cost in costs} == {sum(len(prompt) - own for prompt in prompts) // 4}


@pytest.mark.parametrize("how", ["it dies", "the key expires"])
def test_texts_that_came_before_a_server_failed_are_kept(connect: Connect, tmp_path: Path, how: str) -> None:
    server, model = connect(says=says, patience=0.2, concurrency=1)
    asked = list[str]()

    def failing(body: dict[str, Any], chat: bool) -> tuple[int, dict[str, Any]] | None:
        asked.extend([body["prompt"]] if body.get("max_tokens") == 5 else [])
        if how == "it dies":
            server.stops_after = len(server.seen) + 1 if len(asked) == 15 else 10**9
        elif len(asked) > 15:
            return 401, {"error": {"message": "Incorrect API key provided"}}
        return None

    server.replies = failing
    with pytest.raises(ModelError, match="does not keep.*kept" if how == "it dies" else "key.*kept"):
        evenhand.audit(model, out=tmp_path, **HOW)
    first = texts_asked(server)[:15]
    with sqlite3.connect(tmp_path / "tiny--plain-prompts" / "answers.sqlite") as store:
        (kept,) = store.execute("SELECT COUNT(*) FROM answers").fetchone()
    assert kept == 15 + 1  # and the answer that the model is known by
    server.seen.clear()
    server.replies, server.stops_after = lambda body, chat: None, 10**9
    again = ServedModel(Address("tiny", model.client.address.base_url, ""))
    run = evenhand.audit(again, out=tmp_path, **HOW)
    assert len(texts_asked(server)) == 40 - 15
    assert not [body for body in texts_asked(server) if body in first]
    whole = evenhand.audit(again, out=tmp_path / "whole", **HOW)
    assert run.results == whole.results
    assert run.scores.equals(whole.scores)


def test_a_text_far_longer_than_was_asked_for_is_no_answer(connect: Connect) -> None:
    """A server that ignores the limit of tokens answers another question, with texts of any size."""
    server, model = connect(gives=CHATS, says=lambda prompt, seed: "She sat")
    asked = [Write(f"Write {n}.", longest=5, chat=True) for n in range(2)]
    assert [answer.text for answer in model.answer(asked)] == ["She", "She"]
    server.faults = frozenset({"long"})
    assert {answer.note for answer in model.answer(asked)} == {"the text is longer than was asked for"}
