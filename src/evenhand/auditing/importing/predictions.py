"""Import the predictions of any classifier for people whose class and gender are known: a table, a row for each."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand.auditing.importing.row_scores import Foreign, Scored
from evenhand.auditing.importing.texts import digest_of
from evenhand.core.dataset import Dataset
from evenhand.core.loop import score
from evenhand.datasets.files.rows import rows
from evenhand.errors import BadInput, check_known
from evenhand.measures.tpr_gap import GENDER, GENDERS, LABEL, Prediction, TprGap, TprGapRms
from evenhand.runs.record import Imported

NEEDED, OPTIONAL = (LABEL, "prediction", GENDER), ("id", "cluster")
OURS = (TprGap.name, TprGapRms.name)
GENDER_OF = {
    **dict.fromkeys(("female", "f", "woman", "women"), GENDERS[0]),
    **dict.fromkeys(("male", "m", "man", "men"), GENDERS[1]),
}
HINT = "Name yours with `columns`, as in label=COLUMN."


def is_of_predictions(foreign: Foreign) -> bool:
    """Whether the user names a measure of predictions, and no dataset."""
    named = [foreign.measure] if isinstance(foreign.measure, str) else foreign.measure
    return foreign.dataset is None and isinstance(named, list | tuple) and any(name in OURS for name in named)


def score_predictions(source: pd.DataFrame | Path, foreign: Foreign) -> Scored:
    """The gap of each class, their mean and their root mean square."""
    check_known("column", foreign.columns, (*NEEDED, *OPTIONAL))
    file = "the data frame" if isinstance(source, pd.DataFrame) else source.name
    items = list(_read(source, foreign.columns))
    if not items:
        raise BadInput(f"{file} has no rows. A row needs {', '.join(NEEDED)}.")
    if not {item.predicted for item in items} & {item.groups[LABEL] for item in items}:
        got = f"Got {items[0].predicted!r} where the label is {items[0].groups[LABEL]!r}"
        raise BadInput(f"{file}: No prediction is a label. {got}. Write both in the same words.")
    clustered = "cluster" if "cluster" in items[0].groups else ""
    about = "Predictions of a classifier for women and men of known classes."
    dataset = Dataset(name="predictions", items=items, by=(LABEL,), cluster=clustered, about=about, source=file)
    planned = replace(foreign, measure=list(OURS)).spec(dataset, foreign.options).tasks_for("")
    scores = [[score(item, [], each.task.measure) for item in items] for each in planned]
    by_class: dict[str, set[str]] = {}
    for item in items:
        by_class.setdefault(item.groups[LABEL], set()).add(item.groups[GENDER])
    lone = sorted(label for label, genders in by_class.items() if not genders.issuperset(GENDERS))
    warnings = [f"Classes without women or without men have no gap: {', '.join(lone)}."] if lone else []
    digest = digest_of(source)
    origin = Imported(file, digest, "predictions", NEEDED, len(items), len(items))
    return Scored(planned, scores, origin, foreign.identity or digest, foreign.kind or "", warnings, [])


def _read(source: pd.DataFrame | Path, columns: Mapping[str, str]) -> Iterator[Prediction]:
    named = {name: columns.get(name, name) for name in (*NEEDED, *OPTIONAL)}
    needed = [named[name] for name in NEEDED] + [columns[name] for name in OPTIONAL if name in columns]
    if isinstance(source, pd.DataFrame):
        if missing := [name for name in needed if name not in source]:
            raise BadInput(f"The data frame has no column '{missing[0]}'. {HINT}")
        records: Any = ((f"row {number}", row) for number, row in enumerate(source.to_dict("records"), 1))
    else:
        records = ((f"{source}, line {line}", row) for line, row in rows(source, needed, hint=HINT))
    for number, (where, row) in enumerate(records, 1):
        cells = {name: _cell(row.get(column)) for name, column in named.items() if column in row}
        if empty := [named[name] for name in NEEDED if not cells[name]]:
            raise BadInput(f"{where}: '{empty[0]}' is empty. Every row needs {', '.join(needed)}.")
        groups = {LABEL: cells[LABEL], GENDER: GENDER_OF.get(cells[GENDER].lower(), cells[GENDER])}
        groups |= {"cluster": cells["cluster"]} if "cluster" in cells else {}
        yield Prediction(cells.get("id") or str(number), cells["prediction"], groups)


def _cell(value: Any) -> str:
    return "" if value is None or value != value else str(value).strip()
