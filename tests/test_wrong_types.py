"""Calls with arguments of a wrong type say what they got."""

import inspect
import pickle
from pathlib import Path
from typing import Any

import pytest

import evenhand
from evenhand import BadInput, Choose, Dataset, Entail, Fill, Follows, Gate, Likelihood, Pair, Run, Span
from evenhand.core.dataset import Kinds
from evenhand.core.typed import fits

HERE, SPAN = Path(), Span(0, 2)
CALLS: dict[str, Any] = {
    "load(5)": lambda: evenhand.load(5),  # type: ignore[call-overload]
    "load(None)": lambda: evenhand.load(None),  # type: ignore[call-overload]
    "load([])": lambda: evenhand.load([]),  # type: ignore[call-overload]
    "Run.load(5)": lambda: Run.load(5),  # type: ignore[arg-type]
    "Run.load(None)": lambda: Run.load(None),  # type: ignore[arg-type]
    "Gate.load(None)": lambda: Gate.load(None),  # type: ignore[arg-type]
    "Gate.load(5)": lambda: Gate.load(5),  # type: ignore[arg-type]
    "Gate([5])": lambda: Gate([5]),  # type: ignore[list-item]
    "Gate(5)": lambda: Gate(5),  # type: ignore[arg-type]
    "lint(5)": lambda: evenhand.lint(5),  # type: ignore[arg-type]
    "rescore(5)": lambda: evenhand.rescore(5),  # type: ignore[arg-type]
    "rescore(None)": lambda: evenhand.rescore(None),  # type: ignore[arg-type]
    "sweep(5)": lambda: evenhand.sweep(5),  # type: ignore[arg-type]
    "sweep([5])": lambda: evenhand.sweep([5]),  # type: ignore[list-item]
    "sweep(None)": lambda: evenhand.sweep(None),  # type: ignore[arg-type]
    "track(5)": lambda: evenhand.track(5),  # type: ignore[arg-type]
    "track([5])": lambda: evenhand.track([5]),  # type: ignore[list-item]
    "audit({})": lambda: evenhand.audit({}),  # type: ignore[arg-type]
    "audit(None)": lambda: evenhand.audit(None),  # type: ignore[arg-type]
    "audit(5)": lambda: evenhand.audit(5),  # type: ignore[arg-type]
    "audit(seed='a')": lambda: evenhand.audit(seed="a"),  # type: ignore[arg-type]
    "audit(dataset=5)": lambda: evenhand.audit(dataset=5),  # type: ignore[arg-type]
    "audit(options=5)": lambda: evenhand.audit(options=5),  # type: ignore[arg-type]
    "audit(gate=5)": lambda: evenhand.audit(gate=5),  # type: ignore[arg-type]
    "doctor(5)": lambda: evenhand.doctor(5),  # type: ignore[arg-type]
    "doctor(None)": lambda: evenhand.doctor(None),  # type: ignore[arg-type]
    "compare(5)": lambda: evenhand.compare(5),  # type: ignore[arg-type]
    "compare(5, 6)": lambda: evenhand.compare(5, 6),  # type: ignore[arg-type]
    "compare(None, [])": lambda: evenhand.compare(None, []),  # type: ignore[arg-type]
    "export(5)": lambda: evenhand.export(5, "csv"),  # type: ignore[arg-type]
    "export([5])": lambda: evenhand.export([5], "csv"),  # type: ignore[list-item]
    "from_scores(5)": lambda: evenhand.from_scores(5),  # type: ignore[arg-type]
    "swap(5)": lambda: evenhand.swap(5),  # type: ignore[arg-type]
    "swap(None)": lambda: evenhand.swap(None),  # type: ignore[arg-type]
    "debias(5)": lambda: evenhand.debias(5, out="x"),  # type: ignore[arg-type]
    "debias(out=5)": lambda: evenhand.debias(out=5),  # type: ignore[arg-type]
    "mean(5)": lambda: evenhand.mean(5),  # type: ignore[arg-type]
    "measure(5)": lambda: evenhand.measure(5, [Pair("a", "He.", "She.")], evenhand.LikelihoodDifference()),  # type: ignore[arg-type]
    "measure(.., 5)": lambda: evenhand.measure(evenhand.Table({}), 5, evenhand.LikelihoodDifference()),  # type: ignore[arg-type]
    "measure(.., .., 5)": lambda: evenhand.measure(evenhand.Table({}), [Pair("a", "He.", "She.")], 5),  # type: ignore[arg-type]
    "measure_all(.., 5)": lambda: evenhand.measure_all(evenhand.Table({}), 5),  # type: ignore[arg-type]
    "measure_all(.., [5])": lambda: evenhand.measure_all(evenhand.Table({}), [5]),  # type: ignore[list-item]
    "Remembering(5)": lambda: evenhand.Remembering(5, HERE),  # type: ignore[arg-type]
    "Likelihood(5)": lambda: Likelihood(5),  # type: ignore[arg-type]
    "Likelihood(None)": lambda: Likelihood(None),  # type: ignore[arg-type]
    "Likelihood(bytes)": lambda: Likelihood(b"He."),  # type: ignore[arg-type]
    "Likelihood(skip=5)": lambda: Likelihood("He.", skip=5),  # type: ignore[arg-type]
    "Likelihood(skip=[])": lambda: Likelihood("He.", skip=[SPAN]),  # type: ignore[arg-type]
    "Likelihood(skip=(5,))": lambda: Likelihood("He.", skip=(5,)),  # type: ignore[arg-type]
    "Likelihood(skip=texts)": lambda: Likelihood("He.", skip=(Span("a", 2),)),  # type: ignore[arg-type]
    "Fill(5)": lambda: Fill(5, SPAN, "He"),  # type: ignore[arg-type]
    "Fill(blank=5)": lambda: Fill("He.", 5, "He"),  # type: ignore[arg-type]
    "Fill(blank=pair)": lambda: Fill("He.", (0, 2), "He"),  # type: ignore[arg-type]
    "Fill(answer=5)": lambda: Fill("He.", SPAN, 5),  # type: ignore[arg-type]
    "Fill(among=text)": lambda: Fill("He.", SPAN, "he", among="he"),  # type: ignore[arg-type]
    "Fill(among=numbers)": lambda: Fill("He.", SPAN, "he", among=("he", 5)),  # type: ignore[arg-type]
    "Entail(5)": lambda: Entail(5, "He."),  # type: ignore[arg-type]
    "Entail(.., None)": lambda: Entail("He.", None),  # type: ignore[arg-type]
    "Follows([])": lambda: Follows([], "He."),  # type: ignore[arg-type]
    "Choose(5)": lambda: Choose(5, ("a", "b")),  # type: ignore[arg-type]
    "Choose(text)": lambda: Choose("Who?", "yes"),  # type: ignore[arg-type]
    "Choose(list)": lambda: Choose("Who?", ["a", "b"]),  # type: ignore[arg-type]
    "Choose(numbers)": lambda: Choose("Who?", ("a", 5)),  # type: ignore[arg-type]
    "Dataset(5)": lambda: Dataset(name="a", items=5),  # type: ignore[arg-type]
    "Dataset([5])": lambda: Dataset(name="a", items=[5]),  # type: ignore[list-item]
    "Dataset(generator)": lambda: Dataset(name="a", items=(item for item in "a")),  # type: ignore[arg-type]
    "Dataset(name=5)": lambda: Dataset(name=5, items=[Pair("a", "He.", "She.")]),  # type: ignore[arg-type]
    "Dataset(pair of numbers)": lambda: Dataset(name="a", items=[Pair("a", 5, 6)]),  # type: ignore[arg-type]
    "Dataset(kinds=...)": lambda: Dataset(name="a", items=[Pair("a", "He.", "She.")], kinds=Kinds("a", 5)),  # type: ignore[arg-type]
    "Triple(5)": lambda: evenhand.Triple("a", 5, "b", "c", "d"),  # type: ignore[arg-type]
    "Choice(5)": lambda: evenhand.Choice("a", 5, "b", ("c", "d"), 0),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("call", CALLS)
def test_a_wrong_type_is_bad_input_that_says_what_was_got(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match="Got "):
        CALLS[call]()
    assert not list(tmp_path.iterdir())


def test_what_was_wanted_is_said_in_short_words() -> None:
    with pytest.raises(BadInput) as error:
        evenhand.lint(5)  # type: ignore[arg-type]
    assert str(error.value) == "lint: `file` must be str or Path. Got 5."


def test_an_error_that_is_not_of_the_arguments_stays_as_it_is() -> None:
    with pytest.raises(TypeError, match="'nonsense'"):
        evenhand.audit(nonsense=1)  # type: ignore[call-arg]

    def rule(question: object) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evenhand.measure(evenhand.Table(rule), [Pair("a", "He.", "She.")], evenhand.LikelihoodDifference())


def test_public_functions_keep_their_signature_and_can_be_pickled() -> None:
    from evenhand.checks.lint import lint

    assert inspect.signature(evenhand.lint) == inspect.signature(lint)
    assert pickle.loads(pickle.dumps(evenhand.lint)) is evenhand.lint


def test_ids_may_be_numbers() -> None:
    items: Any = [Pair(1, "He.", "She.")]  # type: ignore[arg-type]
    assert Dataset(name="a", items=items).items == items


@pytest.mark.parametrize(
    ("value", "hint", "does"),
    [
        (1, float, True),
        (True, bool, True),
        ("a", str | Path, True),
        ("ab", list[str], False),
        (("a", "b"), tuple[str, ...], True),
        (("a",), tuple[str, str], False),
        ([1, "a"], list[int], False),
        (None, int | None, True),
        ("x", "quoted", True),
        (5, Any, True),
    ],
)
def test_what_fits_an_annotation(value: object, hint: object, does: bool) -> None:
    assert fits(value, hint) is does
