"""A model on many machines: each worker of a Ray cluster holds it, and they share its batches.

The client holds no part of the model. A worker makes the plan from the whole list of questions, as a local run would;
then all workers run its batches. So the numbers are those of a local run, to the last bit, at the same batch size,
dtype and threads. Ray's own ActorPool and restarts of actors are not used: a worker of a lost machine would wait for
another machine with its batches, while other workers have nothing to do.
"""

import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from operator import methodcaller
from pathlib import Path
from threading import Event, Lock
from typing import Any, Self, cast

import ray
from ray.exceptions import RayError

from evenhand.core.questions import Answer, Question, Span
from evenhand.distributed import worker
from evenhand.errors import ClusterError, EvenhandError
from evenhand.models.base import Numbered, Planned
from evenhand.models.loading.names import BUNDLED, ModelPlace
from evenhand.models.planning.plan import Batch, Plan, Values, answer_all

log = logging.getLogger(__name__)

AHEAD = 2  # batches that a worker has at a time: one to work on, and the next
TRIES = 3  # workers that may be lost with one batch, and for each place before one has begun
PATIENCE = 120.0  # seconds that a model may be without any worker on any machine
TICK = 0.5  # seconds between looks at whether another model has stopped the command
SAME = ("device", "dtype", "attention", "threads", "torch", "transformers", "fingerprint", "limit")
"""What may change the last bit of an answer, and so must be the same on every worker."""
Job = tuple[int, tuple[Any, ...]]
"""A number, and a function with its arguments after the first, which is the model."""


class Stopped(EvenhandError):
    """Another model of the same command has failed, or the user pressed Ctrl-C."""


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
    _lock: Lock = field(default_factory=Lock, repr=False)

    @property
    def share(self) -> int:
        return max(1, self.size // max(1, self.models))

    def finish(self) -> None:
        """Leave the places of a model that is measured, or has failed, to the others."""
        with self._lock:
            self.models -= 1

    def check(self) -> None:
        if self.stopped.is_set():
            raise Stopped("Stopped. Answers so far are kept.")


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
    _greetings: dict[Any, Any] = field(default_factory=dict)
    """Workers that have yet to start, by the Ray reference to their first message."""
    _said: dict[str, Any] = field(default_factory=dict)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._workers:
            ray.kill(each)
        self._workers, self._greetings = {}, {}
        self.pool.finish()

    @property
    def _known(self) -> dict[str, Any]:
        if not self._said:
            self.ask(bool)  # starts a worker, which describes its model
        return self._said

    @property
    def fingerprint(self) -> str:
        return str(self._known["fingerprint"])

    @property
    def kind(self) -> str:
        return str(self._known["kind"])

    @property
    def about(self) -> Mapping[str, object]:
        return {**self._known["about"], "workers": self.pool.size}

    def plan(self, questions: Sequence[Question]) -> Plan:
        return cast("Plan", self.ask(methodcaller("plan", tuple(questions))))

    def count_tokens(self, places: Sequence[tuple[str, Span]]) -> list[int]:
        return cast("list[int]", self.ask(methodcaller("count_tokens", tuple(places))))

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        return answer_all(self, questions)

    def batched_answers(self, questions: Sequence[Any], answered: Container[int] = ()) -> list[Numbered]:
        """All on one worker, where each text goes through the network once."""
        return cast("list[Numbered]", self.ask(worker.run_batched, tuple(questions), answered))

    def stream(self, batches: Sequence[tuple[int, Batch]]) -> Iterator[tuple[int, Values]]:
        jobs = ((number, (worker.run_batch, batch)) for number, batch in batches)
        for number, (values, overflowed) in self._work(jobs):
            self.overflowed += overflowed
            yield number, values

    def ask(self, function: Callable[..., Any], *arguments: Any) -> Any:
        ((_, result),) = self._work([(0, (function, *arguments))])
        return result

    def _work(self, jobs: Iterable[Job]) -> Iterator[tuple[int, Any]]:
        """The result of each job, as they finish; jobs of lost workers are done again by others."""
        waiting = deque(jobs)
        under_way: dict[Any, tuple[Any, Job]] = {}
        lost: Counter[int | None] = Counter()
        alone_since = time.monotonic()
        while waiting or under_way:
            self.pool.check()
            self._start(len(waiting) + len(under_way))
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
            for ref in ray.wait([*under_way, *self._greetings], timeout=TICK)[0]:
                by, job = under_way.pop(ref) if ref in under_way else (self._greetings.pop(ref), None)
                try:
                    said, result = ray.get(ref)
                except worker.LOST as error:
                    self._lose(by, job, lost, error)
                    waiting.extendleft([job] if job else [])
                except RayError as error:
                    raise worker.as_evenhand_error(error) from None
                else:
                    if job is None:
                        self._workers[by] = result
                        if said != (here := f"evenhand {version('evenhand')}"):
                            raise ClusterError(
                                f"The worker on {result} has {said}, this machine {here}. Install the same on every "
                                "machine."
                            )
                    else:
                        lost[None] = 0
                        self._check_same(said, self._workers.get(by, "a lost machine"))
                        yield job[0], result

    def _start(self, jobs: int) -> None:
        while len(self._workers) < min(jobs, self.pool.share):
            started = worker.worker_class().options(scheduling_strategy="SPREAD", **self.pool.needs).remote()
            self._workers[started] = ""
            self._greetings[started.hello.remote()] = started

    def _hand_out(self, waiting: deque[Job], under_way: dict[Any, tuple[Any, Job]]) -> None:
        """Give each worker that has started a few jobs, the least busy first."""
        busy = Counter(by for by, _ in under_way.values())
        ready = [by for by, where in self._workers.items() if where]
        while waiting and ready and busy[least := min(ready, key=lambda by: busy[by])] < AHEAD:
            number, job = waiting.popleft()
            under_way[least.call.remote(self.load, worker.with_description, *job)] = least, (number, job)
            busy[least] += 1

    def _lose(self, by: Any, job: Job | None, lost: Counter[int | None], error: Exception) -> None:
        """Let a worker go; an error if too many were lost in the same way."""
        if by in self._workers:  # it may have had several batches
            where = self._workers.pop(by)
            ray.kill(by)
            log.warning(f"A worker of '{self.name}' was lost{where and f' on {where}'}; others do its work.")
        number = job[0] if job else None
        lost[number] += 1
        if lost[number] == (TRIES if job else TRIES * self.pool.size):
            raise ClusterError(
                f"{lost[number]} workers were lost {'with the same batch' if job else 'before any work'} of "
                f"'{self.name}', one by one; the usual reason is memory. Try a smaller batch size, or larger machines. "
                f"Answers so far are kept. The last error: {worker.first_line(error)}"
            ) from None

    def _check_same(self, said: Mapping[str, Any], where: str) -> None:
        """Raise if workers differ: numbers would depend on which worker had which batch."""
        self._said = self._said or {**said, "where": where}
        one, other = ({**what["about"], **what} for what in (self._said, said))
        differ = [
            f"{name} is {one.get(name)} and {other.get(name)}" for name in SAME if one.get(name) != other.get(name)
        ]
        if differ:
            raise ClusterError(
                f"Workers must run the same '{self.name}' in the same way, or numbers would depend on who answers. On "
                f"{self._said['where']} and {where}, {'; '.join(differ)}. Use only machines that are the same."
            )


def remote_model(found: ModelPlace, pool: WorkerPool, **loading: Any) -> RemoteModel:
    """The model on the pool's workers; `loading` as for `evenhand.load`.

    Bundled models and Hub ids are found wherever evenhand is installed; a folder must be on every machine, at the same
    path.
    """
    path = Path(found.source, found.file).expanduser().absolute()
    source = found.name if found.on_hub or path.parent == BUNDLED else str(path)
    device = loading.get("device") or ("cuda" if "num_gpus" in pool.needs else "cpu")
    load = partial(worker.load_model, source, worker.threads(), {**loading, "device": device})
    return RemoteModel(load, pool, found.name)


def worker_pool(workers: int | None, device: str | None, n: int = 1) -> WorkerPool:
    """A pool for n models: by default one worker for each GPU of the cluster, or as many as its CPUs allow.

    A worker has as many threads as a local run here, since their number may change the last bits of an answer.
    """
    there = ray.cluster_resources()
    gpus, cpus = int(there.get("GPU", 0)), int(there.get("CPU", 0))
    if (gpus and device is None) or (device or "").startswith("cuda"):
        return WorkerPool(workers or max(1, gpus), models=n, needs={"num_gpus": 1, "num_cpus": 1})
    return WorkerPool(workers or max(1, cpus // worker.threads()), models=n, needs={"num_cpus": worker.threads()})
