"""What the answers of a server cost: requests sent, repeated ones too, and tokens as the server counts them."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

import evenhand
from evenhand import Likelihood, Run
from evenhand.errors import ModelError
from evenhand.models.served.connection import Address
from evenhand.models.served.model import ServedModel
from evenhand.show.page.provenance import facts
from helpers import tiny
from helpers.openai_server import FakeServer

from .conftest import Connect

HOW: dict[str, Any] = {"dataset": "tgb", "measure": "likelihood-lean", "limit": 8}
SPENT = ("requests", "prompt_tokens", "completion_tokens")


def again(server: FakeServer, model: ServedModel) -> ServedModel:
    """The model as another process would load it."""
    return ServedModel(Address(server.name, model.client.address.base_url, ""), patience=0.3)


def spent(run: Run) -> list[int]:
    return [run.record.loaded[name] for name in SPENT]


def sent(server: FakeServer) -> list[int]:
    """What was sent to the server, the list of its models included, and the tokens that it counted."""
    tokenizer = server.model.tokenizer
    prompts = [body.get("prompt") or f"[user] {body['messages'][0]['content']}\n[assistant]" for body in server.seen]
    ids = [tokenizer(prompt, add_special_tokens=False)["input_ids"] for prompt in prompts]
    return [sum(server._tries.values()), sum(map(len, ids)), len(ids)]


def test_requests_and_tokens_are_counted_from_the_first_request_on(connect: Connect) -> None:
    server, model = connect()
    model.answer([Likelihood(text) for text in tiny.TEXTS])
    found = model.spend()
    assert [found[name] for name in SPENT] == sent(server)
    assert not model.spend()
    model.answer([Likelihood("She sings.")])
    assert model.spend()["requests"] == 2  # and the reference


def test_repeated_requests_are_counted_and_odd_counts_are_not(connect: Connect) -> None:
    server, model = connect(faults=frozenset({"storm"}), patience=20.0)
    assert model.spend()["requests"] == sum(server._tries.values()) > 2 * len(server.seen)
    for fault in ("usage is huge", "usage is a text", "usage is a list"):
        _, model = connect(faults=frozenset({fault}))
        assert "prompt_tokens" not in model.spend()


@pytest.mark.usefixtures("without_pages", "unexamined")
def test_an_audit_that_goes_on_adds_up(connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenhand.models.served.client.LONGEST_WAIT", 0.05)
    server, model = connect(patience=0.3)
    before = len(server.seen)
    evenhand.audit(model, out=tmp_path / "whole", **HOW)
    asked = len(server.seen) - before
    server.seen.clear()
    server._tries.clear()
    model = again(server, model)
    server.stops_after = len(server.seen) + asked - 12
    with pytest.raises(ModelError, match="kept"):
        evenhand.audit(model, out=tmp_path, **HOW)
    with sqlite3.connect(tmp_path / "tiny" / "answers.sqlite") as store:
        kept = dict(store.execute("SELECT name, count FROM spent"))
    assert kept["requests"] >= len(server.seen)
    server.stops_after = 10**9
    run = evenhand.audit(again(server, model), out=tmp_path, **HOW)
    assert spent(run)[1:] == sent(server)[1:]
    assert spent(run)[0] >= sent(server)[0]  # some did not arrive
    assert spent(run)[0] > kept["requests"]
    same = evenhand.audit(again(server, model), out=tmp_path, **HOW)  # nothing is asked but who answers
    assert spent(same)[1:] == sent(server)[1:]
    assert ("sent so far", "{:,} requests, {:,} tokens of prompts, {:,} of replies".format(*spent(same))) in facts(same)
    assert spent(Run.load(evenhand.rescore(same.path).path)) == spent(same)


@pytest.mark.usefixtures("without_pages", "unexamined")
def test_a_fresh_run_counts_from_the_start_and_other_models_have_no_cost(connect: Connect, tmp_path: Path) -> None:
    server, model = connect()
    first = evenhand.audit(model, out=tmp_path, **HOW)
    fresh = evenhand.audit(again(server, model), out=tmp_path, fresh=True, **HOW)
    assert spent(fresh)[0] <= spent(first)[0]
    table = evenhand.Table(lambda question: [-1.0] * 4, "table", fingerprint="t" * 32)
    here = evenhand.audit(table, out=tmp_path, **HOW)
    assert not set(SPENT) & set(here.record.loaded)
    assert "sent so far" not in dict(facts(here))
