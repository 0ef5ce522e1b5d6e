"""Audit several models: one after another on this machine, or in parallel on a Ray cluster."""

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from evenhand.core.model import Model
from evenhand.distributed.cluster import check_engine, connected, silence_ray
from evenhand.errors import BadInput
from evenhand.models import LOADING, options_of
from evenhand.models.loading.names import Found, find, with_parent
from evenhand.models.source import ModelSource

log = logging.getLogger(__name__)

Audited = TypeVar("Audited")
"""What an audit gives: a run."""


def sweep(
    sources: Mapping[str, ModelSource],
    audit: Callable[[ModelSource, str], Audited],
    *,
    engine: str = "local",
    address: str | None = None,
    workers: int | None = None,
) -> Iterator[Audited]:
    """What `audit` gives for each model and the name of its run, in order: see `evenhand.sweep`."""
    check_engine(engine, address, workers)
    if engine == "local":
        return (audit(source, name) for name, source in sources.items())
    if served := [source for source in sources.values() if source.place.engine]:
        raise BadInput(
            f"'{served[0].place.source}' is behind a server: `engine='ray'` has nothing to share out. Leave it out."
        )
    return _sweep_on_ray(sources, audit, address, workers)


def named_sources(
    models: Sequence[str | Path | Model | ModelSource],
    name: str | None = None,
    model_options: Mapping[str, Any] | None = None,
    **loading: Any,
) -> dict[str, ModelSource]:
    """The models by the name of their run: the one given, or the model's, with its parent folder's if two are equal.

    Each model gets the options that it has; an option that no model has is an error.
    """
    if name is not None and len(models) > 1:
        raise BadInput(f"`name` names the run of one model. Got {len(models)} models: audit them one by one.")
    places = [find(str(model)) if isinstance(model, str | Path) else model for model in models]
    known = [options_of(place) if isinstance(place, Found) else list(LOADING) for place in places]
    given, somebodys = {**loading, **(model_options or {})}, {option for own in known for option in own}
    found = [
        ModelSource.of(place, {k: v for k, v in given.items() if k in own or k not in somebodys})
        for place, own in zip(places, known, strict=True)
    ]
    names = [name or one.name for one in found]
    names = [
        with_parent(Path(one.place.source).resolve())
        if one.given is None and names.count(own) > 1 and not one.place.on_hub
        else own
        for one, own in zip(found, names, strict=True)
    ]
    if double := [own for own in names if names.count(own) > 1]:
        raise BadInput(f"Two models would share the run '{double[0]}'. Audit them one by one, each with a `name`.")
    return dict(zip(names, found, strict=True))


def _sweep_on_ray(
    sources: Mapping[str, ModelSource],
    audit: Callable[[ModelSource, str], Audited],
    address: str | None,
    workers: int | None,
) -> Iterator[Audited]:
    silence_ray()
    from evenhand.distributed.remote_model import remote_model, worker_pool
    from evenhand.distributed.worker import threads

    if address is None and workers and workers * threads() > (cores := os.cpu_count() or 1):
        log.warning(
            f"{workers} workers with {threads()} threads each share {cores} cores, which is slower than fewer workers. "
            "Set OMP_NUM_THREADS=1 for one thread each."
        )
    here = [source for source in sources.values() if source.given is None]
    device = here[0].loading.get("device") if here else None
    with connected(address, cpus=workers and workers * threads()):
        ours = worker_pool(workers, device, len(here))

        def one(name: str, source: ModelSource) -> Audited:
            if source.given is not None:  # of a plugin, which is here already
                return audit(source, name)
            with remote_model(source.place, ours, **source.loading) as there:
                return audit(replace(source, given=there), name)

        with ThreadPoolExecutor(min(len(sources), ours.size)) as pool:
            runs = [pool.submit(one, name, source) for name, source in sources.items()]
            try:
                yield from _in_order(runs)
            except BaseException:
                ours.stopped.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def _in_order(runs: Sequence[Future[Audited]]) -> Iterator[Audited]:
    """The runs in order; where one fails, first those that are finished, then its error."""
    for number, run in enumerate(runs):
        try:
            yield run.result()
        except Exception:
            yield from (other.result() for other in runs[number + 1 :] if other.done() and not other.exception())
            raise
