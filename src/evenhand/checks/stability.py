"""Check that answers do not depend on the other inputs of a batch or on precision."""

import math
import warnings
from collections.abc import Iterator, Sequence

from evenhand.checks.base import Case, NotChecked, is_number
from evenhand.core.model import CAREFUL, FINE, UNFIT, Finding, Verdict, ask
from evenhand.core.questions import Answer, Question
from evenhand.errors import ModelError
from evenhand.models.base import Examined, count_overflows, largest_difference
from evenhand.stats.estimate import NOT_FINITE

ROUNDING = {"float32": 1e-4, "bfloat16": 0.2, "float16": 0.02}
"""Differences between batches, in nats, that rounding alone can cause, by precision."""
LEAKING = {"float32": 1e-2, "bfloat16": 1.0, "float16": 0.2}
"""Differences between batches, in nats, that rounding cannot cause, by precision."""
APART = 0.2
"""The difference between precisions, in nats, above which differences between groups may be lost."""


def numbers(case: Case) -> Iterator[Finding]:
    """Whether the answers are finite. They are not if half precision overflows or weights are damaged."""
    questions, answers = case.ordinary
    if lost := [answer.note for answer in answers if not is_number(answer)]:
        broken = "Its weights have infinities or NaN: save the checkpoint again."
        do = broken if case.dtype == "float32" else "Measure in float32, or bfloat16."
        do = do if NOT_FINITE in lost else "Correct its `answer`: it must give natural-log probabilities."
        says = f"{len(lost)} of {len(questions)} answers in {case.dtype} are unusable: {', '.join(sorted(set(lost)))}."
        yield Finding("numbers", UNFIT, says, do)
    elif redone := count_overflows(case.model):
        says = f"{redone} inputs overflowed in {case.dtype} and were computed again in float32."
        yield Finding("numbers", CAREFUL, says, "Measure in float32, or bfloat16.")
    else:
        yield Finding("numbers", FINE, f"All {len(questions)} answers in {case.dtype} are numbers.")


def batching(case: Case) -> Iterator[Finding]:
    """The largest difference, in nats, between answers to a question alone, in a batch, and in the reversed batch.

    A difference shows that the network attends to padding or to other inputs of the batch.
    """
    questions, together = case.ordinary
    alone = [ask(case.model, [question])[0] for question in questions]
    backwards = ask(case.model, questions[::-1])[::-1]
    far = max(_largest_difference(together, alone), _largest_difference(together, backwards))
    verdict: Verdict = FINE if far < ROUNDING[case.dtype] else CAREFUL if far < LEAKING[case.dtype] else UNFIT
    asked = f"{len(questions)} questions of unequal length, alone, together and in reverse"
    do = "Measure with `batch_size=1`, and compare only with such runs. The model may attend to padding."
    says = f"{asked}: answers differ by {_format_nats(far)} at most."
    yield Finding("batching", verdict, says, "" if verdict == FINE else do)


def half_precision(case: Case) -> Iterator[Finding]:
    """The largest difference between answers in half precision and in float32, and whether answers are finite."""
    model = case.model
    if not isinstance(model, Examined):
        raise NotChecked("half precision", "the model cannot be cast")
    if case.dtype == "float32" and not case.thorough:
        return
    questions, here = case.ordinary
    others = ("bfloat16", "float16") if case.dtype == "float32" else ("float32",)
    said: list[str] = []
    worst: Verdict = FINE
    for dtype in others:
        half = dtype if case.dtype == "float32" else case.dtype
        try:
            answers, redone = _cast_answers(model, dtype, questions)
            far = _largest_difference(here, answers)
        except (ModelError, RuntimeError) as error:  # the device may not support the precision
            said.append(str(error).strip().splitlines()[0].rstrip("."))
            continue
        no_numbers = "gives answers that are not numbers"
        said.append(f"{half} {no_numbers if math.isinf(far) else f'is {_format_nats(far)} from float32 at most'}")
        if redone := max(redone, count_overflows(model)):
            said.append(f"{half} overflowed on {redone} inputs, which were computed again in float32")
        if far > APART or redone:
            worst = CAREFUL
    do = "" if worst == FINE else "Measure in float32, the default."
    yield Finding("half precision", worst, f"{'; '.join(said)}.", do)


def _cast_answers(model: Examined, dtype: str, questions: Sequence[Question]) -> tuple[Sequence[Answer], int]:
    """The answers in another precision, and how many inputs overflowed. The cast copy is freed on return."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a CPU without bfloat16 warns at every product
        cast = model.cast(dtype)
        return cast.answer(questions), count_overflows(cast)


def _largest_difference(a: Sequence[Answer], b: Sequence[Answer]) -> float:
    """The largest difference between log-probabilities; infinite if only one answer of a pair is finite."""
    answered = ((x, y) for x, y in zip(a, b, strict=True) if is_number(x) or is_number(y))
    return max(
        (largest_difference(x, y) if is_number(x) and is_number(y) else math.inf for x, y in answered), default=0.0
    )


def _format_nats(far: float) -> str:
    return "more than any number" if math.isinf(far) else f"{far:.1g} nats"
