"""Charts for a notebook, or to save as SVG, PDF, PNG or HTML that needs no network."""

from collections.abc import Mapping, Sequence
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any, Literal

import altair as alt
import pandas as pd

from evenhand.core.files import write_whole
from evenhand.errors import BadInput

ORANGE, BLUE, RUST, GREY = "#E69F00", "#0072B2", "#D55E00", "#999999"  # Okabe and Ito: told apart by everybody
PALETTE = [BLUE, RUST, "#009E73", "#CC79A7", ORANGE, "#56B4E9", "#555555", "#F0E442"]
WHISKERS = "Thin lines are 95 % intervals."
LEFT = alt.Header(labelAngle=0, labelAlign="left")
SUFFIXES = (".svg", ".pdf", ".png", ".html")


def learning_curve(rows: pd.DataFrame, *, title: str = "") -> alt.TopLevelMixin:
    """ASLD against the number of sentences trained on, with intervals (Figure 13); takes replicate_means' rows."""
    groups = list(rows["group"].unique())
    base = alt.Chart(rows).encode(
        x=alt.X("size:Q", title="sentences trained on"),
        color=alt.Color("group:N", scale=alt.Scale(range=PALETTE), legend=None, sort=groups),
    )
    bands = base.mark_area(opacity=0.15).encode(
        y=alt.Y("low:Q", title="ASLD (nats)", scale=alt.Scale(zero=True)), y2="high:Q"
    )
    lines = base.mark_line(point=True).encode(
        y=alt.Y("value:Q", title="ASLD (nats)"), tooltip=["group", "size", *numbers("value", "low", "high", form=".2f")]
    )
    panels = (bands + lines).properties(width=240, height=170)
    return with_title(panels.facet(facet=alt.Facet("group:N", sort=groups, title=None), columns=2), title)


def model_dots(rows: pd.DataFrame, *, measure: str, title: str = "") -> alt.TopLevelMixin:
    """The value of each model in each group, with its interval; takes side_by_side's rows."""
    groups = list(rows.columns[: rows.columns.get_loc("model")])
    shown = [group for group in groups if rows[group].nunique() > 2 or group == groups[0]]
    rows = rows.assign(group=[", ".join(dict.fromkeys(labels)) for labels in rows[shown].astype(str).to_numpy()])
    panels, order = (list(dict.fromkeys(rows[name])) for name in ("group", "model"))
    base = alt.Chart(rows).encode(
        y=alt.Y("model:N", sort=order, title=None, axis=alt.Axis(labelLimit=240)),
        color=alt.Color("model:N", sort=order, scale=alt.Scale(range=PALETTE), legend=None),
    )
    tooltip = ["model", *numbers("value", form=".3f"), "mark"]
    marks = base.mark_text(dy=-10, fontSize=9).encode(x="value:Q", text="mark:N", color=alt.value("black"))
    layers = alt.layer(*intervals(base, "value", tooltip, size=70, title=measure), marks)
    row = alt.Row("group:N", sort=panels, title=None, header=LEFT)
    return with_title(layers.properties(width=420, height=alt.Step(26)).facet(row=row), title)


def intervals(base: alt.Chart, value: str, tooltip: Sequence[Any], *, size: int, title: str) -> tuple[Any, Any]:
    """Two layers: the intervals from `low` to `high` as lines, and a dot for each value."""
    lines = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=title), x2="high:Q")
    dots = base.mark_point(filled=True, size=size).encode(x=alt.X(f"{value}:Q", title=title), tooltip=tooltip)
    return lines, dots


def rule_at(value: float, axis: Literal["x", "y"] = "x", **style: Any) -> alt.Chart:
    """A line across the chart, such as at the neutral value."""
    rule: alt.Chart = alt.Chart(pd.DataFrame({axis: [value]})).mark_rule(**style).encode(**{axis: f"{axis}:Q"})
    return rule


def suited(path: Path) -> None:
    """Raise an error unless the file's ending is that of a figure."""
    if path.suffix not in SUFFIXES:
        raise BadInput(f"A figure is one of {', '.join(SUFFIXES)}. Got '{path}'.")


def save(chart: alt.TopLevelMixin, path: Path) -> None:
    """Write a chart as SVG, PDF, PNG or self-contained HTML, by the file's ending: whole or not at all."""
    suited(path)
    form: Any = path.suffix.lstrip(".")
    drawn = BytesIO() if form in ("pdf", "png") else StringIO()
    chart.save(drawn, format=form, inline=form == "html", scale_factor=2 if form == "png" else 1)
    content = drawn.getvalue()
    write_whole(path, lambda file: file.write(content.encode() if isinstance(content, str) else content))


def with_intervals(bars: Any, title: str) -> Any:
    """Bars, and their intervals as thin lines."""
    lines = bars.mark_rule(strokeWidth=1).encode(
        x=alt.X("low:Q", title=title), x2="high:Q", color=alt.value("black"), opacity=alt.value(0.7)
    )
    return bars + lines


def bars_of(rows: pd.DataFrame, x: alt.X, y: str, order: list[str], series: str, inner: list[str], limit: int) -> Any:
    """A bar for each label in `y` and each of the `series`, which are in the order of `inner`."""
    labels = alt.Y(f"{y}:N", sort=order, title=None, axis=alt.Axis(labelLimit=limit))
    return alt.Chart(rows).mark_bar().encode(x=x, y=labels, yOffset=alt.YOffset(f"{series}:N", sort=inner))


def numbers(*names: str, form: str = "+.3f") -> list[alt.Tooltip]:
    """Numbers in a tooltip."""
    return [alt.Tooltip(f"{name}:Q", format=form) for name in names]


def colour(field: str, colours: Mapping[str, str], title: str, **more: Any) -> alt.Color:
    """The colours of a field, by value."""
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    return alt.Color(f"{field}:N", scale=scale, title=title, **more)


def with_title(chart: Any, title: str, note: Sequence[str] | None = None) -> alt.TopLevelMixin:
    """The chart below its title, and a note."""
    shown = title if note is None else alt.TitleParams(title, subtitle=list(note))
    titled: alt.TopLevelMixin = chart.properties(title=shown)
    return titled
