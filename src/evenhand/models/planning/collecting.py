"""Python's collector of cycles kept out of the way: plans are many objects and no cycle."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Without the collector, which took a third of planning's time; what is there afterwards counts as old."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        with set_aside():
            pass
        if enabled:
            gc.enable()


@contextmanager
def set_aside() -> Iterator[None]:
    """What is there already is not looked through for cycles meanwhile: a large plan was, again and again.

    Left alone where somebody else has set objects aside: they would come back with ours.
    """
    free = gc.get_freeze_count() == 0
    if free:
        gc.freeze()
    try:
        yield
    finally:
        if free:
            gc.unfreeze()
