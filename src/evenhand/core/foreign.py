"""Calls of plugins and users' objects, whose errors name them; and checks for the packages of extras."""

import re
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, SupportsFloat

from evenhand.errors import BadInput, EvenhandError

OURS = str(Path(__file__).parents[1])


@contextmanager
def foreign(context: str, owner: object = None) -> Iterator[None]:
    """Run code of a plugin, or of a user's object `owner`. If it fails, `context` begins the message of the error.

    The error is a BadInput, or of the same class if it was an EvenhandError. `sys.exit` and a library's panic count as
    errors, since an audit that ends early must not seem to have passed. Errors of evenhand's own objects, and Ctrl-C,
    are not changed.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if is_ours(owner) or (isinstance(error, EvenhandError) and context in str(error)):
            raise
        if isinstance(error, EvenhandError):
            error.args = EvenhandError(f"{context}: {error}").args  # keeps the class, which a caller may catch
            raise
        frames = [f for f in traceback.extract_tb(error.__traceback__) if OURS not in f.filename]
        lines = [f"{f.filename}, line {f.lineno}" for f in frames if not re.match(r"<|.*importlib", f.filename)]
        where = next((f" ({line})" for line in reversed(lines) if line.startswith(lines[0].rpartition(",")[0])), "")
        message = f"{type(error).__name__}: {error}".rstrip(".: ")
        raise BadInput(f"{context}: {message}{where}. That is not evenhand's own code: fix the error there.") from error


def load_entry(entry: Any, add: Callable[[str, Any], None]) -> None:
    """Load the object that an entry point of a package names, and call `add` with its name and the object."""
    package = entry.dist.name if entry.dist else "an installed package"
    with foreign(f"The plugin '{entry.value}' of {package} failed to load"):
        add(entry.name, entry.load())


def is_ours(thing: object) -> bool:
    """Whether a function, or the class of an object, is evenhand's own."""
    return str(getattr(thing, "__module__", "")).startswith("evenhand.")


def number(value: Any) -> float:
    """What foreign code returned, as a float. Raises TypeError if it is not a number."""
    if not isinstance(value, SupportsFloat):
        raise TypeError(f"it must return a number. Got {value!r}")
    return float(value)


PACKAGES: dict[str, tuple[str, ...]] = {
    "gguf": ("gguf", "0.10"),
    "inspect": ("inspect-ai", "0.3.285"),
    "ja": ("fugashi", "1.3"),
    "lm-eval": ("lm-eval", "0.4.13"),
    "nltk": ("nltk", "3.9"),
    "ray": ("ray", "2.40"),
    "server": ("starlette", "1.10", "uvicorn", "0.30"),
}
"""The packages of each extra, each with the oldest version that works, as in pyproject.toml."""


def need(extra: str, feature: str) -> None:
    """Raise BadInput if a package of an extra is missing or too old; the message begins with `feature`."""
    listed = PACKAGES[extra]
    for package, oldest in zip(listed[::2], listed[1::2], strict=True):
        try:
            installed = version(package)
        except PackageNotFoundError:
            installed = ""
        if not installed or _version_numbers(installed) < _version_numbers(oldest):
            got = f"version {installed} is installed" if installed else "it is not installed"
            raise BadInput(
                f"{feature} needs {package} {oldest} or newer; {got}. Install it with: pip install 'evenhand[{extra}]'."
            )


def _version_numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text)[:3])
