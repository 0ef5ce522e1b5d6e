"""Audit several models: one after another on this machine, or in parallel on a Ray cluster."""

import logging
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from evenhand.auditing.audit import LOADING, audit
from evenhand.distributed.cluster import check_engine, connected, quieten
from evenhand.errors import BadInput
from evenhand.models.loading.names import find
from evenhand.runs.folder import Run

log = logging.getLogger(__name__)


def sweep(
    models: Sequence[str],
    *,
    engine: str = "local",
    address: str | None = None,
    workers: int | None = None,
    **how: Any,
) -> Iterator[Run]:
    """The run of each model, in order, each measured when it is asked for: `list(sweep(...))`; `how` goes to `audit`.

    With `engine="ray"` the models are measured in parallel, each on its share of the workers of the cluster at
    `address`, or of this machine. Run folders are written here, with the same bytes as by the local engine.
    """
    if isinstance(models, str):
        raise BadInput(f"A sweep takes a list of models. Got the name {models!r}: put it into a list.")
    check_engine(engine, address, workers)
    for model in models:
        if isinstance(model, str):
            find(model)  # a wrong name is an error before anything is measured
    if engine == "local":
        return (audit(model, **how) for model in models)
    return _side_by_side(models, address, workers, how)


def _side_by_side(
    models: Sequence[str], address: str | None, workers: int | None, how: dict[str, Any]
) -> Iterator[Run]:
    quieten()
    from evenhand.distributed.actor import threads
    from evenhand.distributed.remote_model import remote_model, worker_pool

    loading = {name: how.pop(name) for name in LOADING if name in how}
    if address is None and workers and workers * threads() > (cores := os.cpu_count() or 1):
        log.warning(
            f"{workers} workers with {threads()} threads each share {cores} cores, which is slower than fewer workers. "
            "Set OMP_NUM_THREADS=1 for one thread each."
        )
    with connected(address, cpus=workers and workers * threads()):
        ours = worker_pool(workers, loading.get("device"), len(models))

        def one(model: str) -> Run:
            with remote_model(model, ours, **loading) as there:
                return audit(there, **how)

        if len(models) == 1:
            yield one(models[0])
            return
        # Twice as many as have workers: while one computes its statistics, the next one uses the workers.
        with ThreadPoolExecutor(min(len(models), 2 * ours.size)) as pool:
            runs = [pool.submit(one, model) for model in models]
            try:
                yield from (run.result() for run in runs)
            except BaseException:
                ours.stop()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
