"""The charts of one measure, for the page."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
from markupsafe import Markup

from evenhand.core.foreign import foreign, is_ours
from evenhand.core.shown import Drawing, Sections, sections_of
from evenhand.core.typed import fits
from evenhand.errors import BadInput
from evenhand.runs.folder import StoredRun
from evenhand.runs.rows import Number
from evenhand.show.page import readings
from evenhand.show.page.provenance import debiasing
from evenhand.show.page.section import Measured

MOST = 40
"""The most groups in a chart; more would be unreadable."""


def pictures(measured: Measured) -> list[tuple[Markup, str]]:
    """The charts of a measure as SVG, with their captions: values by group, or scores; then those of its dataset."""
    from evenhand.show.plots import page_svg  # drawing libraries take a second, which terminals do not need

    drawings = list(_value_charts(measured))
    for sections in sections_of([measured.dataset]):
        drawings += drawings_of(measured, sections)
    return [(page_svg(drawing.chart, drawing.caption), drawing.caption) for drawing in drawings]


def drawings_of(measured: Measured, sections: Sections) -> Iterator[Drawing]:
    """The charts that the sections of a dataset draw for a measure."""
    from altair import TopLevelMixin

    from evenhand.show.plots import render

    with foreign(f"The sections of '{measured.dataset}' failed to draw for the page", sections):
        for drawing in sections.page(measured):
            if not (fits(drawing, Drawing) and isinstance(drawing.chart, TopLevelMixin)):
                raise BadInput(f"`page` must give evenhand.Drawing objects with Altair charts. Got {drawing!r}.")
            if not is_ours(sections):
                render(drawing.chart, "svg")  # what cannot be drawn is found here, where it is known whose it is
            yield drawing


def colours_of(runs: Mapping[str, StoredRun]) -> dict[str, str]:
    """A colour for each run, by name: grey and blue for a model before and after."""
    from evenhand.show.plots import BLUE, GREY, colours_by_name

    if debiasing(list(runs.values())):
        return dict(zip(runs, (GREY, BLUE), strict=True))
    return colours_by_name(list(runs))


def chart_values(number: Number) -> dict[str, Any]:
    """The fields of a number that charts show: its value, its interval if it has one, and whether it leans."""
    low, high = (number.low, number.high) if number.spans else (math.nan, math.nan)
    value = number.value if number.known else math.nan
    return {"value": value, "low": low, "high": high, "leans": bool(number.verdict.side)}


def _value_charts(m: Measured) -> Iterator[Drawing]:
    from evenhand.show import plots

    paired = m.paired and len(m.runs) > 1
    reading, title = (m.reading, "Women minus men, by group") if paired else (m.values, "Values by group")
    by_line = ((line.label, name, n) for line in m.lines for name, n in zip(m.names, line.numbers, strict=True))
    values = [value for value in (by_line if paired else _group_values(m)) if value[2].known]
    groups = list(dict.fromkeys(group for group, _, _ in values))
    if len(groups) < 2:
        yield from _histogram(m)
        return
    neutral = 0.0 if m.paired else m.neutral
    neutral_note = "" if math.isnan(neutral) else f" The upright line is the neutral value, {neutral:g}."
    cut_note = f" The first {MOST} groups." if len(groups) > MOST else ""
    rows = pd.DataFrame(
        {"group": group, "series": series, **chart_values(number)}
        for group, series, number in values
        if group in groups[:MOST]
    )
    colours = colours_of(dict(zip(m.names, m.runs, strict=True)))
    genders = {"female": plots.ORANGE, "male": plots.BLUE, "balanced": "#555555"}
    colours |= {readings.group("gender", label): shown for label, shown in genders.items()}
    chart = plots.value_dots(
        rows,
        f"{reading.ends[0]} ← {reading.unit or 'value'} → {reading.ends[1]}",
        neutral=neutral,
        between=reading.scale if reading.kind == "lean" else None,
        colours=colours,
        judged=reading.judged,
    )
    yield Drawing(chart, f"{title}, with 95 % intervals.{neutral_note}{cut_note}")


def _group_values(m: Measured) -> Iterator[tuple[str, str, Number]]:
    table = m.values_by_group
    split = m.paired and "gender" in table.names
    place = table.names.index("gender") if split else -1
    shown = [i for i, _ in enumerate(table.groups) if i != place and len({r.labels[i] for r in table.rows[1:]}) > 1]
    for row in table.rows[1:]:
        label = ", ".join(row.labels[i] for i in shown)
        for name, number in zip(m.names, row.numbers, strict=True):
            yield label or "all", row.labels[place] if split else name, number


def _histogram(m: Measured) -> Iterator[Drawing]:
    from evenhand.show import plots

    scores = m.scores[0]["score"].dropna()
    if len(scores):
        whose = f" of {m.names[0]}" if len(m.runs) > 1 else ""
        title = f"score{f' ({m.values.unit})' if m.values.unit else ''}"
        yield Drawing(plots.histogram(scores, title, neutral=m.neutral), f"How many items{whose} have which score.")
