"""The items behind a value, with their texts: an example, and the strongest items on either side of neutral."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from evenhand.core.words import changes
from evenhand.runs.folder import StoredRun
from evenhand.runs.record import TaskRecord
from evenhand.runs.rows import dataset_words
from evenhand.show.page.readings import MeasureWords, group

BETWEEN = " | "
"""The separator of the texts that a model has written after one prompt."""
STRONGEST = 5
"""The most items on either side that a page shows without JavaScript; its script shows all."""


@dataclass(frozen=True)
class Segment:
    """A part of a text, and whether the other text differs there."""

    text: str
    differs: bool = False


@dataclass(frozen=True)
class ShownItem:
    """An item as the page shows it: its one or two texts, its groups, its score."""

    texts: tuple[tuple[Segment, ...], ...]
    groups: str
    score: float


def with_texts(run: StoredRun, task: TaskRecord, reading: MeasureWords, pairs: pd.DataFrame | None) -> pd.DataFrame:
    """The items with their texts: columns score, text, other, finer (to rank equal scores) and the groups.

    With `pairs`, which are those of Partners.pairs, a row is a pair (female, male), and its score is the difference.
    """
    texts = run.items[run.items["dataset"] == task.dataset].set_index("id")
    if pairs is not None:
        rows = pairs.rename(columns={"difference": "score"})
        sides = [rows[f"id_{side}"].map(texts["text"]) for side in ("female", "male")]
        return rows.assign(text=sides[0], other=sides[1], finer=0.0)
    rows = run.scores_of(*task.name)
    finer = run.scores_of(task.dataset, reading.ranked).set_index("id")["score"] if reading.ranked else None
    written = [BETWEEN.join(each) if isinstance(each, Iterable) else "" for each in rows.get("written", ())]
    return rows.assign(
        text=rows["id"].map(texts["text"]),
        other=written or rows["id"].map(texts["other"]),
        finer=0.0 if finer is None else rows["id"].map(finer).fillna(0.0),
    )


def strongest(
    rows: pd.DataFrame, neutral: float, reading: MeasureWords, by: Sequence[str]
) -> tuple[list[ShownItem], list[ShownItem]]:
    """The items farthest below and farthest above the neutral value, the farthest first.

    If the measure has no neutral value, or values on one side only, they are the lowest and the highest items.
    """
    two_sided = not math.isnan(neutral) and "" not in reading.leans
    most = STRONGEST if two_sided else min(STRONGEST, int(rows["score"].notna().sum()) // 2)

    def side(*, ascending: bool) -> list[ShownItem]:
        ordered = rows.dropna(subset="score").sort_values(["score", "finer"], ascending=ascending, kind="stable")
        if two_sided:
            ordered = ordered[ordered["score"] < neutral if ascending else ordered["score"] > neutral]
        return [page_item(row, by) for row in ordered.head(most).to_dict("records")]

    return side(ascending=True), side(ascending=False)


def example(
    rows: pd.DataFrame, value: float, dataset: str, reading: MeasureWords, by: Sequence[str]
) -> ShownItem | None:
    """A typical item, whose score is nearest to the value. It is never an offensive sentence."""
    rows = rows[rows["text"].notna() & rows["score"].notna()]
    if reading.offends:
        inoffensive = dataset_words(dataset).get("harmless", {})
        for name, label in inoffensive.items():
            rows = rows[rows[name] == label] if name in rows else rows.iloc[:0]
        rows = rows if inoffensive else rows.iloc[:0]
    if rows.empty or math.isnan(value):
        return None
    # No score of 0 or 1 is typical of a share, so the example is an item with the highest one.
    typical = rows["score"].max() if set(rows["score"]) <= {0.0, 0.5, 1.0} else value
    nearest = (rows["score"] - typical).abs().to_numpy().argmin()
    return page_item(rows.iloc[nearest].to_dict(), by)


def page_item(row: Mapping[Any, Any], by: Sequence[str]) -> ShownItem:
    """An item for the page. If an older run has no texts, the item's id stands for them."""
    text, other = (row[name] if isinstance(row[name], str) else "" for name in ("text", "other"))
    groups = ", ".join(group(name, str(row[name])) for name in by if isinstance(row.get(name), str))
    if not text:
        texts: tuple[tuple[Segment, ...], ...] = ((Segment(f"item {row.get('id', row.get('id_female', ''))}"),),)
    elif other:
        texts = _mark_differences(text, other)
    else:
        texts = (_mark_candidates(text),)
    return ShownItem(texts, groups, float(row["score"]))


def _mark_differences(text: str, other: str) -> tuple[tuple[Segment, ...], tuple[Segment, ...]]:
    differences = changes(text, other)
    here = [(span.start, span.stop) for change in differences for span in change.old]
    there = [(span.start, span.stop) for change in differences for span in change.new]
    if sum(b - a for a, b in here) > len(text) / 2:  # two different texts, such as a premise and a hypothesis
        return (Segment(text),), (Segment(other),)
    return _segments(text, here), _segments(other, there)


def _mark_candidates(text: str) -> tuple[Segment, ...]:
    """The sentence with the candidates for its blank, in brackets, marked as a segment."""
    start, stop = text.find("["), text.find("]")
    return _segments(text, [(start, stop + 1)]) if 0 <= start < stop and "/" in text[start:stop] else (Segment(text),)


def _segments(text: str, spans: Sequence[tuple[int, int]]) -> tuple[Segment, ...]:
    segments, at = [], 0
    for start, stop in sorted(spans):
        segments += [Segment(text[at:start]), Segment(text[start:stop], True)]
        at = stop
    return tuple(segment for segment in (*segments, Segment(text[at:])) if segment.text)
