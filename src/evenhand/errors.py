"""The exception hierarchy. Every message says what is wrong, what we got, what is allowed and what to do next.

EvenhandError
├── BadInput            an item, question, template or option that cannot be used as it is
│   ├── UnknownName     a name that no model, dataset, measure, suite or option has
│   └── DataNotFound    a released corpus that is neither fetched nor under EVENHAND_DATA
├── ModelError          a model that cannot be loaded or must not be measured
│   ├── ModelNotFound   not a bundled model, a folder, a cached model or a reachable Hub repository
│   └── UnfitModel      loaded, but its numbers would mean nothing (no trained head, another kind of model)
├── RunError            a run folder that cannot be read or written
│   ├── NewerRun        a run folder that a newer evenhand wrote
│   └── OtherModel      a run folder of another model, or of the same model with other weights
└── ClusterError        a Ray cluster that cannot be reached, or whose workers cannot be used
"""

import re
from collections.abc import Collection, Iterable
from difflib import get_close_matches

LONGEST, QUOTED = 500, 200
"""The most characters of a message, and of a text quoted in it: messages quote files, whose texts have any length."""
QUOTES = re.compile(r"""(?<![\w'"])(['"])[^\n]*?\1(?=[\s.,:;!?)\]|]|$)""")
"""A text in quotation marks. An apostrophe within a word does not begin a quotation."""


def shorten(text: str, most: int = QUOTED) -> str:
    """The text; if it has more than `most` characters, an ellipsis replaces its middle."""
    start, end = most * 2 // 3, most - most * 2 // 3 - 1
    return text if len(text) <= most else f"{text[:start]}…{text[-end:]}"


class EvenhandError(Exception):
    """The base of all errors that a user can fix.

    A message has at most 500 characters, and a text quoted in it at most 200: the middle of longer texts is cut out.
    """

    def __init__(self, message: object = "") -> None:
        short = QUOTES.sub(lambda quoted: shorten(quoted[0]), shorten(str(message), 10 * LONGEST))
        super().__init__(shorten(short, LONGEST))


class BadInput(EvenhandError, ValueError):
    """An item, question, template or option that cannot be used as it is."""


class UnknownName(BadInput):
    """An unknown name; the message lists the known ones, and suggests the nearest."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        known = sorted(known)
        near = get_close_matches(str(name)[:QUOTED], known, n=1)  # callers in Python may pass any object
        suggestion = f" Did you mean '{near[0]}'?" if near else ""
        listed = ("; " if any(", " in each for each in known) else ", ").join(known)
        super().__init__(f"Unknown {kind} '{name}'.{suggestion} Available: {listed or 'none'}.")

    def __reduce__(self) -> tuple[type[BadInput], tuple[object, ...]]:
        return BadInput, self.args  # a message alone cannot rebuild an UnknownName in another process


def check_known(kind: str, names: Iterable[str], known: Collection[str]) -> None:
    """Raise an UnknownName for the first name that is not known."""
    for name in names:
        if name not in known:
            raise UnknownName(kind, name, known)


class DataNotFound(BadInput):
    """A released corpus that is neither fetched nor under EVENHAND_DATA."""


class ModelError(EvenhandError):
    """A model that cannot be loaded or must not be measured."""


class ModelNotFound(ModelError):
    """Not a bundled model, a folder, a cached model or a reachable Hub repository."""


class UnfitModel(ModelError):
    """A model that loads, but whose numbers would mean nothing; `check` names the doctor's check that fails."""

    def __init__(self, message: str, check: str = "kind of model") -> None:
        super().__init__(message)
        self.check = check


class RunError(EvenhandError):
    """A run folder that cannot be read or written."""


class NewerRun(RunError):
    """A run folder that a newer evenhand wrote."""


class OtherModel(RunError):
    """A run folder of another model, or of the same model with other weights."""


class ClusterError(EvenhandError):
    """A Ray cluster that cannot be reached, or whose workers cannot be used."""
