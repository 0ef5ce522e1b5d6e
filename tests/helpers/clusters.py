"""A Ray cluster of two nodes on this machine, and a model that its workers can hold without a network."""

import errno
import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from evenhand.core.questions import Answer, Choose, Fill, Likelihood, Question, Span
from evenhand.errors import ModelError
from evenhand.models.planning.plan import Batch, Limit, Plan, Read, Reading, Values, run_plan

STORE = {"object_store_memory": 100 * 2**20}


@contextmanager
def two_nodes() -> Iterator[Any]:
    """Each with a CPU, and as many threads."""
    import_module("evenhand.distributed.workers")  # which silences Ray before it is imported
    import ray
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:  # so that workers find this file
        patch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]))
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False, **STORE})
        try:
            cluster.add_node(num_cpus=1, **STORE)
            ray.init(cluster.address, log_to_driver=False, logging_level="error")
            yield cluster
        finally:
            ray.shutdown()
            cluster.shutdown()


class Letters:
    """Each letter masked in turn, its value made from the whole batch: batches that are not the planned ones show.

    `at` names a letter, and `then` what happens at it: the worker dies ("die", or once, with the name of a file that
    tells that it has), its disk is full ("full"), or it raises an error.
    """

    name = "letters"
    kind = "masked"

    def __init__(self, *, seconds: float = 0.0, fingerprint: str = "one", at: str = "", then: str = "") -> None:
        self.seconds = seconds
        self.fingerprint = fingerprint
        self.at = at
        self.then = then
        self.overflowed = 0

    def plan(self, questions: Sequence[Question]) -> Plan:
        readings = [self._reading(question) for question in questions]
        return Plan(readings, Limit(10**6, 4, 10**6))

    def _reading(self, question: Question) -> Reading:
        assert isinstance(question, Fill | Likelihood | Choose)
        ids = tuple(map(ord, question.text))
        return Reading(tuple(Read((*ids[:i], 0, *ids[i + 1 :]), ((i, ids[i]),)) for i in range(len(ids))))

    def stream(self, batches: Sequence[tuple[int, Batch]]) -> Iterator[tuple[int, Values]]:
        return ((number, self.run(batch)) for number, batch in batches)

    def run(self, batch: Batch) -> Values:
        time.sleep(self.seconds)
        if self.at and any(ord(self.at) in ids for ids in batch.inputs):
            if self.then.startswith("/"):
                if not Path(self.then).exists():
                    Path(self.then).touch()
                    os.kill(os.getpid(), signal.SIGKILL)
            elif self.then == "die":
                os._exit(1)
            elif self.then == "full":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            else:
                raise ModelError("a letter that nobody knows")
        self.overflowed += len(batch.inputs)
        flavour = sum(map(sum, batch.inputs)) / 1000
        return [[-flavour - position for position, _ in cells] for cells in batch.cells]

    def count_tokens(self, places: Sequence[tuple[str, Span]]) -> list[int]:
        return [span.stop - span.start for _, span in places]

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        return run_plan(self.plan(questions), self.stream)
