"""Charts: in a notebook as they are, as SVG or PNG, or as HTML that needs no network."""

from pathlib import Path

import altair as alt
import pandas as pd

from evenhand.errors import BadInput

COLOURS = {"female": "#E69F00", "male": "#0072B2"}  # Okabe and Ito's orange and blue: told apart by everybody
GROUPS = {"female": "#E69F00", "balanced": "#555555", "male": "#0072B2"}
SUFFIXES = (".svg", ".png", ".html")
ASSOCIATION = "association (nats)"


def profession_bars(before: pd.DataFrame, after: pd.DataFrame | None = None, *, title: str = "") -> alt.TopLevelMixin:
    """Mean association of each profession with female and male words; beside it the same after a change of the model.

    Takes frames of analysis.workforce.by_profession. Professions are in the order of their largest absolute change,
    female or male, or without `after` of the absolute difference female - male (Bartl et al. 2020, Figures 3-6). Both
    panels have one scale.
    """
    order = _order(before, after)
    frames = {"before": before} if after is None else {"before": before, "after": after}
    rows = pd.concat(
        frame.melt("profession", ["female", "male"], "words", "association").assign(panel=panel)
        for panel, frame in frames.items()
    )
    bars = (
        alt.Chart(rows)
        .mark_bar()
        .encode(
            x=alt.X("association:Q", title=ASSOCIATION, axis=alt.Axis(tickCount=5)),
            y=alt.Y("profession:N", sort=order, title=None, axis=alt.Axis(labelLimit=220)),
            yOffset=alt.YOffset("words:N", sort=list(COLOURS)),
            color=_colour("words", COLOURS, "person words"),
            tooltip=["profession", "words", alt.Tooltip("association:Q", format="+.3f")],
        )
        .properties(width=280 if after is not None else 420, height=alt.Step(9))
    )
    chart: alt.TopLevelMixin = bars.properties(title=title)
    if after is not None:
        panels = bars.facet(column=alt.Column("panel:N", sort=["before", "after"], title=None))
        chart = panels.resolve_scale(x="shared", y="shared").properties(title=title)
    return chart


def workforce_scatter(means: pd.DataFrame, shares: dict[str, float], *, title: str = "") -> alt.TopLevelMixin:
    """Female minus male association of each profession against the percentage of women in it, with the fitted line."""
    rows = means.assign(share=means["profession"].map(shares)).dropna(subset=["share", "difference"])
    base = alt.Chart(rows).encode(
        x=alt.X("share:Q", title="women among those who hold the profession (%)", scale=alt.Scale(domain=[0, 100])),
        y=alt.Y("difference:Q", title="female minus male association (nats)"),
    )
    points = base.mark_circle(size=70, opacity=0.8).encode(
        color=_colour("prof_gender", GROUPS, "professions"),
        tooltip=["profession", "share", alt.Tooltip("difference:Q", format="+.3f")],
    )
    line = base.transform_regression("share", "difference").mark_line(color="black", strokeDash=[4, 3])
    zero = alt.Chart(pd.DataFrame({"y": [0]})).mark_rule(color="#999999").encode(y="y:Q")
    chart: alt.TopLevelMixin = (zero + points + line).properties(width=480, height=320, title=title)
    return chart


def save(chart: alt.TopLevelMixin, path: Path) -> None:
    """Write a chart as SVG, PNG or self-contained HTML, by the file's ending."""
    if path.suffix not in SUFFIXES:
        raise BadInput(f"A figure is one of {', '.join(SUFFIXES)}. Got '{path}'.")
    try:
        chart.save(str(path), **({"inline": True} if path.suffix == ".html" else {"scale_factor": 2}))
    except OSError as error:
        raise BadInput(f"The figure '{path}' cannot be written: {error.strerror}. Choose another folder.") from error


def _order(before: pd.DataFrame, after: pd.DataFrame | None) -> list[str]:
    if after is None:
        return list(before.assign(size=before["difference"].abs()).sort_values("size", ascending=False)["profession"])
    joined = before.merge(after, on="profession", suffixes=("", "_after"))
    changes = pd.concat([(joined[f"{words}_after"] - joined[words]).abs() for words in COLOURS], axis=1)
    return list(joined.assign(size=changes.max(axis=1)).sort_values("size", ascending=False)["profession"])


def _colour(field: str, colours: dict[str, str], title: str) -> alt.Color:
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    return alt.Color(f"{field}:N", scale=scale, title=title)
