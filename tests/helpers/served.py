"""Small runs to serve, and a way to send an application whatever one likes."""

import asyncio
import json
import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from starlette.types import ASGIApp, Message

import evenhand
from evenhand import Likelihood, Table
from evenhand.web.server import listen

HOST = "127.0.0.1:8040"
HERE = {"host": HOST, "origin": f"http://{HOST}"}
FORM = {**HERE, "content-type": "application/x-www-form-urlencoded"}


def audit(out: Path, name: str, like: float) -> Path:
    """A run of a table that likes one sentence of a pair better, `like` times as often as it should."""

    def rule(question: Any) -> Sequence[float]:
        assert isinstance(question, Likelihood)
        return [-like * (crc32(question.text.encode()) % 1000) / 100]

    table = Table(rule, name, fingerprint=f"{name:f<32}")
    return evenhand.audit(table, dataset="tgb", measure=["likelihood-lean"], limit=12, out=out).path


def changed(run: Path, **about: Any) -> Path:
    """The run with other things in its run.json, or in the one audit there."""
    path = run / "run.json"
    data = json.loads(path.read_text())
    for name, value in about.items():
        (data["audits"][0] if name in data["audits"][0] else data)[name] = value
    path.write_text(json.dumps(data))
    return run


def copied(run: Path, to: Path) -> Path:
    return Path(shutil.copytree(run, to))


@dataclass
class Response:
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    def header(self, name: str) -> str:
        return next((value for given, value in self.headers if given == name), "")


def send(
    app: ASGIApp,
    path: str,
    *,
    method: str = "GET",
    query: str = "",
    headers: Mapping[str, str] | Sequence[tuple[str, str]] = (("host", HOST),),
    body: Sequence[bytes] = (b"",),
) -> Response:
    """One request as it is, nothing tidied up on the way; `path` as the server has decoded it."""
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode("latin-1", "replace")) for name, value in pairs],
        "scheme": "http",
        "server": ("127.0.0.1", 8040),
        "client": ("127.0.0.1", 50000),
        "http_version": "1.1",
        "root_path": "",
    }
    chunks, sent = iter(body), list[Message]()

    async def receive() -> Message:
        chunk = next(chunks, None)
        return {"type": "http.request", "body": chunk or b"", "more_body": chunk is not None}

    async def keep(message: Message) -> None:
        sent.append(message)

    async def answer() -> None:
        await app(scope, receive, keep)

    try:
        with ThreadPoolExecutor(1) as alone:  # tests in a browser leave an event loop running in the main thread
            alone.submit(lambda: asyncio.run(answer())).result()
    except Exception:  # what a server would log, after the answer was sent
        if not sent:
            raise
    head = [(name.decode(), value.decode()) for name, value in sent[0]["headers"]]
    return Response(sent[0]["status"], head, b"".join(message.get("body", b"") for message in sent[1:]))


@contextmanager
def serving(folder: Path, **options: Any) -> Iterator[str]:
    """The server itself on a port of its own; its address."""
    where: dict[str, Any] = {"host": "127.0.0.1", "port": 0}
    listening = listen(folder, **where | options)
    thread = threading.Thread(target=listening.run, daemon=True)
    thread.start()
    yield listening.address
    listening.server.should_exit = True
    thread.join()
