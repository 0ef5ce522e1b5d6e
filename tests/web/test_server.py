"""The server on its port: what goes over the wire, and how it starts and ends."""

import re
import socket
from contextlib import suppress
from pathlib import Path
from queue import Queue

import pytest

from evenhand import BadInput
from evenhand.web import probing
from evenhand.web.server import listen
from helpers import served


@pytest.fixture(autouse=True)
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "load_masked", lambda name: None)


def raw(address: str, request: bytes) -> bytes:
    host, port = re.fullmatch(r"http://(.+):(\d+)/", address).groups()  # type: ignore[union-attr]
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        found = b""
        with suppress(OSError):  # it may have heard enough
            connection.sendall(request)
        with suppress(OSError):
            while part := connection.recv(65536):
                found += part
    return found


def test_what_no_browser_would_send_gets_nothing(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "secret.txt").write_text("secret words")
    with served.serving(tmp_path / "runs") as address:
        head = f"Host: {address[7:-1]}\r\nConnection: close\r\n".encode()
        origin = f"Origin: {address[:-1]}\r\n".encode()
        for path in (b"/../secret.txt", b"/static/../../secret.txt", b"/runs/%2e%2e%2f%2e%2e%2fsecret.txt", b"/%00"):
            answer = raw(address, b"GET " + path + b" HTTP/1.1\r\n" + head + b"\r\n")
            assert answer.startswith(b"HTTP/1.1 404")
            assert b"secret words" not in answer
        assert raw(address, b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n").startswith(b"HTTP/1.1 4")
        assert raw(address, b"GET http://evil/ HTTP/1.1\r\n" + head + b"Host: evil\r\n\r\n").startswith(b"HTTP/1.1 4")
        assert (
            b"X-Evil"
            not in raw(address, b"GET /?q=a%0d%0aX-Evil:1 HTTP/1.1\r\n" + head + b"\r\n").partition(b"\r\n\r\n")[0]
        )
        form = b"POST /swap HTTP/1.1\r\n" + head + origin + b"Content-Type: application/x-www-form-urlencoded\r\n"
        chunk = b"%x\r\n%s\r\n" % (10**5, b"x" * 10**5)
        chunked = form + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 12 + b"0\r\n\r\n"
        assert raw(address, chunked).startswith(b"HTTP/1.1 413")
        assert raw(address, form + b"Content-Length: 2000000\r\n\r\n").startswith(b"HTTP/1.1 413")


def test_a_port_that_is_taken_says_what_to_do(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(BadInput, match="`port=0`"):
        listen(tmp_path, host="127.0.0.1", port=other.getsockname()[1])


def test_a_host_or_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    for host in ("no such host", "192.0.2.1"):  # the second is nobody's
        with pytest.raises(BadInput, match="`host` must be"):
            listen(tmp_path, host=host, port=0)
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match="Got the file"):
        listen(tmp_path / "file", host="127.0.0.1", port=0)


def test_on_this_machine_alone_no_token_is_needed_elsewhere_one_is_made_up(tmp_path: Path) -> None:
    local, given, wide = (
        listen(tmp_path, host="127.0.0.1", port=0),
        listen(tmp_path, host="127.0.0.1", port=0, token="a-token-of-my-own"),
        listen(tmp_path, host="0.0.0.0", port=0),
    )
    assert local.address.endswith("/")
    assert given.address.endswith("/?token=a-token-of-my-own")
    assert re.search(r"\?token=[\w-]{40,}$", wide.address)
    with pytest.raises(BadInput, match="16 to 200"):
        listen(tmp_path, host="127.0.0.1", port=0, token="short; Path=/")
    for listening in (local, given, wide):
        listening.socket.close()


@pytest.mark.parametrize("wanted", [True, False])
def test_the_browser_is_opened_if_one_wants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: bool) -> None:
    opened = Queue[str]()
    monkeypatch.setattr("webbrowser.open", opened.put)
    listening = listen(tmp_path, host="127.0.0.1", port=0)
    monkeypatch.setattr(listening.server, "run", lambda sockets: None)
    listening.run(open_it=wanted)
    listening.socket.close()
    if wanted:
        assert opened.get(timeout=30) == listening.address
    assert opened.empty()
