"""One connection to a server, kept open from request to request.

httpcore without httpx and without its pool of connections: those take most of the time where a server is fast, and each
worker of the client has a connection of its own.
"""

from dataclasses import dataclass
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore


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
        self._timeout = {"timeout": dict.fromkeys(("connect", "read", "write", "pool"), timeout)}
        secure, host = parts.scheme == "https", parts.hostname or ""
        self._origin = httpcore.Origin(parts.scheme.encode(), host.encode(), parts.port or (443 if secure else 80))
        self._proxy = "" if proxy_bypass(host) else getproxies().get(parts.scheme, "")
        self._open: httpcore.AsyncHTTPConnection | httpcore.AsyncHTTPProxy | None = None

    async def send(self, path: str, body: str) -> Response:
        """The response to a POST of the body, or to a GET if there is none; an error of httpcore's if there is none."""
        if isinstance(self._open, httpcore.AsyncHTTPConnection) and (
            self._open.is_closed() or self._open.has_expired()
        ):
            await self.close()
        if self._open is None and self._proxy:
            self._open = httpcore.AsyncHTTPProxy(self._proxy, max_connections=1)
        elif self._open is None:
            self._open = httpcore.AsyncHTTPConnection(self._origin)
        method, content = ("POST", body.encode()) if body else ("GET", b"")
        headers = [*self._headers, ("Content-Length", str(len(content)))]
        try:
            found = await self._open.request(
                method, f"{self.base_url}/{path}", headers=headers, content=content, extensions=self._timeout
            )
        except BaseException:  # also when it is cancelled: half a response is left in it
            await self.close()
            raise
        told = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in found.headers}
        phrase = found.extensions.get("reason_phrase", b"").decode("latin-1")
        return Response(found.status, phrase, told, found.content.decode("utf-8", "replace"))

    async def close(self) -> None:
        """Close the connection, if it is open."""
        was, self._open = self._open, None
        if was is not None:
            await was.aclose()
