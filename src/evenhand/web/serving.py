"""The address that the server listens on, and the loop that serves it."""

import errno
import os
import re
import secrets
import socket
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import uvicorn

from evenhand.errors import BadInput
from evenhand.web.app import application
from evenhand.web.connections import Connection
from evenhand.web.guarding import LOOPBACK, Hosts, ip_address

TOKEN = re.compile(r"[A-Za-z0-9_-]{16,200}")
PATIENCE = 3
"""Seconds for running requests after Ctrl-C."""
BACKLOG = 64
"""Connections taken at once, before any of them is counted: with those that are open, fewer than a process may have."""


@dataclass(frozen=True)
class Listening:
    """A server that has its port; `run` starts it."""

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
        raise BadInput(f"The folder of runs must be a folder. '{folder}' is a file.")
    address = ip_address(host)
    local = address.is_loopback if address else host == "localhost"
    token = token or (None if local else secrets.token_urlsafe(32))
    if token is not None and not TOKEN.fullmatch(token):
        raise BadInput(f"`token` must have 16 to 200 letters, digits, - and _. Got {len(token)} characters.")
    hosts = Hosts() if local else Hosts({*LOOPBACK, host.lower(), socket.gethostname().lower()}, addresses=True)
    app = application(folder, models=models, hosts=hosts, token=token)
    taken = _bound(host, port)
    config = uvicorn.Config(
        app,
        http=Connection,
        backlog=BACKLOG,
        log_level="error",  # a warning for each malformed request would let visitors fill the terminal
        access_log=False,  # it would contain the token
        server_header=False,
        proxy_headers=False,
        ws="none",
        timeout_graceful_shutdown=PATIENCE,
    )
    named = socket.gethostname() if host in ("", "0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    query = f"?token={token}" if token else ""
    return Listening(f"http://{named}:{taken.getsockname()[1]}/{query}", taken, uvicorn.Server(config))


def _bound(host: str, port: int) -> socket.socket:
    try:
        family, *_, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server((str(place[0]), port), family=family)
    except OSError as error:
        why = error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            do = "Choose another `port`, or any free one with `port=0`"
            raise BadInput(f"Port {port} of {host} is not available: {why}. {do}.") from error
        raise BadInput(f"`host` must be a name or address of this machine. '{host}': {why}.") from error
