"""Connections that ask for nothing, or slowly: they end, nobody waits for them, and the terminal stays quiet."""

import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from evenhand.web import probing, server
from helpers import served

PAGE = b"GET /swap HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
FORM = (
    b"POST /swap HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://127.0.0.1\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n"
)


@pytest.fixture(autouse=True)
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "load_masked", lambda name: None)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[tuple[str, int]]:
    with served.serving(tmp_path) as address:
        parts = urlsplit(address)
        yield str(parts.hostname), int(parts.port or 0)


def connected(place: tuple[str, int]) -> socket.socket:
    """A connection, once the server takes them."""
    for _ in range(100):
        with suppress(OSError):
            return socket.create_connection(place, timeout=30)
        time.sleep(0.05)
    raise AssertionError("no server")


def rest(connection: socket.socket, end: bytes | None = None) -> bytes:
    """What is sent until the server closes the connection, or until `end`; the socket's timeout is an error."""
    found = b""
    with suppress(ConnectionResetError):
        while (end is None or end not in found) and (part := connection.recv(65536)):
            found += part
    return found


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"", b"408"),
        (b"GET / HTT", b"408"),
        (PAGE[:-2], b"408"),
        (FORM + b"Content-Length: 10\r\n\r\ntext", b"408"),
        (FORM + b"Transfer-Encoding: chunked\r\n\r\n4\r\ntext\r\n", b"408"),
        (FORM + b"Content-Length: 2000000\r\n\r\ntext", b"413"),  # refused, and then it never comes
        (PAGE[:-2] + b"Content-Length: 9\r\n\r\n", b"200"),
        (PAGE + FORM + b"Content-Length: 10\r\n\r\ntext", b"200"),  # the second one is half a request
        (PAGE + b"GET", b"200"),
    ],
)
def test_half_a_request_is_closed(
    place: tuple[str, int],
    sent: bytes,
    status: bytes,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(server, "ARRIVING", 0.3)
    with connected(place) as connection:
        connection.sendall(sent)
        assert rest(connection).startswith(b"HTTP/1.1 " + status)
    assert capfd.readouterr().err == ""


def test_a_request_that_trickles_is_closed_however_busy_it_looks(
    place: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "ARRIVING", 0.5)
    with connected(place) as connection:
        connection.sendall(PAGE[:-2] + b"X-Slow: ")
        with suppress(OSError):  # closed by the server
            for _ in range(600):
                connection.sendall(b"x")
                time.sleep(0.05)
            raise AssertionError("it was never closed")
        assert rest(connection)[:12] in (b"HTTP/1.1 408", b"")  # what was sent too late may reset the connection


def test_a_visitor_gets_in_while_others_hold_connections_open(
    place: tuple[str, int], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(server, "MOST", 5)
    with ExitStack() as stack:
        held = [stack.enter_context(connected(place)) for _ in range(30)]
        for connection in held[::2]:
            with suppress(OSError):
                connection.sendall(b"GET / HTTP/1.1\r\n")
        for _ in range(3):
            with connected(place) as visitor:
                visitor.sendall(PAGE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
                assert rest(visitor).startswith(b"HTTP/1.1 200")
        assert rest(held[0])[:12] in (b"HTTP/1.1 503", b"")
    assert capfd.readouterr().err == ""


def test_the_command_serves_though_three_hundred_connections_meet_256_files_and_ends_with_ctrl_c(
    tmp_path: Path,
) -> None:
    served_by = (
        f"ulimit -n 256; exec {shlex.quote(sys.executable)} -m evenhand serve {shlex.quote(str(tmp_path))} --port 0"
    )
    with subprocess.Popen(
        ["sh", "-c", served_by], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stderr
        address = re.search(r"http://127.0.0.1:(\d+)/", process.stdout.readline())
        assert address
        place = ("127.0.0.1", int(address[1]))
        with ExitStack() as stack:
            for _ in range(300):
                stack.enter_context(connected(place))
            with connected(place) as visitor:
                visitor.sendall(PAGE.replace(b"/swap", b"/").replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
                answer = rest(visitor)
                assert answer.startswith(b"HTTP/1.1 200")
                assert b"no runs" in answer
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        assert process.stderr.read() == ""


def test_a_visitor_who_reads_nothing_is_let_go(place: tuple[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "READING", 0.3)
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connected(place).close()
        connection.connect(place)
        connection.settimeout(30)
        text = b"text=" + b"He+saw+her.+" * 1500
        form = FORM + b"Content-Length: %d\r\n\r\n" % len(text) + text
        with pytest.raises(OSError):
            connection.sendall(form * 1000)


def test_malformed_requests_and_forms_that_break_off_leave_no_line_in_the_terminal(
    capfd: pytest.CaptureFixture[str], place: tuple[str, int]
) -> None:
    for sent in (
        *(b"\x00\xff\r\n\r\n", b"GET / HTTP/9\r\n\r\n", b"GET /" + b"x" * 10**5),
        PAGE[:-2] + b"Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        FORM + b"Content-Length: 10\r\n\r\ntext",
    ):
        with connected(place) as connection:
            connection.sendall(sent)
    with connected(place) as connection:
        connection.sendall(PAGE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        assert b"200" in rest(connection)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("head", [FORM, FORM.replace(b"Origin", b"X"), PAGE[:-2]])
def test_a_body_that_is_not_http_leaves_no_line_in_the_terminal(
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    place: tuple[str, int],
    head: bytes,
    at_once: bool,
) -> None:
    """It may come before the response, or after it: uvicorn would send a second one, which h11 refuses."""
    head += b"Transfer-Encoding: chunked\r\n\r\n"
    with connected(place) as connection:
        if not at_once:
            connection.sendall(head)
            time.sleep(0.2)
        connection.sendall(b"no number\r\n" if not at_once else head + b"no number\r\n")
        assert b"HTTP/1.1 " in rest(connection)
    time.sleep(0.1)
    assert capfd.readouterr().err == ""
    assert [record.message for record in caplog.records if record.name == "asyncio"] == []


def test_too_large_a_form_gets_a_page(place: tuple[str, int]) -> None:
    text = b"x" * 2_000_000
    for length, body in (
        (b"Content-Length: %d" % len(text), text),
        (b"Transfer-Encoding: chunked", b"%x\r\n%s\r\n0\r\n\r\n" % (len(text), text)),
    ):
        with connected(place) as connection:
            with suppress(OSError):
                connection.sendall(FORM + length + b"\r\n\r\n" + body)
            found = rest(connection, b"</html>")
            assert found.startswith(b"HTTP/1.1 413")
            assert b"At most 1,000,000 bytes can be sent" in found
            assert b"<h1>" in found
