"""Replies of a server, whatever it sends: a run or a sentence, no number for what is none, no key, and no pass."""

import json
import math
import random
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand
from evenhand import Choice, Gate, Run, datasets
from evenhand.errors import EvenhandError
from evenhand.gate.policy import Rule
from evenhand.models.served.connection import Address, Connection, Response
from evenhand.models.served.model import ServedModel
from helpers.fuzzing import LONGEST, Json, Text, fuzzed, places, replaced

pytestmark = pytest.mark.usefixtures("without_pages", "unexamined")

KEY = "sk-of-this-fuzzer-12345"
ESCAPED = "".join(f"\\u{ord(letter):04x}" for letter in KEY)
SETS = ["choices-decisions", "choices-decisions-control"]
ITEMS = {item.context: item for name in SETS for item in datasets.load(name).items if isinstance(item, Choice)}
STRICT = Gate([Rule(dataset=SETS[0], measure="decision-share", estimand="stereotype", within=0.05)])
LABELS = ("A", "B", "The", "I", "C")
Reply = dict[str, Any]


def likely(prompt: str, *, by_place: bool) -> dict[str, float]:
    """The likeliest next tokens, of a model that decides by stereotypes, and is right where there is a right answer."""
    if not (item := ITEMS.get(prompt.partition("\n")[0])):
        return {"Saturday": 0.9} | dict.fromkeys(LABELS, 0.015)
    expects, gender = item.groups.get("expects"), item.groups["gender"]
    yes = 0.5 if expects not in ("female", "male") else 0.95 if expects == gender else 0.05
    yes = yes if item.right is None else 0.95 - 0.9 * item.right
    first = yes if re.search(r"^A\. Yes$", prompt, re.MULTILINE) else 1 - yes
    first = random.Random(prompt).uniform(0.88, 0.92) if by_place and item.right is None else first
    return dict(zip(LABELS, (first * 0.99, (1 - first) * 0.99, 0.005, 0.003, 0.001), strict=True))


@dataclass
class Scripted:
    """A server with chats, or with completions; `kind` is what it gives. `wrong` makes another reply of a sound one."""

    kind: str
    chat: bool
    by_place: bool
    wrong: Callable[[Reply, int], tuple[int, str]]
    sent: int = 0

    def reply(self, body: dict[str, Any]) -> Reply:
        prompt, space = (body["messages"][-1]["content"], "") if self.chat else (body["prompt"], " ")
        top = {space + token: p for token, p in likely(prompt, by_place=self.by_place).items()}
        (text,) = random.Random(f"{prompt}{body.get('seed')}").choices([*top], [*top.values()])
        choice: Reply = {"finish_reason": "stop"} | ({"message": {"content": text}} if self.chat else {"text": text})
        listed = [{"token": token, "logprob": math.log(p)} for token, p in top.items()]
        if body.get("echo") and self.kind == "a":
            tokens = re.findall(r"\s*\S+|\s+", prompt)
            starts = ["".join(tokens[:n]) for n in range(len(tokens))]
            own = [likely(text, by_place=self.by_place) for text in starts]
            logps = [math.log(top.get(token.strip(), 0.001)) for top, token in zip(own, tokens, strict=True)]
            listed_here = [{token: logp} for token, logp in zip(tokens, logps, strict=True)]
            choice["logprobs"] = {"tokens": tokens, "token_logprobs": [None, *logps[1:]], "top_logprobs": listed_here}
        elif body.get("logprobs") and self.kind != "c":
            choice["logprobs"] = {"content": [{**listed[0], "top_logprobs": listed}]}
        return {"model": "tiny", "choices": [choice]}

    async def send(self, connection: Connection, path: str, body: str) -> Response:
        if path == "models" or path.startswith("chat") != self.chat:
            return Response(404, "Not Found", {}, '{"detail": "Not Found"}')
        self.sent += 1
        status, text = self.wrong(self.reply(json.loads(body)), self.sent)
        return Response(status, "", {}, text)


TOLD: dict[str, Callable[[float], Any]] = {
    "log10": lambda p: p / math.log(10),
    "all certain": lambda p: math.log(0.99),
    "probabilities": math.exp,
    "zeros": lambda p: 0,
    "nan": lambda p: math.nan,
    "infinite": lambda p: -math.inf,
    "positive": lambda p: -p,
    "huge": lambda p: -1e300,
    "texts": str,
}
"""What a server gives in the place of a log-probability."""
ODD = st.sampled_from([math.inf, math.nan, 1e-3, 10**400, "5", "\ud800", "x" * 3000, [[]], KEY, f"a {ESCAPED}"])
LOOPS = st.sampled_from(["A. ", "B", "(A) or ", "not ", "<think>", "</think>", "answer ", "a", "\n", "\\boxed{A}", KEY])
REFUSED = st.sampled_from(
    [KEY, ESCAPED, f"<p>{ESCAPED}", f'{{"error": "{ESCAPED}"}}', "[" * 9000, "9" * 5000, "{}", "[]"]
)
Wrong = st.one_of(
    st.tuples(st.just("numbers"), st.sampled_from([*TOLD])),
    st.tuples(st.just("said"), Text | st.builds(lambda loop, n: loop * n, LOOPS, st.integers(1, 9000))),
    st.tuples(st.just("put"), st.tuples(st.floats(0, 1), Json | ODD)),
    st.tuples(st.just("raw"), st.tuples(st.sampled_from([200, 400, 404, 422, 500, 503]), REFUSED | Text)),
    st.just(("none", "")),
)


def told(reply: Any, how: str) -> Any:
    """The reply with other numbers."""
    if isinstance(reply, dict):
        return {name: told(each, how) for name, each in reply.items()}
    if isinstance(reply, list):
        return [told(each, how) for each in reply]
    return TOLD[how](reply) if isinstance(reply, float) else reply


def wrongly(kind: str, what: Any, when: range, rate: float) -> Callable[[Reply, int], tuple[int, str]]:
    """Makes a wrong reply of so many of the replies of a while."""

    def change(reply: Reply, sent: int) -> tuple[int, str]:
        choice = reply["choices"][0]
        if kind == "none" or sent not in when or random.Random(sent).random() > rate:
            return 200, json.dumps(reply)
        if kind == "raw":
            return int(what[0]), str(what[1])
        if kind == "said":
            return 200, json.dumps({"choices": [choice | {"text": what, "message": {"content": what}}]})
        if kind == "put":
            there = sorted(places(reply), key=repr)
            return 200, json.dumps(replaced(reply, there[int(what[0] * (len(there) - 1))], what[1]))
        return 200, json.dumps(told(reply, what))

    return change


def audited(server: Scripted, out: Path) -> Run:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Connection, "send", lambda self, path, body: server.send(self, path, body))
        patch.setattr("evenhand.models.served.client.FIRST_WAIT", 0.0)
        model = ServedModel(Address("tiny", "http://localhost:1/v1", KEY), samples=3, concurrency=2, patience=0.0)
        asked: dict[str, Any] = {"dataset": SETS, "measure": ["decision-share", "choice-accuracy"], "limit": 24}
        return evenhand.audit(model, **asked, out=out, options={"chat": server.chat})


@fuzzed
@given(
    kind=st.sampled_from("abc"),
    chat=st.booleans(),
    by_place=st.booleans(),
    wrong=Wrong,
    start=st.integers(0, 150),
    count=st.sampled_from([1, 5, 60, 10**6]),
    rate=st.sampled_from([0.05, 0.5, 1.0]),
)
def test_any_reply(
    kind: str, chat: bool, by_place: bool, wrong: tuple[str, Any], start: int, count: int, rate: float
) -> None:
    """The model behind the server decides by stereotypes, or by places: no reply makes it pass."""
    with tempfile.TemporaryDirectory() as name:
        server, says = Scripted(kind, chat, by_place, wrongly(*wrong, range(start, start + count), rate)), ""
        try:
            run: Run | None = audited(server, Path(name))
        except EvenhandError as error:
            run, says = None, str(error)
        assert len(says) <= LONGEST
        written = [path.read_bytes() for path in Path(name).rglob("*") if path.is_file()]
        assert not [text for text in (says.encode(), *written) if KEY.encode() in text or ESCAPED.encode() in text]
        if run is None:
            assert wrong[0] != "none", says
            return
        json.dumps(run.results, allow_nan=False)
        assert STRICT.judge(run).verdict in ("fail", "undecided")
        if wrong[0] == "none":
            assert STRICT.judge(run).verdict == ("undecided" if by_place else "fail")
        if wrong[0] == "numbers" and (kind, wrong[1]) != ("a", "log10"):
            sound = audited(Scripted(kind, chat, by_place, wrongly("none", "", range(0), 0)), Path(name) / "sound")
            both = run.scores.merge(sound.scores, on=["dataset", "measure", "id"])
            assert len(both) == len(sound.scores)
            assert (both["score_x"].isna() | (both["score_x"] - both["score_y"]).abs().lt(1e-4)).all()
