"""The loop that runs measures on a model: ask, answer each distinct question once, score."""

import math
import traceback
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from evenhand.core.contrasts import Partners, contrasts, has_contrast, pairs
from evenhand.core.dataset import Dataset
from evenhand.core.items import Item
from evenhand.core.measure import AnyItem, Measure, Traits, Unscored
from evenhand.core.model import Model, ask
from evenhand.core.questions import NOT_FINITE, Answer, Question
from evenhand.core.scores import Result, Score, Value, summarised
from evenhand.errors import BadInput

CHUNK = 12_000
"""Items asked about at once: enough for any released corpus to be one chunk, few enough to be held in memory."""


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
    within: str = "",
    cluster: str = "",
    crossed: str = "",
    partners: Partners | None = None,
    seed: int = 0,
) -> Result:
    """Score every item; the result has values for all items, then by the groups `by`, then by `within` in each.

    `cluster` names the group that intervals resample whole (items made from one word are not independent), `crossed`
    a second one. With `partners`, the result has the mean differences between them, too.
    """
    items = list(items)
    (scores,) = _scored(model, [(items, how)])
    design: dict[str, Any] = {"by": by, "within": within, "cluster": cluster, "crossed": crossed, "seed": seed}
    return _result(model, items, how, scores, partners=partners, **design)


def measure_all(model: Model, tasks: Sequence[Task], *, seed: int = 0) -> list[Result]:
    """A result for each task; all their questions go to the model together, each distinct one once."""
    everything = _scored(model, [(task.dataset.items, task.measure) for task in tasks])
    return [result(model, task, scores, seed=seed) for task, scores in zip(tasks, everything, strict=True)]


def result(model: Model, task: Task, scores: Sequence[Score], *, seed: int = 0) -> Result:
    """The result of a task whose items have these scores, in the same order."""
    data = task.dataset
    design = {name: getattr(data, name) for name in ("by", "within", "cluster", "crossed", "partners")}
    return _result(model, data.items, task.measure, tuple(scores), data.name, seed=seed, **design)


def _result(
    model: Model,
    items: Sequence[Item],
    how: Measure[Any],
    scores: tuple[Score, ...],
    dataset: str = "",
    partners: Partners | None = None,
    **design: Any,
) -> Result:
    traits = Traits.of(how)
    # Where some words call for he and others for she, values have no direction.
    mixed = traits.better == "closer" and len({item.groups.get("calls_for") for item in items} - {None}) > 1
    values = summarised(scores, how.summarise, bounds=traits.bounds, neutral=how.neutral, mixed=mixed, **design)
    found: list[Value] = []
    if partners is not None and has_contrast(how.summarise, partners):
        frame = pd.DataFrame({"id": s.id, "score": s.value, **s.groups} for s in scores)
        found = contrasts(pairs(frame, partners), partners, **{k: v for k, v in design.items() if k != "within"})
    whose = (model.name, model.fingerprint, dataset, how.name, how.version, how.neutral)
    return Result(*whose, scores, tuple(values), tuple(found))


def _scored(model: Model, work: Sequence[tuple[Sequence[Any], Measure[Any]]]) -> list[tuple[Score, ...]]:
    """The scores of each list of items by its measure.

    Questions are asked in chunks, so that a file of any size fits into memory. A chunk has the same items of every
    list, so all questions about an item, which share their inputs, go together. Chunks depend only on the items, so a
    resumed run makes the same ones.
    """
    for items in {id(items): items for items, _ in work}.values():
        _check_ids(items)
    scores: list[list[Score]] = [[] for _ in work]
    for start in range(0, max((len(items) for items, _ in work), default=0), CHUNK):
        asked = [[(item, _questions(item, how)) for item in items[start : start + CHUNK]] for items, how in work]
        distinct = list(dict.fromkeys(question for rows in asked for _, questions in rows for question in questions))
        answers = dict(zip(distinct, ask(model, distinct), strict=True))
        for mine, rows, (_, how) in zip(scores, asked, work, strict=True):
            mine += (score(item, [answers[q] for q in questions], how) for item, questions in rows)
    return [tuple(mine) for mine in scores]


def _check_ids(items: Sequence[Item]) -> None:
    (most, times), *_ = Counter(item.id for item in items).most_common(1) or [("", 0)]
    if times > 1:
        raise BadInput(f"Each item needs a unique id. '{most}' is the id of {times} items.")


def _questions(item: Item, how: Measure[Any]) -> tuple[Question, ...]:
    try:
        return tuple(how.ask(item))
    except BadInput as error:
        raise BadInput(f"Item '{item.id}': {error}") from error
    except Exception as error:
        raise _failed(item, how, error) from error


def _failed(item: Item, how: Measure[Any], error: Exception) -> Exception:
    """An error inside a measure of a user's own, as a sentence with its line; one of ours as it is."""
    if type(how).__module__.startswith("evenhand."):
        return error
    last = traceback.extract_tb(error.__traceback__)[-1]
    what = f"{type(error).__name__}: {error} ({last.filename}, line {last.lineno})"
    return BadInput(f"The measure '{how.name}' failed on item '{item.id}': {what}. Mend the measure.")


def score(item: Item, answers: Sequence[Answer], how: Measure[Any]) -> Score:
    """The item's score: NaN, with the reason, where a question has no answer."""
    for answer in answers:
        if answer.note:
            return Score(item.id, math.nan, item.groups, answer.note)
    try:
        value = how.score(item, answers)
    except Unscored as reason:
        return Score(item.id, math.nan, item.groups, str(reason))
    except Exception as error:
        raise _failed(item, how, error) from error
    if not math.isfinite(value):
        return Score(item.id, math.nan, item.groups, NOT_FINITE)
    return Score(item.id, value, item.groups)
