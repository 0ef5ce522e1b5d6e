"""The one loop: ask, answer once, score."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.datasets.base import Dataset
from evenhand.errors import BadInput, ModelError
from evenhand.items import Item
from evenhand.measures.base import AnyItem, Measure
from evenhand.models.base import Model
from evenhand.questions import Answer, Question
from evenhand.result import Result, Score, summarised

Asked = list[tuple[Item, tuple[Question, ...]]]


@dataclass(frozen=True)
class Task:
    """A dataset, and the measure to apply to it."""

    dataset: Dataset
    measure: Measure[Any]


def measure(
    model: Model,
    items: Iterable[AnyItem],
    how: Measure[AnyItem],
    *,
    by: Sequence[str] = (),
    cluster: str = "",
    seed: int = 0,
) -> Result:
    """Score every item; the result's values are over all of them, then by the groups `by`.

    `cluster` names the group that intervals resample whole (items made from one word are not independent).
    """
    asked: Asked = _ask(items, how)
    scores = _scores(asked, _answers(model, asked), how)
    values = tuple(summarised(scores, how.summarise, by=by, cluster=cluster, seed=seed))
    return Result(model.name, model.fingerprint, "", how.name, how.version, how.neutral, scores, values)


def measure_all(model: Model, tasks: Sequence[Task], *, seed: int = 0) -> list[Result]:
    """A result for each task; all their questions go to the model in one call, each distinct one once."""
    asked = [_ask(task.dataset.items, task.measure) for task in tasks]
    answers = _answers(model, [row for rows in asked for row in rows])
    results = []
    for task, rows in zip(tasks, asked, strict=True):
        data, how = task.dataset, task.measure
        scores = _scores(rows, answers, how)
        values = tuple(summarised(scores, how.summarise, by=data.by, cluster=data.cluster, seed=seed))
        results.append(
            Result(model.name, model.fingerprint, data.name, how.name, how.version, how.neutral, scores, values)
        )
    return results


def _ask(items: Iterable[Any], how: Measure[Any]) -> Asked:
    asked = [(item, _questions(item, how)) for item in items]
    (most, times), *_ = Counter(item.id for item, _ in asked).most_common(1) or [("", 0)]
    if times > 1:
        raise BadInput(f"Each item needs an id of its own. '{most}' is the id of {times} items.")
    return asked


def _questions(item: Item, how: Measure[Any]) -> tuple[Question, ...]:
    try:
        return tuple(how.ask(item))
    except BadInput as error:
        raise BadInput(f"Item '{item.id}': {error}") from error


def _answers(model: Model, asked: Asked) -> dict[Question, Answer]:
    distinct = tuple(dict.fromkeys(question for _, questions in asked for question in questions))
    answers = model.answer(distinct) if distinct else ()
    if len(answers) != len(distinct):
        raise ModelError(
            f"'{model.name}' gave {len(answers)} answers to {len(distinct)} questions: one each is wanted."
        )
    return dict(zip(distinct, answers, strict=True))


def _scores(asked: Asked, answers: Mapping[Question, Answer], how: Measure[Any]) -> tuple[Score, ...]:
    return tuple(_score(item, [answers[q] for q in questions], how) for item, questions in asked)


def _score(item: Item, answers: Sequence[Answer], how: Measure[Any]) -> Score:
    """An item with a question unanswered is unscored: NaN, with the reason, never a number."""
    for answer in answers:
        if answer.note:
            return Score(item.id, math.nan, item.groups, answer.note)
    value = how.score(item, answers)
    if not math.isfinite(value):
        return Score(item.id, math.nan, item.groups, "not a finite number")
    return Score(item.id, value, item.groups)
