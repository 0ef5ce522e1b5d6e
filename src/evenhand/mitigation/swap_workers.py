"""The edits of many documents, by processes of this machine or by the workers of a Ray cluster."""

import os
import sys
import threading
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from itertools import islice
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any

from evenhand.distributed.cluster import connected
from evenhand.errors import RunError
from evenhand.mitigation import names as naming
from evenhand.mitigation.substitute import chosen
from evenhand.mitigation.swap import Edit, Swapper
from evenhand.mitigation.text_files import Texts, read_texts

Edits = list[list[list[list[Any]]]]
"""The edits of each document and each of its columns, as they are stored."""
CHUNK = 200
"""Documents per task of a worker."""
LONGEST = 2_000_000
"""Characters of a document; longer ones are processed in chunks, cut at the end of a sentence."""


@dataclass(frozen=True)
class Job:
    """The settings of a swap: which documents are swapped, and whether first names are as well."""

    names: bool
    own: naming.Names | None
    """The user's own list of names, if any."""
    share: float
    seed: int


def here(source: Path, columns: Sequence[str], job: Job, jobs: int | None, done: int) -> Generator[Edits]:
    """The edits of all documents but the first `done`, chunk by chunk, by processes of this machine."""
    texts = islice(enumerate(read_texts(source, columns)), done, None)
    chunks = iter(lambda: list(islice(texts, CHUNK)), [])
    work = partial(_rewritten, job=job)
    if (jobs or _cores()) == 1:
        yield from map(work, chunks)
        return
    # A process with torch has threads, which do not survive a fork.
    context = get_context("spawn") if "torch" in sys.modules else None
    pool = ProcessPoolExecutor(jobs or _cores(), context, _watch_parent)
    try:  # only a few chunks ahead of what is written, so that memory stays flat
        waiting = deque(pool.submit(work, chunk) for chunk in islice(chunks, 4 * _cores()))
        while waiting:
            yield waiting.popleft().result()
            waiting.extend(pool.submit(work, chunk) for chunk in islice(chunks, 1))
    except BrokenProcessPool as error:
        raise RunError(
            "A process of the swap was killed; the usual reason is memory. Run the same command again, which goes on "
            "from here, with fewer `jobs`."
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def on_cluster(
    source: Path, columns: Sequence[str], job: Job, address: str | None, workers: int | None, done: int
) -> Generator[Edits]:
    """The same, by the workers of a Ray cluster."""
    with connected(address, workers):
        from evenhand.distributed.streaming import streamed

        texts = partial(read_texts, source, columns)
        yield from streamed(texts, partial(_rewritten, job=job), start=done, workers=workers)


def _watch_parent() -> None:
    """End a worker with its parent, even if the parent was killed."""

    def wait() -> None:
        if parent := parent_process():
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _rewritten(chunk: Sequence[tuple[int, Texts]], *, job: Job) -> Edits:
    """The edits of each document, none for those that are not chosen. Runs in a worker."""
    swapper = naming.swapper(job.names, job.own)

    def edits(text: str) -> list[list[Any]]:
        return [[e.start, e.old, e.new, e.rule] for e in _edits(swapper, text)]

    return [[edits(text) if chosen(number, job.share, job.seed) else [] for text in texts] for number, texts in chunk]


def _edits(swapper: Swapper, text: str) -> Iterator[Edit]:
    """The edits of a document; a very long one is processed in chunks."""
    start = 0
    while start < len(text):
        stop = len(text)
        if stop - start > LONGEST:
            end = start + LONGEST
            stop = max(text.rfind(mark, start, end) for mark in (". ", "\n", "! ", "? ")) + 1 or end
        yield from (Edit(e.start + start, e.old, e.new, e.rule) for e in swapper.edits(text[start:stop]))
        start = stop


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
