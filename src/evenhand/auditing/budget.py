"""Draw samples that a budget of requests allows, and say which are too small for any verdict."""

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evenhand.auditing.sampling import order_of_drawing, sampled_tasks
from evenhand.checks.choices import CONTROL, controls_of, enough_controls
from evenhand.core.foreign import foreign
from evenhand.core.loop import Task, enough_clusters, questions_of
from evenhand.core.questions import Question
from evenhand.errors import BadInput

Asking = Callable[[Question], Collection[object]]
"""Gives the requests of a question; none if it cannot be asked. A budget counts equal requests once."""


@dataclass(frozen=True)
class Affordable:
    """The tasks on samples that a budget allows."""

    tasks: list[Task]
    too_few: Mapping[str, int] = field(default_factory=dict)
    """The datasets with too few items for any verdict, each with the least budget that could lead to one."""


def affordable_tasks(tasks: Sequence[Task], budget: int, seed: int, asking: Asking | None = None) -> Affordable:
    """The tasks on samples that take at most `budget` distinct questions; with `asking`, at most that many requests.

    Each dataset first gets one cluster of each kind, then the same fraction of the requests that all of its items take.
    Controls get at least a third of all requests, since other datasets cannot be judged without them. The order of
    drawing does not depend on the budget.
    """
    data = {task.dataset.name: task.dataset for task in tasks}
    steps, sizes = list[tuple[str, int, list[int], set[object]]](), dict[str, float]()
    for name, dataset in data.items():
        measures, known = [task.measure for task in tasks if task.dataset.name == name], set[object]()
        for place, _, cluster in order_of_drawing(dataset, seed, clusters=True):
            requests = dict[Question, Collection[object]]()  # of two equal questions, one may have no requests
            for q in (q for index in cluster for how in measures for q in questions_of(dataset.items[index], how)):
                with foreign("The model failed to say which requests answer a question", asking):
                    requests[q] = requests.get(q) or (frozenset(asking(q)) if asking else [q])
            known |= (sent := {request for several in requests.values() for request in several})
            steps.append((name, len(known) if place else 0, cluster, sent))
        sizes[name] = len(known) or 1
    controls = [name for name, dataset in data.items() if all(item.groups.get(CONTROL) for item in dataset.items)]
    of_controls = sum(sizes[name] for name in controls)
    speed = max(1.0, (sum(sizes.values()) - of_controls) / (2 * of_controls or 1))  # 1 request for 2 of the others
    sizes |= {name: sizes[name] * speed for name in controls}
    taken, drawn = set[object](), list[tuple[str, list[int], int]]()
    for name, _, cluster, sent in sorted(steps, key=lambda step: step[1] / sizes[step[0]]):
        taken |= sent
        drawn.append((name, cluster, len(taken)))
    firsts = set[object]().union(*(sent for _, place, _, sent in steps if not place))
    too_few = _too_few(tasks, drawn, budget)
    if budget < (least := len(firsts)):
        verdicts = f"; for a verdict on each dataset it takes at least {max(too_few.values())}" if too_few else ""
        raise BadInput(
            f"`budget` must be at least {least}, enough for one cluster of each kind{verdicts}. Got {budget}."
        )
    items = Counter[str]()
    for name, cluster, _ in drawn[: bisect_right(drawn, budget, key=lambda step: step[2])]:
        items[name] += len(cluster)
    return Affordable(sampled_tasks(tasks, items, seed, clusters=True), too_few)


def too_few_items(budget: int, too_few: Mapping[str, int]) -> str:
    """A sentence that says for which datasets a budget is too small, and which budget could be enough."""
    each = ", ".join(f"{name} (at least {least:,} is needed)" for name, least in too_few.items())
    return f"A budget of {budget:,} asks too few items for any verdict on {each}."


def _too_few(tasks: Sequence[Task], drawn: Sequence[tuple[str, list[int], int]], budget: int) -> dict[str, int]:
    """The least budget for a verdict on each dataset that gets too few items; not those that never have a verdict.

    `drawn` has the steps of drawing: a dataset, the items of a cluster, and all requests up to this step.
    """

    def least(task: Task, enough: Callable[[Sequence[Any], Task], bool]) -> float:
        """0 if this budget is enough, infinity if none is."""
        steps = [(cluster, total) for name, cluster, total in drawn if name == task.dataset.name]

        def enough_after(count: int) -> bool:
            return enough([task.dataset.items[index] for cluster, _ in steps[:count] for index in cluster], task)

        now = bisect_right(steps, budget, key=lambda step: step[1])
        if now and enough_after(now):
            return 0
        more = range(now + 1, len(steps) + 1)
        first = bisect_left(more, True, key=enough_after)
        return steps[more[first] - 1][1] if first < len(more) else math.inf

    needed = dict[str, float]()
    for task in tasks:
        controls = [least(control, enough_controls) for control in controls_of(task, tasks)]
        name, most = task.dataset.name, max(least(task, enough_clusters), *controls, 0)
        needed[name] = min(most, needed.get(name, math.inf))
    return {name: int(least) for name, least in needed.items() if 0 < least < math.inf}
