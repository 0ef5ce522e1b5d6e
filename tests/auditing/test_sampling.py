"""Samples keep partners together and groups in proportion; those by a budget have whole clusters of both kinds."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from evenhand import BadInput, Choice, Dataset, Pair, datasets, measures, suites
from evenhand.auditing.budget import affordable_tasks as draw_affordable
from evenhand.auditing.sampling import draw_sample
from evenhand.core.dataset import Kinds
from evenhand.core.loop import Task, questions_of
from evenhand.core.questions import Question


def test_two_hundred_items_of_becpro_are_a_hundred_pairs() -> None:
    dataset = datasets.load("becpro-en")
    items = draw_sample(dataset, 200, 0).items
    pairs = Counter(tuple(v for k, v in item.groups.items() if k not in ("gender", "person")) for item in items)
    assert set(pairs.values()) == {2}
    assert len(pairs) == 100
    groups = Counter(item.groups["prof_gender"] for item in items)
    assert set(groups) == {"male", "female", "balanced"}
    assert max(groups.values()) - min(groups.values()) <= 2


def test_sets_of_inference_keep_their_shares() -> None:
    dataset = datasets.load("nli-en")
    before, after = (
        Counter(item.groups["set"] for item in items) for items in (dataset.items, draw_sample(dataset, 300, 1).items)
    )
    assert after["pro"] == after["anti"]
    for name, n in before.items():
        assert after[name] / 300 == pytest.approx(n / len(dataset.items), abs=0.02)


def test_items_without_partners_are_drawn_one_by_one() -> None:
    dataset = datasets.load("tgb")
    items = draw_sample(dataset, 31, 0).items
    assert len(items) == 31
    assert set(Counter(item.groups["category"] for item in items).values()) <= {10, 11}


def test_a_sample_is_in_order_seeded_and_part_of_a_larger_one() -> None:
    dataset = datasets.load("becpro-en")
    order = {item.id: place for place, item in enumerate(dataset.items)}
    small, large, other = (
        [i.id for i in draw_sample(dataset, n, seed).items] for n, seed in ((50, 3), (500, 3), (50, 4))
    )
    assert small == sorted(small, key=order.__getitem__)
    assert set(small) < set(large)
    assert small != other
    assert draw_sample(dataset, 5400, 0) is dataset


def test_partners_do_not_fit_into_one() -> None:
    with pytest.raises(BadInput, match="`limit` must be at least 2"):
        draw_sample(datasets.load("becpro-en"), 1, 0)


def affordable_tasks(*given: Any) -> list[Task]:
    return draw_affordable(*given).tasks


def asked(tasks: Sequence[Task]) -> set[Question]:
    return {q for one in tasks for item in one.dataset.items for q in questions_of(item, one.measure)}


def ids(tasks: Sequence[Task]) -> dict[str, set[str]]:
    return {one.dataset.name: {item.id for item in one.dataset.items} for one in tasks}


def labels(dataset: Dataset, group: str) -> Counter[str]:
    return Counter(item.groups[group] for item in dataset.items)


def pairs(*sizes: int, controls: Sequence[int] = ()) -> list[Task]:
    """A task for each number of pairs, each of them two questions, a fifth of which are about men; and controls."""
    tasks = []
    for number, size in enumerate((*sizes, *controls)):
        of = {"control": "pairs-0"} if number >= len(sizes) else dict[str, str]()
        items = [
            Pair(f"{i}", f"{number} {i} a", f"{number} {i} b", {"about": "women" if i % 5 else "men", **of})
            for i in range(size)
        ]
        kinds = None if of else Kinds("about", ("women",), ("men",))
        tasks.append(Task(Dataset(name=f"pairs-{number}", items=items, kinds=kinds), measures.load("likelihood-lean")))
    return tasks


@pytest.mark.parametrize(
    ("suite", "kind"), [("gbef", "masked"), ("becpro", "masked"), ("nli", "nli"), ("emotions", "causal")]
)
@pytest.mark.parametrize("budget", [560, 1399])
def test_a_budget_is_kept_with_whole_clusters(suite: str, kind: str, budget: int) -> None:
    whole = suites.tasks(suite, kind=kind)
    part = affordable_tasks(whole, budget, 0)
    assert budget / 2 < len(asked(part)) <= budget
    for before, after in zip(whole, part, strict=True):
        if group := before.dataset.cluster:
            whole_clusters = labels(before.dataset, group)
            assert all(n == whole_clusters[name] for name, n in labels(after.dataset, group).items())
        if before.dataset.partners:
            assert labels(after.dataset, "gender")["female"] == labels(after.dataset, "gender")["male"]


@pytest.mark.parametrize(
    ("name", "measure", "items", "expected"),
    [
        ("becpro-en", "association", 12 * 90, {"female": 4 * 90, "male": 4 * 90, "": 4 * 90}),
        ("emotions-en", "association", 8 * 108, {"female": 4 * 108, "male": 4 * 108}),
        ("emotions-en", "association", 20 * 108, {"female": 11 * 108, "male": 9 * 108}),  # all that there are
        ("tgb", "likelihood-lean", 80, {"female": 40, "male": 40}),
        ("tgb", "likelihood-lean", 280, {"female": 170, "male": 110}),
        ("tgb", "likelihood-lean", 300, {"female": 190, "male": 110}),
    ],
)
def test_both_kinds_get_as_many_clusters_as_there_are(
    name: str, measure: str, items: int, expected: dict[str, int]
) -> None:
    dataset = datasets.load(name)
    (part,) = affordable_tasks([Task(dataset, measures.load(measure))], 2 * items, 1)
    assert dataset.kinds
    assert Counter(dataset.kinds.of(pd.DataFrame([dict(item.groups) for item in part.dataset.items]))) == expected


def test_where_the_headline_is_a_default_of_all_items_kinds_keep_their_shares() -> None:
    kinds = Kinds("about", ("women",), ("men",), headline="default")
    (task,) = pairs(1000)
    (part,) = affordable_tasks([Task(replace(task.dataset, kinds=kinds), task.measure)], 400, 0)
    assert labels(part.dataset, "about")["men"] == pytest.approx(40, abs=1)
    (part,) = affordable_tasks([task], 400, 0)
    assert labels(part.dataset, "about")["men"] == 100


def test_a_larger_budget_has_a_sample_that_contains_a_smaller_ones() -> None:
    tasks = [*pairs(200, 60, controls=(30, 10)), *suites.tasks("gbef")]
    before = dict[str, set[str]]()
    for budget in (500, 600, 900, 1300, 2000, 2100, 3100, 4500, 6300):
        now = ids(part := affordable_tasks(tasks, budget, 3))
        assert all(before.get(name, set()) <= items for name, items in now.items())
        assert len(asked(part)) <= budget
        before = now
    assert before == ids(tasks)
    assert ids(affordable_tasks(tasks, 2000, 4)) != ids(affordable_tasks(tasks, 2000, 3))


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (300, (80, 20, 30, 20)),  # controls take 100 questions whole: a third of the budget
        (600, (200, 50, 30, 20)),
        (150, (40, 10, 15, 10)),  # of which only a third is theirs
        (1100, (400, 100, 30, 20)),
    ],
)
def test_controls_are_asked_whole_where_they_fit_into_a_third(budget: int, expected: tuple[int, ...]) -> None:
    part = affordable_tasks(pairs(400, 100, controls=(30, 20)), budget, 0)
    assert [len(task.dataset.items) for task in part] == pytest.approx(expected, abs=1)


def test_many_controls_keep_their_share() -> None:
    part = affordable_tasks(pairs(50, controls=(150,)), 200, 0)
    assert [len(task.dataset.items) for task in part] == pytest.approx((25, 75), abs=1)


@pytest.mark.parametrize("seed", range(4))
def test_control_questions_of_a_sample_have_each_right_answer_about_equally_often(seed: int) -> None:
    for task in affordable_tasks(suites.tasks("choices", kind="causal"), 600, seed):
        right = Counter(item.right for item in task.dataset.items if isinstance(item, Choice))
        if task.dataset.name.endswith("-control"):
            assert max(right.values()) - min(right.values()) <= 1


def test_what_is_sent_is_counted_and_equal_things_once() -> None:
    tasks = pairs(100, 50)
    twenty = affordable_tasks(tasks, 2000, 0, lambda question: [(question, n) for n in range(20)])
    assert ids(twenty) == ids(affordable_tasks(tasks, 100, 0))
    assert ids(affordable_tasks(tasks, 150, 0, lambda question: [question.text[:-2]])) == ids(tasks)
    unasked = affordable_tasks(tasks, 10, 0, lambda q: [q] if q.text.startswith("1") else [])
    assert [len(task.dataset.items) for task in unasked] == [100, 5]  # what is not asked costs nothing


def test_a_budget_for_less_than_a_cluster_of_each_kind_is_refused_with_the_smallest_that_is_not() -> None:
    tasks = pairs(20, 40, controls=(3,))
    with pytest.raises(BadInput, match="`budget` must be at least 10"):
        affordable_tasks(tasks, 9, 0)
    part = affordable_tasks(tasks, 10, 0)
    assert [labels(task.dataset, "about") for task in part] == [{"women": 1, "men": 1}] * 2 + [{"women": 1}]
    with pytest.raises(BadInput, match="at least 540,"):
        affordable_tasks(suites.tasks("becpro"), 539, 0)
