"""One connection to a server, kept open from request to request.

httpcore without httpx and without its pool of connections: those take most of the time where a server is fast, and each
worker of the client has a connection of its own.
"""

import asyncio
from dataclasses import dataclass
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore

from evenhand.errors import BadInput, ModelError
from evenhand.models.served.address import is_url

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
        if isinstance(self._open, httpcore.AsyncHTTPConnection) and (
            self._open.is_closed() or self._open.has_expired()
        ):
            await self.close()
        if self._open is None and self.proxy:
            self._open = httpcore.AsyncHTTPProxy(self.proxy, max_connections=1)
        elif self._open is None:
            self._open = httpcore.AsyncHTTPConnection(self._origin)
        method, content = ("POST", body.encode()) if body else ("GET", b"")
        headers = [*self._headers, ("Content-Length", str(len(content)))]
        try:
            async with (
                asyncio.timeout(self._timeout),
                self._open.stream(method, f"{self.base_url}/{path}", headers=headers, content=content) as found,
            ):
                read = bytearray()
                async for part in found.aiter_stream():
                    read += part
                    if len(read) > LARGEST:
                        raise ModelError(f"The server at {self.base_url} sends over {LARGEST:,} bytes in one reply.")
        except BaseException:  # also when it is cancelled: half a response is left in it
            await self.close()
            raise
        told = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in found.headers}
        phrase = found.extensions.get("reason_phrase", b"").decode("latin-1")
        return Response(found.status, phrase, told, read.decode("utf-8", "replace"))

    async def close(self) -> None:
        """Close the connection, if it is open."""
        was, self._open = self._open, None
        if was is not None:
            await was.aclose()


def _proxy(scheme: str, host: str) -> str:
    """The proxy that the environment names for a host, empty where it names none; it may hold a password."""
    given = "" if proxy_bypass(host) else getproxies().get(scheme, "").strip()
    url = given if "://" in given or not given else f"http://{given}"  # as curl reads it
    if url and not is_url(url):
        raise BadInput(
            f"{scheme}_proxy must be the address of a proxy: http://localhost:3128. Or ask without: no_proxy={host}."
        )
    return url
