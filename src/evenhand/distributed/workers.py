"""A limit on the number of workers, and its division among the models that are being measured."""

import math
import threading
from collections.abc import Mapping

from evenhand.errors import EvenhandError


class Stopped(EvenhandError):
    """Another model of the same command has failed, or the user pressed Ctrl-C."""


class WorkerPool:
    """Places for workers, shared by models that are measured at the same time; `needs` is what Ray reserves for each.

    Each of the remaining models may have its share of the places, but at least one; the last one may have all.
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
        """Whether a model without workers waits for a place."""
        return bool(self._waiting)

    def take(self, who: object, own: int) -> bool:
        """Take a place for one more worker, in addition to the `own` ones; False where there is none now."""
        with self._lock:
            got = self._free > 0 and own < math.ceil(self.size / max(1, self._left))
            self._free -= got
            if got or own:
                self._waiting.discard(who)
            else:
                self._waiting.add(who)
            return got

    def give_back(self) -> None:
        """Free the place of a worker."""
        with self._lock:
            self._free += 1

    def done(self, who: object) -> None:
        """Give the share of a model that is measured, or has failed, to the others."""
        with self._lock:
            self._left -= 1
            self._waiting.discard(who)

    def pause(self, seconds: float) -> None:
        """Wait, at most until `stop` is called."""
        self._stopped.wait(seconds)

    def stop(self) -> None:
        """Make every model end at its next `check`."""
        self._stopped.set()

    def check(self) -> None:
        """Raise if `stop` was called."""
        if self._stopped.is_set():
            raise Stopped("Stopped. Answers so far are kept.")
