"""Measure several models, in turn or in parallel on a Ray cluster."""

import logging
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from evenhand.core.files import real_path
from evenhand.core.model import Model
from evenhand.core.way import UNASKED, Way
from evenhand.distributed import check_engine
from evenhand.errors import BadInput, UnfitModel
from evenhand.models import LOADING, ModelSource, options_of
from evenhand.models.loading.names import ModelPlace, find, with_parent

log = logging.getLogger(__name__)

AnyRun = TypeVar("AnyRun")
"""The class of the runs that an `audit` function returns."""


def sweep(
    sources: Mapping[str, ModelSource],
    audit: Callable[[ModelSource, str], AnyRun],
    *,
    engine: str = "local",
    address: str | None = None,
    workers: int | None = None,
) -> Iterator[AnyRun]:
    """Call `audit` with each model and the name of its run, and yield the runs in order. See `evenhand.sweep`.

    A model that can answer none of the questions does not stop the others: its error is raised when they are done.
    """
    check_engine(engine, address, workers)
    if engine == "local":
        return _in_turn(sources, audit)
    if served := [source for source in sources.values() if source.place.engine]:
        raise BadInput(
            f"'{served[0].place.source}' is behind a server, so a Ray cluster has nothing to do. Leave out `engine`."
        )
    return _sweep_on_ray(sources, audit, address, workers)


def named_sources(
    models: Sequence[str | Path | Model | ModelSource],
    name: str | None = None,
    model_options: Mapping[str, Any] | None = None,
    ways: Sequence[Way] = (UNASKED,),
    **loading: Any,
) -> dict[str, ModelSource]:
    """The models, each asked in all `ways`, by the name of their run: `name`, or that of the source.

    If two local models have the same name, the name of the parent folder goes before it. Each model gets the options
    that it has. An option that no model has is an error.
    """
    if name is not None and len(models) * len(ways) > 1:
        several = f"{len(models)} models" if len(models) > 1 else f"{len(ways)} system prompts"
        raise BadInput(f"`name` is the name of one run. Got {several}: leave `name` out.")
    places = [find(str(model)) if isinstance(model, str | Path) else model for model in models]
    known = [options_of(place) if isinstance(place, ModelPlace) else list(LOADING) for place in places]
    given, of_any = {**loading, **(model_options or {})}, {option for options in known for option in options}
    loaded = [
        ModelSource.of(place, {k: v for k, v in given.items() if k in options or k not in of_any})
        for place, options in zip(places, known, strict=True)
    ]
    counts = Counter(source.name for source in loaded)
    named = [
        replace(source, place=replace(source.place, name=with_parent(real_path(source.place.source))))
        if source.given is None and counts[source.name] > 1 and not source.place.on_hub
        else source
        for source in loaded
    ]
    sources = [replace(source, way=way) for source in named for way in ways]
    names = [name or source.name for source in sources]
    most, times = Counter(names).most_common(1)[0] if names else ("", 0)
    if times > 1:
        raise BadInput(f"Two models would have the run folder '{most}'. Audit each with a `name` of its own.")
    return dict(zip(names, sources, strict=True))


def _in_turn(sources: Mapping[str, ModelSource], audit: Callable[[ModelSource, str], AnyRun]) -> Iterator[AnyRun]:
    """Yield the runs in order, then raise an error if there are models that are unfit for all of the tasks."""
    errors = []
    for name, source in sources.items():
        try:
            run = audit(source, name)
        except UnfitModel as error:
            if len(sources) == 1:
                raise
            errors.append(f"'{name}' was not measured. {error}")
        else:
            yield run
    if errors:
        raise UnfitModel(" ".join(errors))


def _sweep_on_ray(
    sources: Mapping[str, ModelSource],
    audit: Callable[[ModelSource, str], AnyRun],
    address: str | None,
    workers: int | None,
) -> Iterator[AnyRun]:
    from evenhand.distributed.workers import connected_cluster, remote_model, threads, worker_pool

    if address is None and workers and workers * threads() > (cores := os.cpu_count() or 1):
        log.warning(
            f"{workers} workers with {threads()} threads each share {cores} cores, which is slower than fewer workers. "
            "Set OMP_NUM_THREADS=1 for one thread each."
        )
    to_load = [source for source in sources.values() if source.given is None]
    device = to_load[0].loading.get("device") if to_load else None
    with connected_cluster(address, cpus=workers and workers * threads()):
        cluster = worker_pool(workers, device, len(to_load))

        def audit_one(name: str, source: ModelSource) -> AnyRun:
            if source.given is not None:  # the object of a plugin is in this process already
                return audit(source, name)
            with remote_model(source.place, cluster, **source.loading) as model:
                return audit(replace(source, given=model), name)

        with ThreadPoolExecutor(min(len(sources), cluster.size)) as pool:
            runs = [pool.submit(audit_one, name, source) for name, source in sources.items()]
            try:
                yield from _in_order(runs)
            except BaseException:
                cluster.stopped.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def _in_order(runs: Sequence[Future[AnyRun]]) -> Iterator[AnyRun]:
    """Yield the runs in order. If a run fails, yield the later runs that have finished, then raise its error."""
    for number, run in enumerate(runs):
        try:
            yield run.result()
        except Exception:
            yield from (other.result() for other in runs[number + 1 :] if other.done() and not other.exception())
            raise
