"""What the workers of a Ray cluster do: hold a model, or process chunks of a corpus; and what their errors are here."""

from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar, cast

import ray
from ray import exceptions

from evenhand import models
from evenhand.core.model import about, kind_of
from evenhand.errors import ClusterError, EvenhandError
from evenhand.models.base import Batched, Numbered, Planned, overflowed
from evenhand.models.planning.plan import Batch, Values

LOST = (
    *(exceptions.RayActorError, exceptions.WorkerCrashedError, exceptions.NodeDiedError),
    *(exceptions.OutOfMemoryError, exceptions.ObjectLostError),
)
T = TypeVar("T")
Chunk = TypeVar("Chunk")


@cache
def worker_class() -> Any:
    """The class of workers, local so that Ray sends it by value: evenhand may be missing there, or another version."""

    class Worker:
        def hello(self) -> tuple[str, str]:
            from importlib import metadata

            try:
                version = f"evenhand {metadata.version('evenhand')}"
            except metadata.PackageNotFoundError:
                version = "no evenhand"
            return version, ray.util.get_node_ip_address()

        def call(self, load: Any, function: Any, *arguments: Any) -> Any:
            if not hasattr(self, "model"):
                self.model = load()
            return function(self.model, *arguments)

    return ray.remote(max_restarts=0, max_task_retries=0)(Worker)


def with_description(model: Planned, function: Callable[..., Any], *arguments: Any) -> tuple[dict[str, Any], Any]:
    """The model's description, which workers must agree on and a run records; then the function's result."""
    known = {"fingerprint": model.fingerprint, "kind": kind_of(model), "limit": getattr(model, "limit", None)}
    return {**known, "about": about(model)}, function(model, *arguments)


def run_batch(model: Planned, batch: Batch) -> tuple[Values, int]:
    """The values of a batch, and how many of its inputs overflowed in half precision."""
    before = overflowed(model)
    ((_, values),) = model.stream([(0, batch)])
    return values, overflowed(model) - before


def run_batched(model: Batched, questions: Sequence[Any], answered: Container[int]) -> list[Numbered]:
    """The answers to questions without a plan that are not answered, by batch."""
    return list(model.batched_answers(questions, answered))


def threads() -> int:
    """The number of threads of a model in this process."""
    import torch

    return torch.get_num_threads()


def load_model(source: str, n_threads: int, loading: Mapping[str, Any]) -> Planned:
    """Load the model, with the client's number of threads."""
    import torch

    torch.set_num_threads(n_threads)
    return cast("Planned", models.load(source, **loading))


def stream_chunks(chunks: Iterable[Chunk], work: Callable[[Chunk], T], workers: int | None = None) -> Iterator[T]:
    """The result of `work` on each chunk, in order. Needs a connection to a cluster.

    Chunks are read only a few ahead of the results, so memory stays flat; Ray does those of a lost worker again.
    """
    cpus = int(ray.cluster_resources().get("CPU", 1))
    most = workers if workers and workers < cpus else 2 * cpus  # under way at a time
    call, shared = ray.remote(num_cpus=1)(lambda work, chunk: work(chunk)), ray.put(work)
    under_way = deque[Any]()
    for chunk in chunks:
        under_way.append(call.remote(shared, chunk))
        if len(under_way) == most:
            yield _result(under_way.popleft())
    yield from map(_result, under_way)


def _result(ref: Any) -> Any:
    try:
        return ray.get(ref)
    except exceptions.RayError as error:
        raise as_evenhand_error(error) from None


def as_evenhand_error(error: Exception) -> Exception:
    """What to raise for an error of Ray: ours as on the worker, a sentence for a full disk and the like."""
    cause: Exception = error.cause if isinstance(error, exceptions.RayTaskError) else error
    if isinstance(cause, EvenhandError):
        return cause
    if not isinstance(cause, (OSError, exceptions.OutOfDiskError, *LOST)):
        return error
    return ClusterError(
        f"A machine of the cluster cannot go on: {first_line(cause)}. Free some space or memory there, and run the "
        "same command again: what is finished is kept."
    )


def first_line(error: BaseException) -> str:
    """The first line of an error's message, without its full stop."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
