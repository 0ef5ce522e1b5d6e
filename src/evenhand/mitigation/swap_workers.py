"""The edits of many documents: by processes of this machine, or by the workers of a Ray cluster."""

import os
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from itertools import islice
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.distributed.cluster import connected
from evenhand.mitigation import names as naming
from evenhand.mitigation.swap import Edit, Swapper
from evenhand.mitigation.text_files import read_texts

Edits = list[list[list[Any]]]
"""For each document its edits, as they are kept."""
PORTION = 200
"""Documents handed to a worker at a time."""
LONGEST = 2_000_000
"""Characters of a document; longer ones are worked on in pieces, cut where a sentence ends."""


def here(
    source: Path,
    column: str,
    names: bool,
    name_list: str | None,
    share: float,
    seed: int,
    jobs: int | None,
    done: int,
) -> Generator[Edits]:
    """The edits of the documents that are not done yet, portion by portion, by processes of this machine."""
    texts = enumerate(read_texts(source, column))
    with _workers(jobs, names, name_list) as pool:
        yield from _ahead(pool, partial(_rewritten, share=share, seed=seed), _portions(islice(texts, done, None)))


def on_cluster(
    source: Path,
    column: str,
    names: bool,
    name_list: str | None,
    share: float,
    seed: int,
    address: str | None,
    workers: int | None,
    done: int,
) -> Generator[Edits]:
    """The same by the workers of a Ray cluster."""
    table = tuple(naming.own(name_list).items()) if name_list else None  # the file is on this machine alone
    work = partial(_rewritten_there, names=names, table=table, share=share, seed=seed)
    with connected(address, workers):
        from evenhand.distributed.streaming import streamed

        yield from streamed(partial(read_texts, source, column), work, start=done, workers=workers)


_swapper = Swapper()
"""Each worker's own, set up when it starts."""


def start(names: bool, name_list: str | None) -> None:
    """Set up this process's swapper."""
    global _swapper
    threading.Thread(target=_end_with_parent, daemon=True).start()
    table = naming.own(name_list) if name_list else None
    _swapper = Swapper(names=naming.Naming(table) if names else None)


def _end_with_parent() -> None:
    """In a worker: be gone when its parent is, even one that was killed and could not say so."""
    if parent := parent_process():
        parent.join()
        os._exit(1)


def _rewritten(portion: Sequence[tuple[int, str]], *, share: float, seed: int, swapper: Swapper | None = None) -> Edits:
    """The edits of each document; none where the coin says so. Runs in a worker."""
    found = []
    for number, text in portion:
        chosen = share == 1 or np.random.default_rng([seed, number]).random() < share
        found.append([[e.start, e.old, e.new, e.rule] for e in _edits(swapper or _swapper, text)] if chosen else [])
    return found


@cache
def _swapper_there(names: bool, table: tuple[tuple[str, naming.Name], ...] | None) -> Swapper:
    return Swapper(names=naming.Naming(dict(table) if table else None) if names else None)


def _rewritten_there(
    portion: Sequence[tuple[int, str]],
    *,
    names: bool,
    table: tuple[tuple[str, naming.Name], ...] | None,
    share: float,
    seed: int,
) -> Edits:
    """The same in a worker of a cluster, which nobody has set up."""
    return _rewritten(portion, share=share, seed=seed, swapper=_swapper_there(names, table))


def _edits(swapper: Swapper, text: str) -> Iterator[Edit]:
    """The edits of a document; of a very long one, piece by piece."""
    start = 0
    while start < len(text):
        stop = len(text)
        if stop - start > LONGEST:
            end = start + LONGEST
            stop = max(text.rfind(mark, start, end) for mark in (". ", "\n", "! ", "? ")) + 1 or end
        piece = text[start:stop] if (start, stop) != (0, len(text)) else text
        yield from (Edit(e.start + start, e.old, e.new, e.rule) for e in swapper.edits(piece))
        start = stop


def _portions(texts: Iterator[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    while portion := list(islice(texts, PORTION)):
        yield portion


def _ahead(
    pool: ProcessPoolExecutor | None, work: Callable[[Any], Any], portions: Iterator[list[tuple[int, str]]]
) -> Iterator[Edits]:
    """The results in order; with a pool, a few portions ahead of what is written, so that memory stays flat."""
    if pool is None:
        yield from map(work, portions)
        return
    waiting = [pool.submit(work, portion) for portion in islice(portions, 4 * _cores())]
    while waiting:
        yield waiting.pop(0).result()
        waiting += [pool.submit(work, portion) for portion in islice(portions, 1)]


@contextmanager
def _workers(jobs: int | None, names: bool, name_list: str | None) -> Iterator[ProcessPoolExecutor | None]:
    """A pool of workers, or None for one job."""
    if (jobs or _cores()) == 1:
        yield None
        return
    # A process with torch has threads, which do not survive a fork.
    context = get_context("spawn") if "torch" in sys.modules else None
    pool = ProcessPoolExecutor(jobs or _cores(), context, start, (names, name_list))
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
