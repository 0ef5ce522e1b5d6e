"""What the studies of the thesis share: cells of tables, and notes."""

from collections.abc import Mapping
from typing import Any

from evenhand.models.loading.names import find
from evenhand.studies.reproduce.base import published, versus

TABLE_5 = (
    "Table 5: its text says that APPD comes closer to BERT-base as sentences are added. By the table 50 do not help "
    "(pregnancy -.12 -> -.09, breastfeed -.10 -> -.10), only 100 and 150 do."
)

ACROSS = ("model or column", "what")
"""What the columns of its tables are."""


def cell(
    table: str, group: str, column: str, what: str, number: float | None, found: float | Mapping[Any, Any] | None
) -> dict[str, Any]:
    """One number of a table, published and ours; ours with its interval if it has one."""
    ours = found if isinstance(found, Mapping) else {"value": found}
    return {"table": table, "group": group, "model or column": column, "what": what, **versus(number, ours)}


def column_of(name: str, numbers: Mapping[str, Any]) -> str:
    """The column of the thesis for a model, or else its own name."""
    called = find(name).name
    return next((column for column, names in numbers["models"].items() if called in names), called)


def stands_in(model: str) -> list[str]:
    """A note if the model is not the one of the thesis."""
    if column_of(model, published("barza2023")) == "BERT-base":
        return []
    return [f"Not comparable: the thesis's model is BERT-base, ours '{model}'. Compare the pattern alone."]
