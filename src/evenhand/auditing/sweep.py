"""Several models, one call: one after another here, or side by side on a cluster."""

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
    """The run of each model, in their order, measured as you ask for it: `list(sweep(...))`; `how` as for `audit`.

    With the engine `ray` the models are measured side by side, each on its share of the workers of the cluster at
    `address`, or of this machine. Runs lie here, with the same bytes as those of a local engine.
    """
    if isinstance(models, str):
        raise BadInput(f"A sweep is over a list of models. Got the one name {models!r}: put it into a list.")
    check_engine(engine, address, workers)
    for model in models:
        if isinstance(model, str):
            find(model)  # a wrong name is an error now, not after the models before it
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
            f"{workers} workers with {threads()} threads each share {cores} cores, which is slower than fewer would "
            "be. OMP_NUM_THREADS=1 gives each of them one."
        )
    with connected(address, cpus=workers and workers * threads()):
        ours = worker_pool(workers, loading.get("device"), len(models))

        def one(model: str) -> Run:
            with remote_model(model, ours, **loading) as there:
                return audit(there, **how)

        if len(models) == 1:
            yield one(models[0])
            return
        # Twice as many as have workers: while one makes statistics of its answers, the next one has its workers.
        with ThreadPoolExecutor(min(len(models), 2 * ours.size)) as pool:
            runs = [pool.submit(one, model) for model in models]
            try:
                yield from (run.result() for run in runs)
            except BaseException:
                ours.stop()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
