"""Charts: in a notebook as they are, as SVG or PNG, or as HTML that needs no network."""

from collections.abc import Sequence
from pathlib import Path

import altair as alt
import pandas as pd

from evenhand.errors import BadInput

COLOURS = {"female": "#E69F00", "male": "#0072B2"}  # Okabe and Ito's orange and blue: told apart by everybody
GROUPS = {"female": "#E69F00", "balanced": "#555555", "male": "#0072B2"}
PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#555555", "#F0E442"]
LABELS = {"entailment": "#0072B2", "neutral": "#BBBBBB", "contradiction": "#D55E00"}
MOMENTS = {"before": "#999999", "after": "#0072B2"}
GENDERED = "calls for one gender"
SEEN = "\u25a0"
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


def pronoun_bars(words: pd.DataFrame, seen: set[str] | None = None, *, title: str = "") -> alt.TopLevelMixin:
    """The APPD of each profession of a category: one bar, or before and after (Barza 2023, Figures 8-19).

    Takes columns profession and before, and after if there is one. Professions in `seen`, those of the training
    corpus, carry a square.
    """
    moments = [name for name in ("before", "after") if name in words]
    rows = words.assign(label=[f"{p} {SEEN}" if seen and p in seen else p for p in words["profession"]])
    rows = rows.melt(["label", "profession"], moments, "model", "appd")
    order = list(words.assign(size=words["before"]).sort_values("size", ascending=False)["profession"])
    sort = [f"{p} {SEEN}" if seen and p in seen else p for p in order]
    note = [f"{SEEN} in the training corpus"] if seen and seen & set(words["profession"]) else []
    chart: alt.TopLevelMixin = (
        alt.Chart(rows)
        .mark_bar()
        .encode(
            x=alt.X(
                "appd:Q", title="APPD: P(he) - P(she)", scale=alt.Scale(domain=[-1, 1]), axis=alt.Axis(tickCount=5)
            ),
            y=alt.Y("label:N", sort=sort, title=None, axis=alt.Axis(labelLimit=260)),
            yOffset=alt.YOffset("model:N", sort=moments),
            color=_colour("model", {name: MOMENTS[name] for name in moments}, "model")
            if len(moments) > 1
            else alt.value(MOMENTS["before"]),
            tooltip=["profession", "model", alt.Tooltip("appd:Q", format="+.3f")],
        )
        .properties(width=420, height=alt.Step(11), title=alt.TitleParams(title, subtitle=note))
    )
    return chart


def pronoun_scatter(
    words: pd.DataFrame, fits: dict[str, tuple[float, float]], *, title: str, note: list[str]
) -> alt.TopLevelMixin:
    """The APPD of each word after a change of the model against before, with fitted lines (Figure 10).

    `fits` has slope and intercept for professions and for gendered words, which are named. The grey line is where
    nothing changed.
    """
    kinds = words.assign(word=["profession" if b == "closer to 0" else GENDERED for b in words["better"]])
    scale = alt.Scale(domain=[-1, 1])
    colours = {"profession": "#0072B2", GENDERED: "#D55E00"}
    base = alt.Chart(kinds).encode(
        x=alt.X("before:Q", title="APPD before", scale=scale),
        y=alt.Y("after:Q", title="APPD after", scale=scale),
        color=_colour("word", colours, "word"),
    )
    points = base.mark_circle(size=60, opacity=0.8).encode(
        tooltip=["profession", alt.Tooltip("before:Q", format="+.3f"), alt.Tooltip("after:Q", format="+.3f")]
    )
    named = base.transform_filter(alt.datum.word == GENDERED).mark_text(align="left", dx=6, fontSize=9)
    ends = kinds.groupby("word")["before"].agg(["min", "max"])
    rows = [
        {"word": kind, "x": x, "y": intercept + slope * x}
        for kind, (slope, intercept) in fits.items()
        for x in ends.loc[kind].to_numpy(dtype=float)
    ]
    lines = (
        alt.Chart(pd.DataFrame(rows))
        .mark_line(strokeDash=[4, 3])
        .encode(x="x:Q", y="y:Q", color=_colour("word", colours, "word"))
    )
    same = alt.Chart(pd.DataFrame({"x": [-1, 1]})).mark_line(color="#999999").encode(x="x:Q", y="x:Q")
    chart: alt.TopLevelMixin = (same + lines + points + named.encode(text="profession:N")).properties(
        width=460, height=460, title=alt.TitleParams(title, subtitle=note)
    )
    return chart


def sample_sizes(rows: pd.DataFrame, *, title: str = "") -> alt.TopLevelMixin:
    """Mean |d| of samples of growing size: the draws as points, their mean as a line (Figure 6)."""
    base = alt.Chart(rows).encode(
        x=alt.X("size:Q", title="pairs in a sample", axis=alt.Axis(values=sorted(rows["size"].unique()))),
        color=alt.Color("category:N", scale=alt.Scale(range=PALETTE), title="category"),
    )
    scale = alt.Scale(zero=True)
    points = base.mark_circle(size=40, opacity=0.5).encode(y=alt.Y("value:Q", title="ASLD (nats)", scale=scale))
    lines = base.mark_line().encode(y=alt.Y("mean(value):Q", title="ASLD (nats)", scale=scale))
    chart: alt.TopLevelMixin = (points + lines).properties(width=440, height=300, title=title)
    return chart


def learning_curve(rows: pd.DataFrame, *, title: str = "") -> alt.TopLevelMixin:
    """ASLD against the number of sentences trained on, with intervals (Figure 13); rows of analysis.draws.drawn."""
    base = alt.Chart(rows).encode(
        x=alt.X("size:Q", title="sentences trained on"),
        color=alt.Color("group:N", scale=alt.Scale(range=PALETTE), legend=None, sort=list(rows["group"].unique())),
    )
    bands = base.mark_area(opacity=0.15).encode(
        y=alt.Y("low:Q", title="ASLD (nats)", scale=alt.Scale(zero=True)), y2="high:Q"
    )
    lines = base.mark_line(point=True).encode(
        y=alt.Y("value:Q", title="ASLD (nats)"),
        tooltip=["group", "size", *(alt.Tooltip(f"{name}:Q", format=".2f") for name in ("value", "low", "high"))],
    )
    chart: alt.TopLevelMixin = (
        (bands + lines)
        .properties(width=240, height=170)
        .facet(facet=alt.Facet("group:N", sort=list(rows["group"].unique()), title=None), columns=2)
        .properties(title=title)
    )
    return chart


def dose_response(points: pd.DataFrame, *, title: str = "") -> alt.TopLevelMixin:
    """The value of each measure against the rate of bias that models were trained at, a panel each (Figure 4)."""
    order = list(dict.fromkeys(points["measure"]))
    base = alt.Chart(points).encode(x=alt.X("rate:Q", title="rate of bias in training", scale=alt.Scale(domain=[0, 1])))
    bars = base.mark_rule(color=PALETTE[0], opacity=0.35).encode(y=alt.Y("low:Q", title="value"), y2="high:Q")
    dots = base.mark_point(filled=True, size=30, color=PALETTE[0]).encode(
        y="value:Q", tooltip=["measure", "rate", "draw", alt.Tooltip("value:Q", format=".3f")]
    )
    line = base.mark_line(color=PALETTE[0]).encode(y="mean(value):Q")
    chart: alt.TopLevelMixin = (
        (bars + line + dots)
        .properties(width=200, height=150)
        .facet(facet=alt.Facet("measure:N", sort=order, title=None), columns=3)
        .resolve_scale(y="independent")
        .properties(title=title)
    )
    return chart


def model_dots(rows: pd.DataFrame, *, measure: str, title: str = "") -> alt.TopLevelMixin:
    """The value of each model in each group, with its interval; takes analysis.side_by_side's rows."""
    groups = list(rows.columns[: rows.columns.get_loc("model")])
    shown = [group for group in groups if rows[group].nunique() > 2 or group == groups[0]]
    rows = rows.assign(group=[", ".join(dict.fromkeys(labels)) for labels in rows[shown].astype(str).to_numpy()])
    panels = list(dict.fromkeys(rows["group"]))
    order = list(dict.fromkeys(rows["model"]))
    base = alt.Chart(rows).encode(
        y=alt.Y("model:N", sort=order, title=None, axis=alt.Axis(labelLimit=240)),
        color=alt.Color("model:N", sort=order, scale=alt.Scale(range=PALETTE), legend=None),
    )
    bars = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=measure), x2="high:Q")
    dots = base.mark_point(filled=True, size=70).encode(
        x=alt.X("value:Q", title=measure), tooltip=["model", alt.Tooltip("value:Q", format=".3f"), "mark"]
    )
    marks = base.mark_text(dy=-10, fontSize=9).encode(x="value:Q", text="mark:N", color=alt.value("black"))
    chart: alt.TopLevelMixin = (
        (bars + dots + marks)
        .properties(width=420, height=alt.Step(26))
        .facet(row=alt.Row("group:N", sort=panels, title=None, header=alt.Header(labelAngle=0, labelAlign="left")))
        .properties(title=title)
    )
    return chart


def label_bars(rows: pd.DataFrame, *, title: str = "", note: Sequence[str] = ()) -> alt.TopLevelMixin:
    """The share of each label in each set, stacked; takes analysis.distribution's rows with a column `model`.

    A dot marks the labels that a stereotype would give.
    """
    names = {"pro": "pro-stereotypical", "anti": "anti-stereotypical", "non": "non-stereotypical"}
    stereotyped = {("pro", "entailment"), ("anti", "contradiction"), ("non", "entailment"), ("non", "contradiction")}
    models = list(dict.fromkeys(rows["model"]))
    rows = rows.assign(
        order=rows["label"].map({label: n for n, label in enumerate(LABELS)}),
        name=rows["set"].map(names),
        dot=["● " if key in stereotyped else "" for key in zip(rows["set"], rows["label"], strict=True)],
    ).sort_values(["model", "set", "order"])
    rows = rows.assign(
        middle=rows.groupby(["model", "set"])["value"].cumsum() - rows["value"] / 2,
        # In a narrow bar the number would not be read.
        text=[f"{d}{v:.2f}" if v >= 0.09 else "" for d, v in zip(rows["dot"], rows["value"], strict=True)],
    )
    base = alt.Chart(rows).encode(y=alt.Y("name:N", sort=list(names.values()), title=None))
    bars = base.mark_bar().encode(
        x=alt.X("value:Q", stack="zero", title="share of pairs", scale=alt.Scale(domain=[0, 1], nice=False)),
        color=alt.Color("label:N", sort=list(LABELS), title="label").scale(
            domain=list(LABELS), range=list(LABELS.values())
        ),
        order=alt.Order("order:Q"),
        tooltip=["name", "label", *(alt.Tooltip(f"{number}:Q", format=".3f") for number in ("value", "low", "high"))],
    )
    texts = base.mark_text(fontSize=11).encode(
        x=alt.X("middle:Q", title="share of pairs"),
        text="text:N",
        color=alt.condition(alt.datum.label == "neutral", alt.value("black"), alt.value("white")),
    )
    header = alt.Header(labelAngle=0, labelAlign="left")
    chart: alt.TopLevelMixin = (
        (bars + texts)
        .properties(width=460, height=alt.Step(34))
        .facet(row=alt.Row("model:N", sort=models, title=None, header=header if len(models) > 1 else None))
        .properties(title=alt.TitleParams(title, subtitle=[*note, "● labels that a stereotype would give"]))
    )
    return chart


def suited(path: Path) -> None:
    """An error unless the file's ending is one of a figure."""
    if path.suffix not in SUFFIXES:
        raise BadInput(f"A figure is one of {', '.join(SUFFIXES)}. Got '{path}'.")


def save(chart: alt.TopLevelMixin, path: Path) -> None:
    """Write a chart as SVG, PNG or self-contained HTML, by the file's ending."""
    suited(path)
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
