"""Questions that are not evenhand's: vectors of a user's own model make scores, a page, a comparison and a verdict."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, make_dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import evenhand
from evenhand import (
    Answer,
    BadInput,
    Dataset,
    Gate,
    Likelihood,
    Model,
    Question,
    Remembering,
    Result,
    Rule,
    Score,
    Summary,
    Table,
)
from evenhand.core.items import Groups
from evenhand.datasets import BUILDERS
from evenhand.errors import UnfitModel
from evenhand.measures import MEASURES
from helpers.audited_runs import noise

SIZE = 16
ATTRIBUTES = ("he", "man", "father", "son"), ("she", "woman", "mother", "daughter")
TARGETS = {
    "science": ("physics", "chemistry", "astronomy", "geology", "algebra", "optics"),
    "arts": ("poetry", "dance", "sculpture", "opera", "drama", "ballet"),
}


@dataclass(frozen=True)
class Embed(Question):
    """Asks for the vector of a text."""

    text: str


@dataclass(frozen=True)
class Target:
    """A word of one of two sets, to be compared with two sets of attributes (Caliskan et al. 2017)."""

    id: str
    attributes: tuple[tuple[str, ...], tuple[str, ...]]
    groups: Groups = field(default_factory=dict)

    def texts(self) -> tuple[str, str]:
        return self.id, ""


class EffectSize(Summary):
    """By how many standard deviations the two sets differ; the test draws all partitions into sets of their sizes."""

    def __call__(self, scores: Sequence[Score]) -> float:
        sets = [[s.value for s in scores if s.groups["set"] == name] for name in TARGETS]
        spread = np.std([s.value for s in scores], ddof=1) if len(scores) > 1 else 0.0
        return float((np.mean(sets[0]) - np.mean(sets[1])) / spread) if all(sets) and spread else math.nan

    def interval_and_test(self, sample: Any) -> Any:
        low, high, *_ = super().interval_and_test(sample)
        return low, high, self.p(sample.scores)

    def p(self, scores: Sequence[Score]) -> float:
        values = np.array([s.value for s in scores])
        first = [s.groups["set"] == "science" for s in scores]
        found = abs(values[first].sum() - values.sum() / 2)
        others = [
            abs(values[list(one)].sum() - values.sum() / 2) for one in combinations(range(len(values)), sum(first))
        ]
        return float(np.mean([other >= found - 1e-12 for other in others]))


@dataclass(frozen=True)
class Nearness:
    """How much closer the sciences are to men's words than the arts are, as an effect size; neutral at 0."""

    name: ClassVar[str] = "nearness"
    version: ClassVar[int] = 1
    neutral: ClassVar[float] = 0.0
    reading: ClassVar[str] = "above 0 the sciences are closer to men's words than the arts"
    favours: ClassVar[Any] = "none"
    items: ClassVar[type] = Target
    summarise: ClassVar[Summary] = EffectSize()

    def ask(self, item: Target) -> tuple[Embed, ...]:
        return tuple(map(Embed, (item.id, *item.attributes[0], *item.attributes[1])))

    def score(self, item: Target, answers: Sequence[Answer]) -> float:
        word, *rest = (np.array(answer.numbers) for answer in answers)
        cosines = [float(word @ other / np.linalg.norm(word) / np.linalg.norm(other)) for other in rest]
        men = len(item.attributes[0])
        return float(np.mean(cosines[:men]) - np.mean(cosines[men:]))


class Vectors:
    """A model of vectors, in which the sciences are `more` like men's words; `broken` words have no finite one."""

    def __init__(self, name: str, more: float, broken: dict[str, float] | None = None) -> None:
        self.name = self.fingerprint = name
        self.more = more
        self.broken = broken or {}
        self.asked: list[Embed] = []

    def answer(self, questions: Sequence[Any]) -> list[Answer]:
        self.asked += questions
        return [Answer(tuple(self._vector(question.text))) for question in questions]

    def _vector(self, text: str) -> np.ndarray[Any, np.dtype[np.float32]]:
        found = np.array([noise(f"{text} {n}") for n in range(SIZE)], dtype=np.float32)
        men = text in (*ATTRIBUTES[0], *TARGETS["science"])
        found[0] += self.more if men else -self.more
        found[1] = self.broken.get(text, found[1])
        return found


def words() -> Dataset:
    items = [Target(word, ATTRIBUTES, {"set": name}) for name, several in TARGETS.items() for word in several]
    return Dataset(name="words", items=items)


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MEASURES, "nearness", Nearness)
    monkeypatch.setitem(BUILDERS, "words", words)


def audited(model: Vectors, folder: Path) -> evenhand.Run:
    return evenhand.audit(model, dataset="words", measure="nearness", out=folder)


def measured(model: Model, how: Any) -> Result:
    return evenhand.measure(model, words().items, how)


def test_vectors_make_a_value_with_the_measures_own_test_and_a_page(tmp_path: Path) -> None:
    model = Vectors("leaning", 2.0)
    run = audited(model, tmp_path)
    assert len(model.asked) == len(set(model.asked)) == 12 + 8
    rows: list[dict[Any, Any]] = run.scores_of("words", "nearness").to_dict("records")
    scores = [Score(row["id"], row["score"], {"set": row["set"]}) for row in rows]
    assert len(scores) == 12
    (row,) = run.rows
    assert row.value == pytest.approx(EffectSize()(scores))
    assert row.p == EffectSize().p(scores) < 0.01
    assert row.low < row.value < row.high
    page = (run.path / "report.html").read_text(encoding="utf-8")
    assert "nearness" in page
    assert sum(word in page for several in TARGETS.values() for word in several) >= 5  # the strongest; a script: all
    assert f"{row.value:+.3f}" in page


def test_runs_of_vectors_are_compared_and_judged(tmp_path: Path) -> None:
    runs = [audited(Vectors(name, more), tmp_path) for name, more in (("even", 0.0), ("leaning", 2.0))]
    assert [row.leans for run in runs for row in run.rows] == [False, True]
    (row,) = evenhand.compare(*runs).rows
    assert row.after - row.before == pytest.approx(runs[1].rows[0].value - runs[0].rows[0].value)
    assert Gate([Rule(measure="nearness", within=3.0)]).judge(runs[1]).verdict == "pass"
    assert Gate([Rule(measure="nearness", within=0.5)]).judge(runs[1]).verdict == "fail"


def test_kept_vectors_are_read_as_they_were_answered_and_nothing_is_asked_again(tmp_path: Path) -> None:
    run = audited(Vectors("leaning", 2.0), tmp_path)
    scores = run.scores_of("words", "nearness")["score"].tolist()
    again = Vectors("leaning", 2.0)
    assert audited(again, tmp_path).scores_of("words", "nearness")["score"].tolist() == scores
    assert not again.asked
    assert evenhand.rescore(run.path).scores_of("words", "nearness")["score"].tolist() == scores
    question = Embed("physics")
    (answer,) = Remembering(Vectors("leaning", 2.0), run.path / "answers.sqlite").answer([question])
    assert answer.numbers == tuple(map(float, again._vector("physics")))
    assert min(answer.numbers) < 0 < max(answer.numbers)


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf])
def test_a_vector_that_is_not_finite_is_unscored_with_the_reason(broken: float, tmp_path: Path) -> None:
    run = audited(Vectors("broken", 2.0, {"optics": broken}), tmp_path)
    scores = run.scores_of("words", "nearness").set_index("id")["score"]
    assert scores.index[scores.isna()].tolist() == ["optics"]
    assert run.record.unscored == {"words/nearness": {"not a finite number": 1}}
    assert "not a finite number" in (run.path / "report.html").read_text(encoding="utf-8")


def test_a_vector_without_numbers_is_unscored() -> None:
    result = measured(Table(lambda asked: ()), Nearness())
    assert result.unscored == {"no numbers": 12}


def test_evenhands_own_questions_take_log_probabilities_alone() -> None:
    class Level(Nearness):
        def ask(self, item: Target) -> Any:
            return (Likelihood(item.id),)

    result = measured(Table(lambda asked: (0.5,)), Level())
    assert result.unscored == {"a log-probability above 0": 12}


@dataclass(frozen=True)
class Vector(Embed):
    """The same, by another name."""


@dataclass(frozen=True)
class Unit(Embed):
    """A text's vector, which must have length 1."""

    def fault(self, answer: Answer) -> str:
        return "" if math.isclose(math.hypot(*answer.numbers), 1.0) else "not of length 1"


def test_a_question_says_itself_what_its_answers_are() -> None:
    class Lengths(Nearness):
        def ask(self, item: Target) -> Any:
            return (Unit(item.id),)

        def score(self, item: Target, answers: Sequence[Answer]) -> float:
            return answers[0].numbers[0]

    model = Table(lambda asked: (0.6, 0.8) if asked.text == "opera" else (1.0, 1.0))
    result = measured(model, Lengths())
    assert result.unscored == {"not of length 1": 11}
    assert {score.id: score.value for score in result.scores}["opera"] == 0.6


def test_classes_of_one_name_have_kept_answers_of_their_own(tmp_path: Path) -> None:
    others = [
        make_dataclass(name, [("text", str)], bases=(Question,), frozen=True, namespace={"__module__": "other"})
        for name in ("Embed", "Likelihood")
    ]
    asked = [Embed("he"), Likelihood("he"), *(other("he") for other in others), Vector("he")]
    model = Table(lambda question: (-float(asked.index(question) + 1), 0.0), fingerprint="one")
    for _ in range(2):
        found = Remembering(model, tmp_path / "answers.sqlite").answer(asked)
        assert [answer.numbers[0] for answer in found] == [-1.0, -2.0, -3.0, -4.0, -5.0]
    assert len(model.asked) == len(asked)


@dataclass(frozen=True)
class Options:
    """What a question is asked with."""

    layer: int = 0
    scale: float = 1.0


@dataclass(frozen=True)
class Layer(Question):
    """A vector of a layer, with options of a class of its own."""

    text: str
    options: Any = ()
    ask: str = ""


def test_whatever_two_questions_differ_in_their_kept_answers_are_apart(tmp_path: Path) -> None:
    asked = [
        Layer("he"),
        Layer("he", ("a", "b")),
        Layer("he", Options(0)),
        Layer("he", Options(np.int64(1))),  # type: ignore[arg-type]
        Layer("he", Options(scale=0.5)),
        Layer("he", Options(scale=0.75)),
        Layer("he", evenhand.Span(0, 1)),
        Layer("he", ask="likelihood"),
    ]
    model = Table(lambda question: (float(asked.index(question)),), fingerprint="one")
    for _ in range(2):
        found = Remembering(model, tmp_path / "answers.sqlite").answer(asked)
        assert [answer.numbers[0] for answer in found] == list(map(float, range(len(asked))))
    with pytest.raises(BadInput, match="Got frozenset"):
        Remembering(model, tmp_path / "answers.sqlite").answer([Layer("he", frozenset("a"))])


def test_a_network_refuses_it_before_anything_is_measured(tmp_path: Path) -> None:
    with pytest.raises(UnfitModel, match="Embed"):
        evenhand.audit("mini-en", dataset="words", measure="nearness", out=tmp_path)
    assert not list(tmp_path.rglob("*.sqlite"))


def test_what_is_no_question_is_an_error_that_names_the_measure_and_the_item() -> None:
    @dataclass(frozen=True)
    class Without:
        text: str

    for given, says in (
        (Without("he"), "`ask` must return questions. Got .*Without"),
        (Embed, "`ask` must return questions. Got <class"),
        (Layer("he", ["a"]), "unhashable type: 'list'"),
    ):

        class Wrong(Nearness):
            def ask(self, item: Target, given: Any = given) -> Any:
                return (given,)

        with pytest.raises(BadInput, match=f"'nearness'.*'physics': TypeError: {says}"):
            measured(Vectors("any", 0.0), Wrong())


@pytest.mark.parametrize("error", [IndexError("nothing there"), SystemExit(0)])
def test_a_question_that_fails_to_check_an_answer_is_named(error: BaseException) -> None:
    @dataclass(frozen=True)
    class Failing(Embed):
        def fault(self, answer: Answer) -> str:
            raise error

    class Asks(Nearness):
        def ask(self, item: Target) -> Any:
            return (Failing(item.id),)

    with pytest.raises(BadInput, match=f"Failing .*Answer.*{type(error).__name__}"):
        measured(Vectors("any", 0.0), Asks())
