"""Estimate the requests and tokens of an audit of a served model, before anything is sent."""

import json
from dataclasses import dataclass, replace

from evenhand.auditing.spec import AuditSpec
from evenhand.core.loop import questions_of
from evenhand.errors import BadInput
from evenhand.models.engines import OPENAI
from evenhand.models.planning.tokens import Unanswerable
from evenhand.models.served.asking import REPLY_TOKENS, Ability, Kind, cannot, requests
from evenhand.models.served.client import Request
from evenhand.models.source import ModelSource

CHARACTERS = 4
"""Approximate characters per token in English."""
ABILITIES: dict[Kind, Ability] = {
    "a": Ability(whole="echo", next=20, chat_next=20, text=True, chat_text=True),
    "b": Ability(next=20, chat_next=20, text=True, chat_text=True),
    "c": Ability(text=True, chat_text=True),
}
"""What a server of each kind can be asked."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Requests and tokens, of prompts and of replies, for the tasks that a server of this kind can be asked."""

    kind: Kind
    requests: int
    prompt_tokens: int
    reply_tokens: int
    left_out: tuple[str, ...]
    """The tasks that it cannot be asked."""


def estimate(source: ModelSource, spec: AuditSpec, *, samples: int = 20) -> list[Cost]:
    """The cost of an audit for each kind of server, since the server's is not known yet; nothing is sent."""
    if source.place.engine != OPENAI:
        raise BadInput(f"`dry_run` is for a model behind a server, openai:NAME. Got '{source.name}': leave it out.")
    asked = spec.tasks_for("causal")
    costs = []
    for kind, ability in ABILITIES.items():
        ability, wanted, left_out = replace(ability, samples=samples), dict[Request, None](), list[str]()
        for one in asked:
            how, items = one.task.measure, one.task.dataset.items
            if any(cannot(question, ability) for question in questions_of(items[0], how)):
                left_out.append(f"{one.record.dataset} by {one.record.measure}")
                continue
            for question in {question: None for item in items for question in questions_of(item, how)}:
                try:
                    wanted |= dict.fromkeys(requests(question, ability, source.name))
                except Unanswerable:
                    continue
        bodies = [json.loads(request.body) for request in wanted]
        texts = [
            body.get("prompt", "") + "".join(part["content"] for part in body.get("messages", ())) for body in bodies
        ]
        prompts = sum(map(len, texts)) // CHARACTERS
        replies = len(wanted) * (REPLY_TOKENS if kind == "c" else 1)
        costs.append(Cost(kind, len(wanted), prompts, replies, tuple(left_out)))
    return costs
