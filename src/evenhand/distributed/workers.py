"""How many workers there may be at once, and which of the models at work may have how many."""

import math
import threading
from collections.abc import Mapping

from evenhand.errors import EvenhandError


class Stopped(EvenhandError):
    """Another model of the same command has failed, or somebody pressed Ctrl-C."""


class WorkerPool:
    """Places for workers, shared by `models` that are measured side by side; `needs` is what Ray reserves for each.

    While models are left, each may have its share of the places, one at least; the last one may have all.
    """

    def __init__(self, size: int, *, models: int = 1, needs: Mapping[str, float] | None = None) -> None:
        self.size = size
        self.needs = dict(needs or {"num_cpus": 1})
        self._left = models
        self._free = size
        self._waiting: set[object] = set()
        self._stopped = threading.Event()
        self._lock = threading.Lock()

    @property
    def wanted(self) -> bool:
        """Is there a model that waits for a place and has none?"""
        return bool(self._waiting)

    def take(self, who: object, own: int) -> bool:
        """A place for one more worker, beside the `own` ones; False where there is none to be had now."""
        with self._lock:
            got = self._free > 0 and own < math.ceil(self.size / max(1, self._left))
            self._free -= got
            if got or own:
                self._waiting.discard(who)
            else:
                self._waiting.add(who)
            return got

    def give_back(self) -> None:
        """A worker is gone."""
        with self._lock:
            self._free += 1

    def done(self, who: object) -> None:
        """A model is measured, or has failed: its share is for the others."""
        with self._lock:
            self._left -= 1
            self._waiting.discard(who)

    def pause(self, seconds: float) -> None:
        """Wait, but not longer than until everybody is stopped."""
        self._stopped.wait(seconds)

    def stop(self) -> None:
        """Everybody ends at the next `check`."""
        self._stopped.set()

    def check(self) -> None:
        """Go on?"""
        if self._stopped.is_set():
            raise Stopped("Stopped. What was answered is kept.")
