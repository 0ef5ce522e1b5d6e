"""Swap the gender of a file of texts: streamed, on all cores, and going on where it was stopped."""

import hashlib
import json
import os
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from functools import cache, partial
from importlib.metadata import version
from itertools import islice
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import IO, Any

import numpy as np
from filelock import FileLock, Timeout
from tqdm.auto import tqdm

from evenhand.cluster import check_engine, connected
from evenhand.datasets.rows import SUFFIXES, check_text
from evenhand.errors import BadInput, RunError
from evenhand.folder import prepare, write_whole
from evenhand.mitigation import names as naming
from evenhand.mitigation.swap import Edit, Swapper, applied
from evenhand.textfiles import TEXT, read_texts, write_texts

Edits = list[list[list[Any]]]
"""For each document its edits, as they are kept."""
PORTION = 200
"""Documents handed to a worker at a time."""
LONGEST = 2_000_000
"""Characters of a document; longer ones are worked on in pieces, cut where a sentence ends."""


@dataclass(frozen=True)
class Swapped:
    """What was done: documents, those rewritten, edits by rule, and where the result is."""

    documents: int
    rewritten: int
    edits: dict[str, int]
    out: Path
    trail: Path | None


def swap(
    file: str | Path,
    out: str | Path | None = None,
    *,
    column: str = "text",
    share: float = 1.0,
    augment: bool = False,
    names: bool = True,
    name_list: str | None = None,
    trail: bool = False,
    seed: int = 0,
    jobs: int | None = None,
    engine: str = "local",
    address: str | None = None,
    workers: int | None = None,
) -> Swapped:
    """Write the texts of `file` with the other gender to `out` (FILE.swapped.EXT); everything else stays as it is.

    A document is a line of a .txt file or a row of a csv, tsv, jsonl or parquet file, whose texts are in `column`.
    `share` of the documents are rewritten, chosen by `seed`; with `augment` each is there as it was and rewritten.
    `trail` writes every edit to OUT.trail.jsonl. The same call again goes on where it was stopped. With the engine
    `ray` the workers of the cluster at `address`, or of this machine, do the work; the result is the same.
    """
    check_engine(engine, address, workers)
    if engine == "ray" and jobs is not None:
        raise BadInput("jobs are processes of this machine. With the engine 'ray', give workers.")
    source = Path(file).expanduser()
    target = Path(out).expanduser() if out else source.with_name(f"{source.stem}.swapped{source.suffix}")
    _check(source, target, share, seed, jobs)
    if name_list and not names:
        raise BadInput("A list of names and no names: choose one of --name-list and --no-names.")
    prepare(target.parent)
    _start(names, name_list)  # a bad list of names must be said before anything is done
    listed = Path(name_list).expanduser().read_bytes() if name_list else b""
    settings = [str(source.resolve()), _size(source), column, share, names, listed, seed, version("evenhand")]
    part = target.with_name(f".{target.name}.{hashlib.sha256(repr(settings).encode()).hexdigest()[:8]}.part")
    if engine == "ray":
        rewritten = partial(_on_cluster, source, column, names, name_list, share, seed, address, workers)
    else:
        rewritten = partial(_here, source, column, names, name_list, share, seed, jobs)
    with _alone(part):
        return _swap(source, target, part, column, augment, trail, rewritten)


@contextmanager
def _alone(part: Path) -> Iterator[None]:
    """Nobody else's while it lasts: two at once would mix their edits."""
    lock = FileLock(part.with_suffix(".lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise RunError("The same swap is at work already. Wait for it, or choose another --out.") from error
    try:
        yield
    finally:
        part.with_suffix(".lock").unlink(missing_ok=True)
        lock.release()


def _swap(
    source: Path,
    target: Path,
    part: Path,
    column: str,
    augment: bool,
    trail: bool,
    rewritten: Callable[[int], Generator[Edits]],
) -> Swapped:
    done = _finished(part)
    try:
        with part.open("a", encoding="utf-8") as file_of_edits, closing(rewritten(done)) as portions:
            for edits in _progress(portions, done):
                file_of_edits.write("".join(json.dumps(one) + "\n" for one in edits))
                file_of_edits.flush()
        if not _finished(part):
            raise BadInput(f"'{source}' has no texts.")
        swapped = _write(source, target, column, part, augment=augment, trail=trail)
    except BadInput:
        part.unlink(missing_ok=True)  # there is nothing to go on with
        raise
    part.unlink()
    return swapped


def _here(
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


def _on_cluster(
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
        from evenhand.streaming import streamed

        yield from streamed(partial(read_texts, source, column), work, start=done, workers=workers)


def _check(source: Path, target: Path, share: float, seed: int, jobs: int | None) -> None:
    if not source.is_file():
        raise BadInput(f"There is no file '{source}'.")
    if seed < 0 or (jobs is not None and jobs < 1):
        raise BadInput(f"seed must not be negative, and jobs at least 1. Got {seed} and {jobs}.")
    if target.is_dir():
        raise BadInput(f"'{target}' is a folder. Give a file.")
    if source.suffix not in (TEXT, *SUFFIXES):
        raise BadInput(f"'{source}' must be one of {TEXT}, {', '.join(SUFFIXES)}.")
    if target.suffix != source.suffix:
        raise BadInput(f"The result is of the same kind as the file, '{source.suffix}'. Got '{target}'.")
    if target.resolve() == source.resolve():
        raise BadInput(f"'{target}' would replace the original. Choose another --out.")
    if not 0 <= share <= 1:
        raise BadInput(f"share must be between 0 and 1. Got {share}.")
    if source.suffix != ".parquet":
        check_text(source)


_swapper = Swapper()
"""Each worker's own, set up when it starts."""


def _start(names: bool, name_list: str | None) -> None:
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
    pool = ProcessPoolExecutor(jobs or _cores(), context, _start, (names, name_list))
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _progress(results: Iterator[Edits], done: int) -> Iterator[Edits]:
    with tqdm(initial=done, unit=" documents", disable=None, leave=False, dynamic_ncols=True) as bar:
        for edits in results:
            yield edits
            bar.update(len(edits))


def _finished(part: Path) -> int:
    """How many documents are done; a line that a kill cut short is taken off."""
    if not part.exists():
        return 0
    with part.open("rb+") as file:
        whole = lines = 0
        for line in file:
            if line.endswith(b"\n"):
                whole, lines = whole + len(line), lines + 1
        file.truncate(whole)
    return lines


def _size(source: Path) -> list[int]:
    about = source.stat()
    return [about.st_size, about.st_mtime_ns]


def _write(source: Path, target: Path, column: str, part: Path, *, augment: bool, trail: bool) -> Swapped:
    """Put edits and texts together, in the format of the source."""
    counts: dict[str, int] = {}
    totals = [0, 0]

    def documents() -> Iterator[list[Edit]]:
        with part.open(encoding="utf-8") as file:
            for line in file:
                edits = [Edit(*edit) for edit in json.loads(line)]
                totals[0] += 1
                totals[1] += bool(edits)
                for edit in edits:
                    counts[edit.rule] = counts.get(edit.rule, 0) + 1
                yield edits

    def both(text: str, edits: list[Edit]) -> list[str]:
        new = applied(text, edits)
        if not (augment and edits):
            return [new]
        return [text if source.suffix != TEXT or text.endswith("\n") else f"{text}\n", new]

    trail_path = target.with_name(f"{target.name}.trail.jsonl") if trail else None
    if not trail:  # one of an earlier swap would not fit
        target.with_name(f"{target.name}.trail.jsonl").unlink(missing_ok=True)
    if trail_path:
        write_whole(trail_path, lambda file: _write_trail(file, part))
    write_whole(target, lambda file: write_texts(file, source, column, documents(), both))
    return Swapped(totals[0], totals[1], dict(sorted(counts.items())), target, trail_path)


def _write_trail(file: IO[bytes], part: Path) -> None:
    with part.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            edits = [asdict(Edit(*edit)) for edit in json.loads(line)]
            file.write((json.dumps({"document": number, "edits": edits}, ensure_ascii=False) + "\n").encode())
