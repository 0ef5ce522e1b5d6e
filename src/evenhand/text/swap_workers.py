"""The edits of many documents, by processes of this machine or by the workers of a Ray cluster."""

import os
import sys
import threading
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain, islice
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from evenhand.datasets.files.plain_text import unwrapped
from evenhand.distributed.cluster import connected
from evenhand.errors import RunError
from evenhand.text.edits import Edit, Edits
from evenhand.text.substitute import chosen
from evenhand.text.swap import Swapper, swapper
from evenhand.text.text_files import Texts, is_paragraphs, read_texts

DOCUMENTS, CHARACTERS = 5_000, 1_000_000
"""The most of a task of a worker: rows, or a section of a text file, whose paragraphs are one document."""
LONGEST = 2_000_000
"""Characters of a document; longer ones are processed in chunks, cut at the end of a sentence."""
Chunk = list[tuple[int, Texts]]
"""Documents with their numbers."""


@dataclass(frozen=True)
class Job:
    """The settings of a swap: how documents are read, which are swapped, and how."""

    columns: tuple[str, ...]
    lines: bool
    """Whether each line of a text file is a document; otherwise its paragraphs are."""
    how: Mapping[str, Any]
    """What `swapper` is called with."""
    share: float
    seed: int
    first: int = 0
    """The number of the first document, where several files are swapped."""


def chunks(source: Path, job: Job, done: int) -> Iterator[Chunk]:
    """The documents that are processed together, without chunks that are done; they do not depend on what is."""
    whole = is_paragraphs(source, job.lines)
    chunk, size = Chunk(), 0
    for number, texts in enumerate(read_texts(source, job.columns, lines=job.lines)):
        length = sum(map(len, texts))
        full = size + length > CHARACTERS or (len(chunk) == DOCUMENTS and not whole)
        if chunk and full:
            if number > done:
                yield chunk
            chunk, size = [], 0
        chunk.append((number, texts))
        size += length
    if chunk and chunk[-1][0] >= done:
        yield chunk


def find_edits(
    source: Path, job: Job, done: int, *, jobs: int | None, engine: str, address: str | None, workers: int | None
) -> Generator[list[Edits]]:
    """The edits of all documents but the first `done`, chunk by chunk, by processes here or the workers of Ray."""
    todo = chunks(source, job, done)
    work = partial(_rewritten, job=job, done=done, whole=is_paragraphs(source, job.lines))
    if engine == "ray":
        with connected(address, workers):
            from evenhand.distributed.worker import streamed

            yield from streamed(todo, work, workers)
        return
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    processes = jobs or cores or 1
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


def _rewritten(chunk: Chunk, *, job: Job, done: int, whole: bool) -> list[Edits]:
    """The edits of each document after those that are `done`, none for those that are not chosen. Runs in a worker."""
    swap = swapper(**job.how)
    if whole:
        found = _in_paragraphs(swap, [text for _, (text,) in chunk])
    else:
        parts = [part for _, texts in chunk for text in texts for part in _parts(unwrapped(text))]
        edits = iter(swap.found(parts))
        found = [[_joined(text, edits) for text in texts] for _, texts in chunk]
    return [
        edits if chosen(number + job.first, job.share, job.seed) else [[] for _ in edits]
        for number, edits in enumerate(found, start=chunk[0][0])
        if number >= done
    ]


def _in_paragraphs(swap: Swapper, texts: Sequence[str]) -> list[Edits]:
    """The edits of each paragraph of a section, which is one document."""
    found: list[Edits] = [[[]] for _ in texts]
    ends = list(accumulate(map(len, texts)))
    index = 0
    for edit in swap.found(["".join(map(unwrapped, texts))])[0]:
        while edit.start >= ends[index]:
            index += 1
        begin = ends[index] - len(texts[index])
        found[index][0].append(edit._replace(start=edit.start - begin))
    return found


def _parts(text: str) -> Iterator[str]:
    """A document, in parts if it is very long."""
    start = 0
    while start < len(text) or not start:
        stop = len(text)
        if stop - start > LONGEST:
            end = start + LONGEST
            stop = max(text.rfind(mark, start, end) for mark in (". ", "\n", "! ", "? ")) + 1 or end
        yield text[start:stop]
        start = max(stop, 1)


def _joined(text: str, edits: Iterator[list[Edit]]) -> list[Edit]:
    found, start = list[Edit](), 0
    for part in _parts(text):
        found += [edit._replace(start=edit.start + start) for edit in next(edits)]
        start += len(part)
    return found
