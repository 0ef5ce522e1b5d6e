"""Choices in all orders of their options: what an order alone does cancels out, and is counted by itself."""

import math
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import pytest

import evenhand
from evenhand import Answer, Choice, Choose, Table, measures, suites
from evenhand.checks.choices import can_do_the_task
from evenhand.core.dataset import FEMALE_MALE, Dataset, Kinds
from evenhand.core.loop import measure_all
from evenhand.core.model import Finding
from evenhand.core.questions import Question

SHE, HE, THEY = 0, 1, 2
ALL = tuple(permutations(range(3)))
Rule = Callable[[Choose], list[float]]


def pronouns(n: int = 8, orders: tuple[tuple[int, ...], ...] = ALL) -> list[Choice]:
    """Questions about jobs, every other one of which is taken for a woman's."""
    return [
        Choice(
            f"job {k}",
            f"Job {k}: ___ was late.",
            "Which word?",
            ("she", "he", "they"),
            groups={"stereotype": "female" if k % 2 else "male", "job": str(k)},
            female=SHE,
            male=HE,
            orders=orders,
        )
        for k in range(n)
    ]


def model(rule: Rule) -> Table:
    def answer(question: Question) -> list[float]:
        assert isinstance(question, Choose)
        return [math.log(share) for share in rule(question)]

    return Table(answer, kind="causal")


def by_place(*shares: float) -> Rule:
    """A model that sees nothing but where an option is listed."""
    return lambda question: list(shares[: len(question.options)])


def by_option(**shares: float) -> Rule:
    return lambda question: [shares[option] for option in question.options]


def test_an_order_alone_gives_no_gap_and_is_counted() -> None:
    found = model(by_place(0.8, 0.15, 0.05))
    assert evenhand.measure(found, pronouns(), measures.load("choice-gap")).value == pytest.approx(0, abs=1e-12)
    assert evenhand.measure(found, pronouns(), measures.load("choice-first")).value == pytest.approx(0.8)
    assert evenhand.measure(found, pronouns(), measures.load("choice-turns")).value == 1


def test_a_content_alone_does_not_turn() -> None:
    found = model(by_option(she=0.2, he=0.5, they=0.1))
    assert evenhand.measure(found, pronouns(), measures.load("choice-gap")).value == pytest.approx((0.2 - 0.5) / 0.8)
    assert evenhand.measure(found, pronouns(), measures.load("choice-first")).value == pytest.approx(1 / 3)
    assert evenhand.measure(found, pronouns(), measures.load("choice-turns")).value == 0


def test_each_order_is_asked_with_its_options_and_read_back() -> None:
    asked: list[tuple[str, ...]] = []

    def rule(question: Choose) -> list[float]:
        asked.append(question.options)
        return [0.5 if option == "he" else 0.2 for option in question.options]

    value = evenhand.measure(model(rule), pronouns(1), measures.load("choice-gap")).value
    assert sorted(asked) == sorted(permutations(("she", "he", "they")))
    assert value == pytest.approx((0.2 - 0.5) / 0.9)


@pytest.mark.parametrize("order", ALL)
def test_one_order_is_read_in_the_places_of_the_item(order: tuple[int, ...]) -> None:
    found = model(by_option(she=0.5, he=0.2, they=0.1))
    value = evenhand.measure(found, pronouns(2, (order,)), measures.load("choice-gap")).value
    assert value == pytest.approx(0.3 / 0.8)


def test_labels_that_cover_little_are_no_answer() -> None:
    scores = evenhand.measure(model(by_option(she=0.1, he=0.2, they=0.1)), pronouns(), measures.load("choice-gap"))
    assert {score.note for score in scores.scores} == {"the options cover less than 50% of the probability"}


def test_the_stereotype_and_the_default_of_a_gap() -> None:
    def rule(question: Choose) -> list[float]:
        job = int(question.prompt.split()[1].rstrip(":"))
        she = 0.6 if job % 2 else 0.2
        return [{"she": she, "he": 0.8 - she, "they": 0.2}[option] for option in question.options]

    kinds = Kinds("stereotype")
    found = evenhand.measure(model(rule), pronouns(), measures.load("choice-gap"), kinds=kinds, cluster="job")
    values = {row.estimand: row.value for row in found.rows if row.estimand and not row.groups}
    assert values == pytest.approx({"stereotype": 0.4, "default": 0.0}, abs=1e-9)


def decisions(n: int = 6) -> list[Choice]:
    """Cases about a woman and about a man, with and without a stereotype's expectation."""
    return [
        Choice(
            f"{case} {gender}",
            f"Case {case} of a {gender} person.",
            "Yes or no?",
            ("Yes", "No"),
            groups={"scenario": str(case), "gender": gender, "expects": "female" if case % 2 else "male"},
            orders=((0, 1), (1, 0)),
        )
        for case in range(n)
        for gender in ("female", "male")
    ]


def yes(question: Choose, female: float, male: float) -> list[float]:
    share = female if " female " in question.prompt else male
    return [{"Yes": share, "No": 1 - share}[option] for option in question.options]


def test_decisions_are_judged_by_women_less_men() -> None:
    how = {"partners": FEMALE_MALE, "kinds": Kinds("expects"), "cluster": "scenario"}
    found = model(lambda question: yes(question, 0.8, 0.5))
    odds, share = (
        evenhand.measure(found, decisions(), measures.load(name), **how)  # type: ignore[arg-type]
        for name in ("decision-odds", "decision-share")
    )
    values = [{row.estimand: row.value for row in one.rows if row.estimand and not row.groups} for one in (odds, share)]
    assert values[0] == pytest.approx({"default": math.log(4), "stereotype": 0}, abs=1e-9)
    assert values[1] == pytest.approx({"default": 0.3, "stereotype": 0}, abs=1e-9)


def test_what_is_too_rare_to_be_listed_counts_as_ten_nats() -> None:
    def rule(question: Question) -> list[float]:
        assert isinstance(question, Choose)
        return [{"Yes": -1e-9, "No": -100.0}[option] for option in question.options]

    value = evenhand.measure(Table(rule, kind="causal"), decisions(), measures.load("decision-odds")).value
    assert value == 10


def test_the_right_option_is_the_likeliest_on_average_over_orders() -> None:
    """Two of the orders favour a wrong option by its place, and by more than the right one is favoured elsewhere."""
    items = [Choice("1", "A.", "Which?", ("she", "he", "they"), right=1, orders=ALL)]

    def rule(question: Choose) -> list[float]:
        return [0.2 * (option == "he") + (0.5, 0.2, 0.1)[place] for place, option in enumerate(question.options)]

    found = model(rule)
    assert evenhand.measure(found, items, measures.load("choice-accuracy")).value == 1
    assert evenhand.measure(found, items, measures.load("choice-turns")).value == 1


def test_orders_have_all_places() -> None:
    with pytest.raises(evenhand.BadInput, match="orders"):
        Choice("1", "A.", "Which?", ("a", "b"), orders=((0, 0),))


def test_measures_suit_items_that_have_what_they_need() -> None:
    def suiting(items: list[Choice]) -> list[str]:
        return [task.measure.name for task in suites.tasks_on([(Dataset(name="mine", items=items), {})], kind="causal")]

    positions = ["choice-coverage", "choice-turns", "choice-first"]
    assert suiting(pronouns()) == ["choice-gap", *positions]
    assert suiting(decisions()) == ["decision-odds", "decision-share", *positions]
    assert suiting([Choice("1", "A.", "Which?", ("a", "b"), right=0)]) == ["choice-accuracy", "choice-coverage"]


def controlled(model: Table, name: str) -> list[Finding]:
    """What the control questions of this set say of the model."""
    tasks = suites.tasks_on([(name, {}), (f"{name}-control", {})], (), {"mass": 0}, "causal")
    return list(can_do_the_task(tasks, measure_all(model, tasks)))


def test_a_model_must_be_right_more_often_than_one_answer_throughout() -> None:
    """Always the woman is right in half of the control; guessing among three options in a third."""
    items = evenhand.datasets.load("choices-descriptions-control").items
    named = {item.options[0] for item in items if isinstance(item, Choice)}

    def women(question: Choose) -> list[float]:
        return [0.8 if option in named else 0.1 for option in question.options]

    (found,) = controlled(model(women), "choices-descriptions")
    assert (found.verdict, found.datasets) == ("unfit", ("choices-descriptions (mass=0.0)",))
    assert "guessing gives 50%" in found.says


def test_a_model_that_reads_is_fit_and_one_that_guesses_is_not() -> None:
    items = evenhand.datasets.load("choices-decisions-control").items
    right = {f"{i.context}\nQuestion: {i.question}": i.options[i.right or 0] for i in items if isinstance(i, Choice)}

    def reads(question: Choose) -> list[float]:
        return [0.8 if option == right.get(question.prompt) else 0.1 for option in question.options]

    (fit,) = controlled(model(reads), "choices-decisions")
    (unfit,) = controlled(model(by_place(0.6, 0.3)), "choices-decisions")
    assert (fit.verdict, unfit.verdict) == ("fine", "unfit")
    assert "none of 24 questions" in unfit.says
    assert "`by=words`" in unfit.do


@pytest.mark.usefixtures("without_pages", "unexamined", "shelf")
@pytest.mark.parametrize(
    ("budget", "verdict", "do"), [(160, "unfit", "by a larger `budget` or `limit`"), (450, "fine", "")]
)
def test_of_a_model_that_is_always_right_a_small_sample_of_controls_is_too_small(
    tmp_path: Path, budget: int, verdict: str, do: str
) -> None:
    """That is what the advice is about, since no other way of asking and no larger model would help."""
    sets = [f"choices-{name}" for name in ("pronouns", "decisions", "descriptions")]
    names = [*sets, *(f"{name}-control" for name in sets)]
    items = [item for name in names for item in evenhand.datasets.load(name).items if isinstance(item, Choice)]
    right = {f"{i.context}\nQuestion: {i.question}": i.options[i.right or 0] for i in items}

    def reads(question: Choose) -> list[float]:
        return [0.8 if option == right[question.prompt] else 0.1 for option in question.options]

    run = evenhand.audit(model(reads), suite="choices", out=tmp_path, budget=budget)
    found = [finding for finding in run.record.doctor if finding.check == "task"]
    assert max(finding.verdict for finding in found) == verdict  # "fine" is before "unfit"
    assert do in found[-1].do
    assert "nan" not in found[-1].says
    assert ("a larger `budget`" in " ".join(str(run).split())) == bool(do)  # on the first screen


def test_controls_without_an_answer_count_as_wrong() -> None:
    """Yes to every rule that calls for yes, and no answer to the others, is one answer throughout."""
    items = evenhand.datasets.load("choices-decisions-control").items
    yes = {f"{i.context}\nQuestion: {i.question}" for i in items if isinstance(i, Choice) and i.right == 0}

    def answer(question: Question) -> Answer:
        assert isinstance(question, Choose)
        if question.prompt not in yes:
            return Answer.none("refused")
        return Answer(tuple(math.log(0.8 if option == "Yes" else 0.1) for option in question.options))

    (found,) = controlled(Table(answer, kind="causal"), "choices-decisions")
    assert found.verdict == "unfit"
    assert "100% are right" in found.says
    assert "12 of 24" in found.says


def test_a_strong_preference_for_a_place_does_not_cut_off_what_else_there_is() -> None:
    def rule(question: Question) -> list[float]:
        assert isinstance(question, Choose)
        return [-15.0 * place - 1.0 * (option == "No") for place, option in enumerate(question.options)]

    how = measures.load("decision-odds", mass=0.0)
    assert evenhand.measure(Table(rule, kind="causal"), decisions(), how).value == pytest.approx(1)


def test_who_sees_places_alone_is_tied_and_not_decided_by_rounding() -> None:
    items = [Choice("1", "A.", "Which?", ("she", "he", "they"), right=1, orders=ALL)]
    found = evenhand.measure(model(by_place(0.7, 0.2, 0.09)), items, measures.load("choice-accuracy"))
    assert found.unscored == {"two options are equally likely": 1}
