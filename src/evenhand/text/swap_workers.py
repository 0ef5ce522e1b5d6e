"""The edits of many documents, by processes of this machine or by the workers of a Ray cluster."""

import math
import os
import sys
import threading
from bisect import bisect
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import accumulate, chain, islice
from multiprocessing import get_context, parent_process
from pathlib import Path

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from evenhand.datasets.files.plain_text import unwrapped
from evenhand.distributed.cluster import connected
from evenhand.errors import RunError
from evenhand.text.edits import Edits
from evenhand.text.substitute import chosen
from evenhand.text.swap import Swapper, swapper
from evenhand.text.text_files import Job, Texts, is_paragraphs, read_texts, sections

DOCUMENTS = 5_000
"""The most rows, or lines, of a section; the paragraphs of a section of a text file are one document."""
Chunk = list[tuple[int, Texts]]
"""Documents with their numbers."""


def find_edits(source: Path, job: Job, done: int) -> Generator[list[Edits]]:
    """The edits of all documents but the first `done`, section by section, by processes here or the workers of Ray.

    Sections do not depend on what is done: one that is done in part is worked on again.
    """
    whole = is_paragraphs(source, job)
    documents = enumerate(read_texts(source, job))
    chunks = sections(documents, lambda document: sum(map(len, document[1])), math.inf if whole else DOCUMENTS)
    todo: Iterator[Chunk] = (chunk for chunk in chunks if chunk[-1][0] >= done)
    work = partial(_chunk_edits, job=job, done=done, whole=whole)
    if job.engine == "ray":
        with connected(job.address, job.workers):
            from evenhand.distributed.worker import stream_chunks

            yield from stream_chunks(todo, work, job.workers)
        return
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    processes = job.jobs or cores or 1
    ahead = list(islice(todo, 2))
    if processes == 1 or len(ahead) == 1:  # a process of its own costs more than one chunk takes
        yield from map(work, chain(ahead, todo))
        return
    todo = chain(ahead, todo)
    # A process with torch has threads, which do not survive a fork.
    context = get_context("spawn") if "torch" in sys.modules else None
    pool = ProcessPoolExecutor(processes, context, _begin)
    try:  # only a few chunks ahead of what is written, so that memory stays flat
        waiting = deque(pool.submit(work, chunk) for chunk in islice(todo, 2 * processes))
        while waiting:
            yield waiting.popleft().result()
            waiting.extend(pool.submit(work, chunk) for chunk in islice(todo, 1))
    except BrokenProcessPool as error:
        raise RunError(
            "A process of the swap was killed; the usual reason is memory. Run the same command again, which goes on "
            "from here, with fewer `jobs`."
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _begin() -> None:
    """Begin a worker: it ends with its parent, even if the parent was killed, and uses one core."""
    threadpool_limits(1)

    def wait() -> None:
        if parent := parent_process():
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _chunk_edits(chunk: Chunk, *, job: Job, done: int, whole: bool) -> list[Edits]:
    """The edits of each document after those that are `done`, none for those that are not chosen. Runs in a worker."""
    swap = swapper(**job.how)
    if whole:
        found = _paragraph_edits(swap, [text for _, (text,) in chunk])
    else:
        edits = iter(swap.found([unwrapped(text) for _, texts in chunk for text in texts]))
        found = [[next(edits) for _ in texts] for _, texts in chunk]
    return [
        edits if chosen(number + job.first, job.share, job.seed) else [[] for _ in edits]
        for number, edits in enumerate(found, start=chunk[0][0])
        if number >= done
    ]


def _paragraph_edits(swap: Swapper, texts: Sequence[str]) -> list[Edits]:
    """The edits of each paragraph of a section, which is one document."""
    found: list[Edits] = [[[]] for _ in texts]
    ends = list(accumulate(map(len, texts)))
    for edit in swap.found(["".join(map(unwrapped, texts))])[0]:
        index = bisect(ends, edit.start)
        begin = ends[index] - len(texts[index])
        found[index][0].append(edit._replace(start=edit.start - begin))
    return found
