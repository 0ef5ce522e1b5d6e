"""A connection to a server, which stays open between requests.

It uses httpcore without httpx and without a connection pool, since these take most of the time if a server is fast.
Each worker of the client has a connection of its own.
"""

import asyncio
import os
import re
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore

from evenhand.errors import BadInput, ModelError

DEFAULT_URL = "https://api.openai.com/v1"
SHORTEST = 8
"""The minimum length of a secret key. Shorter ones ("none", "EMPTY") are placeholders, and may be part of words."""
LIKE_A_KEY = re.compile(
    r"\b(?:(?:pk|[cg]?sk|hf|xai|nvapi|pplx|fw|r8|gh[opsu]|glpat)[-_](?=[\w-]*\d)[\w-]{16,}|AIza[\w-]{30,}|eyJ[\w-]{20,}"
    r"|(?=[A-Z0-9]*[a-z])(?=[a-z0-9]*[A-Z])(?=\d*(?:[A-Za-z]+\d+){3})[A-Za-z0-9]{32,})"
)
"""Keys of vendors by how they begin, and long runs of mixed letters and digits; not UUIDs and numbers of accounts."""


@dataclass(frozen=True, slots=True)
class Address:
    """A model's name on the server, the server's base URL, and the API key."""

    name: str
    base_url: str
    key: str = field(default="", repr=False)

    @classmethod
    def of(cls, name: str, base_url: str | None = None) -> "Address":
        """The address of "openai:NAME". `base_url` is by default OPENAI_BASE_URL, or else the URL of OpenAI.

        The key is OPENAI_API_KEY. It is no argument, which would stay in the history of a shell or in a notebook.
        """
        model = name.removeprefix("openai:")
        if not model.strip() or not model.isprintable():
            raise BadInput(f"A served model must be openai:NAME, with the name that the server gives it. Got '{name}'.")
        given = base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_URL
        key = os.environ.get("OPENAI_API_KEY", "").strip()
        if not key.isascii() or not key.isprintable() or set("'\"` ") & set(key):
            raise BadInput("OPENAI_API_KEY has characters that no key has. Copy it again, without quotation marks.")
        url = plain = given.strip()
        while (decoded := unquote(plain)) != plain:
            plain = decoded
        address = cls(model, url.rstrip("/"), key)
        if set("@?#=") & set(plain) or LIKE_A_KEY.search(f"{model} {plain}") or address.redact(plain) != plain:
            raise BadInput(
                "`base_url`, or the name, has a part that may be a password or a key (before @, after ?, # or =, or by "
                "its looks). Runs would store it. Remove this part, and set OPENAI_API_KEY instead."
            )
        if not is_url(url):
            raise BadInput(
                f"`base_url` must be the URL of a server in ASCII, such as http://localhost:8000/v1. Got '{given}'."
            )
        if given == DEFAULT_URL and not key:
            raise BadInput(
                f"'{name}' at {DEFAULT_URL} needs an API key in the environment variable OPENAI_API_KEY. "
                "For your own server, give its URL: `base_url='http://localhost:8000/v1'`."
            )
        return address

    def redact(self, text: str) -> str:
        """The text with the key replaced, escaped or not. A key that is part of the model's name is not secret."""
        secret = len(self.key) >= SHORTEST and self.key not in self.name
        return _escaped(self.key).sub("(key)", text) if secret else text


@cache
def _escaped(key: str) -> re.Pattern[str]:
    """A pattern for the key, whose characters may be escaped as in JSON, URLs or HTML, even several times."""
    coded = r"(?i:\\{{1,8}}(?:u00|x){0:02x}|%(?:25){{0,4}}{0:02x}|&#(?:0{{0,4}}{0}|x0{{0,4}}{0:x});)"
    return re.compile("".join(rf"(?:\\{{0,8}}{re.escape(each)}|{coded.format(ord(each))})" for each in key))


def is_url(text: str) -> bool:
    """Whether the text is a URL for http or https."""
    try:
        parts = urlsplit(text)
        return bool(parts.hostname and parts.port != 0 and re.fullmatch("(?i:https?)://[!-~]+", text))
    except ValueError:
        return False


LARGEST = 2**26
"""The maximum size of a reply in bytes. The log-probabilities of a long text take less than a tenth of it."""


@dataclass(frozen=True, slots=True)
class Response:
    """The HTTP status with its phrase, the headers with lower-case names, and the text."""

    status: int
    phrase: str
    headers: dict[str, str]
    text: str


class Connection:
    """Sends one request at a time to a base URL. Reconnects if the connection was lost or closed."""

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
        """The response to a POST of the body, or to a GET if it is empty. Raises httpcore's errors and TimeoutError."""
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
        except BaseException:  # also after a cancellation, since a part of the response is left in the connection
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
    """The proxy URL for a host from the environment, which may contain a password; empty if there is none."""
    proxy = "" if proxy_bypass(host) else getproxies().get(scheme, "").strip()
    url = proxy if "://" in proxy or not proxy else f"http://{proxy}"  # as curl reads it
    if url and not is_url(url):
        raise BadInput(
            f"{scheme}_proxy must be the URL of a proxy, such as http://localhost:3128. For none, set no_proxy={host}."
        )
    return url
