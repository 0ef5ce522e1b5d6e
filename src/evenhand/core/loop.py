"""The loop that runs measures on a model: ask, answer each distinct question once, score."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, is_dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from evenhand.core.dataset import Dataset, Design, Kinds, Partners, without_direction
from evenhand.core.estimands import ItemRow, estimates, judged_values
from evenhand.core.estimands import rows as rows_of
from evenhand.core.foreign import foreign, is_ours, number
from evenhand.core.items import Item, check_labels, check_readable
from evenhand.core.measure import AnyItem, Measure, Traits, Unscored, summarising, summary_of
from evenhand.core.model import Model, ask
from evenhand.core.questions import Answer, BuiltIn, Question
from evenhand.core.scores import Result, Score, clusterings, group_values
from evenhand.errors import BadInput
from evenhand.stats.estimate import number_fault
from evenhand.stats.mean_intervals import fewest_clusters
from evenhand.stats.verdict import clusters_needed

CHUNK = 12_000
"""Items whose questions are asked together: any released corpus is one chunk, and a chunk fits into memory."""


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
    kinds: Kinds | None = None,
    seed: int = 0,
) -> Result:
    """Score every item; the result has values of all items, of the groups `by`, and of `within` in each of these.

    `cluster` names the group that intervals resample whole (items made from one word are not independent), `crossed`
    a second such group. `partners` adds the mean differences between partners. `kinds`, which says which gender a
    stereotype gives to each item, adds stereotype and default.
    """
    items = list(items)
    (most, times), *_ = Counter(item.id for item in items).most_common(1) or [("", 0)]
    if times > 1:
        raise BadInput(f"Each item needs a unique id. '{most}' is the id of {times} items.")
    (scores,) = _score_all(model, [(items, how)])
    return _result(model, how, scores, Design(by, within, cluster, crossed, partners, kinds), seed)


def measure_all(model: Model, tasks: Sequence[Task], *, seed: int = 0) -> list[Result]:
    """A result for each task. The questions of all tasks go to the model together, equal ones only once."""
    everything = _score_all(model, [(task.dataset.items, task.measure) for task in tasks])
    return [result(model, task, scores, seed=seed) for task, scores in zip(tasks, everything, strict=True)]


def result(model: Model, task: Task, scores: Sequence[Score], *, seed: int = 0) -> Result:
    """The result of a task whose items have these scores, in the same order."""
    return _result(model, task.measure, tuple(scores), Design.of(task.dataset), seed, task.dataset.name)


def enough_clusters(items: Sequence[Item], task: Task) -> bool:
    """Whether these items of the task could get a verdict: if each has a score, some value has enough clusters."""
    measure, design = task.measure, Design.of(task.dataset)
    other = 1.0 if math.isnan(measure.neutral) else measure.neutral + 1  # some measures leave out neutral scores
    scores = [Score(item.id, other, item.groups) for item in items]
    frame = pd.DataFrame({"id": s.id, "score": s.value, **s.groups} for s in scores)
    agreeing, traits = design.partners is not None and design.partners.agreeing, Traits.of(measure)
    with summarising(measure):
        listed = list(rows_of(frame, design, measure))
        if means := [row for row in listed if isinstance(row, ItemRow)]:
            main = [row for row in means if row.main] or means
            return not agreeing and any(row.most_clusters >= clusters_needed(1, crossed=True) for row in main)
        unjudged = without_direction(frame, traits.better) or not traits.bounds[0] < measure.neutral < traits.bounds[1]
        if agreeing or unjudged or summary_of(measure).lacks(scores):
            return False
        groups = {tuple(item.groups.get(name, "") for name in design.by) for item in items} if design.by else ()
        needed = clusters_needed(1 + len(groups), crossed=bool(design.crossed or listed))
        return fewest_clusters(*clusterings(scores, design)) >= needed


def _result(
    model: Model, measure: Measure[Any], scores: tuple[Score, ...], design: Design, seed: int, dataset: str = ""
) -> Result:
    traits = Traits.of(measure)
    priors = {s.id: s.prior for s in scores if not math.isnan(s.prior)}
    frame = pd.DataFrame({"id": s.id, "score": s.value, **s.groups, **s.kept} for s in scores)
    with summarising(measure):
        rows = estimates(frame, design, measure, seed=seed, priors=priors)
        judged = "none" if without_direction(frame, traits.better) else judged_values(rows, design, measure)
        tested: dict[str, Any] = {"bounds": traits.bounds, "neutral": measure.neutral, "judged": judged}
        values = tuple(group_values(scores, summary_of(measure), design, seed=seed, **tested))
    source = (model.name, model.fingerprint, dataset, measure.name, measure.version, measure.neutral)
    return Result(*source, scores, values, tuple(rows))


def _score_all(model: Model, work: Sequence[tuple[Sequence[Any], Measure[Any]]]) -> list[tuple[Score, ...]]:
    """The scores of each list of items by its measure.

    Questions are asked in chunks, so that a file of any size fits into memory. A chunk has the items at the same places
    of every list, so all questions about an item, which share their inputs, go together. Chunks depend only on the
    items, so a resumed run makes the same chunks.
    """
    scores: list[list[Score]] = [[] for _ in work]
    for at in range(0, max((len(items) for items, _ in work), default=0), CHUNK):
        chunk = [[(item, questions_of(item, measure)) for item in items[at : at + CHUNK]] for items, measure in work]
        distinct = list(dict.fromkeys(question for rows in chunk for _, questions in rows for question in questions))
        answers = dict(zip(distinct, ask(model, distinct), strict=True))
        for list_scores, rows, (_, measure) in zip(scores, chunk, work, strict=True):
            list_scores += (score(item, [answers[q] for q in questions], measure) for item, questions in rows)
    return list(map(tuple, scores))


def questions_of(item: Item, measure: Measure[Any]) -> tuple[Question, ...]:
    """The questions that a measure asks about the item."""
    with foreign(f"The measure '{measure.name}' failed on item '{item.id}'", measure):
        try:
            questions = tuple(measure.ask(item))
        except BadInput as error:
            raise BadInput(f"Item '{item.id}': {error}") from error
        except Exception as error:
            if (kind := Traits.of(measure).items) and not isinstance(item, kind):
                got = f"Item '{item.id}' is of type {type(item).__name__}"
                raise BadInput(f"The measure '{measure.name}' is for items of type {kind.__name__}. {got}.") from error
            raise
        for each in questions:
            if not (isinstance(each, BuiltIn) or _is_question(each)):
                raise TypeError(f"`ask` must return questions. Got {each!r}")
            if not is_ours(measure):
                check_readable(*(text for text in astuple(each) if isinstance(text, str)))
        return questions


def _is_question(value: Any) -> bool:
    has_interface = is_dataclass(value) and not isinstance(value, type) and hasattr(value, "fault")
    if has_interface and (form := getattr(value, "stored_as", "text")) != "text" and np.dtype(str(form)).kind != "f":
        raise TypeError(f"`stored_as` must be a type of numpy's floats. Got {form!r}")
    return has_interface and hash(value) is not None  # hash raises if a field is a list: equal questions are asked once


def score(item: Item, answers: Sequence[Answer], measure: Measure[Any]) -> Score:
    """The item's score; NaN, with the reason, if an answer is missing or the measure raises `Unscored`."""
    for answer in () if getattr(measure, "takes_missing", False) else answers:
        if answer.note:
            return Score(item.id, math.nan, item.groups, answer.note)
    with foreign(f"The measure '{measure.name}' failed on item '{item.id}'", measure):
        extra = dict(measure.keep(item, answers)) if hasattr(measure, "keep") else {}
        check_labels(extra, item.groups)
        scored = replace(_score_by(item, lambda: measure.score(item, answers)), kept=extra)
        prior = None if scored.note else getattr(measure, "prior", None)
        return replace(scored, prior=number(prior(answers))) if prior else scored


def score_of_numbers(item: Item, numbers: Sequence[float], measure: Any) -> Score:
    """The item's score, by a measure that only compares numbers: its `of_numbers`."""
    with foreign(f"The measure '{measure.name}' failed on item '{item.id}'", measure):
        return _score_by(item, lambda: measure.of_numbers(*numbers))


def _score_by(item: Item, compute: Callable[[], float]) -> Score:
    """The item's score; NaN, with the reason, if it cannot be added up or `compute` raises `Unscored`."""
    try:
        value = number(compute())
        note = number_fault(value)
    except Unscored as reason:
        note = str(reason)
    return Score(item.id, math.nan if note else value, item.groups, note)
