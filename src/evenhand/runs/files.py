"""The files of a run: JSON that is validated as typed records, and atomic replacement of all files together.

New files are written to the folder `.next` in the run folder, run.json last, and then moved to their places. If the
process is killed while it moves them, the next process that reads the run moves the others.
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from evenhand.core.files import prepare, read_parsed
from evenhand.errors import RunError

Kind = TypeVar("Kind")

WORDS = {
    "Input should be": "should be",
    "String should": "should",
    "Field required": "is missing",
    "Value error, ": "",
    "Invalid JSON:": "cannot be read:",
}
"""Replacements in a message of Pydantic, so that it continues a sentence that begins with the field's name."""
RESTORE = "Restore the file, or delete it and run the audit again."


def rescore_hint(path: Path) -> str:
    """The advice for a run whose results are damaged or do not belong to it."""
    return f"Repair the run with: evenhand rescore {path}"


def validate(kind: TypeAdapter[Kind], data: object, file: Path, advice: str = RESTORE) -> Kind:
    """The data as a record of type `kind`. Raises an error that names the first invalid field."""
    try:
        return kind.validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        where, says = describe_error(error)
        raise RunError(f"'{file}' is damaged, or not written by evenhand: {where or 'it'} {says}. {advice}") from error


def describe_error(error: ValidationError) -> tuple[str, str]:
    """The first invalid field, and what is wrong with it."""
    first = error.errors(include_url=False)[0]
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(".")
    says = first["msg"]
    for theirs, ours in WORDS.items():
        says = says.replace(theirs, ours)
    known = first["type"] in ("missing", "json_invalid") or ", got " in says
    got = "" if known else f", got {str(first['input'])[:60]!r}"
    return where, says + got


def read_json(file: Path, advice: str = RESTORE) -> Any:
    """The contents of a JSON file."""
    try:
        return read_parsed(file, json.loads)
    except (OSError, ValueError) as error:
        raise RunError(f"'{file}' cannot be read: {error}. {advice}") from error


def read_typed(kind: TypeAdapter[Kind], file: Path, advice: str) -> Kind:
    """The contents of a JSON file as a record of type `kind`."""
    return validate(kind, read_json(file, advice), file, advice)


def plain_json(data: object) -> bytes:
    """The data as the bytes of a JSON file."""
    return (json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


NEXT = ".next"
VOUCHED = ("results.json", "scores.parquet", "items.parquet")
"""Files whose hashes are in run.json; older runs have fewer of them."""
GATE = "gate.json"
PAGE = "report.html"


@contextmanager
def replace_files(path: Path) -> Iterator[Path]:
    """Yield a folder for a run's new files. At the end they replace the old files; verdict and page are deleted."""
    staged = path / NEXT
    shutil.rmtree(staged, ignore_errors=True)
    try:
        prepare(staged)
        yield staged
    except BaseException:
        shutil.rmtree(staged, ignore_errors=True)
        raise
    _move_into_place(path)
    shutil.rmtree(staged, ignore_errors=True)


def recover(path: Path) -> None:
    """Finish a replacement of files whose process was killed. Do nothing while a process holds the run's lock."""
    staged = path / NEXT
    if staged.is_symlink() or not (staged / "run.json").is_file():
        return
    from filelock import FileLock, Timeout  # imported late: most reads do not need it

    with suppress(OSError, Timeout, NotImplementedError), FileLock(path / ".lock", timeout=0):
        _move_into_place(path)
        shutil.rmtree(staged, ignore_errors=True)
        (path / ".lock").unlink(missing_ok=True)


def _move_into_place(path: Path) -> None:
    for stale in (GATE, PAGE):  # made from the old results
        (path / stale).unlink(missing_ok=True)
    for name in (*VOUCHED, "run.json"):
        with suppress(FileNotFoundError):  # a process that was killed has already moved this file
            (path / NEXT / name).replace(path / name)
