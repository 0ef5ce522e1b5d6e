"""Match imported rows of numbers with items, and score them: a row has a score or the answers to a measure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from numbers import Real
from typing import Any

import numpy as np

from evenhand.auditing.sampling import order_of_drawing, restrict_task
from evenhand.auditing.spec import AuditSpec, PlannedTask
from evenhand.core.dataset import Dataset, Datasets
from evenhand.core.foreign import number
from evenhand.core.items import Blank, Item, texts
from evenhand.core.loop import Task, questions_of, score, score_of_numbers
from evenhand.core.measure import Measures, Traits, summarising, summary_of
from evenhand.core.model import check_answer
from evenhand.core.questions import Answer, Fill, Question
from evenhand.core.scores import Score
from evenhand.core.way import UNASKED, Way
from evenhand.errors import BadInput, shorten
from evenhand.runs.record import Imported
from evenhand.stats.estimate import TOO_FAR, number_fault

SCORE = ("score",)
NAMED = 3
"""The most rows or items that a warning names."""
EXPORTED = ("id", "dataset", "version", "context")
"""The fields in every document of a task of lm-evaluation-harness that evenhand exported."""

OF_PAIRS = {"stereotype": "sent_more_score", "counterpart": "sent_less_score"}
RELEASED: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("crows-pairs", {"text": "sent_more", "other": "sent_less", **OF_PAIRS}),
    ("association", {"text": "Sentence", "score": "Pre_Assoc"}),
    ("association", {"text": "Sentence", "score": "Post_Assoc"}),
)
"""Measures, and the columns that their authors' code writes: nyu-mll/crows-pairs, marionbartl/gender-bias-BERT."""


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """The numbers of one item, which is known by `id` or `texts`; without these, by the row's place in the file.

    `where` is the line or row, for messages. An item whose row has no numbers has no score; `note` has the reason.
    """

    where: str
    numbers: tuple[float, ...]
    id: str = ""
    texts: tuple[str, ...] = ()
    note: str = ""

    @property
    def what(self) -> str:
        return repr(self.texts[0] if self.texts else self.id)


def of_release(head: Collection[str], tasks: list[PlannedTask]) -> tuple[list[PlannedTask], Mapping[str, str]]:
    """The tasks that a file of the authors' code is of, and its columns; all tasks and no columns if in doubt."""
    fits = [(measure, columns) for measure, columns in RELEASED if set(columns.values()) <= set(head)]
    measure, columns = fits[0] if len(fits) == 1 else ("", {})
    of_measure = [planned for planned in tasks if planned.task.measure.name == measure]
    return (of_measure, columns) if of_measure else (tasks, {})


def numbers(where: str, names: Sequence[str], given: Sequence[Any]) -> tuple[float, ...]:
    """The numbers of a row; none if all of its cells are empty. Raise an error if a cell is not a finite number."""
    if all(value is None or (isinstance(value, str) and not value.strip()) for value in given):
        return ()
    return tuple(_parse_number(where, name, value) for name, value in zip(names, given, strict=True))


def _parse_number(where: str, name: str, value: Any) -> float:
    message = f"{where}: {name} must be a finite number. Got {value!r}."
    try:
        if isinstance(value, bool) or not isinstance(value, str | Real) or "_" in str(value):
            raise ValueError
        number = float(value)
    except (ValueError, OverflowError):
        raise BadInput(message) from None
    if why := number_fault(number):
        message += f" It is {why}: is it damaged?" * (why == TOO_FAR)
        raise BadInput(f"{message} If the item has no score, leave its cell empty.")
    return number


def has_all(given: object, names: Sequence[str]) -> bool:
    """Whether this is an object of JSON with all of these fields."""
    return isinstance(given, dict) and given.keys() >= set(names)


def check_template(where: str, doc: Mapping[str, Any], context: str) -> None:
    """Raise an error if an exported task for a chat template was asked without one, or one for plain prompts with it.

    `context` is what the model was asked.
    """
    exported = doc["context"] if isinstance(doc["context"], list) else [doc["context"]]
    chat, plain = str((doc.get("options") or {}).get("chat")) == "True", context in exported
    if chat and plain:
        raise BadInput(f"{where}: the task asks in a chat template. Run it with --apply_chat_template.")
    if not chat and not plain:
        raise BadInput(
            f"{where}: the task asks plainly, and the model read something else. Run it without --apply_chat_template "
            "and --system_instruction, or if it has questions or stories, export it with --option chat=true."
        )


@dataclass(frozen=True)
class Foreign:
    """What the user says about imported scores: the parameters of `evenhand.from_scores`."""

    dataset: Datasets
    measure: Measures
    columns: Mapping[str, str]
    """The names that columns have in the file."""
    options: Mapping[str, Any]
    kind: str | None
    seed: int
    version: object = None
    """The version of the dataset that the log of a task states."""
    identity: str = ""
    """What a log says of the model and of how it was asked; empty if it says nothing."""

    def spec(self, dataset: Datasets, options: Mapping[str, Any]) -> AuditSpec:
        """The spec of an audit that would give these scores."""
        return AuditSpec.of(dataset=dataset, measure=self.measure, options=options, seed=self.seed)


@dataclass(frozen=True)
class Scored:
    """Tasks with the scores of their items, where the scores come from, and what tells the model from others."""

    planned: list[PlannedTask]
    scores: list[list[Score]]
    origin: Imported
    identity: str
    kind: str
    warnings: list[str]
    caveats: list[str]
    settings: str = ""
    """The settings of the model and of its generation; empty if they are not known."""
    way: Way = UNASKED
    """How the model was asked, as far as the file or the user says."""


@dataclass(frozen=True)
class Matched:
    """The row of each item (None if the item has no row), and the rows that match no item."""

    rows: list[ScoredRow | None]
    unmatched: list[ScoredRow]
    total: int = 0
    """The number of all rows; 0 if every item has at most one row, so that they can be counted."""
    in_order: int = 0
    """The number of rows whose text several items share, and whose id is none of theirs: their order decided."""

    def of(self, planned: PlannedTask) -> tuple[PlannedTask, Sequence[ScoredRow | None]]:
        """The task, whose record says if items have no row, and the row of each of its items.

        If the items with a row are those that a `limit` draws, as inspect's limit takes them, the task is on these.
        Otherwise nobody knows why the others are missing, and they have no score.
        """
        here, items = [n for n, row in enumerate(self.rows) if row is not None], planned.task.dataset.items
        if len(here) == len(items):
            return planned, self.rows
        planned = replace(planned, record=replace(planned.record, limit=len(here), partial=True))
        drawn = [n for *_, unit in order_of_drawing(planned.task.dataset, 0) for n in unit][: len(here)]
        if sorted(drawn) != here:
            return planned, self.rows
        task = restrict_task(planned.task, [items[n] for n in here])
        return replace(planned, task=task), [self.rows[n] for n in here]

    def warnings(self, dataset: Dataset, file: str) -> list[str]:
        """Sentences on the rows that match no item and the items without a row: their numbers and the first few."""
        lines = []
        if self.in_order:
            lines.append(
                f"{self.in_order:,} rows of {file} have a text that several items of {dataset.name} share, and no id "
                "of these: they were taken in the order of the file. In another order, their scores are exchanged."
            )
        if self.unmatched:
            named = [f"{row.where.rpartition(', ')[2]}: {shorten(row.what, 60)}" for row in self.unmatched[:NAMED]]
            which = "; ".join([*named, "and others"] if len(self.unmatched) > NAMED else named)
            whole = self.total or sum(row is not None for row in self.rows) + len(self.unmatched)
            lines.append(
                f"{len(self.unmatched):,} of {whole:,} rows of {file} are no items of {dataset.name}: {which}."
            )
        if missing := [repr(item.id) for item, row in zip(dataset.items, self.rows, strict=True) if row is None]:
            which = ", ".join(missing[:NAMED]) + " and others" * (len(missing) > NAMED)
            lines.append(f"{len(missing):,} of {len(self.rows):,} items of {dataset.name} are not in {file}: {which}.")
        return lines


def match(rows: Sequence[ScoredRow], dataset: Dataset, file: str) -> Matched:
    """Match rows with items: by texts if rows have these, even if ids differ; else by id; without both, in order.

    White space in texts does not count. Of items with the same text, the id decides, or else their order.
    """
    if not rows:
        raise BadInput(f"{file} has no rows.")
    if not rows[0].id and not rows[0].texts:
        if len(rows) != len(dataset.items):
            raise BadInput(
                f"{file} has {len(rows):,} numbers, and '{dataset.name}' has {len(dataset.items):,} items. Numbers "
                f"without ids or texts must be one for each item, in the order of the items.{_choice(dataset)}"
            )
        return Matched(list(rows), [])
    text_of = {item.id: _spaced(texts(item)[: len(rows[0].texts)]) for item in dataset.items}
    by_id = {item.id: item for item in dataset.items}
    by_text: dict[tuple[str, ...], list[Item]] = {}
    for candidate in dataset.items if rows[0].texts else ():
        by_text.setdefault(text_of[candidate.id], []).append(candidate)
    named = {row.id for row in rows if text_of.get(row.id) == _spaced(row.texts)}
    unnamed = {text: (item for item in same if item.id not in named) for text, same in by_text.items()}
    matched: dict[str, ScoredRow] = {}
    unmatched, in_order = [], 0
    for row in rows:
        text, item = _spaced(row.texts), by_id[row.id] if row.id in named else None
        if item is None and text in by_text:
            item = next(unnamed[text], by_text[text][0])
            in_order += len(by_text[text]) > 1
        if item is None:
            unmatched.append(row)
        elif matched.setdefault(item.id, row) is not row:
            first = matched[item.id].where
            raise BadInput(f"{row.where}: item '{item.id}' has a score already, in {first}. Give one row per item.")
    if not matched:
        row = unmatched[0]
        raise BadInput(
            f"No row of {file} is an item of '{dataset.name}'. The first row is {row.what}; the first item is "
            f"{(texts(dataset.items[0])[0] if row.texts else dataset.items[0].id)!r}. Are the rows of another dataset?"
        )
    if not any(row.numbers for row in matched.values()):
        why = next(iter(matched.values())).note or "its cells are empty"
        raise BadInput(f"{file} has no number for any item of '{dataset.name}': {why}.")
    return Matched([matched.get(item.id) for item in dataset.items], unmatched, in_order=in_order)


def _choice(dataset: Dataset) -> str:
    options = ", ".join(dataset.options)
    return f" Its options decide which items it has: {options}." if options else ""


def _spaced(texts: Sequence[str]) -> tuple[str, ...]:
    """The texts with single spaces, as datasets have them."""
    return tuple(" ".join(text.split()) for text in texts)


def same_questions(tasks: Sequence[PlannedTask]) -> list[PlannedTask]:
    """The tasks whose measures ask the same questions as the measure of the first task."""
    item = tasks[0].task.dataset.items[0]
    questions = questions_of(item, tasks[0].task.measure)
    return [planned for planned in tasks if questions_of(item, planned.task.measure) == questions]


def scores_of(
    task: Task, rows: Sequence[ScoredRow | None], file: str, names: Sequence[str], kind: str = ""
) -> list[Score]:
    """The score of each item; NaN if it has no row or its row has no number. `kind` is the kind of the model."""
    scores = []
    for item, row in zip(task.dataset.items, rows, strict=True):
        if row is None or not row.numbers:
            why = f"not in {file}" if row is None else row.note or f"no number in {file}"
            scores.append(Score(item.id, nan, item.groups, why))
        elif tuple(names) == SCORE:
            scores.append(_given_score(task, item, row))
        elif hasattr(task.measure, "of_numbers"):  # only compares the numbers, which may be on any scale
            scores.append(score_of_numbers(item, row.numbers, task.measure))
        else:
            scores.append(score(item, _answers(task, item, row, kind), task.measure))
    return scores


def _given_score(task: Task, item: Item, row: ScoredRow) -> Score:
    """The score in the row. Raise an error if it is outside the measure's bounds, which hold for single items, too."""
    given = Score(item.id, row.numbers[0], item.groups)
    with summarising(task.measure):
        value = number(summary_of(task.measure).inside(item.groups)([given]))
    low, high = Traits.of(task.measure).bounds
    if value < low or value > high:
        raise BadInput(
            f"{row.where}: a score of {task.measure.name} is from {low:g} to {high:g}. Got {row.numbers[0]:g}. "
            "Is it of another measure?"
        )
    return given


def _answers(task: Task, item: Item, row: ScoredRow, kind: str) -> list[Answer]:
    """The numbers of a row as answers to the measure's questions. Raise an error if they are no log-probabilities."""
    questions, given = questions_of(item, task.measure), row.numbers
    size = max(1, len(given) // len(questions))
    if isinstance(item, Blank) and not Traits.of(task.measure).answers:
        return _candidate_answers(questions, given, kind, row.where)
    answers = [Answer(given[at : at + size]) for at in range(0, len(given), size)]
    if len(answers) != len(questions):
        answer_names = ", ".join(Traits.of(task.measure).answers) or "a number for each option in each order"
        raise BadInput(f"{row.where}: {task.measure.name} needs {answer_names}. Got {len(given)} numbers.")
    for question, answer in zip(questions, answers, strict=True):
        if note := check_answer(question, answer).note:
            raise BadInput(
                f"{row.where}: {note}. Got {', '.join(f'{n:g}' for n in given)}. {task.measure.name} needs natural "
                "logarithms of probabilities."
            )
    return answers


def _candidate_answers(questions: Sequence[Question], given: Sequence[float], kind: str, where: str) -> list[Answer]:
    """A causal model's answers: the likelihood of the sentence with each candidate, normalised over the candidates."""
    answers = []
    for question in questions:
        if kind != "causal" or not isinstance(question, Fill) or question.hidden or len(question.among) != len(given):
            raise BadInput(
                f"{where}: likelihoods of whole sentences, one for each pronoun, can only be imported for a causal "
                "model and a measure that compares the pronouns. For other models and measures, use `evenhand audit`."
            )
        logp = given[question.among.index(question.answer)] - float(np.logaddexp.reduce(given))
        answers.append(Answer((logp,)))
    return answers
