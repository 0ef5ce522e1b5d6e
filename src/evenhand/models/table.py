"""A fake model that answers from a table or a rule, for tests, examples and teaching."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from evenhand.core.foreign import foreign
from evenhand.core.questions import Answer, Question
from evenhand.errors import BadInput

Rule = Callable[[Any], Answer | Sequence[float]]


class Table:
    """Answers each question by `rule`, a mapping or a function that gives numbers or an `Answer`.

    `asked` lists the questions that were asked, so that a test can count them. Without a `fingerprint`, each table has
    a fingerprint of its own, since two rules cannot be compared.
    """

    kind = "masked"

    def __init__(
        self,
        rule: Mapping[Question, Answer | Sequence[float]] | Rule,
        name: str = "table",
        fingerprint: str | None = None,
        *,
        kind: str | None = None,
    ) -> None:
        self.rule = rule
        self.name = name
        self.fingerprint = fingerprint or f"table-{uuid4().hex}"
        self.kind = kind or self.kind
        self.asked: list[Question] = []

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        self.asked += questions
        return [self._look_up(question) for question in questions]

    def _look_up(self, question: Question) -> Answer:
        if isinstance(self.rule, Mapping):
            if question not in self.rule:
                raise BadInput(f"The table has no answer to {question}. Add one, or give a function as `rule`.")
            result = self.rule[question]
        else:
            with foreign(f"The rule of the table '{self.name}' failed", self.rule):
                result = self.rule(question)
        if isinstance(result, Answer):
            return result
        try:
            return Answer(tuple(result))
        except TypeError as error:
            wanted = "must give numbers or an Answer"
            raise BadInput(f"The rule of the table '{self.name}' {wanted}. Got {result!r}.") from error
