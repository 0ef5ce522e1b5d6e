"""Pronoun blanks: the thesis's worked examples, the third pronoun, and one forward pass a sentence."""

import math

import pytest

import evenhand
from evenhand import BadInput, Blank, Fill, Pronoun, Span, Table
from evenhand.measures.pronoun import GenderAgreement, LogProbabilityBias, SingularThey
from evenhand.models.networks.masked import MaskedLM
from helpers.typed import all_of


def blank(text: str, gender: str = "", candidates: tuple[str, ...] = ("He", "She", "They")) -> Blank:
    groups = {"gender": gender} if gender else {}
    return Blank(text, text, Span(0, 3), candidates, groups)


def giving(**probabilities: dict[str, float]) -> Table:
    """A model with these probabilities, by adjective and pronoun."""
    return Table(lambda q: (math.log(probabilities[q.text.split()[-2]][q.answer]),))  # type: ignore[union-attr]


def test_the_thesis_worked_examples() -> None:
    """Section 4.2.2: (.05 + .65) / 2 = .35 and (.72 + .84) / 2 = .78."""
    model = giving(
        a={"He": 0.40, "She": 0.35}, competent={"He": 0.80, "She": 0.15}, good={"He": 0.82, "She": 0.10},
        tired={"He": 0.89, "She": 0.05},
    )  # fmt: skip
    doctor = [blank("___ is a doctor."), blank("___ is a competent doctor.")]
    dentist = [blank("___ is a good dentist."), blank("___ is a tired dentist.")]
    assert [s.value for s in evenhand.measure(model, doctor, Pronoun()).scores] == pytest.approx([0.05, 0.65])
    assert evenhand.measure(model, doctor, Pronoun()).value == pytest.approx(0.35)
    assert evenhand.measure(model, dentist, Pronoun()).value == pytest.approx(0.78)


def test_agreement_is_right_minus_wrong_for_either_gender() -> None:
    model = giving(an={"He": 0.1, "She": 0.7}, a={"He": 0.6, "She": 0.2})
    she, he = blank("___ is an actress.", "female"), blank("___ is a congressman.", "male")
    result = evenhand.measure(model, [she, he], GenderAgreement())
    assert [s.value for s in result.scores] == pytest.approx([0.6, 0.4])


def test_they_is_a_level_without_a_neutral_value() -> None:
    model = giving(a={"They": 0.03})
    assert evenhand.measure(model, [blank("___ is a doctor.")], SingularThey()).value == pytest.approx(0.03)
    assert math.isnan(SingularThey.neutral)


def test_the_log_probability_bias_takes_the_prior_away() -> None:
    def rule(q: Fill) -> tuple[float]:
        seen = {"He": 0.6, "She": 0.2} if not q.hidden else {"He": 0.3, "She": 0.1}
        return (math.log(seen[q.answer]),)

    item = Blank("1", "___ is a doctor.", Span(0, 3), ("He", "She"), {}, Span(9, 15))
    assert evenhand.measure(Table(rule), [item], LogProbabilityBias()).value == pytest.approx(0.0)  # type: ignore[arg-type]
    assert evenhand.measure(Table(rule), [item], Pronoun()).value == pytest.approx(0.4)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("item", "how", "says"),
    [
        (blank("___ left.", candidates=("He",)), Pronoun(), "needs 2 candidates"),
        (blank("___ left.", candidates=("He", "She")), SingularThey(), "needs 3 candidates"),
        (blank("___ left."), GenderAgreement(), "needs the group gender"),
        (blank("___ left."), LogProbabilityBias(), "needs the attribute"),
    ],
)
def test_a_blank_that_cannot_be_scored_is_refused(item: Blank, how: object, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        evenhand.measure(Table(lambda q: (0.0,)), [item], how)  # type: ignore[arg-type]


def test_one_forward_pass_answers_all_three_pronouns(mini_en: MaskedLM) -> None:
    items = all_of(Blank, evenhand.datasets.load("tbd").items[:50])
    questions = [q for item in items for how in (Pronoun(), SingularThey()) for q in how.ask(item)]
    assert mini_en.plan(questions).inputs == len(items)
