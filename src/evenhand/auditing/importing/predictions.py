"""Import what any classifier says of women and men, in a table: classes of people, or scores of sentences."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand.auditing.importing.row_scores import SCORE, Foreign, Scored, numbers
from evenhand.auditing.importing.texts import digest_of
from evenhand.core.dataset import Dataset
from evenhand.core.loop import score
from evenhand.datasets.files.rows import rows
from evenhand.errors import BadInput, check_known
from evenhand.measures.score_gap import Frame, ScoreGap
from evenhand.measures.tpr_gap import GENDER, GENDERS, LABEL, Prediction, TprGap, TprGapRms
from evenhand.runs.record import Imported

NEEDED, OPTIONAL = (LABEL, "prediction", GENDER), ("id", "cluster")
SCORED, DIVIDED = ("frame", SCORE[0], GENDER), ("group", "cluster")
OURS = (TprGap.name, TprGapRms.name)
GENDER_OF = {
    **dict.fromkeys(("female", "f", "woman", "women"), GENDERS[0]),
    **dict.fromkeys(("male", "m", "man", "men"), GENDERS[1]),
}
Row = tuple[str, dict[str, str]]
HINT = "Name yours with `columns`, as in label=COLUMN."


def is_of_predictions(foreign: Foreign) -> bool:
    """Whether the user names a measure of what classifiers say, and no dataset."""
    return foreign.dataset is None and any(name in (*OURS, ScoreGap.name) for name in _names(foreign))


def _names(foreign: Foreign) -> list[Any]:
    named = [foreign.measure] if isinstance(foreign.measure, str) else foreign.measure
    return list(named) if isinstance(named, list | tuple) else []


def score_predictions(source: pd.DataFrame | Path, foreign: Foreign) -> Scored:
    """The gap of each class, their mean and their root mean square; or the gap between scores of sentences."""
    file = "the data frame" if isinstance(source, pd.DataFrame) else source.name
    of_sentences = ScoreGap.name in _names(foreign)
    if others := [name for name in _names(foreign) if name not in ([ScoreGap.name] if of_sentences else OURS)]:
        raise BadInput(f"'{others[0]}' is not of this table. Import it by itself.")
    columns, optional = (SCORED, DIVIDED) if of_sentences else (NEEDED, OPTIONAL)
    if not (listed := list(_read(source, foreign.columns, columns, optional))):
        raise BadInput(f"{file} has no rows. A row needs {', '.join(columns)}.")
    dataset, warnings = _frames(listed, file) if of_sentences else _people(listed, file)
    measures = [ScoreGap.name] if of_sentences else list(OURS)
    planned = replace(foreign, measure=measures).spec(dataset, foreign.options).tasks_for("")
    scores = [[score(item, [], each.task.measure) for item in dataset.items] for each in planned]
    digest, n = digest_of(source), len(listed)
    origin = Imported(file, digest, "what a classifier says", columns, n, n)
    return Scored(planned, scores, origin, foreign.identity or digest, foreign.kind or "", warnings, [])


def _people(listed: Sequence[Row], file: str) -> tuple[Dataset, list[str]]:
    """A dataset of predictions, and a warning about classes that have no gap."""
    items = []
    for number, (_, cells) in enumerate(listed, 1):
        groups = {name: cells[name] for name in (LABEL, GENDER, "cluster") if name in cells}
        items.append(Prediction(cells.get("id") or str(number), cells["prediction"], groups))
    if not {item.predicted for item in items} & {item.groups[LABEL] for item in items}:
        got = f"Got {items[0].predicted!r} where the label is {items[0].groups[LABEL]!r}"
        raise BadInput(f"{file}: No prediction is a label. {got}. Write both in the same words.")
    by_class: dict[str, set[str]] = {}
    for item in items:
        by_class.setdefault(item.groups[LABEL], set()).add(item.groups[GENDER])
    lone = sorted(label for label, genders in by_class.items() if not genders.issuperset(GENDERS))
    about = "Predictions of a classifier for women and men of known classes."
    people = repr([(item.id, sorted(item.groups.items())) for item in items])
    digest = hashlib.sha256(people.encode(errors="surrogatepass")).hexdigest()  # other people are another dataset
    dataset = replace(_dataset("predictions", items, (LABEL,), about, file), options={"sha256": digest})
    return dataset, [f"Classes without women or without men have no gap: {', '.join(lone)}."] if lone else []


def _frames(listed: Sequence[Row], file: str) -> tuple[Dataset, list[str]]:
    """A dataset of sentences but for their person."""
    groups: dict[str, dict[str, str]] = {}
    sides: dict[str, dict[str, list[float]]] = {}
    for where, cells in listed:
        (number,) = numbers(where, SCORE, [cells[SCORE[0]]])
        of_frame = {name: cells[name] for name in DIVIDED if name in cells}
        if groups.setdefault(cells["frame"], of_frame) != of_frame:
            raise BadInput(f"{where}: the frame {cells['frame'][:60]!r} had another group or cluster before.")
        sides.setdefault(cells["frame"], {}).setdefault(cells[GENDER], []).append(number)
    items = [
        Frame(frame, tuple(by_gender.get("female", ())), tuple(by_gender.get("male", ())), groups[frame])
        for frame, by_gender in sides.items()
    ]
    by = ("group",) if "group" in items[0].groups else ()
    about = "A classifier's scores of sentences that differ in the person alone."
    others = sum(cells[GENDER] not in GENDERS for _, cells in listed)
    left_out = [f"{others:,} rows are of neither women nor men, and were left out."] if others else []
    return _dataset("scored-sentences", items, by, about, file), left_out


def _dataset(name: str, items: Sequence[Any], by: tuple[str, ...], about: str, file: str) -> Dataset:
    clustered = "cluster" if "cluster" in items[0].groups else ""
    return Dataset(name=name, items=items, by=by, cluster=clustered, about=about, source=file)


def _read(
    source: pd.DataFrame | Path, columns: Mapping[str, str], wanted: tuple[str, ...], optional: tuple[str, ...]
) -> Iterator[Row]:
    """The cells of each row by the names of their columns here, and where it is."""
    check_known("column", columns, (*wanted, *optional))
    named = {name: columns.get(name, name) for name in (*wanted, *optional)}
    needed = [named[name] for name in wanted] + [columns[name] for name in optional if name in columns]
    if isinstance(source, pd.DataFrame):
        if missing := [name for name in needed if name not in source]:
            raise BadInput(f"The data frame has no column '{missing[0]}'. {HINT}")
        records: Any = ((f"row {number}", row) for number, row in enumerate(source.to_dict("records"), 1))
    else:
        records = ((f"{source}, line {line}", row) for line, row in rows(source, needed, hint=HINT))
    for where, row in records:
        cells = {name: _cell(row.get(column)) for name, column in named.items() if column in row}
        if empty := [named[name] for name in wanted if not cells[name]]:
            raise BadInput(f"{where}: '{empty[0]}' is empty. Every row needs {', '.join(needed)}.")
        if cells.get("cluster") == "":
            raise BadInput(f"{where}: '{named['cluster']}' is empty. Every row needs one, or none has the column.")
        yield where, cells | {GENDER: GENDER_OF.get(cells[GENDER].lower(), cells[GENDER])}


def _cell(value: Any) -> str:
    return "" if value is None or value != value else str(value).strip()
