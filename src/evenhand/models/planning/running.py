"""Run the batches of a plan, with a progress bar and an estimate of the time."""

import gc
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

from evenhand.core.progress import part
from evenhand.core.questions import Answer, Question, Unplanned
from evenhand.models.planning.plan import Batch, Plan, Values

log = logging.getLogger(__name__)

WORTH_SAYING = 5.0  # seconds: shorter work needs no estimate

Stream = Callable[[Sequence[tuple[int, Batch]]], Iterable[tuple[int, Values]]]
"""Runs numbered batches; gives their values with the numbers, in the order in which they finish."""


def paced(plan: Plan, numbers: Iterable[int], stream: Stream) -> Iterator[tuple[int, Values]]:
    """Run these batches of the plan, with a progress bar, and log how long it will take."""
    batches = [(number, plan.batches[number]) for number in numbers]
    total = sum(batch.tokens for _, batch in batches)
    done, told, start = 0, False, time.monotonic()
    with part("Measuring", "tokens", total) as bar:
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
    """Run every batch of the plan, and return the answers in the order of the questions."""
    answers = dict(plan.unanswerable())
    with set_aside():
        for number, values in paced(plan, range(len(plan.batches)), stream):
            answers.update(plan.settle(number, values))
    return [answers[i] for i in range(len(plan.readings))]


def answer_all(model: Any, questions: Sequence[Question]) -> list[Answer]:
    """The answers of a model that plans its batches; questions without a plan go to its `batched_answers`."""
    apart = [isinstance(question, Unplanned) and hasattr(model, "batched_answers") for question in questions]
    planned = [question for question, is_apart in zip(questions, apart, strict=True) if not is_apart]
    others = [question for question, is_apart in zip(questions, apart, strict=True) if is_apart]
    rest = iter(work_through(model.plan(planned), model.stream) if planned else ())
    batched = dict(chain.from_iterable(model.batched_answers(others))) if others else {}
    following = (batched[number] for number in range(len(others)))
    return [next(following) if is_apart else next(rest) for is_apart in apart]


def duration(seconds: float) -> str:
    """Seconds in a readable unit: "40 s", "3 min", "2.5 h"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@contextmanager
def uncollected() -> Iterator[None]:
    """Disable the garbage collector, which took a third of planning's time; new objects then count as old."""
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
    """Hide existing objects from the garbage collector, which would search a large plan again and again.

    Does nothing where other code has frozen objects: unfreezing ours would unfreeze those too.
    """
    free = gc.get_freeze_count() == 0
    if free:
        gc.freeze()
    try:
        yield
    finally:
        if free:
            gc.unfreeze()
