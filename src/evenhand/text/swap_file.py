"""Swap the gender of a text, a file or every file of a folder: streamed, on all cores, resumed after a stop."""

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
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from glob import escape
from itertools import accumulate, chain, islice
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import IO, Any, get_args

from filelock import FileLock, Timeout
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from evenhand._version import __version__
from evenhand.core.files import check_new, prepare, real_path, write_whole
from evenhand.core.parameters import Swap, describe
from evenhand.core.progress import bar
from evenhand.datasets.files.language import check_language, not_english_files
from evenhand.datasets.files.plain_text import LOG, TEXT, texts_in, unwrap
from evenhand.datasets.files.rows import SUFFIXES, check_text, read_word_pairs
from evenhand.datasets.gendered import Gender
from evenhand.distributed import check_engine
from evenhand.errors import BadInput, RunError
from evenhand.text.asking import Grammar
from evenhand.text.edits import STAYS, Edit, Edits, are_changed
from evenhand.text.names import read_names
from evenhand.text.swap import Swapper, To, check_share, is_chosen, swapper
from evenhand.text.text_files import (
    Job,
    check_paragraphs,
    is_paragraphs,
    joined_texts,
    read_texts,
    sections,
    write_edit_log,
    write_texts,
)

log = logging.getLogger(__name__)
ONLY: dict[str | None, Gender | None] = {None: None, "he-to-she": "male", "she-to-he": "female"}
DOCUMENTS = 5_000
"""The most rows, or lines, of a section; the paragraphs in a section of a text file are swapped as one document."""
Chunk = list[tuple[int, tuple[str, ...]]]
"""Documents with their numbers; each has one text, or one for each column."""


@dataclass(frozen=True)
class Swapped:
    """The result of a swap: numbers of documents and of edits by rule, and the paths of the texts and the edit log.

    `names` counts the words that may be first names, but were not swapped.
    """

    documents: int
    rewritten: int
    edits: dict[str, int]
    out: Path
    trail: Path | None
    names: dict[str, int] = field(default_factory=dict)
    files: int = 1
    skipped: dict[str, str] = field(default_factory=dict)
    """Files of a folder that were not swapped, and why they seem not to be English."""

    @property
    def note(self) -> str:
        """Why no document was rewritten; empty if one was."""
        words = "a gendered word, or a first name that is to be swapped"
        return "" if self.rewritten else f"None of the documents that were chosen has {words}."


@describe(Swap)
def swap(
    file: str | Path,
    out: str | Path | None = None,
    *,
    column: str | Sequence[str] = "text",
    lines: bool = False,
    share: float = 1.0,
    augment: bool = False,
    grammar: str = "auto",
    only: str | None = None,
    to: str = "other",
    names: bool | str | Path = True,
    word_pairs: str | Path | None = None,
    trail: bool = False,
    lang: str | None = None,
    force: bool = False,
    seed: int = 0,
    jobs: int | None = None,
    engine: str = "local",
    address: str | None = None,
    workers: int | None = None,
) -> Swapped:
    """Write the texts of `file` with the other gender to `out` (FILE.swapped.EXT); everything else is unchanged.

    A document is a paragraph of a .txt file, or with `lines` a line; or a row of a csv, tsv, jsonl or parquet file,
    whose texts are in one `column` or several. A name has the same partner throughout a text; with `names=False` or
    `to="neutral"` names stay. The words of `word_pairs` replace the English words and names: each becomes its partner,
    and grammar is not corrected.

    The same call resumes a swap that was stopped. The engine `ray` gives the same result.
    """
    check_engine(engine, address, workers)
    if engine == "ray" and jobs is not None:
        raise BadInput("`jobs` are processes on this machine. With `engine='ray'`, give `workers` instead.")
    if not isinstance(seed, int) or seed < 0 or (jobs is not None and jobs < 1):
        raise BadInput(
            f"`seed` must be a whole number, at least 0, and `jobs` at least 1. Got {str(seed)[:200]} and {jobs}."
        )
    check_share(share)
    source = Path(file).expanduser()
    place = source if source.name.strip(".") else real_path(source)  # for . and .., next to the folder they stand for
    target = Path(out).expanduser() if out else place.parent / f"{place.stem}.swapped{place.suffix}"
    columns = (column,) if isinstance(column, str) else tuple(column)
    if not columns or len(set(columns)) < len(columns):
        raise BadInput(f"`column` must name one or more columns, each once. Got {', '.join(columns) or 'none'}.")
    how = settings(names, word_pairs, grammar, only, to, lang)  # first, so that a bad list is an error at once
    files: dict[str, Any] = {"augment": augment, "trail": trail, "force": force}
    job = Job(columns, lines, how, share, seed, **files, jobs=jobs, engine=engine, address=address, workers=workers)
    lang = "en" if word_pairs else lang  # other languages are not checked
    if source.is_dir():
        return _swap_folder(source, target, job, lang)
    _check_paths(source, target, job)
    prepare(target.parent)
    return _swap_one(source, target, job, lang)


def swap_text(
    text: str,
    *,
    grammar: str = "auto",
    only: str | None = None,
    to: str = "other",
    names: bool | str | Path = True,
    word_pairs: str | Path | None = None,
    lang: str | None = None,
) -> str:
    """The text with the other gender; the parameters are those of `swap`. The first call loads word lists and models.

    >>> swap_text("She saw him.")
    'He saw her.'
    """
    how = settings(names, word_pairs, grammar, only, to, lang)
    check_language([text], "en" if word_pairs else lang)
    return swapper(**how)(text)


def settings(
    names: bool | str | Path, word_pairs: str | Path | None, grammar: str, only: str | None, to: str, lang: str | None
) -> dict[str, Any]:
    """Turn the parameters of `swap` into arguments of `text.swap.swapper`; raise if they contradict one another."""
    if only not in ONLY:
        raise BadInput(f"`only` must be he-to-she or she-to-he. Got '{only}'.")
    if to not in get_args(To):
        raise BadInput(f"`to` must be other (the other gender) or neutral. Got '{to}'.")
    listed = None if isinstance(names, bool) else names
    if to == "neutral" and (only or listed or word_pairs):
        raise BadInput(
            "`only`, your names and `word_pairs` cannot be combined with `to='neutral'`, which makes words of both "
            "genders neutral and leaves names unchanged. Remove them."
        )
    if lang not in (None, "en") and not word_pairs:
        raise BadInput(f"`lang='{lang}'` needs `word_pairs`, a list of gendered words of that language.")
    own = tuple(read_names(listed).items()) if listed else None
    pairs = read_word_pairs(word_pairs) if word_pairs else None
    if grammar not in get_args(Grammar):
        raise BadInput(f"`grammar` must be one of {', '.join(get_args(Grammar))}. Got '{grammar}'.")
    return {"names": bool(names), "own": own, "grammar": grammar, "only": ONLY[only], "to": to, "pairs": pairs}


def _check_paths(source: Path, target: Path, job: Job) -> None:
    suffix, text = source.suffix, source.suffix == TEXT
    for wrong, why in (
        (not source.is_file(), f"There is no file '{source}'."),
        (target.is_dir(), f"`out` must be a file. Got the folder '{target}'."),
        (not text and suffix not in SUFFIXES, f"'{source}' must be one of {TEXT}, {', '.join(SUFFIXES)}."),
        (target.suffix != suffix, f"`out` must have the suffix of the file, '{suffix}'. Got '{target}'."),
        (text and job.columns != ("text",), f"A {TEXT} file has no columns. Got `column` {', '.join(job.columns)}."),
        (not text and job.lines, f"`lines` is for {TEXT} files only: in a {suffix} file each row is a document."),
        (real_path(target) == real_path(source), f"'{target}' would replace the original. Choose another `out`."),
    ):
        if wrong:
            raise BadInput(why)
    if source.suffix != ".parquet":
        check_text(source)


def _job_for(path: Path, job: Job) -> Job:
    """The settings for one file of a folder: `columns` are for its tables only, `lines` for its .txt files only."""
    return replace(job, columns=("text",)) if path.suffix == TEXT else replace(job, lines=False)


def _swap_folder(folder: Path, out: Path, job: Job, lang: str | None) -> Swapped:
    """Swap each file of a folder. The finished files are listed in a file, so that the same command resumes.

    Documents are numbered across files, so that `share` is the share of all documents together.
    """
    files = texts_in(folder, decoded=True)
    skipped = {} if lang else not_english_files(folder, files, lambda path: joined_texts(path, _job_for(path, job)))
    files = [path for path in files if str(path.relative_to(folder)) not in skipped]
    before, after = real_path(folder), real_path(out)
    if after.is_relative_to(before) or before.is_relative_to(after):
        raise BadInput(f"`out` must be neither '{folder}' nor a folder in or around it. Got '{out}'.")
    part = _part_path(out, folder, job, job.augment, job.trail, job.force, [(str(p), p.stat().st_size) for p in files])
    if out.exists() and (not out.is_dir() or any(out.iterdir())) and not part.exists():
        check_new(out, job.force)
    for path in files:
        _check_paths(path, out / path.relative_to(folder), _job_for(path, job))
    prepare(out)
    rules, names, documents, rewritten = Counter[str](), Counter[str](), 0, 0
    with lock_swap(part):
        count_finished(part)  # to remove a last line that a killed process left incomplete
        part.touch()
        finished = {row["out"]: row for row in map(json.loads, part.read_text(encoding="utf-8").splitlines())}
        for path in files:
            target = out / path.relative_to(folder)
            if (done := finished.get(str(target))) is None:
                prepare(target.parent)
                file_job = replace(_job_for(path, job), first=documents, force=True, unchanged=True)
                done = asdict(_swap_one(path, target, file_job, "en")) | {"out": str(target), "trail": None}
                with part.open("a", encoding="utf-8") as notes:
                    notes.write(json.dumps(done) + "\n")
            documents, rewritten = documents + done["documents"], rewritten + done["rewritten"]
            rules.update(done["edits"])
            names.update(done["names"])
    part.unlink(missing_ok=True)
    _remove_stale_parts(out)
    edits, stay = dict(sorted(rules.items())), dict(names.most_common())
    return Swapped(documents, rewritten, edits, out, None, stay, len(files), skipped)


def _swap_one(source: Path, target: Path, job: Job, lang: str | None) -> Swapped:
    """Write the texts of a file with the other gender to `target`."""
    part = _part_path(target, source, job)
    edit_log = target.with_name(f"{target.name}{LOG}")
    check_new(target, job.force or part.exists())  # a stopped swap may have written them
    check_new(edit_log, job.force or (job.trail and part.exists()))
    if job.augment or job.share < 1:
        check_paragraphs(source, job)
    check_language(joined_texts(source, job), lang, str(source))
    with lock_swap(part):
        try:
            if not _keep_edits(part, source, job) and not job.unchanged:
                raise BadInput(f"'{source}' has no texts.")
            if job.share == 1 and not job.unchanged and not any(map(are_changed, _read_edits(part))):
                raise BadInput(
                    f"'{source}' has no gendered word, and no first name that is to be swapped. Nothing was written."
                )
            if not job.trail:
                edit_log.unlink(missing_ok=True)  # that of an earlier swap would not match
            done = _write(source, target, job, part, edit_log if job.trail else None)
        except MemoryError as error:
            raise BadInput(f"'{source}' has a document that does not fit into memory. Split it into parts.") from error
        except BadInput:
            part.unlink(missing_ok=True)  # there is nothing to resume
            raise
    part.unlink(missing_ok=True)  # last, as it shows the same command that `target` is its own
    _remove_stale_parts(target)
    return done


def _part_path(target: Path, source: Path, job: Job, *more: object) -> Path:
    """The path of the file that keeps the edits while a swap runs; its name depends on the texts and settings."""
    about = source.stat()
    settings = repr([str(real_path(source)), about.st_size, about.st_mtime_ns, job, __version__, more])
    return target.with_name(f".{target.name}.{hashlib.sha256(settings.encode()).hexdigest()[:8]}.part")


def _remove_stale_parts(target: Path) -> None:
    """Delete the edits of stopped swaps to the same `target`, with other settings or texts, unless one is running."""
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
            f"The edits cannot be kept in '{part}': {error.strerror or error}. Free some space, or choose another "
            "`out`, and run the same command again."
        ) from error


def _keep_edits(part: Path, source: Path, job: Job) -> int:
    """Append the edits of all documents that `part` does not have yet, and return the number of documents."""
    documents = done = count_finished(part)
    shown = bar("Swapping", "documents", initial=done)
    with shown, part.open("a", encoding="utf-8") as file, closing(_find_edits(source, job, done)) as chunks:
        for chunk in chunks:
            file.write("".join(json.dumps(edits) + "\n" for edits in chunk))
            file.flush()
            shown.update(len(chunk))
            documents += len(chunk)
    return documents


def _find_edits(source: Path, job: Job, done: int) -> Generator[list[Edits]]:
    """The edits of all documents but the first `done`, section by section, by local processes or the workers of Ray.

    Sections do not depend on `done`: a section of which only a part is done is swapped again as a whole.
    """
    whole = is_paragraphs(source, job)
    most = math.inf if whole else DOCUMENTS
    chunks = sections(enumerate(read_texts(source, job)), lambda document: sum(map(len, document[1])), most)
    todo: Iterator[Chunk] = (chunk for chunk in chunks if chunk[-1][0] >= done)
    work = partial(_chunk_edits, job=job, done=done, whole=whole)
    if job.engine == "ray":
        from evenhand.distributed.workers import connected_cluster, stream_chunks

        with connected_cluster(job.address, job.workers):
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
    pool = ProcessPoolExecutor(processes, context, _start_worker)
    try:  # only a few chunks ahead of what is written, so that memory stays flat
        waiting = deque(pool.submit(work, chunk) for chunk in islice(todo, 2 * processes))
        while waiting:
            yield waiting.popleft().result()
            waiting.extend(pool.submit(work, chunk) for chunk in islice(todo, 1))
    except BrokenProcessPool as error:
        raise RunError(
            "A process of the swap was killed. This usually means that the machine ran out of memory. Run the same "
            "command again with fewer `jobs`: it resumes from here."
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _start_worker() -> None:
    """Let this process use one core, and end with its parent, even if the parent is killed."""
    threadpool_limits(1)

    def end_with_parent() -> None:
        if parent := parent_process():
            parent.join()
            os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


def _chunk_edits(chunk: Chunk, *, job: Job, done: int, whole: bool) -> list[Edits]:
    """The edits of each document but the first `done`; no edits for those that are not chosen. Runs in a worker."""
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
    """Count the finished documents. A last line that a killed process left incomplete is removed from the file."""
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
    """Write the edit log, then the edited texts in the format of the source.

    Without `force`, an existing `target` must have the same bytes: then it was written by the stopped swap.
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
        write_whole(edit_log, lambda file: write_edit_log(file, _read_edits(part), job.columns))
    write_whole(target, fill)
    stay = dict(names.most_common())
    return Swapped(totals["documents"], totals["rewritten"], dict(sorted(rules.items())), target, edit_log, stay)
