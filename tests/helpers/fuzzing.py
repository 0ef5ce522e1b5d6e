"""The one property of every hostile input: results with finite numbers, or a short sentence and nothing changed.

EVENHAND_FUZZ is the number of inputs of each fuzzer; `make fuzz` sets it.
"""

import contextlib
import hashlib
import io
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import typer
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from evenhand.cli import terminal
from evenhand.cli.app import app
from evenhand.cli.terminal import as_flags
from evenhand.errors import EvenhandError

fuzzed = settings(
    max_examples=int(os.environ.get("EVENHAND_FUZZ", "5")),
    derandomize="EVENHAND_FUZZ" not in os.environ,  # make test tries the same inputs every time
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)
LONGEST = 500
"""Characters of a message."""
REFUSED = 2

Result = TypeVar("Result")
Text = st.text(st.characters(codec="utf-8"), max_size=40)
Scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, -1, 10**30, 1e308, -1e-300, 2**63, "", "x" * 300, "\x1b[31m", "..", "/", "\ud800", "NaN"]),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    Text,
)
Shallow = Scalars | st.lists(Scalars, max_size=3)
Json = Shallow | st.lists(Shallow, max_size=3) | st.dictionaries(Text, Shallow, max_size=3)


def command(*arguments: str | Path, watched: Path, never: int = terminal.OUR_FAULT) -> str:
    """Run a command, and hold it to the property; what it printed. `watched` is the folder that must not change.

    `never` is another exit code that it must not have.
    """
    before = contents(watched)
    code, out, err = run(*arguments)
    assert code != never, f"exit code {code}: {arguments}\n{err}"
    if code == REFUSED:
        assert contents(watched) == before, err
    if "--json" in arguments and code != REFUSED:
        json.loads(out, parse_constant=_not_finite)
    else:
        assert not re.search(r"(?<![\w.-])[+-]?(nan|inf)(?!\w)", out), out
    return out


def run(*arguments: str | Path) -> tuple[int, str, str]:
    """The exit code of a command, which is no bug of ours and whose refusal is short, and what it printed."""
    out, err = io.StringIO(), io.StringIO()
    given = [str(argument) for argument in arguments]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = terminal.run(app, given, lambda text: as_flags(text, typer.main.get_command(app), given[0]))
    assert code != terminal.OUR_FAULT, f"evenhand {' '.join(given)}\n{err.getvalue()}"
    if code == REFUSED:
        said = err.getvalue().strip().splitlines()[-1].removeprefix("evenhand: ")
        assert len(said) <= LONGEST, f"{len(said)} characters: {said[:2000]}"
    return code, out.getvalue(), err.getvalue()


def call(work: Callable[[], Result], *allowed: type[Exception]) -> Result | None:
    """The result of a call, None if it is refused with a sentence; `allowed` are other errors it may raise."""
    try:
        return work()
    except EvenhandError as error:
        said = str(error)
    except allowed:
        return None
    assert len(said) <= LONGEST, f"{len(said)} characters: {said[:2000]}"
    return None


def contents(folder: Path) -> dict[str, str]:
    """A digest of each file in a folder."""
    files = (path for path in folder.rglob("*") if not path.is_symlink() and path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def places(data: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of every value in JSON data, inner ones too; of lists, the first two."""
    yield here
    inner = data.items() if isinstance(data, dict) else enumerate(data[:2]) if isinstance(data, list) else ()
    for key, value in inner:
        yield from places(value, (*here, key))


def replaced(data: Any, place: tuple[Any, ...], value: Any) -> Any:
    """A copy of JSON data with another value in that place."""
    if not place:
        return value
    data = json.loads(json.dumps(data))
    at = data
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = value
    return data


def _not_finite(word: str) -> None:
    raise AssertionError(f"{word} in JSON")
