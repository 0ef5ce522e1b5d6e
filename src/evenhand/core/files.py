"""Atomic file writes, and size-limited reads of untrusted files."""

import json
import os
import re
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from secrets import token_hex
from typing import IO, Any, TypeVar

from evenhand.errors import BadInput, RunError

try:
    fcntl: Any = import_module("fcntl")
except ImportError:  # Windows, where a file cannot be deleted while it is open
    fcntl = None

Parsed = TypeVar("Parsed")

LARGEST = 2**28
"""The most bytes that a file of settings or results may have."""
CHECKPOINT = re.compile(r"(checkpoint|ckpt|step|epoch)[-_]?\d+|(final|best|last)([-_](checkpoint|model))?", re.I)
"""Names that trainings often give to folders of checkpoints."""
UNFINISHED = ".unfinished"
"""The suffix of files that are being written. The next write to the folder removes those of killed processes."""


def read_parsed(path: Path, parse: Callable[[str], Parsed]) -> Parsed:
    """Read and `parse` a UTF-8 file. Raises OSError or ValueError if it is not a regular file, too large or damaged.

    Reading a pipe would block, and a device such as /dev/zero never ends.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise OSError("it is not a regular file")
    if (size := path.stat().st_size) > LARGEST:
        raise OSError(f"it has {size:,} bytes, but at most {LARGEST:,} are allowed")
    return parse_text(path.read_text(encoding="utf-8"), parse)


def read_given(path: Path, parse: Callable[[str], Parsed], kind: str, advice: str) -> Parsed:
    """Read and `parse` a user's file. An error begins with `kind` ("The policy") and ends with `advice`."""
    try:
        return read_parsed(path, parse)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise BadInput(f"{kind} '{path}' cannot be read: {why}. {advice}".lstrip()) from error


def parse_text(text: str, parse: Callable[[str], Parsed]) -> Parsed:
    """Call `parse` on a text. Raises ValueError if the text is damaged or nested too deeply."""
    try:
        return parse(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def from_json(text: str) -> Any:
    """Parse JSON. Raises ValueError if it is damaged or nested too deeply.

    An integer too large for a float becomes infinity, which is refused wherever a number is needed.
    """
    return parse_text(
        text, partial(json.loads, parse_int=lambda whole: int(whole) if len(whole) < 300 else float(whole))
    )


def from_toml(text: str) -> dict[str, Any]:
    """Parse TOML. Raises ValueError if it is damaged, nested too deeply, or has an integer too large to be printed."""
    if re.search(r"\b(?:0[xob][0-9a-fA-F_]{300}|\d[\d_]{300})", text):
        raise ValueError("it has a number of more than 300 digits")
    return parse_text(text, tomllib.loads)


def json_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """The number and value of each line of a JSON Lines file; empty lines are skipped."""
    line = 0
    try:
        with path.open(encoding="utf-8") as file:
            for line, text in enumerate(file, start=1):
                if text.strip():
                    yield line, from_json(text)
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"'{path}' cannot be read: {error}. Is it a UTF-8 .jsonl file?") from error
    except ValueError as error:
        raise BadInput(f"{path}, line {line}: not JSON: {error}.") from error


def prepare(path: Path) -> None:
    """Create the output folder, and check that files can be written into it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path).close()
    except (FileExistsError, NotADirectoryError) as error:
        file = next((p for p in (path, *path.parents) if p.is_file()), path)
        raise RunError(f"The output must be a folder, but '{file}' is not one. Choose another folder.") from error
    except OSError as error:
        raise RunError(f"The output folder '{path}' cannot be written: {error.strerror}. Choose another.") from error


def real_path(path: str | Path) -> Path:
    """The absolute path without links. Of links in a circle, `Path.resolve` raises an error before Python 3.13."""
    return Path(os.path.realpath(path))


def check_new(path: Path, force: bool, option: str = "out") -> None:
    """Raise BadInput if `path` exists, unless `force` is True. `option` is the parameter that gives the path."""
    if path.exists() and not force:
        raise BadInput(f"'{path}' exists already. Choose another `{option}`, or replace it: `force=True`.")


def slug(model: str) -> str:
    """A folder name for a model: two dashes for the slash of a Hub id, and before each part of how it is asked."""
    name, *marks = model.split(", ")
    return "--".join([name.replace("/", "--"), *(re.sub(r"[^\w.]+", "-", mark).strip("-") for mark in marks)])


def public_path(path: str | Path) -> str:
    """The path as published results, pages and cards show it: without the user's home folder.

    A relative path is not changed; an absolute path becomes relative to the current folder. If the way from the current
    folder leads through the root or through a folder above the home folder, only the last part of the path is shown.
    """
    path = Path(path).expanduser()
    whole = os.path.abspath(path)  # noqa: PTH100 - links stay as they are
    try:
        common = Path(os.path.commonpath([whole, Path.cwd()]))
    except ValueError:  # on two drives
        return path.name
    if common == common.parent or common in Path.home().parents:
        return path.name
    return str(path) if not path.is_absolute() else os.path.relpath(whole)


def write_whole(path: Path, fill: Callable[[IO[bytes]], object]) -> None:
    """Atomically replace a file by what `fill` writes; delete unfinished files of killed processes beside it."""
    name = None
    _remove_leftovers(path.parent)
    try:
        file, name = _open_unfinished(path)
        with file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
            if fcntl is None:
                file.close()
            name.replace(path)  # still locked, so that no process removes it as a leftover
    except OSError as error:
        raise RunError(
            f"'{path}' cannot be written: {error.strerror or error}. If the file existed, it is unchanged. "
            "Free some space, or choose another folder, and run the same command again."
        ) from error
    finally:
        if name is not None:
            name.unlink(missing_ok=True)


def _open_unfinished(path: Path) -> tuple[IO[bytes], Path]:
    """Create an unfinished file next to `path`, locked until it is closed. Gives the file and its path."""
    while True:
        name = path.with_name(f".{path.name}.{token_hex(4)}{UNFINISHED}")
        file = name.open("x+b")
        if fcntl is not None:
            with suppress(OSError):  # without locks `_remove_leftovers` deletes nothing either
                fcntl.flock(file, fcntl.LOCK_EX)
        if name.exists():  # else another process removed it as a leftover before it was locked
            return file, name
        file.close()


def _remove_leftovers(folder: Path) -> None:
    """Delete the unfinished files in the folder that no process has locked."""
    for path in folder.glob(f".*{UNFINISHED}"):
        with suppress(OSError):
            if fcntl is None:
                path.unlink()
            elif path.is_file():
                with path.open("rb") as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    path.unlink()
