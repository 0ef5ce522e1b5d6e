"""The charts of one measure, for the page."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import pandas as pd

from evenhand.report.page.numbers import Number
from evenhand.report.page.svg import ACCENT, colours
from evenhand.report.plots import COLOURS

MOST = 40
"""Groups in a chart; beyond, nobody could read it."""
BINS = 30


@dataclass(frozen=True)
class Dot:
    """A value of one group in one series: a gender, or a run."""

    group: str
    series: str
    number: Number


def dots(values: Sequence[Dot], *, neutral: float, unit: str, between: tuple[float, float] | None) -> alt.TopLevelMixin:
    """The value of each group with its interval; in colours by series where there are several."""
    rows = pd.DataFrame(
        [
            {
                "group": _printable(d.group),
                "series": _printable(d.series),
                "value": d.number.value,
                "low": d.number.low,
                "high": d.number.high,
            }
            for d in values
            if d.number.known
        ]
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
    layers = bars + points if math.isnan(neutral) else _rule(neutral) + bars + points
    chart: alt.TopLevelMixin = layers.properties(width=260, height=alt.Step(max(13, 24 // len(series))))
    return chart


def histogram(scores: pd.Series, *, neutral: float, unit: str) -> alt.TopLevelMixin:
    """How many items have which score."""
    known = scores[np.isfinite(scores)]
    sizes, edges = np.histogram(known, bins=min(BINS, 5 + len(known) // 5))
    rows = pd.DataFrame({"low": edges[:-1], "high": edges[1:], "items": sizes})
    bars = (
        alt.Chart(rows)
        .mark_bar(color=ACCENT)
        .encode(x=alt.X("low:Q", bin="binned", title=unit), x2="high:Q", y=alt.Y("items:Q", title="items"))
    )
    layers = bars if math.isnan(neutral) else bars + _rule(neutral)
    chart: alt.TopLevelMixin = layers.properties(width=330, height=160)
    return chart


def _printable(label: str) -> str:
    """Without control characters, which no SVG may hold."""
    return "".join(letter for letter in label if letter.isprintable())


def _rule(neutral: float) -> alt.Chart:
    rule: alt.Chart = alt.Chart(pd.DataFrame({"x": [neutral]})).mark_rule(color="black", strokeDash=[2, 3])
    return rule.encode(x="x:Q")
