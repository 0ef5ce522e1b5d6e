"""A budget says which datasets get too few items for any verdict, and which budget could lead to one."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand
from evenhand import BadInput, datasets, measures
from evenhand.auditing.budget import affordable_tasks, too_few_items
from evenhand.checks.choices import can_do_the_task
from evenhand.core.loop import Task, enough_clusters, result
from evenhand.core.scores import Score
from evenhand.stats.verdict import decide

MODEL = evenhand.Table({})
pytestmark = pytest.mark.usefixtures("without_pages", "unexamined")


def tasks_on(**by_dataset: str) -> list[Task]:
    """A task for each dataset, by its name with underscores, with this measure."""
    named = {name.replace("_", "-"): measure for name, measure in by_dataset.items()}
    return [Task(datasets.load(name), measures.load(measure)) for name, measure in named.items()]


def has_a_verdict(task: Task) -> bool:
    """Whether some value that the task is judged by gets a verdict, if scores are random."""
    rng = np.random.default_rng(0)
    scores = [Score(item.id, float(rng.choice([0.0, 0.25, 1.0])), item.groups) for item in task.dataset.items]
    found = result(MODEL, task, scores)
    values = [row for row in found.rows if row.estimand and not row.groups] or found.rows or found.estimates
    neutral = 0.0 if found.rows else found.neutral
    return any(decide(value, neutral).why == "" for value in values)


@pytest.mark.parametrize(
    ("name", "measure", "budgets"),
    [
        ("tgb", "stereotype-share", (8, 11, 12)),
        ("emotions-en", "association", (500, 1000, 2500)),
        ("choices-decisions", "decision-odds", (100, 300, 500)),
        ("tbd-gendered", "gender-agreement", (20, 51, 60)),
    ],
)
def test_a_sample_is_called_too_small_where_its_values_would_get_no_verdict(
    name: str, measure: str, budgets: Sequence[int]
) -> None:
    (whole,) = tasks_on(**{name: measure})
    told = []
    for budget in budgets:
        (task,), too_few = (drawn := affordable_tasks([whole], budget, 0)).tasks, drawn.too_few
        assert has_a_verdict(task) == enough_clusters(task.dataset.items, task) == (not too_few)
        told.append(bool(too_few))
    assert set(told) == {True, False}


def test_the_budget_that_is_named_is_the_least_that_is_enough() -> None:
    tasks = tasks_on(tgb="stereotype-share", choices_decisions="decision-odds")
    too_few = affordable_tasks(tasks, 100, 0).too_few
    assert set(too_few) == {"choices-decisions"}
    (least,) = too_few.values()
    assert affordable_tasks(tasks, least - 1, 0).too_few == too_few
    assert not affordable_tasks(tasks, least, 0).too_few


def test_a_set_needs_as_many_control_questions_as_can_show_that_a_model_does_its_task() -> None:
    tasks = tasks_on(choices_descriptions="choice-gap", choices_descriptions_control="choice-accuracy")
    too_few = affordable_tasks(tasks, 40, 0).too_few
    (least,) = too_few.values()
    for budget, fit in ((40, False), (least, True)):
        gap, control = affordable_tasks(tasks, budget, 0).tasks
        right = [
            result(MODEL, each, [Score(i.id, 1.0, i.groups) for i in each.dataset.items]) for each in (gap, control)
        ]
        (finding,) = can_do_the_task((gap, control), right)
        assert (finding.verdict == "fine" and enough_clusters(gap.dataset.items, gap)) == fit


def test_a_dataset_that_never_has_a_verdict_is_not_blamed_on_the_budget() -> None:
    tasks = tasks_on(choices_pronouns="choice-coverage")
    assert math.isnan(tasks[0].measure.neutral)
    assert not affordable_tasks(tasks, 20, 0).too_few


def test_a_refused_budget_is_told_what_verdicts_need() -> None:
    with pytest.raises(BadInput, match="at least 540, enough for one cluster of each kind; .* at least 1620. Got"):
        affordable_tasks(tasks_on(becpro_en="association"), 539, 0)


def test_it_is_said_before_anything_is_asked(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    how: dict[str, Any] = {"dataset": "tgb", "measure": "likelihood-lean", "out": tmp_path}
    evenhand.audit("mini-en", **how, budget=8)
    assert too_few_items(8, {"tgb": 12}) in caplog.messages
    assert (
        too_few_items(8, {"tgb": 12})
        == "A budget of 8 asks too few items for any verdict on tgb (at least 12 is needed)."
    )
