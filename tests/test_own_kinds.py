"""Items of a kind that is not evenhand's: a class of a user's own is measured, and its texts stand on the page."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import pytest

import evenhand
from evenhand import Answer, BadInput, Dataset, Likelihood, Span, Table
from evenhand.core.items import Groups
from evenhand.measures import MEASURES
from helpers.audited_runs import noise


@dataclass(frozen=True)
class Riddle:
    """A question with two answers, of which a stereotype gives the first."""

    id: str
    question: str
    answers: tuple[str, str]
    groups: Groups = field(default_factory=dict)

    def texts(self) -> tuple[str, str]:
        return f"{self.question} {self.answers[0]}", f"{self.question} {self.answers[1]}"

    def words_asked(self) -> list[tuple[str, Span]]:
        return [(text, Span(text.rindex(" ") + 1, len(text))) for text in self.texts()]


class Guess:
    """How much likelier the first answer is, in nats; neutral at 0."""

    name: ClassVar[str] = "guess"
    version: ClassVar[int] = 1
    neutral: ClassVar[float] = 0.0
    reading: ClassVar[str] = "above 0 the stereotype's answer is likelier"
    items: ClassVar[type] = Riddle
    summarise = evenhand.mean

    def ask(self, item: Riddle) -> tuple[Likelihood, ...]:
        return tuple(Likelihood(text) for text in item.texts())

    def score(self, item: Riddle, answers: Sequence[Answer]) -> float:
        return answers[0].logp - answers[1].logp


def riddles(n: int = 30) -> Dataset:
    items = [Riddle(str(i), f"Who repaired the {i}th engine?", ("Joe", "Ann")) for i in range(n)]
    return Dataset(name="riddles", items=items)


@pytest.fixture
def guess(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MEASURES, "guess", Guess)


def test_its_texts_stand_on_the_page_and_in_the_items(guess: None, tmp_path: Path) -> None:
    model = Table(lambda asked: Answer((noise(asked.text) - 20,)), name="toy")
    run = evenhand.audit(model, dataset=riddles(), measure=Guess(), out=tmp_path)
    assert run.items["text"].tolist() == [item.texts()[0] for item in riddles().items]  # type: ignore[attr-defined]
    page = (run.path / "report.html").read_text(encoding="utf-8")
    assert sum(f"the {i}th engine?" in page for i in range(30)) >= 5  # the strongest; a script shows all of them
    assert "guess" in page


def test_texts_that_are_none_are_an_error_that_names_the_item() -> None:
    class Broken(Riddle):
        def texts(self) -> tuple[str, str]:
            return "a text", None  # type: ignore[return-value]

    with pytest.raises(BadInput, match="item '0'.*two texts"):
        Dataset(name="riddles", items=[Broken("0", "Who?", ("Joe", "Ann"))])
