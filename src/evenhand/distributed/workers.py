"""How many workers there are, and how models that are measured at the same time share them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Event, Lock

from evenhand.errors import EvenhandError


class Stopped(EvenhandError):
    """Another model of the same command has failed, or the user pressed Ctrl-C."""


@dataclass
class WorkerPool:
    """Places for `size` workers; `needs` is what Ray reserves for each.

    `models` have yet to be measured, at most `size` of them at a time: each may have its share of the places, at least
    one; the last one may have all.
    """

    size: int
    models: int = 1
    needs: Mapping[str, float] = field(default_factory=lambda: {"num_cpus": 1})
    stopped: Event = field(default_factory=Event)
    _lock: Lock = field(default_factory=Lock, repr=False)

    @property
    def share(self) -> int:
        """The number of workers that a model may have now."""
        return max(1, self.size // max(1, self.models))

    def finish(self) -> None:
        """Leave the places of a model that is measured, or has failed, to the others."""
        with self._lock:
            self.models -= 1

    def check(self) -> None:
        """Raise if another model of the same command has stopped it."""
        if self.stopped.is_set():
            raise Stopped("Stopped. Answers so far are kept.")
