"""The charts of one measure, for the page."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from markupsafe import Markup

from evenhand.core.foreign import foreign
from evenhand.core.sections import Drawing, sections_of
from evenhand.errors import BadInput
from evenhand.runs.rows import Number
from evenhand.show.page import readings
from evenhand.show.page.section import Measured
from evenhand.show.page.svg import FOOT, HEAD, LETTER, LINE, Canvas, lines_of_legend, printable, round_domain

MOST = 40
"""Groups in a chart; with more it could not be read."""
BINS = 30
WIDTH = 440.0
Dot = tuple[str, str, Number]
"""The value of one group in one series: a gender, or a run."""
KINDS = {"female": "women", "male": "men", "balanced": "both"}
"""By label, the class of its colour in style.css."""


def pictures(measured: Measured) -> list[Drawing]:
    """The charts of a measure: values by group, or scores where there are no groups; and charts of its dataset."""
    drawn = list(_groups(measured))
    for sections in sections_of([measured.dataset]):
        with foreign(f"The sections of '{measured.dataset}' failed to draw for the page", sections):
            for drawing in sections.page(measured):
                if not isinstance(drawing, Drawing) or not isinstance(drawing.svg, str):
                    raise BadInput(f"`page` gives evenhand.Drawing(svg, caption), two texts each. Got {drawing!r}.")
                drawn.append(Drawing(Markup(drawing.svg), str(drawing.caption)))
    return drawn


def dots(
    values: Sequence[Dot],
    caption: str,
    *,
    neutral: float,
    unit: str,
    between: tuple[float, float] | None,
    kinds: dict[str, str],
    judged: bool,
) -> Drawing:
    """The value of each group with its interval; in colours by series where there are several."""
    groups = list(dict.fromkeys(group for group, _, _ in values))[:MOST]
    series = list(dict.fromkeys(name for _, name, _ in values))
    left = 16 + LETTER * min(30, max(map(len, groups)))
    step = max(LINE, 13.0 * len(series))
    top = HEAD + (17 * lines_of_legend(series, WIDTH) if len(series) > 1 else 0)
    ends = [end for _, _, n in values for end in (n.value, n.low, n.high) if math.isfinite(end)]
    shown = Canvas(between or round_domain(ends), WIDTH, top + step * len(groups) + FOOT, left, top)
    shown.axis(unit)
    if not math.isnan(neutral):
        shown.line(shown.x(neutral), top, shown.x(neutral), shown.bottom, "neutral")
    for row, group in enumerate(groups):
        middle = top + step * (row + 0.5)
        label = printable(group)
        shown.text(left - 8, middle + 4, label if len(label) <= 30 else f"{label[:29]}…", "end")
        mine = [(name, number) for where, name, number in values if where == group]
        for name, number in mine:
            y = middle + 13 * (series.index(name) - (len(series) - 1) / 2)
            kind = kinds[name]
            if number.spans:
                shown.line(shown.x(number.low), y, shown.x(number.high), y, f"interval {kind}")
            tone = "level" if not judged else "leans" if number.verdict.side else "undecided"
            shown.value(shown.x(number.value), y, tone, kind)
    if len(series) > 1:
        shown.legend([(name, kinds[name]) for name in series])
    return shown.drawn(caption)


def histogram(scores: pd.Series, caption: str, *, neutral: float, unit: str) -> Drawing:
    """The number of items by score."""
    known = scores[np.isfinite(scores)].to_numpy(dtype=float)
    sizes, edges = np.histogram(known, bins=min(BINS, 5 + len(known) // 5))
    up = round_domain([float(sizes.max())])
    shown = Canvas((float(edges[0]), float(edges[-1])), WIDTH, 220.0, left=44.0)
    shown.axis(unit)
    shown.side_axis(up)
    for n, low, high in zip(sizes, edges, edges[1:], strict=False):
        x, y = shown.x(float(low)), shown.y(float(n), up)
        shown.add("rect", x=x, y=y, width=max(1.0, shown.x(float(high)) - x - 1), height=shown.bottom - y, class_="bar")
    if edges[0] <= neutral <= edges[-1]:
        shown.line(shown.x(neutral), shown.top, shown.x(neutral), shown.bottom, "neutral")
    return shown.drawn(caption)


def _groups(m: Measured) -> Iterator[Drawing]:
    values: list[Dot]
    if m.paired and len(m.runs) > 1:
        values = [(line.label, name, n) for line in m.lines for name, n in zip(m.names, line.numbers, strict=True)]
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
    at = "" if math.isnan(neutral) else f" The upright line is the neutral value, {neutral:g}."
    cut = f" The first {MOST} groups." if groups > MOST else ""
    kinds = {name: f"run{place % 8 + 1}" for place, name in enumerate(m.names)}
    kinds |= {readings.group("gender", label): kind for label, kind in KINDS.items()}
    yield dots(
        known,
        f"{what}, with 95 % intervals.{at}{cut}",
        neutral=neutral,
        unit=f"{reading.ends[0]} ← {reading.unit or 'value'} → {reading.ends[1]}",
        between=reading.scale if reading.kind == "lean" else None,
        kinds=kinds,
        judged=reading.judged,
    )


def _by_group(m: Measured) -> Iterator[Dot]:
    table = m.values_by_group
    split = m.paired and "gender" in table.names
    place = table.names.index("gender") if split else -1
    shown = [i for i, _ in enumerate(table.groups) if i != place and len({r.labels[i] for r in table.rows[1:]}) > 1]
    for row in table.rows[1:]:
        label = ", ".join(row.labels[i] for i in shown)
        for name, number in zip(m.names, row.numbers, strict=True):
            yield label or "all", row.labels[place] if split else name, number


def _histogram(m: Measured) -> Iterator[Drawing]:
    scores = m.scores[0]["score"].dropna()
    if len(scores):
        of = f" of {m.names[0]}" if len(m.runs) > 1 else ""
        unit = f"score{f' ({m.values.unit})' if m.values.unit else ''}"
        yield histogram(scores, f"How many items{of} have which score.", neutral=m.neutral, unit=unit)
