"""A model on many machines: each worker of a Ray cluster holds it, and they share its batches.

The client holds no part of the model. A worker makes the plan from the whole list of questions, as a local run would;
then all workers run its batches. So the numbers are those of a local run, to the last bit, at the same batch size,
dtype and threads.
"""

import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from operator import methodcaller
from pathlib import Path
from typing import Any, Self

import ray

from evenhand import models
from evenhand.core.model import Model
from evenhand.core.questions import Answer, Question, Span
from evenhand.distributed import actor
from evenhand.distributed.workers import WorkerPool
from evenhand.errors import ClusterError
from evenhand.models.base import Planned
from evenhand.models.loading.names import BUNDLED, find, named
from evenhand.models.loading.names import kind as kind_of
from evenhand.models.planning.plan import Batch, Plan, Values
from evenhand.models.planning.running import work_through

log = logging.getLogger(__name__)

AHEAD = 2  # batches that a worker has at a time: one to work on, and the next
TRIES = 3  # workers that may be lost with one batch, and for each place without any batch finishing
PATIENCE = 120.0  # seconds that a model may be without any worker on any machine
TICK = 0.5  # seconds between looks at places that have become free
SAME = ("device", "dtype", "attention", "threads", "torch", "transformers", "fingerprint", "limit")
"""What may change the last bit of an answer, and so must be the same on every worker."""

Job = tuple[str, tuple[Any, ...]]
"""A method of a worker, and its arguments."""


@dataclass(eq=False)
class _Worker:
    """A worker, and the step of its start that is under way; None once it is ready."""

    actor: Any
    step: Any
    where: str = ""
    placed: bool = False


class RemoteModel:
    """A model on the workers of a pool, with the interface of a local one; a `with` block dismisses them at its end.

    `load` is called once on each worker, and returns its model. Batches of a lost worker go to others, and another
    worker replaces it. A batch with which several workers were lost is an error.
    """

    def __init__(
        self,
        load: Callable[[], Planned],
        pool: WorkerPool,
        *,
        name: str,
        kind: str = "",
        exact: Callable[[], Model] | None = None,
    ) -> None:
        self.name = name
        self.exact = exact
        self.overflowed = 0
        """Number of inputs that overflowed in half precision and were computed in float32, on all workers."""
        self._load = load
        self._pool = pool
        self._kind = kind
        self._workers: list[_Worker] = []
        self._said: dict[str, Any] = {}
        self._lost = 0
        self._alone_since = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.dismiss()
        self._pool.done(self)

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the workers' model."""
        return str(self._known["fingerprint"])

    @property
    def kind(self) -> str:
        """The kind of model; a worker is asked only where the checkpoint's configuration does not tell."""
        return self._kind or str(self._known["kind"])

    @property
    def about(self) -> Mapping[str, object]:
        """How each worker runs the model, and the number of workers."""
        return {**self._known["about"], "workers": self._pool.size}

    def plan(self, questions: Sequence[Question]) -> Plan:
        """The batches that answer these questions, as a worker plans them."""
        plan: Plan = self.ask(methodcaller("plan", tuple(questions)))
        return plan

    def count_tokens(self, places: Sequence[tuple[str, Span]]) -> list[int]:
        """For each text and span, the number of tokens."""
        counts: list[int] = self.ask(methodcaller("count_tokens", tuple(places)))
        return counts

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """One answer for each question, in order."""
        return work_through(self.plan(questions), self.stream)

    def stream(self, batches: Sequence[tuple[int, Batch]]) -> Iterator[tuple[int, Values]]:
        """The values of each batch, with its number, in the order in which they finish."""
        for number, (values, overflowed) in self._work((number, ("run", (batch,))) for number, batch in batches):
            self.overflowed += overflowed
            yield number, values
        if self._pool.wanted:
            self.dismiss()

    def ask(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The result of `function(model, *arguments)`, called on a worker."""
        ((_, result),) = self._work([(0, ("ask", (function, *arguments)))])
        return result

    def dismiss(self) -> None:
        """Stop all workers; the next question starts new ones."""
        while self._workers:
            self._drop(self._workers[-1])

    @property
    def _known(self) -> dict[str, Any]:
        if not self._said:
            self.ask(actor.describe)  # starts a worker, which describes its model
        return self._said

    def _work(self, jobs: Iterable[tuple[int, Job]]) -> Iterator[tuple[int, Any]]:
        """The result of each job, as they finish; jobs of lost workers are done again by others."""
        waiting = deque(jobs)
        under_way: dict[Any, tuple[_Worker, int, Job]] = {}
        tries: Counter[int] = Counter()
        self._alone_since = time.monotonic()
        while waiting or under_way:
            self._pool.check()
            self._hire(len(waiting) + len(under_way))
            self._hand_out(waiting, under_way)
            self._check_patience()
            for ref in self._finished([*under_way, *(w.step for w in self._workers if w.step is not None)]):
                if ref not in under_way:
                    self._go_on_starting(ref)
                    continue
                worker, number, job = under_way.pop(ref)
                result, lost = actor.had(ref)
                if not lost:
                    self._lost = 0
                    yield number, result
                    continue
                tries[number] += 1
                if tries[number] == TRIES:
                    raise ClusterError(
                        f"{TRIES} workers were lost with the same batch of '{self.name}', one after another; the usual "
                        f"reason is memory. Try a smaller `batch_size`, or larger machines. The last error: {lost}"
                    )
                waiting.appendleft((number, job))
                self._lose(worker, lost)

    def _finished(self, refs: list[Any]) -> list[Any]:
        """The results that have come; none after a while, so that free places are noticed."""
        if not refs:
            self._pool.pause(TICK)
            return []
        return list(ray.wait(refs, timeout=TICK)[0])

    def _hire(self, jobs: int) -> None:
        """Start as many workers as there are jobs and places."""
        while len(self._workers) < jobs and self._pool.take(self, len(self._workers)):
            started = actor.holder().options(scheduling_strategy="SPREAD", **self._pool.needs).remote()
            self._workers.append(_Worker(started, started.hello.remote()))

    def _hand_out(self, waiting: deque[tuple[int, Job]], under_way: dict[Any, tuple[_Worker, int, Job]]) -> None:
        """Give each worker a few jobs, the least busy first."""
        ready = [worker for worker in self._workers if worker.step is None]
        load = Counter(worker for worker, _, _ in under_way.values())
        while waiting and ready:
            worker = min(ready, key=lambda worker: load[worker])
            if load[worker] == AHEAD:
                return
            number, (method, arguments) = waiting.popleft()
            under_way[getattr(worker.actor, method).remote(*arguments)] = worker, number, (method, arguments)
            load[worker] += 1

    def _go_on_starting(self, ref: Any) -> None:
        """Take a worker from one step of its start, being placed or loading the model, to the next."""
        worker = next((worker for worker in self._workers if worker.step is ref), None)
        if worker is None:  # lost in the meantime
            return
        said, lost = actor.had(ref)
        if lost:
            self._lose(worker, lost)
        elif not worker.placed:
            worker.placed, worker.where = True, said["where"]
            if said["evenhand"] != version("evenhand"):
                raise ClusterError(
                    f"The worker on {worker.where} has {_version(said['evenhand'])}, this machine "
                    f"{_version(version('evenhand'))}. Install the same on every machine. {said['why']}".strip()
                )
            worker.step = worker.actor.load.remote(self._load, actor.describe)
        else:
            worker.step = None
            self._said = self._said or said | {"where": worker.where}
            self._check_same(said, worker.where)

    def _check_same(self, said: Mapping[str, Any], where: str) -> None:
        """Raise if workers differ: numbers would depend on which worker had which batch."""
        one, other = ({**what["about"], **what} for what in (self._said, said))
        differ = [
            f"{name} is {one.get(name)} and {other.get(name)}" for name in SAME if one.get(name) != other.get(name)
        ]
        if differ:
            raise ClusterError(
                f"Workers must run the same '{self.name}' in the same way, or numbers would depend on who answers. On "
                f"{self._said['where']} and {where}, {'; '.join(differ)}. Use only machines that are the same."
            )

    def _check_patience(self) -> None:
        if any(worker.placed for worker in self._workers) or not self._workers:
            self._alone_since = time.monotonic()
        elif time.monotonic() - self._alone_since > PATIENCE:
            there = {name: n for name, n in ray.cluster_resources().items() if name in ("CPU", "GPU")}
            raise ClusterError(
                f"No machine of the cluster has had resources for a worker in {PATIENCE:.0f} s. A worker needs "
                f"{self._pool.needs}; all machines together have {there}. Wait until they are free, or set "
                "OMP_NUM_THREADS, the number of CPUs of a worker."
            )

    def _lose(self, worker: _Worker, why: str) -> None:
        """Drop a worker, which will be replaced; raise if too many were lost."""
        if worker not in self._workers:
            return
        self._drop(worker)
        self._lost += 1
        log.warning(f"A worker of '{self.name}' was lost{worker.where and f' on {worker.where}'}; others do its work.")
        if self._lost == TRIES * self._pool.size:
            raise ClusterError(
                f"{self._lost} workers of '{self.name}' were lost, and nothing was finished in between. Check that "
                f"every machine has enough memory for the model. Answers so far are kept. The last error: {why}"
            )

    def _drop(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        ray.kill(worker.actor)
        self._pool.give_back()


def remote_model(name: str, pool: WorkerPool, **loading: Any) -> RemoteModel:
    """The model of that name on the pool's workers; `loading` as for `evenhand.load`.

    Bundled models and Hub ids are found wherever evenhand is installed; a folder must be on every machine, at the same
    path.
    """
    found = find(name)
    path = Path(found.source if name in named() else name).expanduser().absolute()
    source = name if found.on_hub or path.parent == BUNDLED else str(path)
    device = loading.get("device") or ("cuda" if "num_gpus" in pool.needs else "cpu")
    load = partial(actor.loaded, source, actor.threads(), {**loading, "device": device})
    exact = partial(models.load, source, **{**loading, "dtype": "float32"})
    return RemoteModel(load, pool, name=found.name, kind=kind_of(found), exact=exact)


def worker_pool(workers: int | None, device: str | None, n: int = 1) -> WorkerPool:
    """A pool for n models: by default one worker for each GPU of the cluster, or as many as its CPUs allow.

    A worker has as many threads as a local run here, since their number may change the last bits of an answer.
    """
    there = ray.cluster_resources()
    gpus, cpus = int(there.get("GPU", 0)), int(there.get("CPU", 0))
    if (gpus and device is None) or (device or "").startswith("cuda"):
        return WorkerPool(workers or max(1, gpus), models=n, needs={"num_gpus": 1, "num_cpus": 1})
    return WorkerPool(workers or max(1, cpus // actor.threads()), models=n, needs={"num_cpus": actor.threads()})


def _version(version: str | None) -> str:
    return f"evenhand {version}" if version else "no evenhand"
