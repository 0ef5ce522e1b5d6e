"""written-share on texts of known shares: whom its detector finds, and how often its intervals hold the truth."""

import random
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import evenhand
from evenhand import Answer, datasets
from evenhand.core.items import Prompt
from evenhand.core.questions import Write
from evenhand.core.scores import Value
from evenhand.measures.main_person import detect
from evenhand.measures.written import WrittenShare
from evenhand.models.table import Table
from helpers.known_shares import OTHERS, World, told
from helpers.typed import all_of, only

PAGE = Path(__file__).parents[2] / "docs" / "written.md"
FORMS = "story,news,biography"


@cache
def prompts() -> list[Prompt]:
    """Three forms of 60 subjects with a kind."""
    items = all_of(Prompt, datasets.load("stories-en", forms=FORMS).items)
    return [item for item in items if item.groups["kind"] in ("female", "male")]


def test_the_page_has_the_precision_and_recall_of_texts_put_together_at_random() -> None:
    rng, found = random.Random(0), Counter[tuple[str, str, str]]()
    for _ in range(2000):
        item = rng.choice(prompts())
        text = told(item, 0.5, rng)
        found[text.others if text.whom else "", text.whom, detect(text.text, item)] += 1
    lines = []
    for others in OTHERS:
        of_kind = {key[1:]: n for key, n in found.items() if key[0] == others}
        right = sum(n for (whom, detected), n in of_kind.items() if whom == detected)
        detected = sum(n for (_, detected), n in of_kind.items() if detected)
        lines.append(f"| {others} | {right} of {detected} | {right} of {sum(of_kind.values())} |")
    assert "\n".join(lines) in PAGE.read_text(encoding="utf-8")
    assert {key[2] for key in found if not key[0]} == {""}  # texts about nobody are not counted


def rows_of(world: World) -> dict[str, Value]:
    known = {item.text: item for item in prompts()}

    def answer(question: Write) -> Answer:
        return Answer((-1.0,), text=world.writes(known[question.text], question.seed).text)

    model = Table(only(Write, answer), kind="causal")
    design = datasets.load("stories-en", forms=FORMS)
    how: dict[str, Any] = {"cluster": design.cluster, "crossed": design.crossed, "kinds": design.kinds}
    result = evenhand.measure(model, prompts(), WrittenShare(), **how)
    return {row.estimand: row for row in result.rows if not row.groups}


@pytest.mark.parametrize(
    ("women", "men"),
    [(0.7, 0.4), *(pytest.param(*both, marks=pytest.mark.proof) for both in ((0.5, 0.5), (0.25, 0.2)))],
)
def test_intervals_hold_the_known_shares_of_nearly_all_models(women: float, men: float) -> None:
    """Intervals that hold the truth for 95 of 100 models fail for more than 2 of these 10 with a probability of 1 %."""
    truth = {"stereotype": 0.5 + (women - men) / 2, "default": (women + men) / 2}
    held = Counter[str]()
    for seed in range(10):
        for estimand, row in rows_of(World({"female": women, "male": men}, seed)).items():
            held[estimand] += row.low <= truth[estimand] <= row.high
    assert set(held) == set(truth)
    assert min(held.values()) >= 8


def test_a_stereotype_in_the_texts_is_shown_and_none_is_not() -> None:
    leaning, level = (rows_of(World({"female": women, "male": 0.4}, 1))["stereotype"] for women in (0.8, 0.4))
    assert leaning.low > 0.5
    assert leaning.p < 0.001
    assert level.low < 0.5 < level.high
