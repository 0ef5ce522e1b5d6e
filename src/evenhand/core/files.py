"""Files that are replaced whole or not at all, even if the process is killed."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

from evenhand.errors import BadInput, RunError


def prepare(path: Path) -> None:
    """Make the output folder and check that it can be written."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except (FileExistsError, NotADirectoryError) as error:
        file = next((p for p in (path, *path.parents) if p.is_file()), path)
        raise RunError(f"The output must be a folder. '{file}' is a file: choose another.") from error
    except OSError as error:
        raise RunError(f"The output folder '{path}' cannot be written: {error.strerror}. Choose another.") from error


def check_new(path: Path, force: bool, option: str = "out") -> None:
    """Raise an error if something is at `path` already, unless it may be replaced; `option` is what names the path."""
    if path.exists() and not force:
        raise BadInput(f"'{path}' exists already. Choose another `{option}`, or replace it: `force=True`.")


def slug(model: str) -> str:
    """The name of a model as that of a folder: the slash of a Hub id becomes two dashes."""
    return model.replace("/", "--")


def public_path(path: str | Path) -> str:
    """The path as results, pages and cards name it, since they are published: without the user's home folder.

    A relative path stays as it is given; an absolute one becomes relative to the current folder. Where that would go
    through the folder above the home folder, or through the root, it is the name alone.
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
    """Replace a file by what `fill` writes, whole or not at all."""
    name = None
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            name = file.name
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(path)
    except OSError as error:
        raise RunError(
            f"'{path}' cannot be written: {error.strerror or error}. What was there before still is. "
            "Free some space, or choose another folder, and run the same command again."
        ) from error
    finally:
        if name is not None:
            Path(name).unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
