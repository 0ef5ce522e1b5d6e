"""The edits of many documents: by processes of this machine, or by the workers of a Ray cluster."""

import os
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any

from evenhand.distributed.cluster import connected
from evenhand.mitigation import names as naming
from evenhand.mitigation.substitute import chosen
from evenhand.mitigation.swap import Edit, Swapper
from evenhand.mitigation.text_files import read_texts

Edits = list[list[list[Any]]]
"""For each document its edits, as they are kept."""
CHUNK = 200
"""Documents handed to a worker at a time."""
LONGEST = 2_000_000
"""Characters of a document; longer ones are worked on in pieces, cut where a sentence ends."""


Names = tuple[tuple[str, naming.Name], ...]


@dataclass(frozen=True)
class Job:
    """What is done with each document: which are swapped, and whether first names are, too."""

    names: bool
    own: Names | None
    """The user's own list of names, if there is one."""
    share: float
    seed: int


def here(source: Path, column: str, job: Job, jobs: int | None, done: int) -> Generator[Edits]:
    """The edits of the documents that are not done yet, chunk by chunk, by processes of this machine."""
    texts = enumerate(read_texts(source, column))
    with _workers(jobs) as pool:
        yield from _ahead(pool, partial(_rewritten, job=job), _chunks(islice(texts, done, None)))


def on_cluster(
    source: Path, column: str, job: Job, address: str | None, workers: int | None, done: int
) -> Generator[Edits]:
    """The same by the workers of a Ray cluster."""
    with connected(address, workers):
        from evenhand.distributed.streaming import streamed

        yield from streamed(
            partial(read_texts, source, column), partial(_rewritten, job=job), start=done, workers=workers
        )


def _watch_parent() -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """In a worker: be gone when its parent is, even one that was killed and could not say so."""
    if parent := parent_process():
        parent.join()
        os._exit(1)


@cache
def _swapper(names: bool, own: Names | None) -> Swapper:
    """Each worker's own, made once."""
    return Swapper(names=naming.Naming(dict(own) if own else None) if names else None)


def _rewritten(chunk: Sequence[tuple[int, str]], *, job: Job) -> Edits:
    """The edits of each document; none where it was not chosen. Runs in a worker."""
    swapper = _swapper(job.names, job.own)
    return [
        [[e.start, e.old, e.new, e.rule] for e in _edits(swapper, text)] if chosen(number, job.share, job.seed) else []
        for number, text in chunk
    ]


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


def _chunks(texts: Iterator[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    while chunk := list(islice(texts, CHUNK)):
        yield chunk


def _ahead(
    pool: ProcessPoolExecutor | None, work: Callable[[Any], Any], chunks: Iterator[list[tuple[int, str]]]
) -> Iterator[Edits]:
    """The results in order; with a pool, a few chunks ahead of what is written, so that memory stays flat."""
    if pool is None:
        yield from map(work, chunks)
        return
    waiting = [pool.submit(work, chunk) for chunk in islice(chunks, 4 * _cores())]
    while waiting:
        yield waiting.pop(0).result()
        waiting += [pool.submit(work, chunk) for chunk in islice(chunks, 1)]


@contextmanager
def _workers(jobs: int | None) -> Iterator[ProcessPoolExecutor | None]:
    """A pool of workers, or None for one job."""
    if (jobs or _cores()) == 1:
        yield None
        return
    # A process with torch has threads, which do not survive a fork.
    context = get_context("spawn") if "torch" in sys.modules else None
    pool = ProcessPoolExecutor(jobs or _cores(), context, _watch_parent)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
