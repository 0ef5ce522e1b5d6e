"""What the doctor says of a model behind a server, by what the server gives."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tokenizers import decoders

import evenhand
from evenhand import Choose, Gate, Likelihood
from evenhand.checks.doctor import examine
from evenhand.errors import ModelError
from evenhand.gate.policy import Rule
from evenhand.models.networks.causal import CausalLM
from evenhand.models.served.connection import Address
from evenhand.models.served.model import BEGINNINGS, ServedModel
from helpers import made_bbq, tiny
from helpers.openai_server import FakeServer, serving
from helpers.typed import load as load_as

NEXT = frozenset({"next", "text", "chat next", "chat text", "usage", "models"})
TEXT_ONLY = frozenset({"text", "chat text", "usage", "models"})


@pytest.fixture(scope="module")
def random_weights(tmp_path_factory: pytest.TempPathFactory) -> CausalLM:
    tokenizer = tiny.continuing_bytes()
    tokenizer.model_max_length = 512
    tokenizer.backend_tokenizer.decoder = decoders.ByteLevel()
    folder = tmp_path_factory.mktemp("models") / "tiny"
    return load_as(CausalLM, str(tiny.save_causal("gpt2", folder, tokenizer=tokenizer, max_position_embeddings=512)))


@pytest.fixture
def server(random_weights: CausalLM, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeServer]:
    made_bbq.write(tmp_path / "data", made_bbq.rows(4))
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path / "data"))
    found = FakeServer(random_weights)
    with serving(found.app()) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        yield found


def verdicts(model: ServedModel, language: str = "en") -> dict[str, str]:
    return {found.check: found.verdict for found in examine(model, [], language)}


def test_noise_behind_a_server_is_as_unfit_as_in_this_process(server: FakeServer, random_weights: CausalLM) -> None:
    found = verdicts(ServedModel(Address.of("openai:tiny")))
    assert found["head"] == "unfit"
    assert found["numbers"] == "fine"
    here = {finding.check: finding.verdict for finding in evenhand.doctor(random_weights)}
    assert here["head"] == "unfit"
    assert len(server.seen) < 60


def test_next_tokens_show_noise_by_the_words_that_anybody_expects(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.gives = NEXT
    model = ServedModel(Address.of("openai:tiny"))
    assert verdicts(model)["language"] == "unfit"
    assert verdicts(model, "de")["not checked"] == "careful"
    words = list(BEGINNINGS["en"].values())
    for right, verdict in ((10, "fine"), (5, "fine"), (4, "careful"), (1, "unfit")):
        said = [f" {word.title()}" for word in words[:right]] + ["Ġthe"] * (10 - right)
        monkeypatch.setattr(model, "likeliest", lambda _, said=said: said)
        assert verdicts(model)["language"] == verdict
    assert len(words) == 10


def test_chats_alone_are_asked_for_the_next_word_and_may_begin_again(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.gives = frozenset({"chat next", "chat text", "models"})
    model = ServedModel(Address.of("openai:tiny"))
    assert verdicts(model)["language"] == "unfit"
    asked = server.seen[-1]["messages"][0]["content"]
    assert asked.startswith("Continue this text.")
    said = [text.split()[0].strip(",") for text in BEGINNINGS["en"]]
    monkeypatch.setattr(model, "likeliest", lambda _: said)
    assert verdicts(model)["language"] == "fine"


@pytest.mark.usefixtures("without_pages")
@pytest.mark.parametrize("gives", [frozenset({"echo", *NEXT}), TEXT_ONLY], ids=["whole texts", "text only"])
def test_what_is_unfit_or_not_checked_passes_no_gate(server: FakeServer, gives: frozenset[str], tmp_path: Path) -> None:
    server.gives = gives
    how: dict[str, Any] = {"dataset": "bbq-disambiguated", "measure": "choice-accuracy", "out": tmp_path}
    run = evenhand.audit("openai:tiny", options={"mass": 0, "chat": False}, samples=4, **how)
    rule = Rule(dataset="bbq-disambiguated", measure="choice-accuracy", high=0.99)
    refused, allowed = (Gate([rule], allow_unfit=allow).judge(run).rules[0] for allow in (False, True))
    assert refused.verdict == "undecided"
    assert refused.says.startswith(f"{allowed.says}; ")  # with the reason
    assert allowed.high is not None
    assert allowed.verdict == ("pass" if allowed.high < 0.99 else "undecided")


@pytest.mark.usefixtures("without_pages")
def test_answers_since_the_last_good_reference_are_discarded(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The numbers go bad in the middle, and are good again in the next run: as if nothing had happened."""
    monkeypatch.setattr("evenhand.models.served.model._places", lambda requests: [10, 20, len(requests)])
    how: dict[str, Any] = {"dataset": "tgb", "measure": "likelihood-lean", "limit": 20}
    sound = evenhand.audit("openai:tiny", out=tmp_path / "sound", **how)
    model = ServedModel(Address.of("openai:tiny"), concurrency=1)
    real, chunks = model.client.all, list[int]()

    def going_bad(requests: Any, **how: Any) -> Any:
        chunks.extend([len(requests)] if len(requests) == 10 else [])
        for number, reply in enumerate(real(requests, **how)):
            if len(chunks) == 2 and number == 4:
                server.faults = frozenset({"random"})
            yield reply

    monkeypatch.setattr(model.client, "all", going_bad)
    with pytest.raises(ModelError, match="have changed"):
        evenhand.audit(model, out=tmp_path / "bad", **how)
    server.faults = frozenset()
    before = len(server.seen)
    again = evenhand.audit(ServedModel(Address.of("openai:tiny")), out=tmp_path / "bad", **how)
    assert again.results == sound.results
    assert again.record.audits[0].work.kept == 10
    assert len(server.seen) > before


def test_the_reference_is_asked_again_and_again(server: FakeServer) -> None:
    model = ServedModel(Address.of("openai:tiny"))
    model.answer([Likelihood(f"She wrote letter {n}.") for n in range(24)])
    assert model.good >= 12


def test_text_alone_has_no_reference(server: FakeServer) -> None:
    server.gives = TEXT_ONLY
    model = ServedModel(Address.of("openai:tiny"), samples=4)
    assert verdicts(model)["not checked"] == "careful"
    assert not model.reference
    model.answer([Choose("Who works?", ("He", "She"), by="letters")])
