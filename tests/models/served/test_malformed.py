"""Replies of other shapes, of any size or without an end are a sentence, or leave a question without an answer."""

import asyncio
import json
import time

import pytest

from evenhand import Choose, Likelihood
from evenhand.core.questions import Question
from evenhand.errors import EvenhandError, ModelError
from evenhand.models.networks.causal import CausalLM
from evenhand.models.served import connection
from evenhand.models.served.client import Client, Request
from evenhand.models.served.connection import Address, Connection, Response
from evenhand.models.served.model import ServedModel
from helpers import tiny
from helpers.openai_server import MALFORMED, FakeServer

from .conftest import Connect

LETTERS = Choose("Who works?", ("He", "She"), by="letters")
CHAT = Choose("Who works?", ("He", "She"), by="letters", chat=True)
ASKED: list[Question] = [Likelihood(tiny.TEXTS[0]), LETTERS, CHAT]
GIVES = (
    frozenset({"echo", "next", "text", "chat next", "chat text", "usage", "models"}),
    frozenset({"next", "text", "prompt_logprobs", "usage"}),
    frozenset({"chat next", "chat text", "usage", "models"}),
    frozenset({"text", "chat text", "usage"}),
)


def ask(model: ServedModel) -> None:
    """Ask all that it can be asked: answers, or a sentence."""
    for question in ASKED:
        if not model.cannot(question):
            (answer,) = model.answer([question])
            json.dumps([answer.logps, answer.note], ensure_ascii=False).encode()


def connect_in_process(server: FakeServer, patch: pytest.MonkeyPatch) -> ServedModel:
    """The model of a server that is called without HTTP."""

    async def send(self: Connection, path: str, body: str) -> Response:
        asked, chat = json.loads(body or "{}"), path.startswith("chat")
        if path == "models":
            good = server._sent({"data": [{"id": "tiny"}]})
        elif ("chat text" if chat else "text") in server.gives:
            good = server._reply(asked, str(asked.get("messages") if chat else asked.get("prompt")), chat=chat)
        else:
            return Response(404, "Not Found", {}, '{"detail": "Not Found"}')
        return Response(good.status_code, "", {}, bytes(good.body).decode())

    patch.setattr(Connection, "send", send)
    return ServedModel(Address("tiny", "http://localhost/v1"), patience=0.01, samples=2, concurrency=1)


@pytest.mark.parametrize("fault", MALFORMED)
def test_a_malformed_reply_is_a_sentence_or_no_answer(
    local: CausalLM, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    for gives in GIVES:
        try:
            ask(connect_in_process(FakeServer(local, faults=frozenset({fault}), gives=gives), monkeypatch))
        except EvenhandError as error:
            str(error).encode()


def test_numbers_only_at_temperature_1_are_enough(connect: Connect) -> None:
    _, model = connect(faults=frozenset({"no numbers when cold"}))
    assert [verdict for check, verdict, *_ in model.probed.remarks if check == "numbers"] == ["careful"]
    _, sound = connect()
    assert model.answer(ASKED) == sound.answer(ASKED)


def test_a_reply_without_end_is_given_up(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    server, model = connect()
    address = model.client.address
    server.faults = frozenset({"slow"})
    started = time.monotonic()
    with pytest.raises(ModelError, match="does not answer within 0.3 seconds"):
        Client(address, timeout=0.3, patience=0.5).one(Request("models"))
    assert time.monotonic() - started < 5
    server.faults = frozenset({"endless"})
    monkeypatch.setattr(connection, "LARGEST", 2**22)
    with pytest.raises(ModelError, match="over 4,194,304 bytes in one reply"):
        Client(address, timeout=60).one(Request("models"))


def test_a_proxy_that_is_none_is_told_and_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    client = Client(Address("tiny", "http://server.invalid/v1"), patience=0.2)
    for wrong in ("http://", "socks5://me:secret@h", "http://me:secret@h:99999", "http://[", "http://prôxy:1", "://x"):
        monkeypatch.setenv("http_proxy", wrong)
        with pytest.raises(EvenhandError, match="http_proxy must be the URL of a proxy.*no_proxy") as error:
            client.one(Request("models"))
        assert "secret" not in str(error.value)
    for wrong in ("garbage", "me:secret@garbage:1", "127.0.0.1:9"):
        monkeypatch.setenv("http_proxy", wrong)
        with pytest.raises(ModelError, match="There is no server at .* through the proxy") as error:
            client.one(Request("models"))
        assert "secret" not in str(error.value)


def test_a_host_that_no_name_can_be_is_no_server() -> None:
    with pytest.raises(ModelError, match="There is no server at"):
        Client(Address("tiny", f"http://{'a' * 300}.invalid/v1")).one(Request("models"))


def test_a_connection_that_was_given_up_is_opened_again(connect: Connect) -> None:
    server, model = connect()
    server.faults = frozenset({"slow"})
    address = model.client.address

    async def twice() -> int:
        one = Connection(address.base_url, address.key, 0.3)
        with pytest.raises(TimeoutError):
            await one.send("models", "")
        server.faults = frozenset()
        found = await one.send("models", "")
        await one.close()
        return found.status

    assert asyncio.run(twice()) == 200
