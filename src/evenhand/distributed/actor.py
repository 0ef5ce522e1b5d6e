"""The Ray actor that holds a model on a worker, and what it is asked there."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import ray
from ray.exceptions import (
    NodeDiedError,
    ObjectLostError,
    OutOfMemoryError,
    RayActorError,
    RayTaskError,
    WorkerCrashedError,
)

from evenhand import models
from evenhand.core.model import about, kind_of
from evenhand.core.questions import Question, Span
from evenhand.errors import EvenhandError
from evenhand.models.base import Planned
from evenhand.models.planning.plan import Plan

LOST = (RayActorError, WorkerCrashedError, NodeDiedError, OutOfMemoryError, ObjectLostError)


@cache
def holder() -> Any:
    """The class of workers. Being made here, it is sent by value: it must run where evenhand is another, or is not."""

    class Holder:
        def hello(self) -> Any:
            why, version = "", None
            try:
                from importlib import metadata

                version = metadata.version("evenhand")
            except Exception as error:
                why = repr(error)
            return {"where": ray.util.get_node_ip_address(), "evenhand": version, "why": why}

        def load(self, load: Any, describe: Any) -> Any:
            self.model = load()
            return describe(self.model)

        def run(self, batch: Any) -> Any:
            from evenhand.models.base import overflowed

            before = overflowed(self.model)
            ((_, values),) = self.model.stream([(0, batch)])
            return values, overflowed(self.model) - before

        def ask(self, function: Any, *arguments: Any) -> Any:
            return function(self.model, *arguments)

    return ray.remote(max_restarts=0, max_task_retries=0)(Holder)


def had(ref: Any) -> tuple[Any, str]:
    """What has come; or, where the worker was lost, why. Errors of ours are raised as they were there."""
    try:
        return ray.get(ref), ""
    except RayTaskError as error:
        if isinstance(error.cause, EvenhandError):
            raise error.cause from None
        raise
    except LOST as error:
        return None, (str(error).strip().splitlines() or [type(error).__name__])[0]


def threads() -> int:
    """Those of a model in this process."""
    import torch

    return torch.get_num_threads()


def loaded(source: str, n_threads: int, loading: Mapping[str, Any]) -> Planned:
    """The model, with as many threads as where it is asked from."""
    import torch

    torch.set_num_threads(n_threads)
    return models.load(source, **loading)


def describe(model: Planned) -> dict[str, Any]:
    """What must be the same on every worker, and what the run records."""
    from evenhand.models.networks.network import NetworkModel

    return {
        "fingerprint": model.fingerprint,
        "kind": kind_of(model),
        "limit": model.limit if isinstance(model, NetworkModel) else None,
        "about": about(model),
    }


def plan(model: Planned, questions: Sequence[Question]) -> Plan:
    """The batches that answer these questions."""
    return model.plan(questions)


def count_tokens(model: Any, places: Sequence[tuple[str, Span]]) -> list[int]:
    """For each text and span, the number of tokens."""
    counts: list[int] = model.count_tokens(places)
    return counts


def nothing(model: Planned) -> None:
    """Hires a worker: what it says of its model is known then."""
