"""Rows of scores: a number or several, of items known by id, by text or by order; and the plainest formats."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

from evenhand.core.files import from_json, read_given
from evenhand.errors import BadInput
from evenhand.stats.estimate import TOO_FAR, uncountable


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """The numbers of one item, and how it is known; without `id` and `texts`, by the row's place among all.

    `where` is the line or row, for messages. A row without numbers says that the item has no score, `note` why.
    """

    where: str
    numbers: tuple[float, ...]
    id: str = ""
    texts: tuple[str, ...] = ()
    note: str = ""

    @property
    def what(self) -> str:
        """The item as the row names it."""
        return repr(self.texts[0] if self.texts else self.id)


def numbers(where: str, names: Sequence[str], given: Sequence[Any]) -> tuple[float, ...]:
    """The numbers of a row; none if all of its cells are empty. An error for all that is not a finite number."""
    if all(value is None or (isinstance(value, str) and not value.strip()) for value in given):
        return ()
    return tuple(_number(where, name, value) for name, value in zip(names, given, strict=True))


def _number(where: str, name: str, value: Any) -> float:
    wanted = f"{where}: {name} must be a finite number. Got {value!r}."
    try:
        if isinstance(value, bool) or not isinstance(value, str | Real) or "_" in str(value):
            raise ValueError
        found = float(value)
    except (ValueError, OverflowError):
        raise BadInput(wanted) from None
    if why := uncountable(found):
        wanted += f" It is {why}: is it damaged?" * (why == TOO_FAR)
        raise BadInput(f"{wanted} If the item has no score, leave the row out or the cell empty.")
    return found


def read_column(path: Path) -> list[ScoredRow]:
    """The numbers, in order; an empty line between two of them is an error, since the order would be lost."""
    whole = read_given(path, str, "", "Give a UTF-8 text file with a number on each line.")
    found = []
    for line, text in enumerate(whole.removeprefix("\ufeff").rstrip().splitlines(), start=1):
        where = f"{path}, line {line}"
        if not text.strip():
            raise BadInput(f"{where} is empty. Each line is the score of one item, in the order of the dataset.")
        found.append(ScoredRow(where, numbers(where, ["the line"], [text])))
    return found


TASKS = ("intrasentence", "intersentence")
SHAPE = '{"intrasentence": [{"id": ..., "score": ...}, ...], "intersentence": [...]}'


def predictions(path: str | Path) -> dict[str, dict[str, float]]:
    """The score of each sentence, higher being likelier, by task and sentence id; a task may be missing.

    Such files come from eval_discriminative_models.py and eval_generative_models.py of moinnadeem/StereoSet, and from
    bias-bench, which keeps their form.
    """
    path = Path(path).expanduser()
    found = read_given(path, from_json, "StereoSet's predictions", "Give a whole file, in JSON.")
    if not isinstance(found, dict) or not set(found) & set(TASKS):
        keys = ", ".join(map(str, found)) if isinstance(found, dict) else type(found).__name__
        raise BadInput(f"'{path}' is no file of StereoSet's predictions, which looks like {SHAPE}. Got: {keys[:200]}.")
    return {task: _scores(path, task, found[task]) for task in TASKS if task in found}


def _scores(path: Path, task: str, rows: Any) -> dict[str, float]:
    if not isinstance(rows, list):
        raise BadInput(f"'{path}': {task} must be a list of sentences with id and score. Got {type(rows).__name__}.")
    scores: dict[str, float] = {}
    for number, row in enumerate(rows, start=1):
        where = f"'{path}', sentence {number} of {task}"
        if not isinstance(row, dict) or not isinstance(row.get("id"), str):
            raise BadInput(f"{where}: it needs the id of a sentence and a score. Got {str(row)[:100]!r}.")
        score = row.get("score")
        if not isinstance(score, int | float) or isinstance(score, bool) or uncountable(score):
            raise BadInput(f"{where}: the score of '{row['id']}' must be a number. Got {score!r}.")
        if row["id"] in scores:
            raise BadInput(f"{where}: the id '{row['id']}' occurred before. Each sentence has one score.")
        scores[row["id"]] = float(score)
    return scores
