"""Audit several models: one after another on this machine, or in parallel on a Ray cluster."""

import logging
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from evenhand.auditing.audit import LOADING, audit
from evenhand.core.model import Model
from evenhand.distributed.cluster import check_engine, connected, quieten
from evenhand.errors import BadInput
from evenhand.models import own
from evenhand.models.loading.names import Found, find, with_parent
from evenhand.runs.folder import Run

log = logging.getLogger(__name__)


def sweep(
    models: Sequence[str], *, engine: str = "local", address: str | None = None, workers: int | None = None, **how: Any
) -> Iterator[Run]:
    """The run of each model, in order, each measured when it is asked for: `list(sweep(...))`; `how` goes to `audit`.

    With `engine="ray"` the models are measured in parallel, each on its share of the workers of the cluster at
    `address`, or of this machine. Run folders are written here, with the same bytes as by the local engine.
    """
    if isinstance(models, str):
        raise BadInput(f"A sweep takes a list of models. Got the name {models!r}: put it into a list.")
    check_engine(engine, address, workers)
    found = [(isinstance(model, str) and own(model)) or model for model in models]
    names = run_names(found, how.pop("name", None))  # a wrong model is an error before anything is measured
    if engine != "local" and (there := [model for model in models if isinstance(model, str) and find(model).served]):
        raise BadInput(f"'{there[0]}' is behind a server: `engine='ray'` has nothing to share out. Leave it out.")
    if engine == "local":
        # A plugin loads its model in its own way.
        plain = {name: value for name, value in how.items() if name not in LOADING}
        return (
            audit(model, name=name, **how if model is given else plain)
            for given, model, name in zip(models, found, names, strict=True)
        )
    return _side_by_side(models, names, address, workers, how)


def run_names(models: Sequence[str | Model], name: str | None = None) -> list[str]:
    """The name of each model's run: the one given, or the model's, with that of its parent folder if two are equal."""
    if name is not None and len(models) > 1:
        raise BadInput(f"`name` names the run of one model. Got {len(models)} models: audit them one by one.")
    found = [find(model) if isinstance(model, str) else model for model in models]
    names = [name or one.name for one in found]
    names = [
        with_parent(Path(one.source).resolve())
        if isinstance(one, Found) and names.count(own) > 1 and not one.on_hub
        else own
        for one, own in zip(found, names, strict=True)
    ]
    if double := [own for own in names if names.count(own) > 1]:
        raise BadInput(f"Two models would share the run '{double[0]}'. Audit them one by one, each with a `name`.")
    return names


def _side_by_side(
    models: Sequence[str], names: Sequence[str], address: str | None, workers: int | None, how: dict[str, Any]
) -> Iterator[Run]:
    quieten()
    from evenhand.distributed.remote_model import remote_model, worker_pool
    from evenhand.distributed.worker import threads

    loading = {name: how.pop(name) for name in LOADING if name in how}
    if address is None and workers and workers * threads() > (cores := os.cpu_count() or 1):
        log.warning(
            f"{workers} workers with {threads()} threads each share {cores} cores, which is slower than fewer workers. "
            "Set OMP_NUM_THREADS=1 for one thread each."
        )
    with connected(address, cpus=workers and workers * threads()):
        ours = worker_pool(workers, loading.get("device"), len(models))

        def one(model: str, name: str) -> Run:
            with remote_model(model, ours, **loading) as there:
                return audit(there, name=name, **how)

        with ThreadPoolExecutor(min(len(models), ours.size)) as pool:
            runs = [pool.submit(one, model, name) for model, name in zip(models, names, strict=True)]
            try:
                yield from _in_order(runs)
            except BaseException:
                ours.stopped.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def _in_order(runs: Sequence[Future[Run]]) -> Iterator[Run]:
    """The runs in order; where one fails, first those that are finished, then its error."""
    for number, run in enumerate(runs):
        try:
            yield run.result()
        except Exception:
            yield from (other.result() for other in runs[number + 1 :] if other.done() and not other.exception())
            raise
