"""Responses: from templates, with security headers; and refusals, for every request is checked before it is handled."""

import hmac
import ipaddress
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from importlib.resources import files
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evenhand._version import __version__

TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}

_environment = Environment(
    loader=PackageLoader("evenhand.web"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_environment.globals["version"] = __version__


def render(template: str, status: int = 200, headers: Mapping[str, str] | None = None, **known: Any) -> Response:
    """The template, filled with values."""
    return html(_environment.get_template(template).render(known), status, headers)


def html(text: str, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A page; lone surrogates, which file names may contain, become question marks."""
    return Response(text.encode("utf-8", "replace"), status, headers, media_type="text/html")


def refusal(status: int, why: str, headers: Mapping[str, str] | None = None) -> Response:
    """The page for a request that is refused."""
    return render("refusal.html", status, headers, title=HTTPStatus(status).phrase, why=why)


def static_files() -> dict[str, Response]:
    """The bundled files that pages refer to, by name; no others can be requested."""
    return {
        file.name: Response(file.read_bytes(), media_type=TYPES[file.name.rpartition(".")[2]])
        for file in (files("evenhand.web") / "static").iterdir()
        if file.is_file()
    }


COOKIE = "evenhand-token"
LARGEST_BODY = 1_000_000
TOO_LARGE = f"At most {LARGEST_BODY:,} bytes can be sent. Files of any length: evenhand swap."
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


@dataclass(frozen=True, slots=True)
class Hosts:
    """Host names allowed in requests. Any other is rejected, against DNS rebinding.

    With `addresses`, any IP address is allowed as well, since it needs no DNS.
    """

    names: Collection[str] = LOOPBACK
    addresses: bool = False

    def __contains__(self, header: str) -> bool:
        match = HOST.fullmatch(header)
        name = (match["ipv6"] or match["name"]).lower() if match else ""
        return name in self.names or (self.addresses and ip_address(name) is not None)


@dataclass(frozen=True, slots=True)
class Guarded:
    """ASGI middleware that refuses requests from other sites, and those without the token if there is one."""

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
            return refusal(421, "This server does not have that name. Open the address that it printed.")
        own = [f"http://{hosts[0]}".lower()], [f"https://{hosts[0]}".lower()]
        if request.method not in ("GET", "HEAD") and list(map(str.lower, headers.getlist("origin"))) not in own:
            return refusal(403, "This form comes from another site. Send it from the pages of this server.")
        if headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") != "navigate":
            return refusal(403, "A page of another site asked for this. Open it from here, or by its address.")
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length[:20]) > LARGEST_BODY:  # without a length, it is counted as it arrives
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
            # So that the address bar, the history and copied addresses do not contain the token.
            entered = RedirectResponse(path + (f"?{urlencode(others)}" if others else ""), status_code=303)
            entered.set_cookie(COOKIE, self.token or "", httponly=True, samesite="lax")
            return entered
        known = {"wrong": "token" in request.query_params, "path": path, "others": others}
        return render("token.html", 401, {"WWW-Authenticate": "Bearer"}, **known)

    def _is_token(self, token: str) -> bool:
        return hmac.compare_digest(token.encode("utf-8", "replace"), (self.token or "").encode())


def ip_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The host as an IP address, None if it is a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
