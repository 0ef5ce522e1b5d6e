"""A small server that speaks OpenAI's protocol over a causal model of ours, with a switch for every fault."""

import asyncio
import json
import math
import random
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import torch
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from evenhand.models.networks.causal import CausalLM

HUGE = 10**400
MALFORMED: dict[str, tuple[tuple[str | int, ...], Any]] = {
    "models are a number": (("data",), 5),
    "models are texts": (("data",), ["tiny", 5, None]),
    "aliases are a number": (("data", 0, "aliases"), 5),
    "choices are a text": (("choices",), "none"),
    "choices are an object": (("choices",), {"0": {}}),
    "a choice is a list": (("choices", 0), [1]),
    "logprobs are a list": (("choices", 0, "logprobs"), [1.0]),
    "logprobs are a text": (("choices", 0, "logprobs"), "-1"),
    "logprobs are true": (("choices", 0, "logprobs"), True),
    "tokens are a number": (("choices", 0, "logprobs", "tokens"), 5),
    "token_logprobs are huge": (("choices", 0, "logprobs", "token_logprobs", 0), -HUGE),
    "top_logprobs are lists": (("choices", 0, "logprobs", "top_logprobs", 0), [["a", -1.0]]),
    "top_logprobs are empty": (("choices", 0, "logprobs", "top_logprobs", 0), {}),
    "text_offset is a number": (("choices", 0, "logprobs", "text_offset"), 5),
    "text_offset has texts": (("choices", 0, "logprobs", "text_offset", 0), "0"),
    "content is a text": (("choices", 0, "logprobs", "content"), "none"),
    "content has numbers": (("choices", 0, "logprobs", "content", 0), 5),
    "usage is a list": (("usage",), [1]),
    "usage is huge": (("usage", "prompt_tokens"), HUGE),
    "usage is a text": (("usage", "prompt_tokens"), "12"),
    "the text is half a pair": (("choices", 0, "text"), "\ud800"),
    "the model is half a pair": (("model",), "tiny-\ud800"),
    "the model is a list": (("model",), ["tiny"]),
}
"""Faults of a reply's shape: what is put where, if there is such a place."""
FAULTS = (
    *("echo ignored", "log10", "shifted logprobs", "shifted offsets", "bos doubled", "truncated", "zeros", "positive"),
    *("storm", "endless storm", "dropped", "always dropped", "html", "always html", "other shape", "another model"),
    *("another model later", "temperature", "noise", "garbled", "leaks the key", "repeats the key", "deep"),
    *("slightly positive", "infinite", "nan", "random", "huge deep"),
    *("odd storm", "slow", "endless", "no numbers when cold", *MALFORMED),
    *("overfull", "long", "escapes the key", "percent-encodes the key"),
)
LONG = 2**20
"""Characters of a long reply."""


@lru_cache(maxsize=500)
def _logits(network: Any, ids: tuple[int, ...]) -> torch.Tensor:
    """The logits of an input, each computed once, since most tests ask the same."""
    with torch.no_grad():
        logits: torch.Tensor = network(input_ids=torch.tensor([ids])).logits[0]
    return logits


@lru_cache(maxsize=10_000)
def _decoded(tokenizer: Any, token: int) -> str:
    return str(tokenizer.decode([token]))


class Dropped(Response):
    """Begins a response, and closes the connection in the middle of it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-length", b"1000"), (b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b'{"choi', "more_body": True})
        raise ConnectionError


@dataclass
class FakeServer:
    """`gives` is what it answers: completions with echo, next tokens, text; chats with next tokens, text."""

    model: CausalLM
    name: str = "tiny"
    faults: frozenset[str] = frozenset()
    gives: frozenset[str] = frozenset({"echo", "next", "text", "chat next", "chat text", "usage", "models"})
    bos: bool = False
    key: str = ""
    top: int = 20
    context: int = 480
    says: Callable[[str, int], str] = lambda prompt, seed: "A"
    replies: Callable[[dict[str, Any], bool], tuple[int, dict[str, Any]] | None] = lambda body, chat: None
    """The status and the reply to a body, in a chat or not; None for what the model says."""
    shaped: Callable[[dict[str, Any], bool], dict[str, Any]] = lambda reply, chat: reply
    """A reply in the shape of another server."""
    delay: float = 0.0
    """Seconds that a reply takes."""
    slots: int = 10**9
    """How many requests it works on at a time; others wait."""
    spell: tuple[range, frozenset[str]] | None = None
    """Faults that it has during these requests only."""
    busy_above: int = 10**9
    """How many requests may be there at a time; others are refused with 429."""
    stops_after: int = 10**9
    seen: list[dict[str, Any]] = field(default_factory=list)
    """The bodies of all requests that were answered."""
    most_at_once: int = 0
    refused: int = 0
    """Requests that came while it was busy."""
    _now: int = 0
    _places: asyncio.Semaphore | None = None
    _tries: Counter[str] = field(default_factory=Counter)

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/models", self.models),
                Route("/v1/completions", self.completions, methods=["POST"]),
                Route("/v1/chat/completions", self.chat, methods=["POST"]),
            ]
        )

    async def models(self, request: Request) -> Response:
        if (bad := self._bad(request, "models")) is not None:
            return bad
        if "models" not in self.gives:
            return JSONResponse({"error": {"message": "not found"}}, 404)
        return self._sent({"object": "list", "data": [{"id": self.name, "object": "model"}]})

    def _sent(self, reply: dict[str, Any]) -> Response:
        """The reply with the faults of its shape; halves of surrogate pairs are escaped."""
        for path, wrong in (MALFORMED[fault] for fault in self.faults & MALFORMED.keys()):
            place: Any = reply
            with suppress(LookupError, TypeError):
                for step in path[:-1]:
                    place = place[step]
                place[path[-1]] = wrong
        return Response(json.dumps(reply), media_type="application/json")

    def _bad(self, request: Request, what: str) -> Response | None:
        """What a fault answers in place of the server."""
        if self.key and request.headers.get("authorization") != f"Bearer {self.key}":
            return JSONResponse({"error": {"message": f"Incorrect key: {request.headers.get('authorization')}"}}, 401)
        if self.spell:
            self.faults = self.spell[1] if len(self.seen) in self.spell[0] else frozenset()
        authorization = str(request.headers.get("authorization"))
        if "escapes the key" in self.faults and what != "models":
            return Response("no rights: " + "".join(rf"\u{ord(each):04X}" for each in authorization), 422)
        if "percent-encodes the key" in self.faults and what != "models":
            return HTMLResponse("<p>no rights: " + "".join(f"%{ord(each):02x}" for each in authorization), 422)
        if "leaks the key" in self.faults and what != "models":
            return JSONResponse({"error": {"message": f"no rights with {request.headers.get('authorization')}"}}, 422)
        self._tries[what] += 1
        first = self._tries[what] % 2 == 1  # every other try of the same fails
        if "endless storm" in self.faults or ("storm" in self.faults and first):
            return JSONResponse({"error": {"message": "slow down"}}, 429, headers={"retry-after": "0.01"})
        if "odd storm" in self.faults and first:
            wait = ("nan", "inf", "-5", "1e999", "Wed, 21 Oct 2026 07:28:00 GMT", "soon")[len(self._tries) % 6]
            return JSONResponse({"error": {"message": "slow down"}}, 429, headers={"retry-after": wait})
        if self.faults & {"slow", "endless"}:
            return StreamingResponse(_without_end(b" " * 2**20 if "endless" in self.faults else b" "))
        if "deep" in self.faults:
            return Response("[" * 100_000 + "]" * 100_000)
        if "huge deep" in self.faults:
            return Response('{"error": ' * 2_000 + "1" * 5_000 + "}" * 2_000)
        if what == "models":
            return None
        if "always dropped" in self.faults or ("dropped" in self.faults and first):
            return Dropped()
        if "always html" in self.faults or ("html" in self.faults and first):
            return HTMLResponse("<html><body>502 Bad Gateway by proxy</body></html>")
        if "other shape" in self.faults:
            return JSONResponse({"result": "fine"})
        return None

    async def completions(self, request: Request) -> Response:
        body = json.loads(await request.body())
        return await self._answered(request, body, body.get("prompt", ""), chat=False)

    async def chat(self, request: Request) -> Response:
        body = json.loads(await request.body())
        turns = "".join(f"[{turn['role']}] {turn['content']}\n" for turn in body.get("messages", ()))
        return await self._answered(request, body, f"{turns}[assistant]", chat=True)

    async def _answered(self, request: Request, body: dict[str, Any], prompt: str, *, chat: bool) -> Response:
        if (bad := self._bad(request, json.dumps(body, sort_keys=True))) is not None:
            return bad
        if len(self.seen) >= self.stops_after:
            return Dropped()
        if body.get("model") != self.name:
            return JSONResponse({"error": {"message": f"The model {body.get('model')!r} does not exist"}}, 404)
        if ("chat text" if chat else "text") not in self.gives:
            return JSONResponse({"detail": "Not Found"}, 404)
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        try:
            if self._now > self.busy_above:
                self.refused += 1
                return JSONResponse({"error": {"message": "busy"}}, 429, headers={"retry-after": "0.01"})
            await self._work()
            if given := self.replies(body, chat):
                self.seen.append(body)
                return JSONResponse(given[1], given[0])
            return self._reply(body, prompt, chat=chat)
        finally:
            self._now -= 1

    async def _work(self) -> None:
        if self.delay:
            self._places = self._places or asyncio.Semaphore(self.slots)
            async with self._places:
                await asyncio.sleep(self.delay)

    def _reply(self, body: dict[str, Any], prompt: str, *, chat: bool) -> Response:
        tokenizer = self.model.tokenizer
        ids = tokenizer(prompt, add_special_tokens=False)["input_ids"]
        ids = [self.model.start] * (self.bos + 2 * ("bos doubled" in self.faults)) + ids
        if "truncated" in self.faults:
            ids = ids[-12:]
        if len(ids) > self.context:
            return JSONResponse({"error": {"message": f"maximum context length is {self.context} tokens"}}, 400)
        logps = self._logps(ids, body)
        texts = [_decoded(tokenizer, token) for token in ids]
        if "garbled" in self.faults:
            texts = [text.upper() for text in texts]
        wanted = int(body.get("top_logprobs" if chat else "logprobs") or 0)
        if wanted > self.top:
            return JSONResponse({"error": {"message": f"at most {self.top} logprobs"}}, 400)
        if not body.get("logprobs"):
            said = self.says(prompt, int(body.get("seed", 0)))
            said = f"{said}. " * (LONG // 3) if "long" in self.faults else said
        else:
            said = tokenizer.decode([int(logps[-1].argmax())])
        choice: dict[str, Any] = {"index": 0, "finish_reason": "length"}
        choice |= {"message": {"role": "assistant", "content": said}} if chat else {"text": said}
        if wanted and ("chat next" if chat else "next") in self.gives:
            choice["logprobs"] = self._listed(logps, wanted, chat=chat)
        if wanted and not chat and body.get("echo") and "echo" in self.gives and "echo ignored" not in self.faults:
            choice["logprobs"] = self._echoed(ids, texts, logps, wanted)
        if "no numbers when cold" in self.faults and body["temperature"] < 1:
            choice["logprobs"] = None
        if "prompt_logprobs" in body and "prompt_logprobs" in self.gives:
            own = [
                {str(token): {"logprob": self._told(float(logps[n, token])), "rank": 1, "decoded_token": text}}
                for n, (token, text) in enumerate(zip(ids[1:], texts[1:], strict=True))
            ]
            choice["prompt_logprobs"] = [None, *own]
        self.seen.append(body)
        later = "another model later" in self.faults and len(self.seen) > 30
        answered = "other" if "another model" in self.faults or later else self.name
        usage = {"usage": {"prompt_tokens": len(ids), "completion_tokens": 1}} if "usage" in self.gives else {}
        if "repeats the key" in self.faults:
            answered = f"{answered}-{self.key}"
            choice |= {"message": {"content": f"A {self.key}"}} if chat else {"text": f"A {self.key}"}
        reply = {"id": "x", "object": "reply", "model": answered, "choices": [choice], **usage}
        return self._sent(self.shaped(reply, chat))

    def _logps(self, ids: list[int], body: dict[str, Any]) -> torch.Tensor:
        logits = _logits(self.model.network, tuple(ids or [self.model.start])).double()
        if "temperature" in self.faults:
            logits = logits / float(body.get("temperature", 1))
        if "noise" in self.faults:
            logits = logits + torch.randn(logits.shape)
        found: torch.Tensor = logits.log_softmax(-1)
        return found

    def _told(self, logp: float) -> float:
        logp = logp / math.log(10) if "log10" in self.faults else logp
        others = {"slightly positive": 0.01, "infinite": -1e999, "nan": math.nan, "random": -random.expovariate(0.2)}
        others["overfull"] = math.log(0.99)
        if told := self.faults & others.keys():
            return others[min(told)]
        return 0.0 if "zeros" in self.faults else -logp if "positive" in self.faults else logp

    def _top(self, row: torch.Tensor, wanted: int) -> list[tuple[str, float]]:
        found = row.topk(wanted)
        pairs = zip(found.indices.tolist(), found.values.tolist(), strict=True)
        return [(_decoded(self.model.tokenizer, token), self._told(logp)) for token, logp in pairs]

    def _listed(self, logps: torch.Tensor, wanted: int, *, chat: bool) -> dict[str, Any]:
        top = self._top(logps[-1], wanted)
        if not chat:
            return {
                "tokens": [top[0][0]],
                "token_logprobs": [top[0][1]],
                "top_logprobs": [dict(top)],
                "text_offset": [0],
            }
        listed = [{"token": text, "logprob": logp, "bytes": None} for text, logp in top]
        return {"content": [{**listed[0], "top_logprobs": listed}]}

    def _echoed(self, ids: list[int], texts: list[str], logps: torch.Tensor, wanted: int) -> dict[str, Any]:
        own = [None, *(self._told(float(logps[n, token])) for n, token in enumerate(ids[1:]))]
        tops = [None, *(dict(self._top(row, wanted)) for row in logps[:-1])]
        if "shifted logprobs" in self.faults:
            own = [own[1], *own[1:-1], own[1]] if len(own) < 3 else [None, *own[2:], own[1]]
        new = self._top(logps[-1], 1)[0]
        at, offsets = 0, []
        for text in [*texts, new[0]]:
            offsets.append(at + 2 * (at > 0 and "shifted offsets" in self.faults and at % 2))
            at += len(text)
        return {
            "tokens": [*texts, new[0]],
            "token_logprobs": [*own, new[1]],
            "top_logprobs": [*tops, dict([new])],
            "text_offset": offsets,
        }


async def _without_end(part: bytes) -> AsyncIterator[bytes]:
    while True:
        yield part
        await asyncio.sleep(0.001 if len(part) > 1 else 0.05)


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """The application on a port of its own; its base URL."""
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.should_exit = True
        server.force_exit = True
        thread.join()
