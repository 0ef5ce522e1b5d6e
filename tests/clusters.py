"""A Ray cluster of two nodes on this machine, and a model that its workers can hold without a network."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from evenhand.errors import ModelError
from evenhand.models.batching import Batch, Limit, Plan, Read, Reading, Values
from evenhand.questions import Question

STORE = {"object_store_memory": 100 * 2**20}


@contextmanager
def two_nodes() -> Iterator[Any]:
    """Each with a CPU."""
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'evenhand[ray]'")
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:  # workers find this file, and have as many threads as we
        patch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]))
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False, **STORE})
        try:
            cluster.add_node(num_cpus=1, **STORE)
            ray.init(cluster.address, log_to_driver=False, logging_level="error")
            yield cluster
        finally:
            ray.shutdown()
            cluster.shutdown()


class Letters:
    """Each letter masked in turn, its value made from the whole batch: any other batching shows."""

    name = "letters"
    kind = "masked"

    def __init__(self, seconds: float = 0.0, fingerprint: str = "one", poison: str = "") -> None:
        self.seconds = seconds
        self.fingerprint = fingerprint
        self.poison = poison

    def plan(self, questions: Sequence[Question]) -> Plan:
        return Plan([self._reading(question.text) for question in questions], Limit(10**6, 4, 10**6))

    def _reading(self, text: str) -> Reading:
        ids = tuple(map(ord, text))
        return Reading(tuple(Read((*ids[:i], 0, *ids[i + 1 :]), ((i, ids[i]),)) for i in range(len(ids))))

    def run(self, batch: Batch) -> Values:
        time.sleep(self.seconds)
        if self.poison and any(ord(self.poison) in ids for ids in batch.inputs):
            raise ModelError("a letter that nobody knows")
        flavour = sum(map(sum, batch.inputs)) / 1000
        return [[-flavour - position for position, _ in cells] for cells in batch.cells]
