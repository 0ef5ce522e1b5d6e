"""Charts as SVG inside the page: in its colours, light or dark, with nothing but drawing."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree

import altair as alt
from markupsafe import Markup, escape

INK, FAINT, QUIET, ACCENT = "#0a0b0c", "#d0d1d2", "#999999", "#0b6074"
"""Colours that stand for the page's own, light or dark."""
COLOURS = {
    INK: "currentColor",
    "black": "currentColor",
    FAINT: "var(--line)",
    QUIET: "var(--quiet)",
    ACCENT: "var(--accent)",
    "#0072b2": "var(--blue)",
    "#e69f00": "var(--orange)",
    "#d55e00": "var(--rust)",
    "#009e73": "var(--green)",
    "#cc79a7": "var(--pink)",
    "#56b4e9": "var(--sky)",
    "#555555": "var(--grey)",
    "#f0e442": "var(--yellow)",
}
SHAPES = {"svg", "g", "path", "rect", "line", "circle", "text", "tspan"}
ATTRIBUTES = {
    *("viewBox", "transform", "d", "x", "y", "x1", "y1", "x2", "y2", "dx", "dy", "width", "height", "r", "cx", "cy"),
    *("opacity", "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray"),
    *("stroke-linecap", "stroke-linejoin", "font-size", "font-weight", "text-anchor"),
}
"""All that a chart may hold: no scripts, links, styles or foreign elements, whatever its labels say."""

_TEXT = {"labelColor": INK, "titleColor": INK, "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"}
LOOK = {
    "background": None,
    "font": "Arial",
    "padding": {"left": 12, "right": 8, "top": 4, "bottom": 4},
    "axis": {**_TEXT, "gridColor": FAINT, "domainColor": FAINT, "tickColor": FAINT, "labelLimit": 230},
    "legend": {**_TEXT, "orient": "top", "title": None, "labelLimit": 300, "columnPadding": 24},
    "header": _TEXT,
    "view": {"stroke": None},
}
"""What charts look like on the page."""


@dataclass(frozen=True)
class Drawing:
    """A chart for the page, with what it shows in words."""

    svg: Markup
    caption: str


def colours(series: int) -> list[str]:
    """A colour for each run, as in style.css: before is quiet, after stands out; three or more differ."""
    several = (ACCENT, "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#0072B2", "#F0E442", "#555555")
    return [QUIET, ACCENT] if series == 2 else [several[i % len(several)] for i in range(series)]


def drawing(chart: alt.TopLevelMixin, caption: str) -> Drawing:
    """The chart as SVG; `caption` says what it shows, also to screen readers."""
    import vl_convert

    spec = chart.to_dict(validate=False)  # the charts are ours; checking them takes as long as drawing
    root = ElementTree.fromstring(vl_convert.vegalite_to_svg({**spec, "config": LOOK}))
    return Drawing(Markup("").join(_element(root, Markup(' role="img" aria-label="{}"').format(caption))), caption)


def _element(element: ElementTree.Element, more: str = "") -> Iterator[Markup]:
    """The element as markup, everything in it escaped once more; all but drawing is left out."""
    name = element.tag.rpartition("}")[2]
    if name not in SHAPES or element.get("display") == "none":
        return
    attributes = dict(_attributes(name, element))
    inside = [part for child in element for part in _element(child)]
    text = escape((element.text or "").strip() if name in ("text", "tspan") else "")
    if name in ("g", "text", "tspan") and not inside and not text:
        return
    if name == "path" and attributes.get("d", "") in ("", "M0,0h0v0h0Z"):
        return
    yield Markup("<{}").format(name) + Markup(more)
    for attribute, value in attributes.items():
        yield Markup(' {}="{}"').format(attribute, value)
    yield Markup(">") + text
    yield from inside
    yield Markup("</{}>").format(name)


def _attributes(name: str, element: ElementTree.Element) -> Iterator[tuple[str, str]]:
    for attribute, value in element.attrib.items():
        if attribute not in ATTRIBUTES or (name == "svg" and attribute in ("width", "height")):
            continue
        if attribute in ("fill", "stroke"):
            value = COLOURS.get(value.lower(), value)
        yield attribute, re.sub(r"\d+\.\d{3,}", lambda found: f"{float(found[0]):.2f}", value)
