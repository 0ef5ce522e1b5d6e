"""Which item each row of imported scores is of: by text, by id, or by order."""

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.auditing.importing.rows import ScoredRow
from evenhand.core.dataset import Dataset
from evenhand.core.items import Item, texts
from evenhand.errors import BadInput, shortened

NAMED = 3
"""How many rows or items a warning names."""


@dataclass(frozen=True)
class Matched:
    """For each item its row, None if there is none; and the rows that are of no item."""

    rows: list[ScoredRow | None]
    left_out: list[ScoredRow]

    def warnings(self, dataset: Dataset, file: str) -> list[str]:
        """How many rows and items have no partner, and the first of them."""
        found = []
        if self.left_out:
            which = "; ".join(
                f"{row.where.rpartition(', ')[2]}: {shortened(row.what, 60)}" for row in self.left_out[:NAMED]
            )
            whole = sum(row is not None for row in self.rows) + len(self.left_out)
            more = "; and others" if len(self.left_out) > NAMED else ""
            found.append(
                f"{len(self.left_out):,} of {whole:,} rows of {file} are no items of {dataset.name}: {which}{more}."
            )
        missing = [item for item, row in zip(dataset.items, self.rows, strict=True) if row is None]
        if missing:
            named = ", ".join(repr(item.id) for item in missing[:NAMED]) + (
                " and others" if len(missing) > NAMED else ""
            )
            found.append(f"{len(missing):,} of {len(self.rows):,} items of {dataset.name} are not in {file}: {named}.")
        return found


def match(rows: Sequence[ScoredRow], dataset: Dataset, file: str) -> Matched:
    """The row of each item. A row's text decides where it has one, also if its id is another item's."""
    if not rows:
        raise BadInput(f"{file} has no rows.")
    if not rows[0].id and not rows[0].texts:
        if len(rows) != len(dataset.items):
            raise BadInput(
                f"{file} has {len(rows):,} numbers, and '{dataset.name}' {len(dataset.items):,} items. Numbers without "
                "ids or texts must be one for each item, in order."
            )
        return Matched(list(rows), [])
    finder = _Finder(dataset.items, len(rows[0].texts))
    found: dict[str, ScoredRow] = {}
    left_out = []
    for row in rows:
        item = finder.item(row)
        if item is None:
            left_out.append(row)
        elif item.id in found:
            first = found[item.id].where
            raise BadInput(f"{row.where}: item '{item.id}' has a score already, in {first}. Each may have one row.")
        else:
            found[item.id] = row
    if not found:
        row = left_out[0]
        raise BadInput(
            f"No row of {file} is an item of '{dataset.name}'. The first is {row.what}, an item is "
            f"{(texts(dataset.items[0])[0] if row.texts else dataset.items[0].id)!r}. Are they of another dataset?"
        )
    if not any(row.numbers for row in found.values()):
        why = next(iter(found.values())).note or "its cells are empty"
        raise BadInput(f"{file} has no number for any item of '{dataset.name}': {why}.")
    return Matched([found.get(item.id) for item in dataset.items], left_out)


class _Finder:
    """Finds items by id, and by as many texts as rows have."""

    def __init__(self, items: Sequence[Item], with_texts: int) -> None:
        self.by_id = {item.id: item for item in items}
        self.by_text: dict[tuple[str, ...], list[Item]] = {}
        for item in items if with_texts else ():
            self.by_text.setdefault(texts(item)[:with_texts], []).append(item)

    def item(self, row: ScoredRow) -> Item | None:
        """The item of the row, if there is one."""
        if not row.texts:
            return self.by_id.get(row.id)
        found = self.by_text.get(row.texts, [])
        if len(found) > 1:
            found = [item for item in found if item.id == row.id]
            if not found:
                raise BadInput(f"{row.where}: several items have the text {row.texts[0]!r}. Tell them apart by `id`.")
        return found[0] if found else None
