"""Send the chunks of a corpus through a Ray cluster: read here, processed anywhere, results in their order."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import ray
from ray.exceptions import RayError

from evenhand.distributed.worker import as_evenhand_error

T = TypeVar("T")
Chunk = TypeVar("Chunk")


def streamed(chunks: Iterable[Chunk], work: Callable[[Chunk], T], workers: int | None = None) -> Iterator[T]:
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
    except RayError as error:
        raise as_evenhand_error(error) from None
