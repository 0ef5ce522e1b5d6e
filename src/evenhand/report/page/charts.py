"""The charts of one measure, for the page."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from evenhand.analysis.equalising import before_after, equalising
from evenhand.analysis.nli_labels import distribution
from evenhand.analysis.workforce import by_profession, shares
from evenhand.report import plots
from evenhand.report.page import readings
from evenhand.report.page.numbers import Number
from evenhand.report.page.section import Measured
from evenhand.report.page.svg import ACCENT, Drawing, colours, drawing
from evenhand.report.plots import COLOURS

MOST = 40
"""Groups in a chart; with more it could not be read."""
BINS = 30
NEUTRAL: dict[str, Any] = {"color": "black", "strokeDash": [2, 3]}
Found = Iterator[tuple[alt.TopLevelMixin, str]]
"""Charts with their captions."""
Dot = tuple[str, str, Number]
"""The value of one group in one series: a gender, or a run."""


def dots(values: Sequence[Dot], *, neutral: float, unit: str, between: tuple[float, float] | None) -> alt.TopLevelMixin:
    """The value of each group with its interval; in colours by series where there are several."""
    rows = pd.DataFrame(
        [(_printable(group), _printable(series), n.value, n.low, n.high) for group, series, n in values],
        columns=["group", "series", "value", "low", "high"],
    )
    groups, series = (list(dict.fromkeys(rows[name])) for name in ("group", "series"))
    groups = groups[:MOST]
    rows = rows[rows["group"].isin(groups)]
    known = COLOURS if set(series) <= set(COLOURS) else dict(zip(series, colours(len(series)), strict=True))
    scale = alt.Scale(domain=list(between)) if between else alt.Scale(zero=True)
    colour = alt.Color(
        "series:N",
        scale=alt.Scale(domain=series, range=[known[name] for name in series]),
        legend=alt.Legend(columns=1 if max(map(len, series)) > 20 else 0) if len(series) > 1 else None,
    )
    base = alt.Chart(rows).encode(
        y=alt.Y("group:N", sort=groups, title=None),
        yOffset=alt.YOffset("series:N", sort=series),
        color=colour,
    )
    bars = base.mark_rule(strokeWidth=3, opacity=0.55).encode(x=alt.X("low:Q", title=unit, scale=scale), x2="high:Q")
    points = base.mark_circle(size=70, opacity=1).encode(x=alt.X("value:Q", title=unit, scale=scale))
    layers = bars + points if math.isnan(neutral) else plots.rule_at(neutral, **NEUTRAL) + bars + points
    chart: alt.TopLevelMixin = layers.properties(width=260, height=alt.Step(max(13, 24 // len(series))))
    return chart


def histogram(scores: pd.Series, *, neutral: float, unit: str) -> alt.TopLevelMixin:
    """The number of items by score."""
    known = scores[np.isfinite(scores)]
    sizes, edges = np.histogram(known, bins=min(BINS, 5 + len(known) // 5))
    rows = pd.DataFrame({"low": edges[:-1], "high": edges[1:], "items": sizes})
    x, y = alt.X("low:Q", bin="binned", title=unit), alt.Y("items:Q", title="items")
    bars = alt.Chart(rows).mark_bar(color=ACCENT).encode(x=x, x2="high:Q", y=y)
    layers = bars if math.isnan(neutral) else bars + plots.rule_at(neutral, **NEUTRAL)
    chart: alt.TopLevelMixin = layers.properties(width=330, height=160)
    return chart


def _printable(label: str) -> str:
    """The label without control characters, which SVG does not allow."""
    return "".join(letter for letter in label if letter.isprintable())


def pictures(measured: Measured) -> list[Drawing]:
    """The charts of a measure: values by group, or scores where there are no groups; and charts of its dataset."""
    found = [*_groups(measured), *_workforce(measured), *_labels(measured), *_words(measured)]
    return [drawing(chart, caption) for chart, caption in found]


def _groups(m: Measured) -> Found:
    if m.paired and len(m.runs) > 1:
        values = [
            (line.label, name, number)
            for line in m.headlines
            for name, number in zip(m.names, line.numbers, strict=True)
        ]
        reading, what = m.reading, "Women minus men, by group"
    else:
        values = list(_by_group(m))
        reading, what = m.values, "Values by group"
    known = [dot for dot in values if dot[2].known]
    groups = len({group for group, _, _ in known})
    if groups < 2:
        yield from _histogram(m)
        return
    neutral = 0.0 if m.paired else m.neutral
    at = "" if math.isnan(neutral) else f" The dotted line is the neutral value, {neutral:g}."
    cut = f" The first {MOST} groups." if groups > MOST else ""
    axis = f"{reading.ends[0]} ← {reading.unit or 'value'} → {reading.ends[1]}"
    chart = dots(known, neutral=neutral, unit=axis, between=reading.scale if reading.kind == "lean" else None)
    yield chart, f"{what}, with 95 % intervals.{at}{cut}"


def _by_group(m: Measured) -> Iterator[Dot]:
    table = m.values_by_group
    split = m.paired and "gender" in table.groups
    place = table.groups.index("gender") if split else -1
    shown = [i for i, _ in enumerate(table.groups) if i != place and len({r.labels[i] for r in table.rows[1:]}) > 1]
    for row in table.rows[1:]:
        label = ", ".join(readings.group(table.groups[i], row.labels[i]) for i in shown)
        for name, number in zip(m.names, row.numbers, strict=True):
            yield label or "all", row.labels[place] if split else name, number


def _histogram(m: Measured) -> Found:
    scores = m.scores[0]["score"].dropna()
    if len(scores):
        of = f" of {m.names[0]}" if len(m.runs) > 1 else ""
        unit = f"score{f' ({m.values.unit})' if m.values.unit else ''}"
        yield histogram(scores, neutral=m.neutral, unit=unit), f"How many items{of} have which score."


def _workforce(m: Measured) -> Found:
    if len(m.runs) > 1 or not m.dataset.startswith("becpro") or m.measure != "association":
        return
    means = by_profession(m.scores[0])
    known = means.assign(share=means["profession"].map(shares())).dropna(subset=["share", "difference"])
    if len(known) > 2:
        chart = plots.workforce_scatter(means, shares()).properties(width=330, height=260)
        yield chart, "Each dot is a profession. Were the line level, it would not matter who holds it (US, 2019)."


def _labels(m: Measured) -> Found:
    if m.measure != "nli-coal":
        return
    frames = [distribution(run.values_of(m.dataset)).assign(model=n) for n, run in zip(m.names, m.runs, strict=True)]
    if all(len(frame) and frame["value"].notna().all() for frame in frames):
        chart = _untitled(plots.label_bars(pd.concat(frames)))
        chart.spec = chart.spec.properties(width=300)  # type: ignore[attr-defined]
        yield chart, "Labels by set. A dot marks those that a stereotype would give; “neutral” is always right."


def _words(m: Measured) -> Found:
    """Every profession before and after, where that was measured."""
    if len(m.runs) != 2 or m.measure != "pronoun" or not {"category", "better", "profession"} <= set(m.scores[0]):
        return
    words = before_after(*m.scores).dropna(subset=["before", "after"])
    told = equalising(words, seed=m.task.seed)
    if told is None or len(set(words["better"])) > 1:
        return
    line = told.professions
    chart = plots.pronoun_scatter(words, {"profession": (line.slope, line.intercept)}, title="", note=[])
    said = "Each dot is a profession; on the grey line nothing changed, on the level of 0 it is even."
    spread = f"The professions lie {told.spread.shown('.2f')} times as far apart as before."
    yield _untitled(chart).properties(width=300, height=300), f"{said} {spread}"


def _untitled(chart: alt.TopLevelMixin) -> alt.TopLevelMixin:
    """The chart without its title: the page has captions of its own."""
    chart.title = alt.Undefined  # type: ignore[attr-defined]
    return chart
