"""Estimate the requests and tokens of an audit of a served model, before anything is sent."""

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial

from evenhand.auditing.budget import Affordable, affordable_tasks
from evenhand.auditing.spec import AuditSpec
from evenhand.core.loop import questions_of
from evenhand.errors import BadInput
from evenhand.models import ModelSource
from evenhand.models.engines import OPENAI
from evenhand.models.served.asking import Ability, Kind, cannot, countable
from evenhand.models.served.client import Request

CHARACTERS = 4
"""Approximate characters per token in English."""
ABILITIES: dict[Kind, Ability] = {
    "a": Ability(whole="echo", next=20, chat_next=20, text=True, chat_text=True),
    "b": Ability(next=20, chat_next=20, text=True, chat_text=True),
    "c": Ability(text=True, chat_text=True),
}
"""What a server of each kind can be asked."""


@dataclass(frozen=True)
class Amount:
    """Requests, and the tokens of their prompts and of the longest replies."""

    requests: int
    prompt_tokens: int
    reply_tokens: int

    @classmethod
    def of(cls, requests: Collection[Request]) -> "Amount":
        bodies = [json.loads(request.body) for request in requests]
        texts = [part["content"] for body in bodies for part in body.get("messages", ())]
        texts += [body.get("prompt", "") for body in bodies]
        return cls(len(bodies), sum(map(len, texts)) // CHARACTERS, sum(int(body["max_tokens"]) for body in bodies))


@dataclass(frozen=True)
class Cost(Amount):
    """The requests and tokens of the tasks that a server of this kind can be asked."""

    kind: Kind
    left_out: tuple[str, ...]
    """The tasks that a server of this kind cannot be asked."""
    datasets: Mapping[str, Amount]
    """By dataset; requests that an earlier dataset has sent are not counted again."""
    too_few: Mapping[str, int]
    """The datasets with too few items for any verdict, each with the least budget that could lead to one."""


def estimate(source: ModelSource, spec: AuditSpec, *, samples: int = 20) -> list[Cost]:
    """The cost of an audit for each kind of server; nothing is sent, so the kind of this server is not known."""
    if source.place.engine != OPENAI:
        raise BadInput(f"`dry_run` is for a model behind a server, openai:NAME. Got '{source.name}'. Leave it out.")
    costs, failed = list[Cost](), list[BadInput]()
    planned = replace(spec, server=True, chats=True, budget=None).tasks_for("causal")
    for kind, ability in ABILITIES.items():
        asking = partial(countable, ability=replace(ability, samples=samples), model=source.name)
        left_out, sent, new_requests = list[str](), set[Request](), dict[str, list[Request]]()
        drawn = Affordable(tasks := [each.task for each in planned])
        try:
            drawn = affordable_tasks(tasks, spec.budget, spec.seed, asking) if spec.budget else drawn
        except BadInput as error:  # the budget may be enough for a server of another kind
            failed.append(error)
            drawn, left_out = Affordable([]), [str(error)]
        for task in drawn.tasks:
            items, how, dataset = task.dataset.items, task.measure, task.dataset.name
            if any(cannot(question, ability) for question in questions_of(items[0], how)):
                left_out.append(f"{dataset} by {how.name}")
                continue
            new = {request for item in items for question in questions_of(item, how) for request in asking(question)}
            new_requests.setdefault(dataset, []).extend(new - sent)
            sent |= new
        datasets = {dataset: Amount.of(requests) for dataset, requests in new_requests.items()}
        total = asdict(Amount.of(sent))
        costs.append(Cost(**total, kind=kind, left_out=tuple(left_out), datasets=datasets, too_few=drawn.too_few))
    if len(failed) == len(costs):
        raise failed[0]
    return costs
