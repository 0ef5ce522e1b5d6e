"""Swap the gender of a file of texts: streamed, on all cores, and going on where it was stopped."""

import hashlib
import json
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import IO

from filelock import FileLock, Timeout
from tqdm.auto import tqdm

from evenhand.core.files import prepare, write_whole
from evenhand.datasets.files.rows import SUFFIXES, check_text
from evenhand.distributed.cluster import check_engine
from evenhand.errors import BadInput, RunError
from evenhand.mitigation import names as naming
from evenhand.mitigation.substitute import check_share
from evenhand.mitigation.swap import Edit, applied
from evenhand.mitigation.swap_workers import Edits, Job, here, on_cluster
from evenhand.mitigation.text_files import TEXT, write_texts


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
    `trail` writes the edit log, OUT.trail.jsonl. The same call again goes on where it was stopped. With the engine
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
    own = tuple(naming.own(name_list).items()) if name_list else None  # a bad list is said before anything is done
    listed = Path(name_list).expanduser().read_bytes() if name_list else b""
    settings = [str(source.resolve()), _size(source), column, share, names, listed, seed, version("evenhand")]
    part = target.with_name(f".{target.name}.{hashlib.sha256(repr(settings).encode()).hexdigest()[:8]}.part")
    if engine == "ray":
        rewritten = partial(on_cluster, source, column, Job(names, own, share, seed), address, workers)
    else:
        rewritten = partial(here, source, column, Job(names, own, share, seed), jobs)
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
        with part.open("a", encoding="utf-8") as file_of_edits, closing(rewritten(done)) as chunks:
            for edits in _progress(chunks, done):
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
    check_share(share)
    if source.suffix != ".parquet":
        check_text(source)


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

    edit_log = target.with_name(f"{target.name}.trail.jsonl") if trail else None
    if not trail:  # one of an earlier swap would not fit
        target.with_name(f"{target.name}.trail.jsonl").unlink(missing_ok=True)
    if edit_log:
        write_whole(edit_log, lambda file: _write_edit_log(file, part))
    write_whole(target, lambda file: write_texts(file, source, column, documents(), both))
    return Swapped(totals[0], totals[1], dict(sorted(counts.items())), target, edit_log)


def _write_edit_log(file: IO[bytes], part: Path) -> None:
    with part.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            edits = [asdict(Edit(*edit)) for edit in json.loads(line)]
            file.write((json.dumps({"document": number, "edits": edits}, ensure_ascii=False) + "\n").encode())
