"""Swap the gender of one file of texts: streamed, on all cores, and resumed where it was stopped."""

import hashlib
import json
import logging
import math
import os
import sys
import threading
from bisect import bisect
from collections import Counter, deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from glob import escape
from itertools import accumulate, chain, islice
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import IO

from filelock import FileLock, Timeout
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from evenhand._version import __version__
from evenhand.core.files import check_new, write_whole
from evenhand.core.progress import bar
from evenhand.datasets.files.language import check_language
from evenhand.datasets.files.plain_text import LOG, unwrap
from evenhand.distributed.cluster import connection
from evenhand.errors import BadInput, RunError
from evenhand.text.edits import STAYS, Edit, Edits, are_changed
from evenhand.text.substitute import is_chosen
from evenhand.text.swap import Swapper, swapper
from evenhand.text.text_files import Job, Texts, is_paragraphs, read_texts, sections, write_texts

log = logging.getLogger(__name__)
DOCUMENTS = 5_000
"""The most rows, or lines, of a section; the paragraphs of a section of a text file are one document."""
Chunk = list[tuple[int, Texts]]
"""Documents with their numbers."""


@dataclass(frozen=True)
class Swapped:
    """The result of a swap: numbers of documents and of edits by rule, and the paths of the texts and the edit log.

    `names` are the first names that may be somebody's and were left as they are, with how often they occur.
    """

    documents: int
    rewritten: int
    edits: dict[str, int]
    out: Path
    trail: Path | None
    names: dict[str, int] = field(default_factory=dict)
    files: int = 1
    skipped: dict[str, str] = field(default_factory=dict)
    """Files of a folder that were not swapped, and why: they are not English."""

    @property
    def note(self) -> str:
        """Why no document was rewritten; empty if one was."""
        words = "a gendered word, or a first name that is to be swapped"
        return "" if self.rewritten else f"None of the documents that were chosen has {words}."


def swap_one(source: Path, target: Path, job: Job, lang: str | None) -> Swapped:
    """Write the texts of a file with the other gender to `target`."""
    part = part_of(target, source, job)
    edit_log = target.with_name(f"{target.name}{LOG}")
    check_new(target, job.force or part.exists())  # a stopped swap may have written them
    check_new(edit_log, job.force or (job.trail and part.exists()))
    if job.augment or job.share < 1:
        _check_paragraphs(source, job)
    check_language(joined_texts(source, job), lang, str(source))
    with lock_swap(part):
        try:
            _keep_edits(part, source, job)
            if not count_finished(part) and not job.unchanged:
                raise BadInput(f"'{source}' has no texts.")
            if job.share == 1 and not job.unchanged and not any(map(are_changed, _read_edits(part))):
                raise BadInput(
                    f"'{source}' has no gendered word, and no first name that is to be swapped: there is "
                    "nothing to do, and nothing was written."
                )
            if not job.trail:
                edit_log.unlink(missing_ok=True)  # one of an earlier swap would not fit
            done = _write(source, target, job, part, edit_log if job.trail else None)
        except MemoryError as error:
            raise BadInput(f"'{source}' has a document that is larger than the memory. Split it in parts.") from error
        except BadInput:
            part.unlink(missing_ok=True)  # there is nothing to resume
            raise
    part.unlink(missing_ok=True)  # last, since it tells the same command that the file there is its own
    _remove_stale_parts(target)
    return done


def joined_texts(source: Path, job: Job) -> Iterator[str]:
    """The texts of each document as one."""
    return map(" ".join, read_texts(source, job))


def part_of(target: Path, source: Path, job: Job, *more: object) -> Path:
    """Where the edits of a swap are kept while it runs: a file whose name depends on texts and settings."""
    about = source.stat()
    settings = repr([str(source.resolve()), about.st_size, about.st_mtime_ns, job, __version__, more])
    return target.with_name(f".{target.name}.{hashlib.sha256(settings.encode()).hexdigest()[:8]}.part")


def _check_paragraphs(source: Path, job: Job) -> None:
    """Raise an error, for `share` and `augment`, if a text of many lines is a single paragraph."""
    if is_paragraphs(source, job):
        first, *others = [text for (text,) in islice(read_texts(source, job), 2)] or [""]
        lines = first.strip("\r\n").splitlines()
        if len(lines) > 1 and all(map(str.strip, lines)) and not any(map(str.strip, others)):
            raise BadInput(
                f"'{source}' has no empty lines, so it is a single paragraph, and `share` and `augment` are about "
                "paragraphs. If each of its lines is a document, give `lines=True`."
            )


def _remove_stale_parts(target: Path) -> None:
    """Delete the edits of stopped swaps to the same file, with other settings or texts, unless one is running."""
    hidden = target.parent.glob(f".{escape(target.name)}.????????.*")
    for other in {path.with_suffix(".part") for path in hidden if path.suffix in (".part", ".lock")}:
        with suppress(RunError), lock_swap(other):
            other.unlink(missing_ok=True)
            log.info(f"Removed the edits of a stopped swap, of other texts or with other settings: '{other}'.")


@contextmanager
def lock_swap(part: Path) -> Iterator[None]:
    """Hold an exclusive lock on the swap: two at once would mix their edits."""
    lock = part.with_suffix(".lock")
    try:
        with FileLock(lock, timeout=0):
            try:
                yield
            finally:
                lock.unlink(missing_ok=True)
    except Timeout as error:
        raise RunError("The same swap is running already. Wait for it, or choose another `out`.") from error
    except OSError as error:
        raise RunError(
            f"'{part}', where the edits are kept, cannot be written: {error.strerror or error}. Free some space, or "
            "choose another `out`, and run the same command again."
        ) from error


def _keep_edits(part: Path, source: Path, job: Job) -> None:
    """Append the edits of all documents that `part` does not have yet."""
    done = count_finished(part)
    shown = bar("Swapping", "documents", initial=done)
    with shown, part.open("a", encoding="utf-8") as file, closing(_find_edits(source, job, done)) as chunks:
        for edits in chunks:
            file.write("".join(json.dumps(one) + "\n" for one in edits))
            file.flush()
            shown.update(len(edits))


def _find_edits(source: Path, job: Job, done: int) -> Generator[list[Edits]]:
    """The edits of all documents but the first `done`, section by section, by processes here or the workers of Ray.

    Sections do not depend on what is done: one that is done in part is worked on again.
    """
    whole = is_paragraphs(source, job)
    documents = enumerate(read_texts(source, job))
    chunks = sections(documents, lambda document: sum(map(len, document[1])), math.inf if whole else DOCUMENTS)
    todo: Iterator[Chunk] = (chunk for chunk in chunks if chunk[-1][0] >= done)
    work = partial(_chunk_edits, job=job, done=done, whole=whole)
    if job.engine == "ray":
        with connection(job.address, job.workers):
            from evenhand.distributed.workers import stream_chunks

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
        documents = _paragraph_edits(swap, [text for _, (text,) in chunk])
    else:
        each = iter(swap.find_edits([unwrap(text) for _, texts in chunk for text in texts]))
        documents = [[next(each) for _ in texts] for _, texts in chunk]
    return [
        edits if is_chosen(number + job.first, job.share, job.seed) else [[] for _ in edits]
        for number, edits in enumerate(documents, start=chunk[0][0])
        if number >= done
    ]


def _paragraph_edits(swap: Swapper, texts: Sequence[str]) -> list[Edits]:
    """The edits of each paragraph of a section, which is one document."""
    paragraphs: list[Edits] = [[[]] for _ in texts]
    ends = list(accumulate(map(len, texts)))
    for edit in swap.find_edits(["".join(map(unwrap, texts))])[0]:
        index = bisect(ends, edit.start)
        begin = ends[index] - len(texts[index])
        paragraphs[index][0].append(edit._replace(start=edit.start - begin))
    return paragraphs


def count_finished(part: Path) -> int:
    """The number of documents that are done; an unfinished last line, left by a kill, is removed."""
    if not part.exists():
        return 0
    with part.open("rb+") as file:
        whole = lines = 0
        for line in file:
            if line.endswith(b"\n"):
                whole, lines = whole + len(line), lines + 1
        file.truncate(whole)
    return lines


def _read_edits(part: Path) -> Iterator[Edits]:
    with part.open(encoding="utf-8") as file:
        for line in file:
            yield [[Edit(*edit) for edit in edits] for edits in json.loads(line)]


def _write(source: Path, target: Path, job: Job, part: Path, edit_log: Path | None) -> Swapped:
    """Combine edits and texts, in the format of the source; the edit log first.

    Without `force`, a file that is there must be the one that a stopped swap wrote last: it has the same texts.
    """
    rules, totals, names = Counter[str](), Counter[str](), Counter[str]()

    def documents() -> Iterator[Edits]:
        for edits in _read_edits(part):
            totals["documents"] += 1
            totals["rewritten"] += are_changed(edits)
            rules.update(edit.rule for each in edits for edit in each if edit.rule != STAYS)
            names.update(edit.old for each in edits for edit in each if edit.rule == STAYS)
            yield edits

    def fill(file: IO[bytes]) -> None:
        write_texts(file, source, job, documents())
        if target.exists() and not job.force:
            file.seek(0)
            with target.open("rb") as written:
                digests = {hashlib.file_digest(each, "sha256").digest() for each in (file, written)}  # type: ignore[arg-type]
            check_new(target, force=len(digests) == 1)

    if edit_log:
        write_whole(edit_log, lambda file: _write_edit_log(file, part, job.columns))
    write_whole(target, fill)
    stay = dict(names.most_common())
    return Swapped(totals["documents"], totals["rewritten"], dict(sorted(rules.items())), target, edit_log, stay)


def _write_edit_log(file: IO[bytes], part: Path, columns: Sequence[str]) -> None:
    """A line for each document; where several columns are swapped, each edit names its own."""
    for number, edits in enumerate(_read_edits(part)):
        listed = [
            ({"column": column} if len(columns) > 1 else {}) | edit._asdict()
            for column, each in zip(columns, edits, strict=True)
            for edit in each
        ]
        file.write((json.dumps({"document": number, "edits": listed}, ensure_ascii=False) + "\n").encode())
