"""The interface of models: one method, and abilities that `isinstance` detects. Also the findings of checks."""

import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from evenhand.core.foreign import foreign, is_ours
from evenhand.core.items import check_readable
from evenhand.core.questions import SURROGATE, Answer, Embed, Question, Span
from evenhand.core.shown import Shown
from evenhand.core.typed import fits
from evenhand.errors import BadInput, EvenhandError, ModelError

KINDS = ("masked", "causal", "nli", "vectors")
"""Kinds of models."""
ABILITIES = (
    "about answers ask batched_answers cannot cast chats count_tokens findings good longest mask overflowed plan "
    "reference requests spend stream tolerance"
)
"""The optional attributes of models, by the protocols here and in models.base."""


class Model(Protocol):
    """Answers a list of questions with a list of answers, in the same order."""

    @property
    def name(self) -> str:
        """The name that tables and run folders show."""

    @property
    def fingerprint(self) -> str:
        """Differs whenever an answer could (weights, tokenizer, dtype). Cached answers are stored under it."""

    def answer(self, questions: Sequence[Question]) -> Sequence[Answer]:
        """One answer for each question, in order."""


def check_model(model: Any) -> None:
    """Raise BadInput unless the object has a name, a fingerprint, a method `answer` and a known kind."""
    with foreign("The name, fingerprint or kind of the model cannot be read", model):
        names = [getattr(model, name, None) for name in ("name", "fingerprint")]
        check_readable(*map(str, names))
        for ability in () if is_ours(model) else ABILITIES.split():
            hasattr(model, ability)  # `isinstance` reads it, and so does code that no longer says whose fault it is
        if not isinstance(getattr(model, "chats", False), bool):
            raise TypeError(f"`chats` must be True or False. Got {reprlib.repr(model.chats)}")
        valid = fits(names, list[str]) and callable(getattr(model, "answer", None)) and kind_of(model) in KINDS
    if not valid:
        raise BadInput(
            "A model is a name, a folder, or an object with a `name` and a `fingerprint`, both strings, a method "
            f"`answer` and, optionally, a `kind`: {', '.join(KINDS)}. Got {reprlib.repr(model)}."
        )


def ask(model: Model, questions: Sequence[Question]) -> list[Answer]:
    """The model's answers. A missing answer with the reason replaces each answer that is not valid."""
    with foreign(f"The model '{model.name}' failed to answer", model):
        answers = model.answer(questions) if questions else ()
        try:
            if len(answers) == len(questions):
                checked = [check_answer(question, answer) for question, answer in zip(questions, answers, strict=True)]
                both = zip(questions, checked, strict=True)
                sizes = {(q.layer, len(a.numbers)) for q, a in both if isinstance(q, Embed) and not a.note}
                if len(sizes) > len(dict(sizes)):
                    some = sorted({numbers for _, numbers in sizes})[:4]
                    raise ModelError(
                        f"All vectors of a layer need the same length. '{model.name}' gave lengths {some}."
                    )
                return checked
        except EvenhandError:
            raise
        except (AttributeError, TypeError, ValueError) as error:
            got = f"Got {reprlib.repr(answers)}"
            raise ModelError(f"`answer` must return a list of `Answer`s with numbers as `logps`. {got}.") from error
        got = f"Got {len(answers)} answers to {len(questions)} questions"
        raise ModelError(f"`answer` must return one for each question. {got}.")


def check_answer(question: Question, answer: Answer) -> Answer:
    """The answer if it is valid for the question, otherwise a missing one with the reason."""
    if not isinstance(answer.note, str) or SURROGATE.search(answer.note):
        raise BadInput(f"The note of an answer must be a text, the reason if it is missing. Got {answer.note!r}.")
    if answer.note:
        return answer
    try:
        reason = question.fault(answer)
    except BaseException:
        with foreign(f"`fault` of {type(question).__name__} failed on {reprlib.repr(answer)}", question):
            raise
    return Answer.none(str(reason)) if reason else answer


@runtime_checkable
class TokenCounter(Protocol):
    """A model that can count the tokens of a word."""

    def count_tokens(self, places: Sequence[tuple[str, Span]]) -> list[int]:
        """The number of tokens in each span of its text; 0 if the tokenizer cannot represent the text."""


@runtime_checkable
class Described(Protocol):
    """A model that describes itself for the record of a run."""

    @property
    def about(self) -> Mapping[str, object]:
        """Where it came from and how it runs: source, revision, dtype, device, ..."""


def kind_of(model: Model) -> str:
    """The model's `kind`; "masked" if it has none."""
    return str(model.kind) if hasattr(model, "kind") else "masked"  # hasattr also finds what a wrapper delegates


def about(model: Model) -> dict[str, Any]:
    """The model's description of itself, if it has one."""
    with foreign(f"The model '{model.name}' failed to describe itself", model):
        return dict(model.about) if isinstance(model, Described) else {}


@dataclass(frozen=True, slots=True)
class Work:
    """Counts of the work done: questions, how many of them were cached, distinct inputs planned, batches run."""

    questions: int = 0
    kept: int = 0
    inputs: int = 0
    batches: int = 0

    def __add__(self, other: "Work") -> "Work":
        return Work(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


Verdict = Literal["fine", "careful", "unfit"]
FINE: Verdict = "fine"
CAREFUL: Verdict = "careful"
UNFIT: Verdict = "unfit"
UNCHECKED = "not checked"
"""The `check` of a finding that lists what could not be checked."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check, and what to do if it is not fine. It is about `datasets`; none means all."""

    check: str
    verdict: Verdict
    says: str
    do: str = ""
    datasets: tuple[str, ...] = ()

    def about(self, dataset: str) -> bool:
        """Whether the finding applies to the dataset."""
        return not self.datasets or dataset in self.datasets


NOT_EXAMINED = Finding(
    "examination",
    CAREFUL,
    "The doctor was left out, so it is not known whether the model is fit to be measured.",
    "Audit it again with `doctor=True`.",
)
"""The one finding of an audit whose doctor was left out. Runs are recognised by its `check`: its words may change."""


class Findings(Shown, list[Finding]):
    """What the doctor found, a list that shows itself as a table in a notebook."""
