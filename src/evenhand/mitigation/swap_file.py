"""Swap the gender of a file of texts: streamed, on all cores, and resumed where it was stopped."""

import hashlib
import json
import logging
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from glob import escape
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

from filelock import FileLock, Timeout

from evenhand.core.files import check_new, prepare, write_whole
from evenhand.core.progress import bar
from evenhand.datasets.corpora.language import check_language
from evenhand.datasets.files.rows import SUFFIXES, check_text
from evenhand.distributed.cluster import check_engine
from evenhand.errors import BadInput, RunError
from evenhand.mitigation import names as naming
from evenhand.mitigation.substitute import check_share
from evenhand.mitigation.swap import Edit, applied
from evenhand.mitigation.swap_workers import Edits, Job, here, on_cluster
from evenhand.mitigation.text_files import TEXT, Texts, read_texts, write_texts

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Swapped:
    """The result of a swap: numbers of documents and of edits by rule, and the paths of the texts and the edit log."""

    documents: int
    rewritten: int
    edits: dict[str, int]
    out: Path
    trail: Path | None

    @property
    def note(self) -> str:
        """Why no document was rewritten; empty if one was."""
        found = "a gendered English word, or a first name that is to be swapped"
        return "" if self.rewritten else f"None of the documents that were chosen has {found}."


def swap(
    file: str | Path,
    out: str | Path | None = None,
    *,
    column: str | Sequence[str] = "text",
    share: float = 1.0,
    augment: bool = False,
    names: bool = True,
    name_list: str | None = None,
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

    A document is a line of a .txt file or a row of a csv, tsv, jsonl or parquet file, whose texts are in `column`, or
    in several. A `share` of the documents is rewritten, chosen by `seed`; with `augment` the original is written as
    well. `trail` writes the edit log, OUT.trail.jsonl. Files that exist are replaced only with `force`; the same call
    resumes a swap that was stopped. Texts that seem not to be English are refused, unless `lang="en"` says that they
    are. With the engine `ray` the workers of the cluster at `address`, or of this machine, do the work; the result is
    the same.
    """
    check_engine(engine, address, workers)
    if engine == "ray" and jobs is not None:
        raise BadInput("`jobs` are processes on this machine. With `engine='ray'` give `workers`.")
    source = Path(file).expanduser()
    target = Path(out).expanduser() if out else source.with_name(f"{source.stem}.swapped{source.suffix}")
    columns = (column,) if isinstance(column, str) else tuple(column)
    _check(source, target, columns, share, seed, jobs)
    if name_list and not names:
        raise BadInput("`name_list` lists names to swap, but names are not swapped. Give `names`, or no `name_list`.")
    prepare(target.parent)
    own = tuple(naming.own(name_list).items()) if name_list else None  # a bad list is an error before anything is done
    listed = Path(name_list).expanduser().read_bytes() if name_list else b""
    about = source.stat()
    size = [about.st_size, about.st_mtime_ns]
    settings = [str(source.resolve()), size, columns, share, names, listed, seed, version("evenhand")]
    part = target.with_name(f".{target.name}.{hashlib.sha256(repr(settings).encode()).hexdigest()[:8]}.part")
    edit_log = target.with_name(f"{target.name}.trail.jsonl")
    check_new(target, force or part.exists())  # a stopped swap may have written them
    check_new(edit_log, force or (trail and part.exists()))
    check_language(map(" ".join, read_texts(source, columns)), lang, str(source))
    job = Job(names, own, share, seed)
    if engine == "ray":
        rewritten = partial(on_cluster, source, columns, job, address, workers)
    else:
        rewritten = partial(here, source, columns, job, jobs)
    with _alone(part):
        try:
            _find_edits(part, rewritten)
            if not _finished(part):
                raise BadInput(f"'{source}' has no texts.")
            if not trail:
                edit_log.unlink(missing_ok=True)  # one of an earlier swap would not fit
            done = _write(
                source, target, columns, part, augment=augment, edit_log=edit_log if trail else None, force=force
            )
        except BadInput:
            part.unlink(missing_ok=True)  # there is nothing to resume
            raise
    part.unlink(missing_ok=True)  # last, since it tells the same command that the file there is its own
    _remove_others(target)
    return done


def _remove_others(target: Path) -> None:
    """Delete the edits of stopped swaps to the same file, with other settings or texts, unless one is running."""
    hidden = target.parent.glob(f".{escape(target.name)}.????????.*")
    for other in {path.with_suffix(".part") for path in hidden if path.suffix in (".part", ".lock")}:
        with suppress(RunError), _alone(other):
            other.unlink(missing_ok=True)
            log.info(f"Removed the edits of a stopped swap, of other texts or with other settings: '{other}'.")


@contextmanager
def _alone(part: Path) -> Iterator[None]:
    """Hold an exclusive lock on the swap: two at once would mix their edits."""
    lock = FileLock(part.with_suffix(".lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise RunError("The same swap is running already. Wait for it, or choose another `out`.") from error
    try:
        yield
    except OSError as error:
        raise RunError(
            f"'{part}', where the edits are kept, cannot be written: {error.strerror or error}. Free some space, or "
            "choose another `out`, and run the same command again."
        ) from error
    finally:
        part.with_suffix(".lock").unlink(missing_ok=True)
        lock.release()


def _find_edits(part: Path, rewritten: Callable[[int], Generator[Edits]]) -> None:
    """Append the edits of all documents that `part` does not have yet."""
    done = _finished(part)
    shown = bar("Swapping", "documents", initial=done)
    with shown, part.open("a", encoding="utf-8") as file, closing(rewritten(done)) as chunks:
        for edits in chunks:
            file.write("".join(json.dumps(one) + "\n" for one in edits))
            file.flush()
            shown.update(len(edits))


def _check(source: Path, target: Path, columns: Sequence[str], share: float, seed: int, jobs: int | None) -> None:
    if not source.is_file():
        raise BadInput(f"There is no file '{source}'.")
    if not isinstance(seed, int) or seed < 0 or (jobs is not None and jobs < 1):
        raise BadInput(
            f"`seed` must be a whole number, at least 0, and `jobs` at least 1. Got {str(seed)[:200]} and {jobs}."
        )
    if target.is_dir():
        raise BadInput(f"'{target}' is a folder. Give a file.")
    if source.suffix not in (TEXT, *SUFFIXES):
        raise BadInput(f"'{source}' must be one of {TEXT}, {', '.join(SUFFIXES)}.")
    if target.suffix != source.suffix:
        raise BadInput(f"`out` must have the suffix of the file, '{source.suffix}'. Got '{target}'.")
    if not columns or len(set(columns)) < len(columns):
        raise BadInput(f"`column` must name one or more columns, each once. Got {', '.join(columns) or 'none'}.")
    if source.suffix == TEXT and columns != ("text",):
        raise BadInput(f"A {TEXT} file has no columns: each line is a text. Got `column` {', '.join(columns)}.")
    if target.resolve() == source.resolve():
        raise BadInput(f"'{target}' would replace the original. Choose another `out`.")
    check_share(share)
    if source.suffix != ".parquet":
        check_text(source)


def _finished(part: Path) -> int:
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


def _read_edits(part: Path) -> Iterator[list[list[Edit]]]:
    with part.open(encoding="utf-8") as file:
        for line in file:
            yield [[Edit(*edit) for edit in edits] for edits in json.loads(line)]


def _write(
    source: Path, target: Path, columns: Sequence[str], part: Path, *, augment: bool, edit_log: Path | None, force: bool
) -> Swapped:
    """Combine edits and texts, in the format of the source; the edit log first.

    Without `force`, a file that is there must be the one that a stopped swap wrote last: it has the same texts.
    """
    rules: Counter[str] = Counter()
    totals: Counter[str] = Counter()

    def documents() -> Iterator[list[list[Edit]]]:
        for edits in _read_edits(part):
            totals["documents"] += 1
            totals["rewritten"] += any(edits)
            rules.update(edit.rule for each in edits for edit in each)
            yield edits

    def both(texts: Texts, edits: list[list[Edit]]) -> list[Texts]:
        new = tuple(map(applied, texts, edits))
        if not (augment and any(edits)):
            return [new]
        ended = source.suffix != TEXT or texts[0].endswith("\n")
        return [texts if ended else (f"{texts[0]}\n",), new]

    def fill(file: IO[bytes]) -> None:
        write_texts(file, source, columns, documents(), both)
        if target.exists() and not force and not _are_same(file, target):
            check_new(target, force)

    if edit_log:
        write_whole(edit_log, lambda file: _write_edit_log(file, part, columns))
    write_whole(target, fill)
    return Swapped(totals["documents"], totals["rewritten"], dict(sorted(rules.items())), target, edit_log)


def _are_same(file: IO[bytes], path: Path) -> bool:
    file.seek(0)
    with path.open("rb") as there:
        while (one := file.read(2**20)) == (other := there.read(2**20)) and one:
            pass
    return one == other


def _write_edit_log(file: IO[bytes], part: Path, columns: Sequence[str]) -> None:
    """A line for each document; where several columns are swapped, each edit names its own."""
    for number, edits in enumerate(_read_edits(part)):
        found: list[dict[str, Any]] = []
        for column, each in zip(columns, edits, strict=True):
            found += [({"column": column} if len(columns) > 1 else {}) | asdict(edit) for edit in each]
        file.write((json.dumps({"document": number, "edits": found}, ensure_ascii=False) + "\n").encode())
