"""Work on a Ray cluster: batches of a model that each worker holds, or chunks of texts.

This machine holds no part of the model. A worker plans the whole list of questions, as a local run would; then all
workers run its batches. So the numbers are those of a local run, to the last bit, at the same batch size, dtype and
threads. Ray's own pools and restarts are not used: they wait for a lost machine (docs/design.md, decision 50).
"""

import logging
import os
import socket
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.metadata import version
from operator import methodcaller
from pathlib import Path
from threading import Event, Lock
from typing import Any, Self, TypeVar, cast

# No usage statistics, no warnings about later versions of Ray, no logs of lost machines among our results.
os.environ |= {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".*",
    "RAY_IGNORE_UNHANDLED_ERRORS": "1",
    **os.environ,
}
import ray
from ray import exceptions

from evenhand import models
from evenhand.core.model import about, kind_of
from evenhand.core.questions import Answer, Question, Span
from evenhand.errors import BadInput, ClusterError, EvenhandError
from evenhand.models.base import Batched, Numbered, Planned, count_overflows
from evenhand.models.loading.names import BUNDLED, ModelPlace
from evenhand.models.planning.plan import Batch, Plan, Values, answer_all

log = logging.getLogger(__name__)

CONNECTING, ANSWERING = 5.0, 20.0  # seconds to wait for a connection, and for an answer of the cluster
STORE = 256 * 2**20  # bytes of shared memory of a cluster that we start: workers exchange little
AHEAD = 2  # batches that a worker has at a time: one to work on, and the next
TRIES = 3  # workers that may be lost with one batch, and for each place before one has begun
PATIENCE = 120.0  # seconds that a model may be without any worker on any machine
TICK = 0.5  # seconds between looks at whether another model has stopped the command
SAME = ("evenhand", "device", "dtype", "attention", "threads", "torch", "transformers", "fingerprint", "limit")
"""What may change the last bit of an answer, and so must be the same on every machine."""
LOST = (
    *(exceptions.RayActorError, exceptions.WorkerCrashedError, exceptions.NodeDiedError),
    *(exceptions.OutOfMemoryError, exceptions.ObjectLostError),
)
Job = tuple[int, tuple[Any, ...]]
"""A number, and a function with its arguments after the first, which is the model."""
UnderWay = dict[Any, tuple[Any, Job | None]]
"""By the Ray reference to the result: the worker, and its job; None for the first message of a worker that starts."""
T = TypeVar("T")
Chunk = TypeVar("Chunk")


@contextmanager
def connection(address: str | None = None, cpus: int | None = None) -> Iterator[None]:
    """Connect to the cluster at `address`, or start one on this machine with `cpus` CPUs, by default all.

    A process that is connected to Ray already stays connected.
    """
    if ray.is_initialized():
        yield
        return
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR, "address": address or "local"}
    if address is None:
        options |= {"include_dashboard": False, "num_cpus": cpus, "object_store_memory": STORE}
    elif address != "auto":
        check_reachable(address)
    log.info("Starting Ray on this machine." if address is None else f"Joining the Ray cluster at {address}.")
    try:
        ray.init(**options)
    except Exception as error:  # a node that takes too long to start is a plain Exception of Ray's
        raise _no_cluster_error(address or "this machine", str(error)) from error
    try:
        yield
    finally:
        ray.shutdown()


def check_reachable(address: str) -> None:
    """Raise if there is no cluster at the address: Ray itself would try for minutes, and then end the process."""
    host, _, port = address.rpartition(":")
    if not host or "//" in host or not port.isdecimal():
        raise BadInput(
            "`address` must be HOST:PORT, as `ray start --head` prints it, or 'auto' for the cluster on this machine. "
            f"Got '{address}'."
        )
    command = [sys.executable, "-m", "ray.scripts.scripts", "health-check", "--address", address]
    try:
        socket.create_connection((host, int(port)), CONNECTING).close()
        subprocess.run(command, capture_output=True, text=True, check=True, timeout=ANSWERING)
    except subprocess.TimeoutExpired as error:
        raise _no_cluster_error(address, f"something listens there, but did not answer in {ANSWERING:.0f} s") from error
    except (OSError, OverflowError, subprocess.CalledProcessError) as error:
        why = getattr(error, "stderr", None) or getattr(error, "strerror", None) or str(error)
        raise _no_cluster_error(address, why) from error


def _no_cluster_error(address: str, why: str) -> ClusterError:
    return ClusterError(
        f"There is no Ray cluster to work on at {address}: {why.strip().splitlines()[-1].rstrip('.')}. Start one with "
        "`ray start --head`, on more machines `ray start --address HOST:PORT`, and run this on one of them; or leave "
        "`address` out, to use only this machine."
    )


@dataclass
class WorkerPool:
    """Places for `size` workers; `needs` is what Ray reserves for each.

    `models` have yet to be measured, at most `size` of them at a time: each may have its share of the places, at least
    one; the last one may have all.
    """

    size: int
    models: int = 1
    needs: Mapping[str, float] = field(default_factory=lambda: {"num_cpus": 1})
    stopped: Event = field(default_factory=Event)
    """Set when another model of the same command has failed, or the user has pressed Ctrl-C."""
    _lock: Lock = field(default_factory=Lock, repr=False)

    @property
    def share(self) -> int:
        return max(1, self.size // max(1, self.models))

    def finish(self) -> None:
        """Leave the places of a model that is measured, or has failed, to the others."""
        with self._lock:
            self.models -= 1


@cache
def _worker_class() -> Any:
    """The class of workers, local so that Ray sends it by value: evenhand may be missing there, or another version."""

    class Worker:
        model: Any = None

        def hello(self) -> dict[str, str]:
            from importlib import metadata

            versions = [installed.version for installed in metadata.distributions(name="evenhand")]
            return {"at": ray.util.get_node_ip_address(), "evenhand": versions[0] if versions else "missing"}

        def call(self, load: Any, function: Any, *arguments: Any) -> Any:
            self.model = self.model or load()
            return function(self.model, *arguments)

    return ray.remote(Worker)


def threads() -> int:
    """The number of threads of a model in this process."""
    import torch

    return torch.get_num_threads()


def _load_model(source: str, n_threads: int, loading: Mapping[str, Any]) -> Planned:
    """Load the model, with the client's number of threads."""
    import torch

    torch.set_num_threads(n_threads)
    return cast("Planned", models.load(source, **loading))


def _with_description(model: Planned, function: Callable[..., Any], *arguments: Any) -> tuple[dict[str, Any], Any]:
    """A description of the model, which workers must agree on and a run records; then the function's result."""
    origin, before = about(model), count_overflows(model)
    known = {"fingerprint": model.fingerprint, "kind": kind_of(model), "limit": getattr(model, "limit", None)}
    result = function(model, *arguments)
    return {**origin, **known, "about": origin, "overflows": count_overflows(model) - before}, result


def _run_batch(model: Planned, batch: Batch) -> Values:
    ((_, values),) = model.stream([(0, batch)])
    return values


def _run_batched(model: Batched, questions: Sequence[Any], answered: Container[int]) -> list[Numbered]:
    return list(model.batched_answers(questions, answered))


@dataclass(eq=False)
class RemoteModel:
    """A model on the workers of a pool, with the interface of a local one; a `with` block stops them at its end.

    `load` is called once on each worker, and returns its model. Batches of a lost worker go to others, and another
    worker replaces it. A batch with which several workers were lost is an error.
    """

    load: Callable[[], Planned]
    pool: WorkerPool
    name: str
    overflowed: int = 0
    _workers: dict[Any, str] = field(default_factory=dict)
    """By worker, the address of its machine; empty until it has started."""
    _first: dict[str, Any] = field(default_factory=dict)
    """The description of the model by the first worker that had one, and where that is."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            ray.kill(worker)
        self._workers = {}
        self.pool.finish()

    def _fact(self, name: str) -> Any:
        if not self._first:
            self.ask(bool)  # starts a worker, which describes its model
        return self._first[name]

    @property
    def fingerprint(self) -> str:
        return str(self._fact("fingerprint"))

    @property
    def kind(self) -> str:
        return str(self._fact("kind"))

    @property
    def about(self) -> Mapping[str, object]:
        return {**self._fact("about"), "workers": self.pool.size}

    def plan(self, questions: Sequence[Question]) -> Plan:
        return cast("Plan", self.ask(methodcaller("plan", tuple(questions))))

    def count_tokens(self, places: Sequence[tuple[str, Span]]) -> list[int]:
        return cast("list[int]", self.ask(methodcaller("count_tokens", tuple(places))))

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        return answer_all(self, questions)

    def batched_answers(self, questions: Sequence[Any], answered: Container[int] = ()) -> list[Numbered]:
        """All on one worker, where each text goes through the network once."""
        return cast("list[Numbered]", self.ask(_run_batched, tuple(questions), answered))

    def stream(self, batches: Sequence[tuple[int, Batch]]) -> Iterator[tuple[int, Values]]:
        return self._work((number, (_run_batch, batch)) for number, batch in batches)

    def ask(self, function: Callable[..., Any], *arguments: Any) -> Any:
        ((_, result),) = self._work([(0, (function, *arguments))])
        return result

    def _work(self, jobs: Iterable[Job]) -> Iterator[tuple[int, Any]]:
        """The number and result of each job, as they finish; jobs of lost workers are done again by others."""
        waiting, lost, alone_since = deque(jobs), Counter[int | None](), time.monotonic()
        under_way: UnderWay = {worker.hello.remote(): (worker, None) for worker, at in self._workers.items() if not at}
        while waiting or any(job for _, job in under_way.values()):
            if self.pool.stopped.is_set():
                raise ClusterError("Stopped. Answers so far are kept.")
            self._hand_out(waiting, under_way)
            if any(self._workers.values()):
                alone_since = time.monotonic()
            elif time.monotonic() - alone_since > PATIENCE:
                resources = {name: n for name, n in ray.cluster_resources().items() if name in ("CPU", "GPU")}
                raise ClusterError(
                    f"No machine of the cluster has had resources for a worker in {PATIENCE:.0f} s. A worker needs "
                    f"{self.pool.needs}; all machines together have {resources}. Wait until they are free, or set "
                    "OMP_NUM_THREADS, the number of CPUs of a worker."
                )
            for ref in ray.wait([*under_way], timeout=TICK)[0]:
                worker, job = under_way.pop(ref)
                try:
                    reply = ray.get(ref)
                except LOST as error:
                    self._lose(worker, job, lost, error)
                    waiting.extendleft([job] if job else [])
                except exceptions.RayError as error:
                    raise _as_evenhand_error(error) from None
                else:
                    if job:
                        lost[None] = 0
                        description, result = reply
                        self.overflowed += description.pop("overflows")
                        description["at"] = self._workers.get(worker, "a lost machine")
                        self._first = self._first or description
                        self._check_same(self._first, description)
                        yield job[0], result
                    else:
                        self._check_same({"at": "this machine", "evenhand": version("evenhand")}, reply)
                        self._workers[worker] = reply["at"]

    def _hand_out(self, waiting: deque[Job], under_way: UnderWay) -> None:
        """Start the workers that are missing; give each that has started a few jobs, the least busy first."""
        busy = Counter(worker for worker, job in under_way.values() if job)
        while len(self._workers) < min(len(waiting) + busy.total(), self.pool.share):
            fresh = _worker_class().options(scheduling_strategy="SPREAD", **self.pool.needs).remote()
            self._workers[fresh] = ""
            under_way[fresh.hello.remote()] = fresh, None
        ready = [worker for worker, at in self._workers.items() if at]
        while waiting and ready and busy[least := min(ready, key=busy.__getitem__)] < AHEAD:
            number, call = waiting.popleft()
            under_way[least.call.remote(self.load, _with_description, *call)] = least, (number, call)
            busy[least] += 1

    def _lose(self, worker: Any, job: Job | None, lost: Counter[int | None], error: Exception) -> None:
        """Let a worker go; an error if too many were lost in the same way."""
        if worker in self._workers:  # it may have had several batches
            at = self._workers.pop(worker)
            ray.kill(worker)
            log.warning(f"A worker of '{self.name}' was lost{at and f' on {at}'}; others do its work.")
        number = job[0] if job else None
        lost[number] += 1
        if lost[number] == (TRIES if job else TRIES * self.pool.size):
            raise ClusterError(
                f"{lost[number]} workers were lost {'with the same batch' if job else 'before any work'} of "
                f"'{self.name}', one by one; the usual reason is memory. Try a smaller batch size, or larger machines. "
                f"Answers so far are kept. The last error: {_first_line(error)}"
            ) from None

    def _check_same(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> None:
        """Raise if two descriptions differ: numbers would depend on which worker had which batch."""
        names = [name for name in SAME if one.get(name) != other.get(name)]
        if differences := "; ".join(f"{name} is {one.get(name)} and {other.get(name)}" for name in names):
            raise ClusterError(
                f"Workers must run the same '{self.name}' in the same way, or numbers would depend on who answers. On "
                f"{one['at']} and {other['at']}, {differences}. Install the same on every machine, and use only "
                "machines that are the same."
            )


def remote_model(place: ModelPlace, pool: WorkerPool, **loading: Any) -> RemoteModel:
    """The model on the pool's workers; `loading` as for `evenhand.load`.

    Bundled models and Hub ids are found wherever evenhand is installed; a folder must be on every machine, at the same
    path.
    """
    path = Path(place.source, place.file).expanduser().absolute()
    source = place.name if place.on_hub or path.parent == BUNDLED else str(path)
    device = loading.get("device") or ("cuda" if "num_gpus" in pool.needs else "cpu")
    return RemoteModel(partial(_load_model, source, threads(), {**loading, "device": device}), pool, place.name)


def worker_pool(workers: int | None, device: str | None, n: int = 1) -> WorkerPool:
    """A pool for n models: by default one worker for each GPU of the cluster, or as many as its CPUs allow.

    A worker has as many threads as a local run here, since their number may change the last bits of an answer.
    """
    resources = ray.cluster_resources()
    gpus, cpus = int(resources.get("GPU", 0)), int(resources.get("CPU", 0))
    if (gpus and device is None) or (device or "").startswith("cuda"):
        return WorkerPool(workers or max(1, gpus), models=n, needs={"num_gpus": 1, "num_cpus": 1})
    return WorkerPool(workers or max(1, cpus // threads()), models=n, needs={"num_cpus": threads()})


def stream_chunks(chunks: Iterable[Chunk], work: Callable[[Chunk], T], workers: int | None = None) -> Iterator[T]:
    """The result of `work` on each chunk, in order. Needs a connection to a cluster.

    Chunks are read only a few ahead of the results, so memory stays flat; Ray does those of a lost worker again.
    """
    cpus = int(ray.cluster_resources().get("CPU", 1))
    most = workers if workers and workers < cpus else 2 * cpus  # under way at a time
    call, shared = ray.remote(num_cpus=1)(lambda work, chunk: work(chunk)), ray.put(work)
    under_way = deque[Any]()
    try:
        for chunk in chunks:
            under_way.append(call.remote(shared, chunk))
            if len(under_way) == most:
                yield ray.get(under_way.popleft())
        yield from map(ray.get, under_way)
    except exceptions.RayError as error:
        raise _as_evenhand_error(error) from None


def _as_evenhand_error(error: Exception) -> Exception:
    """What to raise for an error of Ray: ours as on the worker, a sentence for a full disk and the like."""
    cause: Exception = error.cause if isinstance(error, exceptions.RayTaskError) else error
    if isinstance(cause, EvenhandError):
        return cause
    if not isinstance(cause, (OSError, exceptions.OutOfDiskError, *LOST)):
        return error
    return ClusterError(
        f"A machine of the cluster cannot go on: {_first_line(cause)}. Free some space or memory there, and run the "
        "same command again: what is finished is kept."
    )


def _first_line(error: BaseException) -> str:
    """The first line of an error's message, without its full stop."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
