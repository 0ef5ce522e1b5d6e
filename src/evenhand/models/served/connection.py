"""One connection to a server, kept open from request to request.

httpcore without httpx and without its pool of connections: those take most of the time where a server is fast, and each
worker of the client has a connection of its own.
"""

import asyncio
import os
import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore

from evenhand.errors import BadInput, ModelError

DEFAULT_URL = "https://api.openai.com/v1"
SHORTEST = 8
"""The fewest characters of a secret key; a shorter one ("none", "EMPTY") is a placeholder, and may be part of words."""


@dataclass(frozen=True, slots=True)
class Address:
    """A model's name on the server, the server's base URL, and the key to it."""

    name: str
    base_url: str
    key: str = field(default="", repr=False)

    @classmethod
    def of(cls, name: str, base_url: str | None = None) -> "Address":
        """The address of "openai:NAME"; without `base_url` that of OPENAI_BASE_URL, or OpenAI's own.

        The key is that of OPENAI_API_KEY: an argument would be in the history of a shell, or in a notebook.
        """
        model = name.removeprefix("openai:")
        if not model.strip() or not model.isprintable():
            raise BadInput(f"A served model is openai:NAME, with the name that the server knows it by. Got '{name}'.")
        given = base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_URL
        key = os.environ.get("OPENAI_API_KEY", "").strip()
        if not key.isascii() or not key.isprintable() or set("'\"` ") & set(key):
            raise BadInput("OPENAI_API_KEY has characters that no key has. Copy it again, without quotation marks.")
        url = given.strip()
        if set("@?#") & set(url):
            raise BadInput(
                "The `base_url` holds a password or a key, or what may be one (before @, behind ? or #), which would "
                "end up in runs. Leave it out, and set OPENAI_API_KEY instead."
            )
        if not is_url(url):
            raise BadInput(f"`base_url` is the address of a server, in ASCII: http://localhost:8000/v1. Got '{given}'.")
        if given == DEFAULT_URL and not key:
            raise BadInput(
                f"'{name}' at {DEFAULT_URL} needs a key: set OPENAI_API_KEY. Or give the address of your own server: "
                "`base_url='http://localhost:8000/v1'`."
            )
        return cls(model, url.rstrip("/"), key)

    def redact(self, text: str) -> str:
        """The server's text without the key; a key that is part of the model's name is no secret."""
        secret = len(self.key) >= SHORTEST and self.key not in self.name
        return text.replace(self.key, "(key)") if secret else text


def is_url(text: str) -> bool:
    """Whether a text is an address for http or https."""
    try:
        parts = urlsplit(text)
        return bool(parts.hostname and parts.port != 0 and re.fullmatch("(?i:https?)://[!-~]+", text))
    except ValueError:
        return False


LARGEST = 2**26
"""Bytes of a reply: the log-probabilities of a long text take less than a tenth of them."""


@dataclass(frozen=True, slots=True)
class Response:
    """A status with its phrase, headers in lower case, and the text."""

    status: int
    phrase: str
    headers: dict[str, str]
    text: str


class Connection:
    """Sends one request at a time to a base URL; opens the connection again where it was lost or closed."""

    def __init__(self, base_url: str, key: str, timeout: float) -> None:
        parts = urlsplit(base_url)
        self.base_url = base_url
        self._headers = [("Host", parts.netloc), ("Accept", "application/json"), ("Content-Type", "application/json")]
        self._headers += [("Authorization", f"Bearer {key}")] if key else []
        self._timeout = timeout
        secure, host = parts.scheme == "https", parts.hostname or ""
        self._origin = httpcore.Origin(parts.scheme.encode(), host.encode(), parts.port or (443 if secure else 80))
        self.proxy = _proxy(parts.scheme, host)
        self._open: httpcore.AsyncHTTPConnection | httpcore.AsyncHTTPProxy | None = None

    async def send(self, path: str, body: str) -> Response:
        """The response to a POST of the body, or a GET without one; httpcore's error or TimeoutError if none comes."""
        current = self._open
        if isinstance(current, httpcore.AsyncHTTPConnection) and (current.is_closed() or current.has_expired()):
            await self.close()
        if self._open is None:
            proxy, origin = self.proxy, self._origin
            self._open = httpcore.AsyncHTTPProxy(proxy) if proxy else httpcore.AsyncHTTPConnection(origin)
        method, content = ("POST", body.encode()) if body else ("GET", b"")
        headers = [*self._headers, ("Content-Length", str(len(content)))]
        try:
            async with (
                asyncio.timeout(self._timeout),
                self._open.stream(method, f"{self.base_url}/{path}", headers=headers, content=content) as response,
            ):
                read = bytearray()
                async for part in response.aiter_stream():
                    read += part
                    if len(read) > LARGEST:
                        raise ModelError(f"The server at {self.base_url} sends over {LARGEST:,} bytes in one reply.")
        except BaseException:  # also when it is cancelled: half a response is left in it
            await self.close()
            raise
        received = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
        phrase = response.extensions.get("reason_phrase", b"").decode("latin-1")
        return Response(response.status, phrase, received, read.decode("utf-8", "replace"))

    async def close(self) -> None:
        current, self._open = self._open, None
        if current is not None:
            await current.aclose()


def _proxy(scheme: str, host: str) -> str:
    """The proxy that the environment names for a host, empty where it names none; it may hold a password."""
    given = "" if proxy_bypass(host) else getproxies().get(scheme, "").strip()
    url = given if "://" in given or not given else f"http://{given}"  # as curl reads it
    if url and not is_url(url):
        raise BadInput(
            f"{scheme}_proxy must be the address of a proxy: http://localhost:3128. Or ask without: no_proxy={host}."
        )
    return url
