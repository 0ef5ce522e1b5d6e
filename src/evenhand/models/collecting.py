"""Python's collector of cycles kept out of the way: plans are many objects and no cycle."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Without the collector, which took a third of planning's time; what was made meanwhile is old afterwards."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.freeze()
            gc.unfreeze()
            gc.enable()


@contextmanager
def set_aside() -> Iterator[None]:
    """What is there already is not looked through for cycles meanwhile: a large plan was, again and again."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
