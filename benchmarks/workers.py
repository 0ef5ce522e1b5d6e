"""Two single-threaded workers on Ray beside one, on the same batches, once they hold the model."""

import math
import os
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from statistics import median
from typing import TYPE_CHECKING

import torch

from benchmarks.rows import Row
from benchmarks.timing import Side, largest, ratios
from evenhand import datasets
from evenhand.core.items import Pair
from evenhand.core.questions import Likelihood
from evenhand.distributed import check_engine
from evenhand.models.planning.plan import Batch

if TYPE_CHECKING:
    from evenhand.distributed.workers import RemoteModel

NAME = "PLL on Ray, mini-en, two single-threaded workers: one worker"
SENTENCES = 100
INPUTS = 16  # in a batch: small ones, so that the last of a part keeps nobody waiting for long
PARTS = 3


def rows() -> Iterator[Row]:
    """One row; its time is the clock's on the wall, since the work is other processes'."""
    if find_spec("ray") is None:
        yield Row(NAME, ours=math.nan, note="not run: Ray is not installed")
        return
    check_engine("ray", None, None)
    from evenhand.distributed.workers import connected_cluster

    threads, asked = torch.get_num_threads(), os.environ.get("OMP_NUM_THREADS")
    torch.set_num_threads(1)  # a worker has as many as we
    os.environ["OMP_NUM_THREADS"] = "1"  # and so have the libraries below it
    try:
        with connected_cluster(cpus=3):
            yield _row()
    finally:
        torch.set_num_threads(threads)
        os.environ.pop("OMP_NUM_THREADS")
        os.environ |= {"OMP_NUM_THREADS": asked} if asked else {}


def _row() -> Row:
    from evenhand.distributed.workers import WorkerPool, remote_model
    from evenhand.models.loading.names import find

    pairs = [item for item in datasets.load("tgb").items if isinstance(item, Pair)]
    questions = [Likelihood(pair.stereotype) for pair in pairs[:SENTENCES]]
    with (
        remote_model(find("mini-en"), WorkerPool(1), batch_size=INPUTS) as one,
        remote_model(find("mini-en"), WorkerPool(2), batch_size=INPUTS) as two,
    ):
        batches = list(enumerate(one.plan(questions).batches))
        for model, n in ((one, 1), (two, 2)):
            while _at_work(model) < n:
                list(model.stream(batches[: 2 * n]))
            list(model.stream(batches[: 4 * n]))  # so that each has loaded it
        peer, ours = Side(), Side()
        for n in range(PARTS):
            for side, model in ((peer, one), (ours, two)):
                _time(side, model, batches[n::PARTS])
    found = ratios(peer, ours, [1.0] * PARTS)
    return Row(
        NAME,
        ours=ours.total,
        peer=peer.total,
        ratio=median(found),
        spread=found,
        goal=1.8,
        difference=largest(ours.answers, peer.answers),
        note=f"{len(questions)} sentences in {len(batches)} batches, once they hold the model; wall time",
    )


def _at_work(model: "RemoteModel") -> int:
    """How many workers have started."""
    return sum(bool(where) for where in model._workers.values())


def _time(side: Side, model: "RemoteModel", batches: Sequence[tuple[int, Batch]]) -> None:
    start = time.perf_counter()
    values = dict(model.stream(batches))
    side.seconds.append(time.perf_counter() - start)
    side.answers += [value for number in sorted(values) for row in values[number] for value in row]
