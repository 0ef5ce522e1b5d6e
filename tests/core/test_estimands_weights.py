"""Stereotype and default of weighted scores by hand, in one run and in two, and what misread texts do to intervals."""

import math
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

import evenhand
from evenhand import Answer, datasets
from evenhand.core.dataset import Design, Kinds
from evenhand.core.estimands import ItemRow, estimates, rows
from evenhand.core.items import Prompt
from evenhand.core.questions import Write
from evenhand.core.scores import Value
from evenhand.measures import load
from evenhand.measures.written import FirstMentionShare, WrittenShare
from evenhand.models.table import Table
from helpers.typed import only

DESIGN = Design(("form",), "", "subject", "form", None, Kinds("kind"))
NAN = math.nan
# subject, kind, then (score, weight) in the forms x, y and z
TABLE: list[tuple[str, str, list[tuple[float, float]]]] = [
    ("nurse", "female", [(0.9, 0.8), (0.5, 0.1), (0.7, 0.4)]),
    ("nanny", "female", [(0.2, 0.9), (0.8, 0.3), (NAN, 0.0)]),
    ("mason", "male", [(0.1, 0.5), (0.6, 0.5), (0.3, 1.0)]),
    ("smith", "male", [(0.0, 0.2), (0.4, 0.9), (1.0, 0.1)]),
    ("pilot", "male", [(0.3, 0.6), (0.2, 0.2), (0.5, 0.7)]),
    ("judge", "balanced", [(1.0, 1.0), (1.0, 1.0), (1.0, 1.0)]),
]


def frame(table: Iterable[tuple[str, str, list[tuple[float, float]]]] = TABLE) -> pd.DataFrame:
    return pd.DataFrame(
        {"id": f"{form}/{subject}", "score": s, "mentioned": w, "form": form, "subject": subject, "kind": kind}
        for subject, kind, cells in table
        for form, (s, w) in zip("xyz", cells, strict=True)
    )


def with_nobody(scores: pd.DataFrame) -> pd.DataFrame:
    told = {"guest": (0.9, 0.2), "friend": (0.3, 1.0), "person": (0.6, 0.5), "visitor": (NAN, 0.0)}
    of_nobody = [
        {"id": f"free/{of}", "score": s, "mentioned": w, "form": "free", "subject": of, "kind": "none"}
        for of, (s, w) in told.items()
    ]
    return pd.concat([scores, pd.DataFrame(of_nobody)], ignore_index=True)


def by_hand(scores: pd.DataFrame, kind: str) -> float:
    """The mean over the subjects of a kind of sum(weight x score) / sum(weight)."""
    cells = defaultdict(list)
    for row in scores[scores["kind"] == kind].to_dict("records"):
        if not math.isnan(row["score"]):
            cells[row["subject"]].append((row["score"], row["mentioned"]))
    ratios: list[float] = [sum(w * s for s, w in found) / sum(w for _, w in found) for found in cells.values()]
    return sum(ratios) / len(ratios)


def main(scores: pd.DataFrame, how: Any) -> dict[str, Value]:
    return {value.estimand: value for value in estimates(scores, DESIGN, how) if not value.groups}


@pytest.mark.parametrize("how", [WrittenShare(), FirstMentionShare()], ids=["texts", "probabilities"])
def test_they_are_means_over_subjects_of_weighted_ratios_with_kinds_counting_equally(how: Any) -> None:
    nurse = (0.9 * 0.8 + 0.5 * 0.1 + 0.7 * 0.4) / 1.3
    nanny = (0.2 * 0.9 + 0.8 * 0.3) / 1.2
    assert by_hand(frame(), "female") == pytest.approx((nurse + nanny) / 2)
    women, men = by_hand(frame(), "female"), by_hand(frame(), "male")
    found = main(frame(), how)
    assert found["stereotype"].value == pytest.approx(0.5 + (women - men) / 2)
    assert found["default"].value == pytest.approx((women + men) / 2)
    for value in found.values():
        assert (value.n, value.unscored) == (14, 1)
        assert value.low < value.value < value.high


def test_weights_matter_within_a_subject_and_not_between_subjects() -> None:
    scores, scale = frame(), {"nurse": 0.1, "nanny": 1.0, "mason": 0.5, "smith": 0.2, "pilot": 0.9, "judge": 1.0}
    between = scores.assign(mentioned=scores["mentioned"] * scores["subject"].map(scale))
    within = scores.assign(mentioned=scores["mentioned"] * scores["form"].map({"x": 0.1, "y": 1.0, "z": 1.0}))
    for estimand, value in main(scores, FirstMentionShare()).items():
        assert main(between, FirstMentionShare())[estimand].value == pytest.approx(value.value)
        assert main(between, FirstMentionShare())[estimand].high == pytest.approx(value.high)
        assert main(within, FirstMentionShare())[estimand].value != pytest.approx(value.value, abs=0.01)


def test_with_equal_weights_it_is_as_without() -> None:
    class Plain(FirstMentionShare):
        weight: ClassVar[str] = ""

    scores = frame().dropna(subset="score")
    scores = scores[scores["subject"] != "nanny"].assign(mentioned=0.4)
    scores = pd.concat([scores, frame([("aunt", "female", [(0.2, 0.4), (0.8, 0.4), (0.3, 0.4)])])])
    weighted, plain = main(scores, FirstMentionShare()), main(scores, Plain())
    for estimand in ("stereotype", "default"):
        for name in ("value", "low", "high", "p"):
            assert getattr(weighted[estimand], name) == pytest.approx(getattr(plain[estimand], name))


def test_of_two_runs_each_is_weighed_by_its_own_weights() -> None:
    before = frame()
    rng = np.random.default_rng(1)
    after = before.assign(score=rng.random(len(before)), mentioned=rng.uniform(0.1, 1, len(before)))
    after.loc[after["id"] == "x/mason", "score"] = NAN  # then it counts in neither run
    both = before["score"].notna() & after["score"].notna()
    found = {}
    for row in rows(before, DESIGN, FirstMentionShare(), after=after):
        assert isinstance(row, ItemRow)
        if row.groups:
            continue  # a form by itself
        for column in ("d", "d_after"):
            means = pd.Series(row.values(column)).groupby(row.sets).mean()  # as stereotype: turned
            found[row.estimand, column] = float(means.mean())
    for column, scores in (("d", before[both]), ("d_after", after[both])):
        women, men = by_hand(scores, "female"), by_hand(scores, "male")
        assert found["stereotype", column] == pytest.approx(0.5 + (women - men) / 2)
        assert found["default", column] == pytest.approx((women + men) / 2)
    assert len(found) == 4


def test_prompts_that_name_nothing_with_a_kind_have_a_default_of_their_own() -> None:
    scores = with_nobody(frame())
    main_rows, below = main(scores, FirstMentionShare()), estimates(scores, DESIGN, FirstMentionShare())[2:]
    assert {name: v.value for name, v in main_rows.items()} == pytest.approx(
        {name: v.value for name, v in main(frame(), FirstMentionShare()).items()}  # they do not count there
    )
    (free,) = [value for value in below if value.groups == {"form": "free"}]
    assert free.estimand == "default"
    assert free.value == pytest.approx((0.9 + 0.3 + 0.6) / 3)  # each subject has one prompt
    assert (free.n, free.unscored) == (3, 1)
    assert free.low < free.value < free.high

    class Plain(FirstMentionShare):
        weight: ClassVar[str] = ""

    assert {"form": "free"} not in [value.groups for value in estimates(scores, DESIGN, Plain())]


def test_the_unconditioned_prompts_of_stories_are_such() -> None:
    data, rng = datasets.load("stories-en"), np.random.default_rng(2)
    scores = pd.DataFrame(
        {"id": i.id, "score": rng.random(), "mentioned": rng.uniform(0.2, 1), **i.groups} for i in data.items
    )
    found = estimates(scores, Design.of(data), load("written-share"))
    assert [(v.estimand, v.n) for v in found if not v.groups] == [("stereotype", 420), ("default", 420)]
    (row,) = [v for v in found if v.groups == {"form": "unconditioned"}]
    assert (row.estimand, row.n) == ("default", 10)
    assert row.value == pytest.approx(scores[scores["form"] == "unconditioned"]["score"].mean())


Misread = tuple[tuple[int, int], ...]
NONE: Misread = ((0, 0), (0, 0))


def misreading(found: Misread) -> Any:
    class Misreading(WrittenShare):
        misread: ClassVar[Misread] = found

    return Misreading()


def world(rng: np.random.Generator, women: float, men: float, spread: float = 0.2, n: int = 12) -> pd.DataFrame:
    """Scores around these shares of women, by kind, in three forms."""
    share = {"female": women, "male": men}
    return frame(
        (f"{kind}{k}", kind, [(share[kind] + spread * rng.uniform(-1, 1), rng.uniform(0.2, 1)) for _ in "xyz"])
        for kind in share
        for k in range(n)
    )


@pytest.mark.parametrize(
    "misread", [WrittenShare.misread, ((12, 60), (0, 83)), ((0, 60), (12, 83)), ((6, 60), (6, 60))]
)
@pytest.mark.parametrize("shares", [(0.7, 0.4), (0.5, 0.5), (0.25, 0.2), (0.3, 0.6), (0.8, 0.8)])
def test_misreading_widens_and_never_narrows(misread: Misread, shares: tuple[float, float]) -> None:
    scores = world(np.random.default_rng(0), *shares)
    plain, allowed = main(scores, misreading(NONE)), main(scores, misreading(misread))
    for estimand, value in plain.items():
        wider = allowed[estimand]
        assert wider.value == value.value
        assert 0 <= wider.low <= value.low
        assert value.high <= wider.high <= 1
        assert wider.high - wider.low > value.high - value.low
        assert wider.p >= value.p


def test_it_moves_the_default_towards_what_was_hidden_and_not_the_stereotype() -> None:
    scores = world(np.random.default_rng(4), 0.7, 0.4)
    plain = main(scores, misreading(NONE))["default"]

    def moved(misread: Misread) -> tuple[float, float]:
        found = main(scores, misreading(misread))["default"]
        return plain.low - found.low, found.high - plain.high

    down, up = moved(((12, 60), (0, 60)))  # women were taken for men
    assert up > 0.05 > 0.01 > down
    down, up = moved(((0, 60), (12, 60)))
    assert down > 0.05 > 0.01 > up
    women, men = (main(scores, misreading(m))["stereotype"] for m in (((12, 60), (0, 60)), ((0, 60), (12, 60))))
    assert (women.low, women.high) == pytest.approx((men.low, men.high))


@pytest.mark.parametrize(("a", "b"), [(0.2, 0.0), (0.0, 0.2), (0.15, 0.1)])
def test_its_intervals_cover_what_the_texts_are_about(a: float, b: float) -> None:
    """Of all texts about women, a share a is taken for men's, and b of men's for women's."""
    true = {"female": 0.8, "male": 0.5}
    seen = [(1 - a) * share + b * (1 - share) for share in true.values()]
    scores = world(np.random.default_rng(5), seen[0], seen[1], spread=0.01)
    counts = ((round(a * 2000), 2000), (round(b * 2000), 2000))
    plain, allowed = main(scores, misreading(NONE)), main(scores, misreading(counts))
    for estimand, truth in (("stereotype", 0.5 + (0.8 - 0.5) / 2), ("default", (0.8 + 0.5) / 2)):
        assert not plain[estimand].low <= truth <= plain[estimand].high
        assert allowed[estimand].low <= truth <= allowed[estimand].high


@pytest.mark.parametrize("women_of_others", [0.3, 0.5, 0.7])
def test_they_cover_it_where_texts_about_nobody_are_counted(women_of_others: float) -> None:
    """A quarter of the texts that are counted are about neither or both, more or less equally often for either."""
    true = {"female": 0.85, "male": 0.65}
    seen = [0.75 * share + 0.25 * women_of_others for share in true.values()]
    scores = world(np.random.default_rng(6), seen[0], seen[1], spread=0.01)
    few = ((0, 2000), (0, 2000), (10, 40))
    plain, allowed = main(scores, misreading(NONE)), main(scores, misreading(few))
    for estimand, truth in (("stereotype", 0.5 + (0.85 - 0.65) / 2), ("default", (0.85 + 0.65) / 2)):
        assert not plain[estimand].low <= truth <= plain[estimand].high
        assert allowed[estimand].low <= truth <= allowed[estimand].high


PROMPTS = [
    Prompt(f"{form}/{of}", f"{form} {of}", ("she",), ("he",), {"form": form, "subject": of, "kind": kind})
    for form in "xy"
    for of, kind in (("a", "female"), ("b", "female"), ("c", "male"), ("d", "male"))
]
HOW: dict[str, Any] = {"by": ("form",), "cluster": "subject", "crossed": "form", "kinds": Kinds("kind")}


def test_what_a_measure_keeps_goes_through_the_loop_as_its_weight() -> None:
    """With 1 of 4 texts of the form x detected and all of y, a subject's share is that of its five texts."""

    def writes(question: Write) -> Answer:
        said = ("she" if question.seed == 0 else "it") if question.text.startswith("x") else "he"
        return Answer((-1.0,), text=said)

    result = evenhand.measure(Table(only(Write, writes), kind="causal"), PROMPTS, WrittenShare(), **HOW)
    assert result.frame["mentioned"].tolist() == [0.25] * 4 + [1.0] * 4
    assert result.frame["written"].tolist() == [["she", "it", "it", "it"]] * 4 + [["he"] * 4] * 4
    (default,) = [row for row in result.rows if row.estimand == "default" and not row.groups]
    assert default.value == pytest.approx(1 / 5)


@pytest.mark.parametrize("how", [WrittenShare(), FirstMentionShare()], ids=["texts", "probabilities"])
def test_without_any_answer_there_are_no_weights_and_no_values(how: Any) -> None:
    result = evenhand.measure(Table(lambda question: Answer.none("too long"), kind="causal"), PROMPTS, how, **HOW)
    assert result.unscored == {"too long": 8}
    assert all(math.isnan(row.value) for row in result.rows)
