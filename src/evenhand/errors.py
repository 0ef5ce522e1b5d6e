"""What can go wrong, in one tree. Every message says what, what we got, what is allowed and what to do next.

EvenhandError
├── BadInput            an item, question, template or option that cannot be used as it is
│   └── UnknownName     nothing of that name: model, dataset, measure, suite, option
├── ModelError          a model that cannot be had or must not be measured
│   ├── ModelNotFound   neither bundled, nor a folder, nor in the cache, nor on a Hub within reach
│   └── UnfitModel      loaded, but its numbers would mean nothing (no trained head, another kind of model)
├── RunError            a run folder that cannot be read or written
│   └── NewerRun        one that a newer evenhand wrote
└── ClusterError        a Ray cluster that is not there, or whose workers cannot be used
"""

from collections.abc import Iterable
from difflib import get_close_matches


class EvenhandError(Exception):
    """The root: anything the person at the keyboard can put right."""


class BadInput(EvenhandError, ValueError):
    """An item, question, template or option that cannot be used as it is."""


class UnknownName(BadInput):
    """A name that nothing answers to; built from what there is, so that it can suggest the nearest."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        known = sorted(known)
        near = get_close_matches(name, known, n=1)
        suggestion = f" Did you mean '{near[0]}'?" if near else ""
        super().__init__(f"Unknown {kind} '{name}'.{suggestion} Available: {', '.join(known) or 'none'}.")

    def __reduce__(self) -> tuple[type[BadInput], tuple[object, ...]]:
        return BadInput, self.args  # out of another process it comes as its parent, with the same words


class ModelError(EvenhandError):
    """A model that cannot be had or must not be measured."""


class ModelNotFound(ModelError):
    """Neither bundled, nor a folder, nor in the cache, nor on a Hub within reach."""


class UnfitModel(ModelError):
    """Loaded, but its numbers would mean nothing; `check` is what the doctor calls it."""

    def __init__(self, message: str, check: str = "kind of model") -> None:
        super().__init__(message)
        self.check = check


class RunError(EvenhandError):
    """A run folder that cannot be read or written."""


class NewerRun(RunError):
    """A run folder that a newer evenhand wrote."""


class ClusterError(EvenhandError):
    """A Ray cluster that is not there, or whose workers cannot be used."""
