"""Table 4: what a debiased model learns from Jigsaw's toxic and severely toxic comments."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand.errors import BadInput
from evenhand.models.loading.names import DEFAULT
from evenhand.studies.corpus.learning import BASE, DEBIASED, learned
from evenhand.studies.reproduce.barza2023.tables import ACROSS, cell, stands_in
from evenhand.studies.reproduce.base import Reproduction, published

TOXIC = ("jigsaw-toxic", "jigsaw-severe-toxic")
NOTES = (
    "ASLD, mean |d| in nats on our own pairs (the thesis's were never published). The thesis says neither how many "
    "comments it took nor whether the toxic ones include the severely toxic. Ours are equal samples, and include them "
    "(`corpus=jigsaw-toxic-only` leaves them out).",
)


def reproduce(
    *,
    model: str = DEFAULT,
    corpora: Sequence[str] = TOXIC,
    debias_on: str = "gap-flipped",
    size: int | None = None,
    draws: int = 1,
    recipe: str = "default",
    limit: int | None = None,
    seed: int = 0,
    out: str | Path = "runs/reproduce",
    **loading: Any,
) -> Reproduction:
    """Debias `model`, fine-tune it on each of two `corpora` (in the thesis, toxic comments), and compare."""
    if len(corpora) != 2:
        raise BadInput(f"Table 4 compares two corpora. Got {len(corpora)}: for other numbers use `evenhand corpus`.")
    numbers = published("barza2023")["table4"]
    columns = dict(zip((BASE, DEBIASED, *corpora), ("base", "debias", "toxic", "severe_toxic"), strict=True))
    found = learned(
        {name: name for name in corpora},
        model=model,
        debias_on=debias_on,
        size=size,
        draws=draws,
        recipe=recipe,
        limit=limit,
        out=Path(out) / "corpora",
        seed=seed,
        **loading,
    )
    theirs = tuple(corpora) == TOXIC
    rows = []
    for row in found.asld.to_dict("records"):
        column = columns[row["model"]]
        comparable = theirs or row["model"] in (BASE, DEBIASED)
        number = numbers[row["group"]][column] if comparable else None
        rows.append(cell("4", row["group"], column if comparable else row["model"], "ASLD", number, row))
    for row in found.changes.to_dict("records"):
        rows.append(cell("4", row["group"], f"{row['of']} - {row['against']}", "change", None, row))
    trained = ", ".join(f"{name} {n:,}" for name, n in found.sentences.items())
    notes = [*stands_in(model), *NOTES, f"Sentences trained on: {trained}; draws: {draws}."]
    return Reproduction(pd.DataFrame(rows), notes, across=ACROSS)
