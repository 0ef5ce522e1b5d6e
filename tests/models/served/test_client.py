"""Wrong addresses, keys and models are sentences, and the key is in none of them."""

import json
import logging
import socket
import ssl
import threading
from pathlib import Path

import pytest

import evenhand
from evenhand.errors import BadInput, ModelError, ModelNotFound
from evenhand.models.served import replies
from evenhand.models.served.client import Client, Request
from evenhand.models.served.connection import Address, Response
from evenhand.models.served.model import ServedModel

from .conftest import Connect

KEY = "sk-very-secret-1234"


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("localhost:8000", "must be the URL of a server"),
        ("ftp://localhost/v1", "must be the URL of a server"),
        ("http://", "must be the URL of a server"),
        ("http://localhost:99999/v1", "must be the URL of a server"),
        ("http://localhost:x/v1", "must be the URL of a server"),
        (f"http://me:{KEY}@localhost/v1", "password or a key"),
        (f"http://{KEY}@localhost/v1", "password or a key"),
        (f"http://localhost/v1?api_key={KEY}", "password or a key"),
        (f"http://localhost/v1?sig={KEY}", "password or a key"),
        (f"http://localhost/v1#{KEY}", "password or a key"),
        (f"http://me:a?{KEY}@localhost/v1", "password or a key"),
        (f"http://me:a@{KEY}@localhost:99999/v1", "password or a key"),
        (f"me:{KEY}@localhost/v1", "password or a key"),
        (f"http://localhost:x?{KEY}", "password or a key"),
        (f"http://localhost/{KEY}/v1", "password or a key"),
        (f"http://localhost/v1/{KEY}", "password or a key"),
        (f"http://{KEY}.example/v1", "password or a key"),
        (f"http://localhost/%73{KEY[1:]}/v1", "password or a key"),
        (f"http://localhost/%2573{KEY[1:]}/v1", "password or a key"),
        (f"http://localhost/v1%3Fkey%3D{KEY}", "password or a key"),
        ("http://localhost/token=abc/v1", "password or a key"),
        ("http://localhost/hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ12345678/v1", "password or a key"),
        ("http://localhost/aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW/v1", "password or a key"),
        ("http://münchen.example/v1", "in ASCII, .* Got 'http://münchen"),
        ("http://local host/v1", "must be the URL of a server"),
        ("http://localhost/v1?", "password or a key"),
    ],
)
def test_a_wrong_url_is_refused_and_a_key_in_it_is_not_repeated(url: str, says: str) -> None:
    with pytest.raises(BadInput, match=says) as error:
        Address.of("openai:tiny", url)
    assert KEY not in str(error.value)


@pytest.mark.parametrize("secret", ["correcthorsebattery", "0123456789abcdef0123456789abcdef", "ab/cd+ef=="])
def test_a_url_with_the_key_of_the_environment_is_refused_whatever_it_looks_like(
    monkeypatch: pytest.MonkeyPatch, secret: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", secret)
    hidden = "".join(f"%{ord(each):02x}" for each in secret)
    for url in (f"http://localhost/{secret}/v1", f"http://localhost/{hidden}/v1", f"http://{hidden}.example/v1"):
        with pytest.raises(BadInput, match="password or a key") as error:
            Address.of("openai:tiny", url)
        assert secret not in str(error.value)


def test_addresses_without_a_key_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for url in (
        "https://api.example/client/v4/accounts/0123456789abcdef0123456789abcdef/ai/v1",
        "https://name.openai.example/openai/deployments/gpt-4o-mini-2024-07-18",
        "http://h/123e4567-e89b-12d3-a456-426614174000/v1",
        "http://sk-learn.internal:80/hf_mirror/NLPResearchTeam2024ProductionGateway",
    ):
        assert Address.of("openai:org/Meta-Llama-3.1-8B-Instruct-Q4_K_M", url).base_url == url
    monkeypatch.setenv("OPENAI_API_KEY", "EMPTY")
    assert Address.of("openai:tiny", "http://h/EMPTY/v1").base_url == "http://h/EMPTY/v1"


def test_a_key_is_no_name_of_a_model() -> None:
    with pytest.raises(BadInput, match="or the name, has a part that may be a password or a key") as error:
        Address.of(f"openai:{KEY}", "http://localhost:1/v1")
    assert KEY not in str(error.value)


def test_the_environment_says_where_the_server_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1/")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    found = Address.of("openai:org/tiny")
    assert (found.name, found.base_url, found.key) == ("org/tiny", "http://localhost:1/v1", KEY)
    assert KEY not in repr(found)
    assert Address.of("openai:tiny", "http://localhost:2").base_url == "http://localhost:2"
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert Address.of("openai:tiny").base_url == "https://api.openai.com/v1"
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(BadInput, match="needs an API key.*OPENAI_API_KEY.*`base_url="):
        Address.of("openai:tiny")
    with pytest.raises(BadInput, match="must be openai:NAME"):
        Address.of("openai: ", "http://localhost:2")
    monkeypatch.setenv("OPENAI_API_KEY", "“sk”")
    with pytest.raises(BadInput, match="characters that no key has"):
        Address.of("openai:tiny", "http://localhost:2")
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(BadInput, match="must be openai:NAME"):
        Address.of("openai:\udcff", "http://localhost:2")


def test_where_nobody_listens_there_is_no_server() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(
        ModelError, match=f"There is no server at http://127.0.0.1:{port}/v1.*Start the server, or check"
    ):
        evenhand.load("openai:tiny", base_url=f"http://127.0.0.1:{port}/v1")


def test_tls_with_a_server_that_has_none_is_a_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as plain:

        def answer() -> None:
            connection, _ = plain.accept()
            with connection:
                connection.recv(100)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        with pytest.raises(ModelError, match="No safe connection to https"):
            Client(Address("tiny", f"https://127.0.0.1:{plain.getsockname()[1]}/v1")).one(Request("models"))
        thread.join()
    assert ssl.OPENSSL_VERSION


def test_a_wrong_key_is_told_and_never_shown(connect: Connect, caplog: pytest.LogCaptureFixture) -> None:
    _, model = connect(key=KEY)
    with caplog.at_level(logging.DEBUG):
        for key, says in (("", "is missing"), (KEY[:-1], "is refused")):
            with pytest.raises(ModelError, match=f"answers 401: the key in OPENAI_API_KEY {says}") as error:
                ServedModel(Address("tiny", model.client.address.base_url, key))
            assert "sk-" not in str(error.value)
        _, model = connect(key=KEY)
        model.answer([evenhand.Likelihood("She works.")])
    assert KEY not in caplog.text
    assert KEY not in str(model.about)
    assert KEY not in repr(vars(model.client))


def test_a_server_that_repeats_the_key_does_not_make_us_repeat_it(connect: Connect) -> None:
    server, model = connect(key=KEY)
    server.faults = frozenset({"leaks the key"})
    with pytest.raises(ModelError, match=r"refuses a question \(422\): 'no rights with Bearer \(key\)'"):
        model.answer([evenhand.Likelihood("He works.")])


@pytest.mark.parametrize("fault", ["escapes the key", "percent-encodes the key"])
def test_a_key_is_found_in_replies_that_are_not_json(connect: Connect, fault: str) -> None:
    server, model = connect(key=KEY, patience=0.2)
    server.faults = frozenset({fault})
    with pytest.raises(ModelError, match=r"no rights: \S*\(key\)"):
        model.answer([evenhand.Likelihood("He works.")])


ESCAPES = {
    "JSON": "".join(f"\\u{ord(each):04x}" for each in KEY),
    "JSON twice": "".join(f"\\\\u{ord(each):04X}" for each in KEY),
    "JSON in parts": KEY[:5] + "".join(f"\\u{ord(each):04X}" for each in KEY[5:]),
    "Python": "".join(f"\\x{ord(each):02x}" for each in KEY),
    "URL": "".join(f"%{ord(each):02X}" for each in KEY),
    "URL twice": "".join(f"%25{ord(each):02x}" for each in KEY),
    "HTML": "".join(f"&#{ord(each)};" for each in KEY),
    "HTML in hexadecimals": "".join(f"&#x{ord(each):02X};" for each in KEY),
}


@pytest.mark.parametrize("how", ESCAPES)
def test_a_key_is_found_however_it_is_escaped(how: str) -> None:
    client = Client(Address("tiny", "http://h/v1", KEY))
    said = f"a {ESCAPES[how]} b"
    assert client.address.redact(said) == "a (key) b"
    assert client.address.redact(said[:-5]) == said[:-5]  # a part of it is another text
    for value in (said, [said], {said: 1}):
        assert "(key)" in str(client._reply(Response(200, "OK", {}, json.dumps({"text": value}))))


def test_slashes_of_a_key_may_be_escaped() -> None:
    assert Address("tiny", "http://h/v1", "ab/cd/ef/12").redact(r"ab\/cd\/ef\/12 \ab") == r"(key) \ab"


@pytest.mark.usefixtures("unexamined")
def test_a_key_in_any_reply_gets_into_no_run(connect: Connect, tmp_path: Path) -> None:
    for gives in ({"echo", "next", "text", "models"}, {"text", "chat text"}):
        _, model = connect(key=KEY, faults=frozenset({"repeats the key"}), gives=frozenset(gives), samples=2)
        assert model.about["answered_by"] == "tiny-(key)"
        assert model.answer([evenhand.Choose("Who?", ("He", "She"), by="letters")])
    written = model.client.one(Request.of("completions", model="tiny", prompt="Who?", temperature=1))
    assert replies.text(written) == "A (key)"
    _, model = connect(key=KEY, faults=frozenset({"repeats the key"}))
    run = evenhand.audit(model, dataset="tgb", measure="likelihood-lean", limit=2, out=tmp_path)
    kept = [path for path in run.path.rglob("*") if path.is_file()]
    assert (run.path / "report.html") in kept
    assert not [path.name for path in kept if KEY.encode() in path.read_bytes()]


def test_an_escaped_key_is_found_and_a_placeholder_changes_no_token() -> None:
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in KEY)
    reply = Response(200, "OK", {}, f'{{"model": "{escaped}", "choices": [{{"x {escaped}": 1}}]}}')
    assert Client(Address("tiny", "http://h/v1", KEY))._reply(reply) == {"model": "(key)", "choices": [{"x (key)": 1}]}
    for key, name in (("A", "tiny"), ("EMPTY", "tiny"), ("lm-studio", "lm-studio/tiny")):
        reply = Response(200, "OK", {}, f'{{"model": "{name}", "text": "A {key}"}}')
        assert Client(Address(name, "http://h/v1", key))._reply(reply) == {"model": name, "text": f"A {key}"}


def test_an_unknown_model_is_told_with_those_there_are(connect: Connect) -> None:
    _, model = connect()
    with pytest.raises(ModelNotFound, match="has no model 'huge'. It has: tiny"):
        evenhand.load("openai:huge", base_url=model.client.address.base_url)
    _, model = connect(gives=frozenset({"echo", "next", "text"}))
    with pytest.raises(ModelNotFound, match="The model 'huge' does not exist"):
        evenhand.load("openai:huge", base_url=model.client.address.base_url)


def test_a_base_url_without_its_end_is_told(connect: Connect) -> None:
    _, model = connect()
    base = model.client.address.base_url.removesuffix("/v1")
    with pytest.raises(ModelError, match=f"Did you mean `base_url='{base}/v1'`|something other than JSON"):
        ServedModel(Address("tiny", base), patience=0.5)


def test_wrong_numbers_are_refused() -> None:
    address = Address("tiny", "http://localhost:1/v1")
    for wrong in (0, -1, 1.5, True, "many"):
        with pytest.raises(BadInput, match="`concurrency`"):
            ServedModel(address, concurrency=wrong)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="`samples`"):
        ServedModel(address, samples=0)


def test_a_base_url_is_for_served_models(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="`base_url`.*mini-en"):
        evenhand.load("mini-en", base_url="http://localhost:1/v1")
    with pytest.raises(BadInput, match="behind a server.*`engine`"):
        list(evenhand.sweep(["openai:tiny"], engine="ray", out=tmp_path))
