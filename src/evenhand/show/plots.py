"""Charts, with Altair: for the page, for notebooks, and as SVG, PDF, PNG or HTML files that need no network."""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree

import altair as alt
import numpy as np
import pandas as pd
import vl_convert
from markupsafe import Markup
from pandas.api.types import is_numeric_dtype

from evenhand.core.files import write_whole
from evenhand.errors import BadInput

ORANGE, BLUE, RUST, GREY = "#E69F00", "#0072B2", "#D55E00", "#999999"  # Okabe and Ito: for colour-blind readers, too
PALETTE = [BLUE, RUST, "#009E73", "#CC79A7", ORANGE, "#56B4E9", "#555555", "#F0E442"]
ALONE, PALE = "#0B6074", "#BBBBBB"
"""ALONE is the colour of a single run; it stands for no gender."""
Layers = alt.LayerChart | alt.FacetChart
WHISKERS = "Thin lines are 95 % intervals."
LEFT = alt.Header(labelAngle=0, labelAlign="left")
SUFFIXES = (".svg", ".pdf", ".png", ".html")
BINS = 30
WIDTH = 440
"""The width of a chart on the page, labels included, in units that the page scales."""


def _theme(size: float, **more: Any) -> dict[str, Any]:
    """The Vega-Lite config of charts, with texts of `size` pixels; 12 pixels are 9 points on paper."""
    texts = {"labelFontSize": size, "titleFontSize": size, "labelColor": "black", "titleColor": "black"}
    lines = {"gridColor": "#dddddd", "domainColor": "#888888", "tickColor": "#888888"}
    theme: dict[str, Any] = {
        "font": "Arial, Helvetica, sans-serif",  # as wide as what labels are measured in
        "padding": 8,
        "axis": {**texts, **lines, "titleFontWeight": "normal", "labelLimit": 0, "labelFlush": False},
        "legend": {**texts, "titleFontWeight": "normal", "labelLimit": 0, "symbolOpacity": 1},
        "header": texts,
        "title": {"fontSize": size + 2, "subtitleFontSize": size},
        "text": {"fontSize": size, "color": "black"},
        "mark": {"color": BLUE},
        "point": {"opacity": 1},
        "range": {"category": PALETTE},
        "view": {"continuousWidth": WIDTH, "discreteWidth": WIDTH, "continuousHeight": 300, "stroke": None},
        "background": "white",
    }
    for name, part in more.items():
        theme[name] = {**theme[name], **part} if name in ("axis", "legend") else part
    return theme


PAPER = _theme(12)
ON_PAGE = _theme(
    13.5,  # the page shows 12, in a font of its own: there is room for a wider one than was measured
    axis={"labelLimit": 270},
    legend={"orient": "top", "labelLimit": WIDTH - 60, "layout": {"top": {"anchor": "end"}}},
    autosize={"type": "fit-x", "contains": "padding"},
    background=None,
)
STYLED = {
    **dict(zip(PALETTE, ("blue", "rust", "green", "pink", "orange", "sky", "grey", "yellow"), strict=True)),
    **{ALONE: "accent", GREY: "quiet", PALE: "line", "#dddddd": "line", "#888888": "quiet"},
    **{"black": "ink", "#000": "ink", "white": "paper"},
}
"""The CSS variables of these colours on the page, which suit a light and a dark theme."""
NOT_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
OF_EVERY_OBJECT = {
    *("constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString"),
    *("valueOf", "__proto__"),
}
"""Properties of every JavaScript object; Vega looks labels up in objects, and fails for these."""
PLACES = {"d", "transform", "x2", "y2"}
NOISE = {"class", "role", "pointer-events", "font-family", "aria-hidden", "aria-roledescription", "aria-label"}


def value_dots(
    rows: pd.DataFrame,
    title: str,
    *,
    neutral: float = math.nan,
    between: tuple[float, float] | None = None,
    colours: Mapping[str, str] | None = None,
    judged: bool = True,
) -> Layers:
    """The value of each group with its interval, in colours by series: genders or runs.

    `rows` has the columns group, series, value, low, high and leans. Dots of values that do not lean are hollow. Values
    that are not `judged` are diamonds.
    """
    groups, series = (list(dict.fromkeys(rows[name])) for name in ("group", "series"))
    colours = colours or colours_by_name(series)
    base = alt.Chart(rows).encode(
        y=alt.Y("group:N", sort=groups, title=None, axis=alt.Axis(ticks=False, labelPadding=6))
    )
    if len(series) > 1:
        legend = alt.Legend(symbolType="square", columns=max(1, WIDTH // (30 + 7 * max(map(len, series)))))
        base = base.encode(
            yOffset=alt.YOffset("series:N", sort=series),
            color=colour("series", {name: colours[name] for name in series}, None, legend=legend),
        )
    else:
        base = base.encode(color=alt.value(colours[series[0]]))
    scale = alt.Scale(domain=between, clamp=True) if between else alt.Scale(nice=5, zero=True)
    x, low = (alt.X(f"{n}:Q", title=title, scale=scale, axis=alt.Axis(tickCount=5)) for n in ("value", "low"))
    tooltip = [numbers(n)[0] if is_numeric_dtype(rows[n]) else n for n in rows.columns if n != "leans"]
    layers = [
        base.mark_rule(strokeWidth=4, strokeCap="round", opacity=0.5).encode(x=low, x2="high:Q"),
        base.mark_point(filled=True, size=90, shape="circle" if judged else "diamond").encode(x=x, tooltip=tooltip),
    ]
    if judged:
        holes = base.transform_filter("!datum.leans").mark_circle(size=32, opacity=1)
        layers.append(holes.encode(x=x, color=alt.value("white")))
    if not math.isnan(neutral):
        layers.insert(0, rule_at(neutral, color="black", strokeWidth=1.5))
    return alt.layer(*layers).properties(height=alt.Step(22 if len(series) == 1 else 13))


def histogram(scores: pd.Series, title: str, *, neutral: float) -> Layers:
    """The number of items by score."""
    known = scores[np.isfinite(scores)].to_numpy(dtype=float)
    least, most = float(known.min()), float(known.max())
    if most - least <= max(1e-300, 1e-12 * max(abs(least), abs(most))):  # equal up to rounding, which no bins divide
        known, reach = np.full_like(known, least), max(0.5, 1e-9 * abs(least))
        least, most = least - reach, least + reach
    sizes, edges = np.histogram(known, bins=min(BINS, 5 + len(known) // 5), range=(least, most))
    rows = pd.DataFrame({"items": sizes, "from": edges[:-1], "to": edges[1:]})
    ends = alt.Scale(domain=[edges[0], edges[-1]], nice=False)
    bars = (
        alt.Chart(rows)
        .mark_bar(color=ALONE)
        .encode(
            x=alt.X("from:Q", title=title, scale=ends, bin="binned"),
            x2="to:Q",
            y=alt.Y("items:Q", title="items", axis=alt.Axis(tickMinStep=1)),
        )
    )
    inside = edges[0] <= neutral <= edges[-1]
    return alt.layer(bars, *([rule_at(neutral, color="black", strokeWidth=1.5)] if inside else [])).properties(
        height=170
    )


def curve(rows: pd.DataFrame, title: str) -> Layers:
    """A line of values in their order, with a band of intervals. Dots of values that do not lean are hollow.

    `rows` has the columns label, value, low, high, neutral, leans and changed: whether a change from the value before
    is shown, by a thick line.
    """
    labels, known = list(rows["label"]), rows.dropna(subset=["value"])
    x = alt.X("label:N", title=None, scale=alt.Scale(domain=labels))
    x = x.axis(labelAngle=0, labelOverlap=True, grid=False)
    y = alt.Y("value:Q", title=title, scale=alt.Scale(zero=False))
    base = alt.Chart(known).encode(x=x)
    before = known[["label", "value"]].shift().add_prefix("last_")
    steps = alt.Chart(known.join(before)[known["changed"]]).mark_rule(color=RUST, strokeWidth=4, strokeCap="round")
    dots = base.mark_point(filled=True, size=75, color=ALONE)
    layers = [
        base.mark_area(opacity=0.16, color=ALONE).encode(y=alt.Y("low:Q", title=title), y2="high:Q"),
        base.mark_line(color=ALONE, strokeWidth=1.5).encode(y=y),
        steps.encode(x="last_label:N", x2="label:N", y="last_value:Q", y2="value:Q"),
        dots.encode(y=y, tooltip=["label", *numbers("value", "low", "high")]),
        base.transform_filter("!datum.leans").mark_circle(size=32, opacity=1, color="white").encode(y=y),
    ]
    if not math.isnan(neutral := float(rows["neutral"].iloc[0])):
        layers.insert(0, rule_at(neutral, "y", color="black", strokeWidth=1.5))
    return alt.layer(*layers).properties(height=180)


def learning_curve(rows: pd.DataFrame, *, title: str = "") -> alt.TopLevelMixin:
    """ASLD by number of training sentences, with intervals (Barza 2023, Figure 13); `rows` as of replicate_means."""
    groups = list(rows["group"].unique())
    base = alt.Chart(rows).encode(
        x=alt.X("size:Q", title="sentences trained on", axis=alt.Axis(tickCount=4)),
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
    """The value of each model in each group, with its interval; `rows` as of side_by_side."""
    groups = list(rows.columns[: rows.columns.get_loc("model")])
    shown = [group for group in groups if rows[group].nunique() > 2 or group == groups[0]]
    rows = rows.assign(group=[", ".join(dict.fromkeys(labels)) for labels in rows[shown].astype(str).to_numpy()])
    panels, order = (list(dict.fromkeys(rows[name])) for name in ("group", "model"))
    base = alt.Chart(rows).encode(
        y=alt.Y("model:N", sort=order, title=None), color=colour("model", colours_by_name(order), None, legend=None)
    )
    lines = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=measure), x2="high:Q")
    dots = base.mark_point(filled=True, size=70).encode(
        x="value:Q", tooltip=["model", *numbers("value", form=".3f"), "mark"]
    )
    marks = base.mark_text(dy=-10).encode(x="value:Q", text="mark:N", color=alt.value("black"))
    layers = alt.layer(lines, dots, marks).properties(width=420, height=alt.Step(26))
    return with_title(layers.facet(row=alt.Row("group:N", sort=panels, title=None, header=LEFT)), title)


def rule_at(value: float, axis: Literal["x", "y"] = "x", **style: Any) -> alt.Chart:
    """A line across the chart, such as at the neutral value."""
    rule: alt.Chart = alt.Chart(pd.DataFrame({axis: [value]})).mark_rule(**style).encode(**{axis: f"{axis}:Q"})
    return rule


def check_suffix(path: Path) -> None:
    """Raise an error unless the file's suffix is one of SUFFIXES."""
    if path.suffix not in SUFFIXES:
        raise BadInput(f"The file of a figure must end in one of {', '.join(SUFFIXES)}. Got '{path}'.")


def save(chart: alt.TopLevelMixin, path: Path) -> None:
    """Write a chart atomically as SVG, PDF, PNG or self-contained HTML, by the file's suffix."""
    check_suffix(path)
    content = render(chart, path.suffix.lstrip("."))
    write_whole(path, lambda file: file.write(content.encode() if isinstance(content, str) else content))


def render(chart: alt.TopLevelMixin, form: str, config: Mapping[str, Any] = PAPER) -> Any:
    """A chart as SVG or HTML, which are text, or as PDF or PNG, which are bytes."""
    options = {"scale": 2} if form == "png" else {"bundle": True} if form == "html" else {}
    convert = getattr(vl_convert, f"vegalite_to_{form}")
    spec = _sanitize(chart.to_dict(validate=False))  # each part was validated as it was made
    spec.get("config", {}).pop("view", None)  # Altair's default size
    if not {"mark", "layer"} & set(spec) or {"row", "column", "facet"} & set(spec.get("encoding", {})):
        config = {**config, "autosize": "pad"}  # Vega cannot fit plots side by side to a width
    return convert(spec, config=config, **options)


def _sanitize(part: Any) -> Any:
    """Part of a chart's specification without characters that SVG forbids: they would crash the converter.

    A label that is the name of a property of every JavaScript object gets a zero-width space.
    """
    if isinstance(part, dict):
        return {_sanitize(name): _sanitize(value) for name, value in part.items()}
    if isinstance(part, list):
        return [_sanitize(each) for each in part]
    if isinstance(part, str):
        text = NOT_XML.sub("", part)
        return f"{text}\u200b" if text in OF_EVERY_OBJECT else text
    return part


def page_svg(chart: alt.TopLevelMixin, caption: str) -> Markup:
    """A chart as SVG in the colours of the page, which sets its width; the caption is for screen readers."""
    root = ElementTree.fromstring(render(chart, "svg", ON_PAGE))
    view = root.attrib["viewBox"]
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]  # a page needs no namespaces
        for part in list(element):
            if part.get("display") == "none" or part.get("d") == "M0,0h0v0h0Z":
                element.remove(part)
        for name, value in list(element.attrib.items()):
            del element.attrib[name]
            if name not in NOISE:
                short = re.sub(r"(\.\d)\d+", r"\1", value) if name in PLACES else value
                element.set(name.rpartition("}")[2], f"var(--{STYLED[value]})" if value in STYLED else short)
    root.attrib.clear()
    root.attrib.update({"class": "chart", "viewBox": view, "role": "img", "aria-label": NOT_XML.sub("", caption)})
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def with_intervals(bars: Any, title: str) -> Any:
    """The bars, with their intervals as thin lines."""
    lines = bars.mark_rule(strokeWidth=1).encode(
        x=alt.X("low:Q", title=title), x2="high:Q", color=alt.value("black"), opacity=alt.value(0.7)
    )
    return bars + lines


def bars_of(rows: pd.DataFrame, x: alt.X, y: str, order: list[str], series: str, inner: list[str]) -> Any:
    """A bar for each label in `y` and each of the `series`, which are in the order of `inner`."""
    bars = alt.Chart(rows, height=alt.Step(9 if len(inner) > 1 else 18)).mark_bar()
    labels = alt.Y(f"{y}:N", sort=order, title=None)
    return bars.encode(x=x, y=labels, yOffset=alt.YOffset(f"{series}:N", sort=inner))


def numbers(*names: str, form: str = "+.3f") -> list[alt.Tooltip]:
    """Tooltip fields for these columns, which hold numbers."""
    return [alt.Tooltip(f"{name}:Q", format=form) for name in names]


def colour(field: str, colours: Mapping[str, str], title: str | None, **more: Any) -> alt.Color:
    """The colours of a field, by value."""
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    return alt.Color(f"{field}:N", scale=scale, title=title, **more)


def colours_by_name(names: Sequence[str]) -> dict[str, str]:
    """A colour for each of several runs or groups."""
    return {name: PALETTE[place % len(PALETTE)] if len(names) > 1 else ALONE for place, name in enumerate(names)}


def with_title(chart: Any, title: str, note: Sequence[str] = ()) -> alt.TopLevelMixin:
    """The chart with a title, and a note as its subtitle."""
    titled: alt.TopLevelMixin = chart.properties(title=alt.TitleParams(title, subtitle=list(note)))
    return titled
