"""The server: which requests it answers, its address, and its connections.

Requests from other sites are refused. If other machines can reach the server, so are requests without the token.
The number of connections, and the time for a request to arrive, are limited here: uvicorn's `limit_concurrency` also
counts idle connections, and refuses the next visitor because of them; uvicorn has no time limit for requests.
"""

import errno
import hmac
import ipaddress
import math
import os
import re
import secrets
import socket
import webbrowser
from asyncio import Transport
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from urllib.parse import quote, urlencode

import h11
import uvicorn
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from evenhand.errors import BadInput
from evenhand.web.app import LARGEST_BODY, TOO_LARGE, Site
from evenhand.web.listing import Runs
from evenhand.web.pages import refusal, render
from evenhand.web.probing import ProbedModels

COOKIE = "evenhand-token"
HOST = re.compile(r"(?:\[(?P<ipv6>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(?::\d{1,5})?", re.I)
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with no-referrer, browsers would send Origin: null along with our own forms
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
TOKEN = re.compile(r"[A-Za-z0-9_-]{16,200}")
PATIENCE = 3
"""Seconds that running requests have to finish after Ctrl-C."""
BACKLOG = 64
"""The most connections that wait to be accepted. With the MOST open ones, they are fewer than a process may have."""
MOST = 100
"""The most open connections. Another one replaces the connection that has waited longest without a request."""
ARRIVING, READING = 30.0, 120.0
"""Seconds for a whole request to arrive, and for a visitor to read the response."""
ARRIVED = (h11.DONE, h11.MUST_CLOSE, h11.CLOSED, h11.ERROR)
LATE = "408 Request Timeout", "The request took too long to arrive."
FULL = "503 Service Unavailable", "There are too many visitors. Try again in a minute."


@dataclass(frozen=True, slots=True)
class Hosts:
    """Host names allowed in requests. Requests with other names are refused, against DNS rebinding.

    With `addresses`, any IP address is allowed as well, since it needs no DNS.
    """

    names: Collection[str] = LOOPBACK
    addresses: bool = False

    def __contains__(self, header: str) -> bool:
        match = HOST.fullmatch(header)
        name = (match["ipv6"] or match["name"]).lower() if match else ""
        return name in self.names or (self.addresses and _ip_address(name) is not None)


@dataclass(frozen=True, slots=True)
class Guarded:
    """ASGI middleware that refuses requests from other sites and, if there is a token, requests without it."""

    app: ASGIApp
    hosts: Hosts
    token: str | None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        answer = self._refusal(Request(scope)) or self.app

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await answer(scope, receive, with_headers)

    def _refusal(self, request: Request) -> Response | None:
        headers = request.headers
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0] not in self.hosts:
            return refusal(421, "This server does not have that name. Open the address that the server printed.")
        origins = [origin.lower() for origin in headers.getlist("origin")]
        allowed = [[f"{scheme}://{hosts[0]}".lower()] for scheme in ("http", "https")]
        if request.method not in ("GET", "HEAD") and origins not in allowed:
            return refusal(403, "This form comes from another site. Send it from the pages of this server.")
        if headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") != "navigate":
            return refusal(403, "A page of another site requested this address. Open it from the pages of this server.")
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length[:20]) > LARGEST_BODY:  # without a length, Starlette counts what arrives
            return refusal(413, TOO_LARGE)
        if self.token is None or request.scope["path"].startswith("/static/"):
            return None
        return self._token_refusal(request)

    def _token_refusal(self, request: Request) -> Response | None:
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        if self._is_token(bearer) or self._is_token(request.cookies.get(COOKIE, "")):
            return None
        others = [pair for pair in request.query_params.multi_items() if pair[0] != "token"]
        path = "/" + quote(request.scope["path"].lstrip("/\\"))  # two slashes would lead to another host
        if self._is_token(request.query_params.get("token", "")):
            # Redirect, so that the address bar, the history and copied addresses do not contain the token.
            redirect = RedirectResponse(path + (f"?{urlencode(others)}" if others else ""), status_code=303)
            redirect.set_cookie(COOKIE, self.token or "", httponly=True, samesite="lax")
            return redirect
        wrong = "token" in request.query_params
        return render("token.html", 401, {"WWW-Authenticate": "Bearer"}, wrong=wrong, path=path, others=others)

    def _is_token(self, token: str) -> bool:
        return hmac.compare_digest(token.encode("utf-8", "replace"), (self.token or "").encode())


def _ip_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The host as an IP address, or None if the host is a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def application(
    folder: Path, *, models: Sequence[str] = (), hosts: Hosts | None = None, token: str | None = None
) -> ASGIApp:
    """The application for the runs in a folder. `models` can be probed in addition to those of known_models()."""
    return Guarded(Site(Runs(folder), ProbedModels(models)).app(), hosts or Hosts(), token)


@dataclass(frozen=True)
class Listening:
    """A server that has reserved its port; `run` starts the server."""

    address: str
    socket: socket.socket
    server: uvicorn.Server

    def run(self, *, open_it: bool = False) -> None:
        """Answer requests until Ctrl-C; with `open_it`, show the first page in the user's browser.

        The port is taken already, so a browser that is faster than the server waits.
        """
        if open_it:
            Thread(target=webbrowser.open, args=[self.address], daemon=True).start()
        with suppress(KeyboardInterrupt):  # uvicorn raises it again after it has closed everything
            self.server.run(sockets=[self.socket])


def listen(folder: Path, *, host: str, port: int, token: str | None = None, models: Sequence[str] = ()) -> Listening:
    """Reserve the port. If other machines can reach the host, a token is generated unless one is given."""
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"The folder of runs must be a folder. Got the file '{folder}'.")
    address = _ip_address(host)
    local = address.is_loopback if address else host == "localhost"
    token = token or (None if local else secrets.token_urlsafe(32))
    if token is not None and not TOKEN.fullmatch(token):
        raise BadInput(f"`token` must be 16 to 200 letters, digits, - or _. Got {len(token)} characters.")
    hosts = Hosts() if local else Hosts({*LOOPBACK, host.lower(), socket.gethostname().lower()}, addresses=True)
    app = application(folder, models=models, hosts=hosts, token=token)
    listening = _bind(host, port)
    config = uvicorn.Config(
        app,
        http=TimedConnection,
        backlog=BACKLOG,
        log_level="error",  # a warning for each malformed request would let visitors fill the terminal
        access_log=False,  # it would contain the token
        server_header=False,
        proxy_headers=False,
        ws="none",
        timeout_graceful_shutdown=PATIENCE,
    )
    shown_host = socket.gethostname() if host in ("", "0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    query = f"?token={token}" if token else ""
    return Listening(f"http://{shown_host}:{listening.getsockname()[1]}/{query}", listening, Server(config))


def _bind(host: str, port: int) -> socket.socket:
    try:
        family, *_, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server((str(place[0]), port), family=family)
    except OSError as error:
        why = error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            advice = "Choose another `port`, or any free one with `port=0`"
            raise BadInput(f"Port {port} of {host} is not available: {why}. {advice}.") from error
        raise BadInput(f"`host` must be a name or address of this machine. Got '{host}': {why}.") from error


class Server(uvicorn.Server):
    """A server that checks its connections ten times a second, and closes those that take too long."""

    async def on_tick(self, counter: int) -> bool:
        for connection in list(self.server_state.connections):
            if isinstance(connection, TimedConnection):
                connection.close_if_late()
        return await super().on_tick(counter)


class TimedConnection(H11Protocol):
    """A connection that is closed if a request takes too long to arrive, or a response too long to be read."""

    unread_since = math.inf

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Wait for a request. If more than MOST connections are open, close the idle one that has waited longest.

        If all others are being answered, close this new connection.
        """
        super().connection_made(transport)
        self.waiting_since = self.loop.time()
        if len(self.connections) > MOST:
            timed = (connection for connection in self.connections if isinstance(connection, TimedConnection))
            min(timed, key=TimedConnection._importance)._end(*FULL)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self.waiting_since = self.loop.time()

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP, and end the connection. h11 refuses a second response to one request."""
        if self.cycle is not None:
            self.cycle.disconnected = True  # a response that is under way would be the second one
        with suppress(h11.LocalProtocolError):
            super().send_400_response(msg)
        self.transport.close()

    def close_if_late(self) -> None:
        now, closing = self.loop.time(), self.transport.is_closing()
        self.unread_since = min(self.unread_since, now) if self.flow.write_paused or closing else math.inf
        if now - self.unread_since > READING:
            self.transport.abort()
        elif self.conn.their_state not in ARRIVED and not closing and now - self.waiting_since > ARRIVING:
            self._end(*LATE)

    def _importance(self) -> tuple[bool, float]:
        """The sort key for closing: idle connections by the longest wait, then those with a response under way."""
        answered = self.cycle is not None and not self.cycle.response_complete
        return answered or self.transport.get_write_buffer_size() > 0, self.waiting_since

    def _end(self, status: str, why: str) -> None:
        """Close the connection; if no response has started, send `status` with the sentence `why` first."""
        self.connections.discard(self)
        if self.cycle is None or not self.cycle.response_started:
            head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"
            self.transport.write(f"{head}Content-Length: {len(why)}\r\n\r\n{why}".encode())
        if self.transport.get_write_buffer_size():  # the visitor does not read: close() would wait
            self.transport.abort()
        self.transport.close()
