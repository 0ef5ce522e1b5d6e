"""Concurrent requests to a server, with retries. Replies are yielded as they come."""

import asyncio
import json
import math
import queue
import random
import re
import ssl
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import httpcore

from evenhand.core.files import from_json, parse_text
from evenhand.errors import BadInput, ModelError, ModelNotFound
from evenhand.models.served.connection import Address, Connection, Response

AGAIN = (408, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529)
"""HTTP statuses after which a request is sent again."""
BUSY = (429, 503, 529)
"""HTTP statuses of an overloaded server."""
REFUSALS = (400, 404, 405, 413, 415, 422, 500, 501)
"""HTTP statuses of a request that the server will never answer; 500 only for template errors and GETs."""
LONG = ("context", "too long", "too large", "maximum", "exceed")
"""Words by which a server's message says that a prompt is too long."""
TEMPLATE = re.compile(r"jinja|chat.?template|raise_exception|system.(?:role|message|prompt)|conversation roles", re.I)
"""Words of an error in a chat template, which occurs again with each try."""
FIRST_WAIT, LONGEST_WAIT = 0.25, 20.0
QUOTED = 320  # the maximum number of characters that messages quote from a reply
MOST_TOKENS = 2**31
"""Token counts of a reply from this number on are ignored as wrong."""
FIRST = 2  # the number of requests at once in the first round
SLOWER = 1.5
"""Concurrency grows while the mean time of a round is below this multiple of the quickest round's."""
QUICK = 0.1
"""Below this mean time of a request in seconds, concurrency grows in any case: the time may be spent on our side."""


@dataclass(frozen=True, slots=True)
class Request:
    """A path under the base URL, and the JSON that is posted to it. Without a body the request is a GET."""

    path: str
    body: str = ""

    @classmethod
    def of(cls, path: str, **body: Any) -> "Request":
        """The request with this body as JSON; equal bodies give equal texts."""
        return cls(path, json.dumps(body, ensure_ascii=False, sort_keys=True))


@dataclass(frozen=True, slots=True)
class Refused:
    """The reply to a request that the server will never answer: the HTTP status and the server's message."""

    status: int
    says: str

    @property
    def too_long(self) -> bool:
        return self.status == 413 or (self.status in (400, 422) and any(word in self.says.lower() for word in LONG))


Reply = Mapping[str, Any] | Refused


class Pace:
    """The number of requests at once: one more after each round that was not slower, half if the server is busy."""

    def __init__(self, most: int) -> None:
        self.most, self.now = most, min(FIRST, most)
        self._least, self._round, self._halved, self._began = math.inf, list[float](), 0.0, False

    def start(self, requests: int) -> None:
        """Begin a list of requests. Unless they are quick, concurrency is halved: they may take longer."""
        if requests > self.now:
            self._change(self.now)
            self._began = True

    def took(self, seconds: float) -> None:
        """Record that a request was answered in this many seconds, and adapt concurrency after each round."""
        self._round.append(seconds)
        if len(self._round) >= self.now:
            mean, self._round = fmean(self._round), []
            if self._began and mean >= QUICK:
                self._change(max(min(FIRST, self.most), self.now // 2))
                return
            self._least, self._began = min(mean, self._least), False
            self.now += mean < max(QUICK, SLOWER * self._least) and self.now < self.most

    def busy(self, sent: float) -> None:
        """Halve concurrency, as the server was too busy for a request: once for all that were sent before."""
        if sent >= self._halved:
            self._halved = time.monotonic()
            self._change(max(1, self.now // 2))

    def _change(self, now: int) -> None:
        self.now, self._least, self._round, self._began = now, math.inf, [], False


class Places(asyncio.Semaphore):
    """A semaphore for the requests of a list, with as many places as the pace allows."""

    def __init__(self, pace: Pace) -> None:
        super().__init__(pace.now)
        self._pace, self._count = pace, pace.now

    def release(self) -> None:
        self._count -= 1
        self._open()

    async def keep(self) -> None:
        """Keep the place, or give it back and wait for one if the pace allows fewer places now. Opens new places."""
        self._open()
        if self._count > self._pace.now:
            self.release()
            await self.acquire()

    def _open(self) -> None:
        while self._count < self._pace.now:
            self._count += 1
            super().release()


class Client:
    """Sends up to `concurrency` requests at once. Retries each for up to `patience` seconds, with growing pauses."""

    def __init__(
        self, address: Address, *, concurrency: int = 8, patience: float = 120.0, timeout: float = 120.0
    ) -> None:
        if type(concurrency) is not int or concurrency < 1:
            raise BadInput(f"`concurrency` must be a whole number of at least 1. Got {concurrency!r}.")
        self.address = address
        self.concurrency = concurrency
        self.patience = patience
        self.timeout = timeout
        self.pace = Pace(self.concurrency)
        self.spent = Counter[str]()
        """The number of requests sent, including retries, and of tokens, if the server counts them."""
        self._reached = False

    def one(self, request: Request) -> Reply:
        ((_, reply),) = self.all([request])
        return reply

    def all(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """The number of each request and its reply, as replies come."""
        replies: queue.SimpleQueue[tuple[int, Reply | Exception]] = queue.SimpleQueue()
        loop = asyncio.new_event_loop()  # a new loop in a thread, since in a notebook the caller's loop is running
        work = loop.create_task(self._work(requests, replies))

        def run() -> None:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                runner.run(asyncio.wait([work]))

        thread = threading.Thread(target=run, name="evenhand-client", daemon=True)
        thread.start()
        try:
            for _ in requests:
                number, reply = replies.get()
                if isinstance(reply, Exception):
                    raise reply
                yield number, reply
        finally:
            with suppress(RuntimeError):  # the loop has ended already
                loop.call_soon_threadsafe(work.cancel)  # the caller has stopped, or a request has failed
            thread.join()

    async def _work(self, requests: Sequence[Request], replies: Any) -> None:
        rest = iter(enumerate(requests))
        places = Places(self.pace)

        async def worker() -> None:
            connection = Connection(self.address.base_url, self.address.key, self.timeout)
            await places.acquire()
            try:
                for number, request in rest:
                    replies.put((number, await self._send(connection, request, places)))
                    await places.keep()
            finally:
                places.release()
                await connection.close()

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self.concurrency, len(requests))):
                    group.create_task(worker())
        except* Exception as errors:
            replies.put((-1, errors.exceptions[0]))

    async def _send(self, connection: Connection, request: Request, places: Places) -> Reply:
        until, wait = time.monotonic() + self.patience, FIRST_WAIT
        while True:
            asked_to_wait, sent = 0.0, time.monotonic()
            self.spent["requests"] += 1
            try:
                response = await connection.send(request.path, request.body)
                final = response.status == 500 and (TEMPLATE.search(response.text) or not request.body)
                if response.status not in AGAIN or final:
                    reply = self._reply(response)
                    self._reached = True
                    if response.status == 200:
                        self.pace.took(time.monotonic() - sent)
                    return reply
                if response.status in BUSY:
                    self.pace.busy(sent)
                why = f"answers {response.status} ({self._in_brief(response.phrase)})"
                with suppress(ValueError):
                    seconds = float(response.headers.get("retry-after", 0))
                    asked_to_wait = seconds if seconds < math.inf else 0.0  # also 0 for NaN
            except (httpcore.TimeoutException, TimeoutError):
                self.pace.busy(sent)
                why = f"does not answer within {self.timeout:g} seconds"
            except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.ProxyError, OSError) as error:
                why = self._unreachable(error, connection.proxy)
            except _NoJson as error:
                why = str(error)
            pause = max(asked_to_wait, wait * random.uniform(0.5, 1.0))
            if time.monotonic() + pause > until:
                raise ModelError(
                    f"The server at {self.address.base_url} {why}, for {self.patience:g} seconds. Answers so far are "
                    "kept. Run the same command again when the server works, or with a smaller `concurrency`."
                )
            places.release()
            await asyncio.sleep(pause)
            await places.acquire()
            wait = min(2 * wait, LONGEST_WAIT)

    def _unreachable(self, error: Exception, proxy: str) -> str:
        """The reason why there is no connection, if a retry may help. Otherwise raises an error."""
        base = self.address.base_url + (" through the proxy in the environment" if proxy else "")
        reason = self._in_brief(str(error)) or type(error).__name__
        if isinstance(error.__cause__, ssl.SSLError) or "SSL" in str(error):
            raise ModelError(f"No safe connection to {base}: {reason}. Is it an http address, or the certificate old?")
        if not self._reached:
            raise ModelError(f"There is no server at {base}: {reason}. Start the server, or check `base_url`.")
        return "does not keep the connection"

    def _reply(self, response: Response) -> Reply:
        base, status = self.address.base_url, response.status
        if status in (401, 403):
            state = "is refused" if self.address.key else "is missing"
            then = " Answers so far are kept. Run the same command again with a valid key." if self._reached else ""
            raise ModelError(f"The server at {base} answers {status}: the key in OPENAI_API_KEY {state}.{then}")
        try:
            reply = parse_text(response.text, self._read)
        except ValueError:
            if status in REFUSALS and not response.text.lstrip().startswith("<"):
                return Refused(status, self._in_brief(response.text))
            raise _NoJson(
                f"answers {status} with something other than JSON: '{self._in_brief(response.text)}'. Is it a proxy's "
                "page, or the path wrong? A base URL mostly ends in /v1"
            ) from None
        if status in REFUSALS:
            return Refused(status, self._in_brief(_message(reply)))
        if status != 200 or not isinstance(reply, dict):
            raise ModelError(
                f"The server at {base} answers {status} with an unexpected reply: '{self._in_brief(str(reply))}'."
            )
        usage = reply["usage"] if isinstance(reply.get("usage"), dict) else {}
        counts = {name: usage.get(name) for name in ("prompt_tokens", "completion_tokens")}
        self.spent.update({name: n for name, n in counts.items() if isinstance(n, int) and 0 < n < MOST_TOKENS})
        return reply

    def _read(self, text: str) -> Any:
        """The JSON value without the API key and lone surrogates, neither of which may get into a run or its page."""
        value = from_json(text)
        suspects = ("\\", "%", "&#", self.address.key) if self.address.key else ("\\",)  # both may be escaped
        return self._clean(value) if any(part in text for part in suspects) else value

    def _clean(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.address.redact(value).encode("utf-8", "replace").decode()
        if isinstance(value, list):
            return [self._clean(part) for part in value]
        if isinstance(value, dict):
            return {self._clean(name): self._clean(part) for name, part in value.items()}
        return value

    def _in_brief(self, text: str) -> str:
        return " ".join(self.address.redact(text).split())[:QUOTED]

    def no_model(self, says: str) -> ModelNotFound:
        return ModelNotFound(f"The server at {self.address.base_url} has no model '{self.address.name}'. {says}")


class _NoJson(Exception):
    pass


def _message(reply: Any) -> str:
    error = reply.get("error", reply) if isinstance(reply, dict) else reply
    message = error.get("message", error.get("detail", error)) if isinstance(error, dict) else error
    return message if isinstance(message, str) else json.dumps(message, ensure_ascii=False)
