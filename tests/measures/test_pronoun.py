"""Pronoun blanks: the thesis's worked examples, the third pronoun, and one forward pass a sentence."""

import math
from dataclasses import replace

import pytest

import evenhand
from evenhand import BadInput, Blank, Fill, Pronoun, Span, Table
from evenhand.measures.pronoun import GenderAgreement, LogProbabilityBias, PronounLean, SingularThey
from evenhand.models.networks.masked import MaskedLM
from helpers.typed import all_of, only


def blank(text: str, gender: str = "", candidates: tuple[str, ...] = ("He", "She", "They")) -> Blank:
    groups = {"gender": gender} if gender else {}
    return Blank(text, text, Span(0, 3), candidates, groups)


def giving(**probabilities: dict[str, float]) -> Table:
    """A model with these probabilities, by adjective and pronoun."""
    return Table(lambda q: (math.log(probabilities[q.text.split()[-2]][q.answer]),))


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
    assert evenhand.measure(Table(rule), [item], LogProbabilityBias()).value == pytest.approx(0.0)
    assert evenhand.measure(Table(rule), [item], Pronoun()).value == pytest.approx(0.4)


def kurita(template: str, profession: str, candidates: tuple[str, ...]) -> Blank:
    """Kurita et al. write GGG for the pronoun and XXX for the profession."""
    text = template.replace("GGG", "___").replace("XXX", profession)
    start, named = text.index("___"), text.index(profession)
    return Blank(text, text, Span(start, start + 3), candidates, {}, Span(named, named + len(profession)))


KURITA = [
    ("GGG is a XXX.", "nurse", ("he", "she"), 0.146411),
    ("GGG is a XXX.", "phlebotomist", ("he", "she"), 2.246193),
    ("GGG is a XXX.", "truck driver", ("he", "she"), 3.492485),
    ("GGG is XXX.", "brave", ("he", "she"), -0.610352),
    ("GGG, XXX, left early.", "poet", ("he", "she"), 1.921331),
    ("Yesterday GGG met the XXX, who waited.", "senator", ("he", "she"), 1.090816),
    ("The XXX lost GGG keys.", "nurse", ("his", "her"), -1.504231),
    ("The XXX lost GGG keys.", "truck driver", ("his", "her"), 0.290109),
    ("As a XXX GGG should be patient.", "phlebotomist", ("he", "she"), -0.248968),
    ("XXX, said GGG.", "Teacher", ("he", "she"), 0.949146),
]
"""What BiasScorer.bias_score of keitakurita/contextual_embedding_bias_measure (18044f8) gives with mini-en."""


@pytest.mark.parametrize(("template", "profession", "candidates", "expected"), KURITA)
def test_the_released_log_probability_bias_is_that_of_the_authors_code(
    template: str, profession: str, candidates: tuple[str, ...], expected: float, mini_en: MaskedLM
) -> None:
    item = kurita(template, profession, candidates)
    assert evenhand.measure(mini_en, [item], LogProbabilityBias("vocabulary", "released")).value == pytest.approx(
        expected, abs=2e-5
    )
    assert abs(evenhand.measure(mini_en, [item], LogProbabilityBias()).value - expected) > 1e-3


def test_the_released_prior_is_read_one_place_before_the_profession() -> None:
    def rule(q: Fill) -> tuple[float]:
        places = {None: {"he": 0.4, "she": 0.2}, 7: {"he": 0.1, "she": 0.4}}
        return (math.log(places[q.read_at][q.answer]),)

    item = kurita("GGG is a XXX.", "nurse", ("he", "she"))
    assert item.text[7] == "a"
    table = Table(only(Fill, rule))
    how = LogProbabilityBias(formula="released")
    assert evenhand.measure(table, [item], how).value == pytest.approx(math.log(0.4 / 0.2) - math.log(0.1 / 0.4))
    assert evenhand.measure(table, [item], LogProbabilityBias()).value == pytest.approx(0.0)


def test_the_released_reading_is_for_masked_models() -> None:
    with pytest.raises(BadInput, match="among='candidates'"):
        LogProbabilityBias(among="candidates", formula="released")


def test_a_lean_is_pro_minus_anti_for_either_gender() -> None:
    model = giving(a={"He": 0.1, "She": 0.7}, old={"He": 0.6, "She": 0.2})
    nurse, chief = blank("___ is a nurse."), blank("___ is an old chief.")
    items = [replace(nurse, groups={"stereotyped_as": "female"}), replace(chief, groups={"stereotyped_as": "male"})]
    assert [s.value for s in evenhand.measure(model, items, PronounLean()).scores] == pytest.approx([0.6, 0.4])
    alone = evenhand.measure(model, items[:1], PronounLean()).estimates[0]
    assert math.isnan(alone.value)
    assert alone.note == "no scored items of stereotyped_as male"
    assert [s.value for s in evenhand.measure(model, items, Pronoun()).scores] == pytest.approx([-0.6, 0.4])


@pytest.mark.parametrize(
    ("item", "how", "says"),
    [
        (blank("___ left.", candidates=("He",)), Pronoun(), "2 candidates"),
        (blank("___ left.", candidates=("He", "She")), SingularThey(), "3 candidates"),
        (blank("___ left."), GenderAgreement(), "group `gender`"),
        (blank("___ left.", "female"), PronounLean(), "stereotyped_as"),
        (blank("___ left."), LogProbabilityBias(), "attribute"),
    ],
)
def test_a_blank_that_cannot_be_scored_is_refused(item: Blank, how: object, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        evenhand.measure(Table(lambda q: (0.0,)), [item], how)  # type: ignore[arg-type]


def test_one_forward_pass_answers_all_three_pronouns(mini_en: MaskedLM) -> None:
    items = all_of(Blank, evenhand.datasets.load("tbd").items[:50])
    questions = [q for item in items for how in (Pronoun(), SingularThey()) for q in how.ask(item)]
    assert mini_en.plan(questions).inputs == len(items)
