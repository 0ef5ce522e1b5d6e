"""The Ray actor that holds a model on a worker, and what runs there."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import ray
from ray.exceptions import (
    NodeDiedError,
    ObjectLostError,
    OutOfDiskError,
    OutOfMemoryError,
    RayActorError,
    RayError,
    RayTaskError,
    WorkerCrashedError,
)

from evenhand import models
from evenhand.core.model import about, kind_of
from evenhand.errors import ClusterError, EvenhandError
from evenhand.models.base import Planned

LOST = (RayActorError, WorkerCrashedError, NodeDiedError, OutOfMemoryError, ObjectLostError)


@cache
def holder() -> Any:
    """The class of workers. Made here, it is sent by value, so it runs where evenhand is another version or missing."""

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
    """The result; or, where the worker was lost, the reason. Other errors are raised, see `worded`."""
    try:
        return ray.get(ref), ""
    except LOST as error:
        return None, _first(error)
    except RayError as error:
        raise worded(error) from None


def worded(error: Exception) -> Exception:
    """What to raise for an error of Ray: ours as on the worker, a sentence for a full disk and the like."""
    cause: Exception = error.cause if isinstance(error, RayTaskError) else error
    if isinstance(cause, EvenhandError):
        return cause
    return stopped(cause) if isinstance(cause, (OSError, OutOfDiskError, *LOST)) else error


def stopped(error: Exception) -> ClusterError:
    """The error for work that a machine cannot go on with."""
    return ClusterError(
        f"A machine of the cluster cannot go on: {_first(error)}. Free some space or memory there, and run the same "
        "command again: what is finished is kept."
    )


def _first(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def threads() -> int:
    """The number of threads of a model in this process."""
    import torch

    return torch.get_num_threads()


def loaded(source: str, n_threads: int, loading: Mapping[str, Any]) -> Planned:
    """Load the model, with the client's number of threads."""
    import torch

    torch.set_num_threads(n_threads)
    model: Planned = models.load(source, **loading)
    return model


def describe(model: Planned) -> dict[str, Any]:
    """What must be the same on every worker, and what the run records."""
    limit = model.limit if hasattr(model, "limit") else None
    return {"fingerprint": model.fingerprint, "kind": kind_of(model), "limit": limit, "about": about(model)}
