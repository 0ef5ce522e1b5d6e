"""Work through a plan, batch by batch, and say how long it will take."""

import gc
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from tqdm.auto import tqdm

from evenhand.core.questions import Answer
from evenhand.models.planning.plan import Batch, Plan, Values

log = logging.getLogger(__name__)

WORTH_SAYING = 5.0  # seconds: work shorter than this needs no announcement

Stream = Callable[[Sequence[tuple[int, Batch]]], Iterable[tuple[int, Values]]]
"""Runs batches, each with its number; gives their values with the numbers, in whatever order they finish."""


def paced(plan: Plan, numbers: Iterable[int], stream: Stream) -> Iterator[tuple[int, Values]]:
    """Run these batches of the plan, with a progress bar on a terminal, and a word on how long it will take."""
    batches = [(number, plan.batches[number]) for number in numbers]
    total = sum(batch.tokens for _, batch in batches)
    done, told, start = 0, False, time.monotonic()
    with tqdm(total=total, unit=" tokens", disable=None, leave=False, dynamic_ncols=True) as bar:
        for number, values in stream(batches):
            yield number, values
            done += plan.batches[number].tokens
            bar.update(plan.batches[number].tokens)
            taken = time.monotonic() - start
            if not told and taken > 1:
                told, to_go = True, taken * (total - done) / done
                if to_go > WORTH_SAYING:
                    log.info("About %s to go.", duration(to_go))


def work_through(plan: Plan, stream: Stream) -> list[Answer]:
    """Run every batch of the plan; the answers in the order of the questions."""
    answers = dict(plan.unanswerable())
    with set_aside():
        for number, values in paced(plan, range(len(plan.batches)), stream):
            answers.update(plan.settle(number, values))
    return [answers[i] for i in range(len(plan.readings))]


def duration(seconds: float) -> str:
    """Seconds as people say them: "40 s", "3 min", "2.5 h"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@contextmanager
def uncollected() -> Iterator[None]:
    """Without the garbage collector, which took a third of planning's time; what is there afterwards counts as old."""
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
