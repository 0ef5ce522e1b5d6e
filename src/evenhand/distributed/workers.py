"""Work on a Ray cluster: batches of questions for a model, or chunks of texts.

Each worker loads the whole model; the client loads nothing. One worker plans the whole list of questions, as a local
run does, and all workers run the batches of this plan. So the numbers equal those of a local run to the last bit, at
the same batch size, dtype and threads. Ray's actor pools wait for lost machines (docs/design.md, decision 50).
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

# No usage statistics, no warnings about newer versions of Ray, no logs of lost machines between our results.
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

CONNECTING, ANSWERING = 5.0, 20.0  # seconds to wait for a connection, and for the cluster to respond
STORE = 256 * 2**20  # bytes of shared memory for a cluster that we start; workers exchange little data
AHEAD = 2  # batches that a worker holds at a time: the current one and the next
TRIES = 3  # lost workers that end a run: with the same batch, or per place before any worker has started
PATIENCE = 120.0  # seconds that a model may wait without a single worker
TICK = 0.5  # seconds between checks whether another model has stopped the command
SAME = ("evenhand", "device", "dtype", "attention", "threads", "torch", "transformers", "fingerprint", "limit")
"""Properties of a worker that can change the last bit of an answer, and so must be equal on every machine."""
LOST = (
    *(exceptions.RayActorError, exceptions.WorkerCrashedError, exceptions.NodeDiedError),
    *(exceptions.OutOfMemoryError, exceptions.ObjectLostError),
)
Job = tuple[int, tuple[Any, ...]]
"""A number, and a function to call on the model with these further arguments."""
UnderWay = dict[Any, tuple[Any, Job | None]]
"""By Ray reference to the result, the worker and its job. The job is None while the worker starts."""
T = TypeVar("T")
Chunk = TypeVar("Chunk")


@contextmanager
def connected_cluster(address: str | None = None, cpus: int | None = None) -> Iterator[None]:
    """Connect to the cluster at `address`, or start one on this machine with `cpus` CPUs (default: all).

    An existing connection of this process to Ray is used, and stays open.
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
    except Exception as error:  # if a node takes too long to start, Ray raises a plain Exception
        raise _no_cluster_error(address or "this machine", str(error)) from error
    try:
        yield
    finally:
        ray.shutdown()


def check_reachable(address: str) -> None:
    """Raise an error if there is no cluster at the address. Ray would try for minutes, and then end the process."""
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
    last = [*(why.strip().splitlines() or ["no reason was given"])][-1].rstrip(".")
    return ClusterError(
        f"There is no Ray cluster at {address}: {last}. Start a cluster with `ray "
        "start --head`, add other machines with `ray start --address HOST:PORT`, and run this command on one of its "
        "machines. To use only this machine, remove `address`."
    )


@dataclass
class WorkerPool:
    """Places for `size` workers, shared by the models of a command; `needs` is what Ray reserves for each worker.

    `models` counts the models that are not finished, of which at most `size` are measured at a time. Each may use an
    equal share of the places, at least one; the last model may use all of them.
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
        """Give the places of a finished or failed model to the other models."""
        with self._lock:
            self.models -= 1


@cache
def _worker_class() -> Any:
    """The class of workers, local so that Ray pickles it by value: a machine may lack this version of evenhand."""

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
    """The number of threads that torch uses in this process."""
    import torch

    return torch.get_num_threads()


def _load_model(source: str, n_threads: int, loading: Mapping[str, Any]) -> Planned:
    """Load the model on a worker, with the client's number of threads."""
    import torch

    torch.set_num_threads(n_threads)
    return cast("Planned", models.load(source, **loading))


def _with_description(model: Planned, function: Callable[..., Any], *arguments: Any) -> tuple[dict[str, Any], Any]:
    """The result of `function(model, *arguments)`, after a description of the model to compare with other workers."""
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
    """A model on the workers of a pool, with the interface of a local model. Leaving its `with` block stops them.

    `load` is called once on each worker, and returns its model. If a worker is lost, other workers run its batches, and
    a new worker replaces it. If `TRIES` workers are lost with the same batch, an error is raised.
    """

    load: Callable[[], Planned]
    pool: WorkerPool
    name: str
    overflowed: int = 0
    _workers: dict[Any, str] = field(default_factory=dict)
    """By worker, the address of its machine; empty until the worker has started."""
    _first: dict[str, Any] = field(default_factory=dict)
    """The description of the model that the first worker gave, with the address of that worker."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            ray.kill(worker)
        self._workers = {}
        self.pool.finish()

    def _fact(self, name: str) -> Any:
        if not self._first:
            self.ask(bool)  # any call starts a worker, which describes its model
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
        """The answers, all from one worker, so that each text goes through the network once."""
        return cast("list[Numbered]", self.ask(_run_batched, tuple(questions), answered))

    def stream(self, batches: Sequence[tuple[int, Batch]]) -> Iterator[tuple[int, Values]]:
        return self._work((number, (_run_batch, batch)) for number, batch in batches)

    def ask(self, function: Callable[..., Any], *arguments: Any) -> Any:
        ((_, result),) = self._work([(0, (function, *arguments))])
        return result

    def _work(self, jobs: Iterable[Job]) -> Iterator[tuple[int, Any]]:
        """The number and result of each job, as jobs finish. Jobs of a lost worker are run again by other workers."""
        waiting, lost, alone_since = deque(jobs), Counter[int | None](), time.monotonic()
        under_way: UnderWay = {worker.hello.remote(): (worker, None) for worker, at in self._workers.items() if not at}
        while waiting or any(job for _, job in under_way.values()):
            if self.pool.stopped.is_set():
                raise ClusterError("The command was stopped. Answers so far are kept.")
            self._hand_out(waiting, under_way)
            if any(self._workers.values()):
                alone_since = time.monotonic()
            elif time.monotonic() - alone_since > PATIENCE:
                resources = {name: n for name, n in ray.cluster_resources().items() if name in ("CPU", "GPU")}
                raise ClusterError(
                    f"In {PATIENCE:.0f} s no machine of the cluster had enough free resources for a worker. A worker "
                    f"needs {self.pool.needs}; the whole cluster has {resources}. Wait until they are free, or set "
                    "OMP_NUM_THREADS, the number of CPUs that a worker needs, to a smaller number."
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
        """Start missing workers, and give each started worker up to `AHEAD` jobs, the least busy worker first."""
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
        """Remove a lost worker. Raise an error if too many were lost with the same job, or before any job."""
        if worker in self._workers:  # it may have had several batches
            at = self._workers.pop(worker)
            ray.kill(worker)
            log.warning(f"A worker of '{self.name}' was lost{at and f' on {at}'}; others do its work.")
        number = job[0] if job else None
        lost[number] += 1
        if lost[number] == (TRIES if job else TRIES * self.pool.size):
            raise ClusterError(
                f"{lost[number]} workers were lost {'with the same batch' if job else 'before any work'} of "
                f"'{self.name}'. This usually means that the workers ran out of memory. Use a smaller `batch_size` or "
                f"machines with more memory. Answers so far are kept. The last error: {_first_line(error)}"
            ) from None

    def _check_same(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> None:
        """Raise an error if two descriptions differ, since numbers would depend on which worker ran which batch."""
        names = [name for name in SAME if one.get(name) != other.get(name)]
        if differences := "; ".join(f"{name} is {one.get(name)} and {other.get(name)}" for name in names):
            raise ClusterError(
                f"All workers must run the same '{self.name}' in the same way, or its numbers would depend on which "
                f"worker answers. On {one['at']} and {other['at']}, {differences}. Install the same versions on every "
                "machine, and use machines of one kind."
            )


def remote_model(place: ModelPlace, pool: WorkerPool, **loading: Any) -> RemoteModel:
    """The model on the pool's workers; `loading` are options of `evenhand.load`.

    Each worker finds bundled models and Hub ids by itself; a folder must exist on every machine, at the same path.
    """
    path = Path(place.source, place.file).expanduser().absolute()
    source = place.name if place.on_hub or path.parent == BUNDLED else str(path)
    device = loading.get("device") or ("cuda" if "num_gpus" in pool.needs else "cpu")
    return RemoteModel(partial(_load_model, source, threads(), {**loading, "device": device}), pool, place.name)


def worker_pool(workers: int | None, device: str | None, n: int = 1) -> WorkerPool:
    """A pool for n models. The default is one worker per GPU of the cluster, or as many workers as its CPUs allow.

    A worker uses as many threads as a local run, since the number of threads may change the last bits of an answer.
    """
    resources = ray.cluster_resources()
    gpus, cpus = int(resources.get("GPU", 0)), int(resources.get("CPU", 0))
    if (gpus and device is None) or (device or "").startswith("cuda"):
        return WorkerPool(workers or max(1, gpus), models=n, needs={"num_gpus": 1, "num_cpus": 1})
    return WorkerPool(workers or max(1, cpus // threads()), models=n, needs={"num_cpus": threads()})


def stream_chunks(chunks: Iterable[Chunk], work: Callable[[Chunk], T], workers: int | None = None) -> Iterator[T]:
    """The result of `work` on each chunk, in order. Must be called within `connected_cluster`.

    Only a few chunks are read ahead of the results, so memory use is constant. Ray repeats the chunks of a lost worker.
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
    """The error to raise for Ray's: what the worker raised, or a ClusterError for a full disk or a lost machine."""
    cause: Exception = error.cause if isinstance(error, exceptions.RayTaskError) else error
    if isinstance(cause, EvenhandError):
        return cause
    if not isinstance(cause, (OSError, exceptions.OutOfDiskError, *LOST)):
        return error
    return ClusterError(
        f"A machine of the cluster cannot go on: {_first_line(cause)}. Free disk space or memory on it, and run the "
        "same command again. Finished work is kept."
    )


def _first_line(error: BaseException) -> str:
    """The first line of an error's message, without its full stop."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
