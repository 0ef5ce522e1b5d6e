"""What every format gives: rows with a number or several, of items that are known by id, by text or by order."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

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
