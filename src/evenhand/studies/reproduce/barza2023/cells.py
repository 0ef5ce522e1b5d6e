"""What the thesis's studies share: a cell of a table, and what to say of a model that stands for another."""

from collections.abc import Mapping
from typing import Any

from evenhand.models.loading.names import find
from evenhand.studies.reproduce.base import beside

TABLE_5 = (
    "Table 5: its text says that APPD comes closer to BERT-base as sentences are added. By the table 50 do not help "
    "(pregnancy -.12 -> -.09, breastfeed -.10 -> -.10), only 100 and 150 do."
)


def cell(
    table: str, group: str, column: str, what: str, number: float | None, found: float | Mapping[Any, Any] | None
) -> dict[str, Any]:
    """One number of a table, published and ours; ours with its interval where it has one."""
    row: Mapping[Any, Any] = found if isinstance(found, Mapping) else {"value": found}
    of = {"table": table, "group": group, "model or column": column, "what": what}
    return {**of, **beside(number, row["value"]), "low": row.get("low"), "high": row.get("high")}


def column_of(name: str, numbers: Mapping[str, Any]) -> str:
    """The thesis's name for a model, or its own."""
    called = find(name).name
    return next((column for column, names in numbers["models"].items() if called in names), called)


def stands_in(model: str, numbers: Mapping[str, Any]) -> str:
    """What to say where another model than the thesis's was measured; nothing otherwise."""
    if column_of(model, numbers) == "BERT-base":
        return ""
    return f"Not comparable: the thesis's model is BERT-base, ours '{model}'. Compare the pattern alone."
