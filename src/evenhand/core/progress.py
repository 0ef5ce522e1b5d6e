"""Progress bars. A piece of work has a single bar, however many parts it has.

Bars are shown on a terminal and in a notebook, unless warnings are hidden (`--quiet`). Elsewhere, as in the log of a
job, there is a line a minute.
"""

import io
import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # tqdm warns if widgets are missing; a notebook then gets a bar of text
    from tqdm.auto import tqdm
    from tqdm.std import tqdm as plain_tqdm

MINUTE = 60.0
log = logging.getLogger(__name__)

_shown: ContextVar[bool | None] = ContextVar("shown", default=None)
_current: ContextVar[Any] = ContextVar("current", default=None)


@contextmanager
def showing(shown: bool | None) -> Iterator[None]:
    """Show or hide progress bars in this block; None keeps the current setting."""
    token = _shown.set(_shown.get() if shown is None else shown)
    try:
        yield
    finally:
        _shown.reset(token)


def bar(label: str, unit: str, **options: Any) -> Any:
    """A new progress bar, which is a context manager; the bar disappears at the end of its block."""
    shown = _shown.get()
    if shown is None and not log.isEnabledFor(logging.WARNING):
        shown = False
    if shown is None and not in_notebook() and not sys.stderr.isatty():
        return _Lines(desc=label, unit=unit, disable=False, delay=MINUTE, file=io.StringIO(), **options)
    return tqdm(desc=label, unit=f" {unit}", disable=shown is False, leave=False, dynamic_ncols=True, **options)


class _Lines(plain_tqdm):  # type: ignore[misc]
    """At most a log line a minute: how much is done, of how much, and about how long the rest takes."""

    monitor_interval, said = 0, 0.0  # no thread that looks after bars

    def refresh(self, *_: Any, **__: Any) -> None:
        now = self._time()
        if now - max(self.start_t, self.said) < MINUTE:
            return
        self.said, done = now, self.n - self.initial
        of, left = (f" of {self.total:,}", self.total - self.n) if self.total else ("", 0)
        rest = f", about {(now - self.start_t) * left / done // 60 + 1:.0f} min left" if left and done else ""
        log.info(f"{self.desc}: {self.n:,}{of} {self.unit}{rest}.")


@contextmanager
def one_bar(label: str, unit: str = "tokens") -> Iterator[None]:
    """Show one bar for every `part` within this block; each part adds to its total when it begins."""
    with bar(label, unit, total=0) as current:
        token = _current.set(current)
        try:
            yield
        finally:
            _current.reset(token)


@contextmanager
def part(label: str, unit: str, total: int) -> Iterator[Any]:
    """Give the bar of the enclosing `one_bar`, after adding `total` to its total; without one, a new bar.

    A notebook hides such new bars: a cell may ask a model many small things, and each would show a bar.
    """
    current = _current.get()
    if current is not None:
        current.total = (current.total or 0) + total
        current.refresh()
        yield current
        return
    with showing(False if in_notebook() else None), bar(label, unit, total=total) as new:
        yield new


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return "IPKernelApp" in getattr(shell, "config", ())
