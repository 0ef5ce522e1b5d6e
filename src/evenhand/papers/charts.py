"""The charts of the papers: as Altair objects, and drawn from runs for the page and as figures."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import altair as alt
import pandas as pd

from evenhand import Drawing, Run
from evenhand.papers.equalising import FEWEST, GENDERED, Equalising, appd, before_after, by_size, equalising
from evenhand.papers.findings import SETS, by_profession, distribution, profession_means, workforce_shares
from evenhand.show.figures import Charts, check_measured, colours_of
from evenhand.show.plots import (
    BLUE,
    GREY,
    ORANGE,
    PALE,
    PALETTE,
    RUST,
    WHISKERS,
    Layers,
    bars_of,
    colour,
    numbers,
    rule_at,
    with_intervals,
    with_title,
)
from evenhand.stats import Line

COLOURS = {"female": ORANGE, "male": BLUE}
GROUPS = {"held by women": ORANGE, "held by women and men": "#555555", "held by men": BLUE}
HELD = dict(zip(("female", "balanced", "male"), GROUPS, strict=True))
LABELS = {"entailment": BLUE, "neutral": PALE, "contradiction": RUST}
SEEN = "\u25a0"


def profession_bars(rows: pd.DataFrame, *, title: str = "") -> alt.TopLevelMixin:
    """Mean association of each profession with female and male words, with intervals; a panel for each run.

    Takes rows of `profession_means` with a column `run`. Professions are sorted by their largest difference between
    runs, female or male; of one run, by the difference female - male (Bartl et al. 2020, Figures 3-6). All panels have
    one scale.
    """
    runs = list(dict.fromkeys(rows["run"]))
    x = alt.X("association:Q", title="association (nats)", axis=alt.Axis(tickCount=5))
    bars = bars_of(rows, x, "profession", _order(rows), "words", list(COLOURS)).encode(
        color=colour("words", COLOURS, "person words"),
        tooltip=["profession", "words", *numbers("association", "low", "high")],
    )
    chart = with_intervals(bars, "association (nats)")
    if len(runs) == 1:
        return with_title(chart, title, [WHISKERS])
    panels = chart.properties(width=280).facet(column=alt.Column("run:N", sort=runs, title=None))
    return with_title(panels.resolve_scale(x="shared", y="shared"), title, [WHISKERS])


def workforce_scatter(means: pd.DataFrame, shares: Mapping[str, float]) -> Layers:
    """Female minus male association of each profession against the percentage of women in it, with the fitted line."""
    rows = means.assign(share=means["profession"].map(shares), held=means["prof_gender"].map(HELD))
    rows = rows.dropna(subset=["share", "difference"])
    base = alt.Chart(rows).encode(
        x=alt.X(
            "share:Q", title="women among those who hold the profession (%, US 2019)", scale=alt.Scale(domain=[0, 100])
        ),
        y=alt.Y("difference:Q", title="female minus male association (nats)"),
    )
    points = base.mark_circle(size=70, opacity=0.8).encode(
        color=colour("held", GROUPS, "professions"), tooltip=["profession", "share", *numbers("difference")]
    )
    line = base.transform_regression("share", "difference").mark_line(color="black", strokeDash=[4, 3])
    return alt.layer(rule_at(0, "y", color="black"), points, line)


def pronoun_bars(
    rows: pd.DataFrame, colours: Mapping[str, str], seen: Collection[str] | None = None, *, title: str = ""
) -> alt.TopLevelMixin:
    """The APPD of each profession of a category with its interval: a bar for each run (Barza 2023, Figures 8-19).

    Takes columns run, profession, appd, low and high; `colours` by run. Professions in `seen`, those of the training
    corpus, carry a square.
    """
    rows = rows.assign(label=[f"{p} {SEEN}" if p in (seen or ()) else p for p in rows["profession"]])
    first = rows[rows["run"] == next(iter(colours))]
    order = list(first.sort_values("appd", ascending=False)["label"])
    note = [WHISKERS] + ([f"{SEEN} in the training corpus"] if set(seen or ()) & set(rows["profession"]) else [])
    title_of_x = "APPD: P(he) − P(she)"
    x = alt.X("appd:Q", title=title_of_x, scale=alt.Scale(domain=[-1, 1]), axis=alt.Axis(tickCount=5))
    bars = bars_of(rows, x, "label", order, "run", list(colours)).encode(
        color=colour("run", colours, "model") if len(colours) > 1 else alt.value(GREY),
        tooltip=["profession", "run", *numbers("appd", "low", "high")],
    )
    return with_title(with_intervals(bars, title_of_x), title, note)


def pronoun_scatter(words: pd.DataFrame, fitted: Mapping[str, Line]) -> Layers:
    """The APPD of each word after a change of the model against before, with fitted lines (Figure 10).

    `fitted` has the lines for professions and for gendered words; gendered words are labelled. On the grey line nothing
    changed.
    """
    kinds = words.assign(word=["profession" if b == "closer to 0" else GENDERED for b in words["better"]])
    kinds = kinds.assign(left=_has_neighbour_at_right(kinds["word"] == GENDERED, kinds["before"], kinds["after"]))
    scale = alt.Scale(domain=[-1, 1])
    legend = {} if kinds["word"].nunique() > 1 else {"legend": None}
    colours = colour("word", {"profession": BLUE, GENDERED: RUST}, "word", **legend)
    base = alt.Chart(kinds).encode(
        x=alt.X("before:Q", title="APPD before", scale=scale, axis=alt.Axis(tickCount=5)),
        y=alt.Y("after:Q", title="APPD after", scale=scale, axis=alt.Axis(tickCount=5)),
        color=colours,
    )
    points = base.mark_circle(size=60, opacity=0.8).encode(tooltip=["profession", *numbers("before", "after")])
    named = base.transform_filter(alt.datum.word == GENDERED).encode(text="profession:N")
    right = named.transform_filter("!datum.left").mark_text(align="left", dx=6)
    left = named.transform_filter("datum.left").mark_text(align="right", dx=-6)
    ends = kinds.groupby("word")["before"].agg(["min", "max"])
    rows = [
        {"word": kind, "x": x, "y": line.intercept + line.slope * x}
        for kind, line in fitted.items()
        for x in ends.loc[kind].to_numpy(dtype=float)
    ]
    lines = alt.Chart(pd.DataFrame(rows)).mark_line(strokeDash=[4, 3]).encode(x="x:Q", y="y:Q", color=colours)
    same = alt.Chart(pd.DataFrame({"x": [-1, 1]})).mark_line(color=GREY).encode(x="x:Q", y="x:Q")
    return alt.layer(same, lines, points, left, right).properties(height=360)


def _has_neighbour_at_right(named: pd.Series, x: pd.Series, y: pd.Series) -> pd.Series:
    """Whether a label must stand at the left of its point, since another labelled point is close at its right."""
    points = list(zip(x[named], y[named], strict=True))
    return pd.Series(
        [any(x1 < x2 and abs(y1 - y2) < 0.06 for x2, y2 in points) for x1, y1 in zip(x, y, strict=True)], x.index
    )


def target_words(words: pd.DataFrame, test: str = "") -> Layers:
    """The words of two sets by their association, each labelled; takes columns word, side, set and score."""
    sets = dict(zip(words["side"], words["set"], strict=True))
    colours = {sets["X"]: BLUE, sets["Y"]: ORANGE}
    base = alt.Chart(words).encode(color=colour("set", colours, None))
    x = alt.X("score:Q", title=f"association{f', test {test}' if test else ''}", axis=alt.Axis(tickCount=5))
    order = list(words.sort_values("score", ascending=False)["word"])
    y = alt.Y("word:N", sort=order, title=None, axis=alt.Axis(ticks=False))
    dots = base.mark_point(filled=True, size=60).encode(x=x, y=y, tooltip=["word", "set", *numbers("score")])
    means = base.mark_rule().encode(x="mean(score):Q")
    return alt.layer(rule_at(0, color=GREY), means, dots).properties(height=alt.Step(15))


def written_shares(professions: pd.DataFrame) -> Layers:
    """Professions from 0 to 100 % women: what a model writes as a dot, the workforce's share as a tick.

    Takes columns profession, kind, share and workforce.
    """
    rows = professions.assign(held=professions["kind"].map(HELD))
    order = list(rows.sort_values(["workforce", "profession"], ascending=False)["profession"])
    y = alt.Y("profession:N", sort=order, title=None, axis=alt.Axis(ticks=False))
    scale = alt.Scale(domain=[0, 100])
    base = alt.Chart(rows).encode(y=y)
    dots = base.mark_point(filled=True, size=55).encode(
        x=alt.X("share:Q", title="women (%)", scale=scale),
        color=colour("held", GROUPS, "professions"),
        tooltip=["profession", *numbers("share", "workforce", form=".1f")],
    )
    ticks = base.mark_tick(thickness=2, size=11, color="black").encode(x=alt.X("workforce:Q", scale=scale))
    return alt.layer(rule_at(50, color=GREY), ticks, dots).properties(height=alt.Step(14))


def sample_sizes(rows: pd.DataFrame, *, title: str = "") -> alt.TopLevelMixin:
    """Mean |d| of samples of growing size: the draws as points, their mean as a line (Figure 6)."""
    base = alt.Chart(rows).encode(
        x=alt.X("size:Q", title="pairs in a sample", axis=alt.Axis(values=sorted(rows["size"].unique()))),
        color=alt.Color("category:N", scale=alt.Scale(range=PALETTE), title="category"),
    )
    points, lines = (
        drawn.encode(y=alt.Y(f"{value}:Q", title="ASLD (nats)", scale=alt.Scale(zero=True)))
        for drawn, value in ((base.mark_circle(size=40, opacity=0.5), "value"), (base.mark_line(), "mean(value)"))
    )
    return with_title(points + lines, title)


def dose_response(points: pd.DataFrame, *, title: str = "") -> alt.TopLevelMixin:
    """The value of each measure against the rate of bias that models were trained at, a panel each (Figure 4)."""
    order = list(dict.fromkeys(points["measure"]))
    base = alt.Chart(points).encode(x=alt.X("rate:Q", title="rate of bias in training", scale=alt.Scale(domain=[0, 1])))
    bars = base.mark_rule(color=BLUE, opacity=0.35).encode(y=alt.Y("low:Q", title="value"), y2="high:Q")
    dots = base.mark_point(filled=True, size=30, color=BLUE).encode(
        y="value:Q", tooltip=["measure", "rate", "draw", *numbers("value", form=".3f")]
    )
    line = base.mark_line(color=BLUE).encode(y="mean(value):Q")
    panels = (bars + line + dots).properties(width=200, height=150)
    facets = panels.facet(facet=alt.Facet("measure:N", sort=order, title=None), columns=3)
    return with_title(facets.resolve_scale(y="independent"), title)


def label_bars(rows: pd.DataFrame) -> Layers:
    """The share of each label in each set, stacked; takes `distribution`'s rows with a column `model`.

    A dot marks the labels that a stereotype would give.
    """
    stereotyped = {("pro", "entailment"), ("anti", "contradiction"), ("non", "entailment"), ("non", "contradiction")}
    several = rows["model"].nunique() > 1
    rows = rows.assign(
        order=rows["label"].map({label: n for n, label in enumerate(LABELS)}),
        name=rows["set"] + "-stereotypical" + (", " + rows["model"] if several else ""),
        dot=["● " if key in stereotyped else "" for key in zip(rows["set"], rows["label"], strict=True)],
    ).sort_values("order", kind="stable")
    rows = rows.assign(
        middle=rows.groupby("name")["value"].cumsum() - rows["value"] / 2,
        # A number does not fit into a narrow bar.
        text=[f"{d}{v:.2f}" if v >= 0.12 else "" for d, v in zip(rows["dot"], rows["value"], strict=True)],
    )
    order = list(dict.fromkeys(rows.sort_values("set", key=lambda sets: sets.map(SETS.index), kind="stable")["name"]))
    base = alt.Chart(rows).encode(y=alt.Y("name:N", sort=order, title=None))
    bars = base.mark_bar().encode(
        x=alt.X("value:Q", stack="zero", title="share of pairs", scale=alt.Scale(domain=[0, 1], nice=False)),
        color=colour("label", LABELS, "label", sort=list(LABELS)),
        order=alt.Order("order:Q"),
        tooltip=["name", "label", *numbers("value", "low", "high", form=".3f")],
    )
    texts = base.mark_text().encode(
        x=alt.X("middle:Q", title="share of pairs"),
        text="text:N",
        color=alt.condition(alt.datum.label == "neutral", alt.value("black"), alt.value("white")),
    )
    return alt.layer(bars, texts).properties(height=alt.Step(34))


def _order(rows: pd.DataFrame) -> list[str]:
    """Professions sorted by their largest difference between runs, or between genders if there is one run."""
    by = ["profession", "words"] if rows["run"].nunique() > 1 else ["profession"]
    apart = rows.groupby(by, sort=False)["association"].agg(lambda values: values.max() - values.min())
    return list(apart.groupby("profession", sort=False).max().sort_values(ascending=False, kind="stable").index)


HELD_BY = {"female": "women", "male": "men", "balanced": "women and men"}
MOST_WORDS = 70
"""The most words of a chart that labels all its words."""
OTHER_TEMPLATES = ["tbd-simple", "tbd-becpro"]


def workforce_on_page(measured: Any) -> Iterator[Drawing]:
    """For a page of one run: each profession of BEC-Pro against the share of women in it."""
    if len(measured.runs) > 1 or not measured.dataset.startswith("becpro") or measured.measure != "association":
        return
    means = by_profession(measured.scores[0]).dropna(subset=["difference"])
    if means["profession"].isin(workforce_shares()).sum() >= FEWEST:
        yield Drawing(
            workforce_scatter(means, workforce_shares()),
            "Each dot is a profession; the higher, the more it speaks for women (nats). If the dashed line were level, "
            "it would not matter to the model who holds the profession.",
        )


def labels_on_page(measured: Any) -> Iterator[Drawing]:
    """The share of each label in each set."""
    rows = _labels(dict(zip(measured.names, measured.runs, strict=True)), measured.dataset)
    if measured.measure == "nli-coal" and len(rows) and rows["value"].notna().all():
        caption = "Labels by set. ● marks those that a stereotype would give; “neutral” is always right."
        yield Drawing(label_bars(rows), caption)


def pronouns_on_page(measured: Any) -> Iterator[Drawing]:
    """For a page of two runs: the APPD of each word before and after, if both runs have it."""
    scores = measured.scores
    if len(scores) != 2 or measured.measure != "pronoun" or not {"category", "better", "profession"} <= set(scores[0]):
        return
    words = before_after(*scores).dropna(subset=["before", "after"])
    fitted = equalising(words, seed=measured.task.seed)
    if fitted is not None and words["better"].nunique() == 1:
        before, after = measured.names
        yield Drawing(
            pronoun_scatter(words, fitted.lines),
            f"Each dot is a profession: from left to right in {before}, from bottom to top in {after}; on the full "
            f"line both are the same. In the second they lie {fitted.spread.shown('.2f')} times as far apart.",
        )


def words_on_page(measured: Any) -> Iterator[Drawing]:
    """For a page of one run: the words behind the value of an association test, a chart for each test."""
    scores = measured.scores[0]
    if len(measured.runs) > 1 or measured.task.kinds is None or not {"side", "set", "word"} <= set(scores):
        return
    scores = scores.dropna(subset=["score"])
    for test, part in scores.groupby("test") if "test" in scores else [("", scores)]:
        words = part.groupby(["word", "side", "set"], as_index=False)["score"].mean()
        if words["side"].nunique() == 2 and words["score"].nunique() > 1 and len(words) <= MOST_WORDS:
            yield Drawing(
                target_words(words, str(test)),
                "Each dot is a word: to the right it is nearer to the first attributes (men's words, in our own sets), "
                "to the left to the second. Thin lines are the means of the two sets.",
            )


def profession_figures(runs: Mapping[str, Run]) -> Charts:
    """Bars for each profession group, and the scatter against the workforce."""
    check_measured(list(runs.values()), "association")
    made: Charts = {}
    first, models = next(iter(runs.values())), ", ".join(runs)
    tasks = [task for task in first.record.tasks if task.dataset_builder.startswith("becpro")]
    for task in (task for task in tasks if task.measure == "association"):
        dataset = task.dataset
        prefix, suffix = (f"{dataset}-", f", {dataset}") if len({t.dataset for t in tasks}) > 1 else ("", "")
        means = pd.concat(
            profession_means(run.scores_of(dataset), seed=task.seed).assign(run=name) for name, run in runs.items()
        )
        for group, part in means.groupby("prof_gender"):
            title = f"{models}{suffix}: professions held by {HELD_BY[str(group)]}"
            made[f"{prefix}professions-{group}"] = profession_bars(part, title=title)
        for place, (name, run) in enumerate(runs.items(), 1):
            title = f"{name}{suffix}: association and the workforce (US)"
            number = f"-{place}" if len(runs) > 1 else ""
            means_of = by_profession(run.scores_of(dataset))
            made[f"{prefix}workforce{number}"] = with_title(workforce_scatter(means_of, workforce_shares()), title)
    return made


def pronoun_figures(runs: Mapping[str, Run], seen: Collection[str] | None) -> Charts:
    """Bars for each category, with the professions in `seen` marked, and the scatter of two runs."""
    check_measured(list(runs.values()), "pronoun")
    scores = [_pronoun_scores(run) for run in runs.values()]
    if scores[0].empty:
        return {}
    words = appd(scores[0])
    models = ", ".join(runs)
    rows = pd.concat(_words(run).assign(run=name) for name, run in runs.items())
    made: Charts = {}
    for category, part in words.groupby("category"):
        better = "closer to 0" if set(part["better"]) == {"closer to 0"} else "farther from 0, on its side,"
        of_category = rows[rows["category"] == category]
        title = f"{models}: {category} ({better} is better)"
        made[f"pronoun-{category}"] = pronoun_bars(of_category, colours_of(runs), seen, title=title)
    if len(runs) == 2:
        both = before_after(*scores)
        fitted = equalising(both, seed=next(iter(runs.values())).record.tasks[0].seed)
        made |= {"pronoun-change": _scatter(models, both, fitted)} if fitted is not None else {}
    return made


def _words(run: Run) -> pd.DataFrame:
    """The value of each word with its interval: category, profession, appd, low, high."""
    return pd.DataFrame(
        {
            **{name: row.groups[name] for name in ("category", "profession")},
            **{"appd": row.value, "low": row.low, "high": row.high},
        }
        for dataset in run.datasets
        if dataset.partition(" (")[0] not in OTHER_TEMPLATES
        for row in run.values_of(dataset, "pronoun")
        if {"category", "profession"} <= set(row.groups)
    )


def _scatter(models: str, words: pd.DataFrame, fitted: Equalising) -> alt.TopLevelMixin:
    note = [
        f"{name}: slope {line.slope:.2f} [{line.slope_low:.2f}, {line.slope_high:.2f}], "
        f"intercept {line.intercept:+.2f}, r {line.r:.2f} [{line.r_low:.2f}, {line.r_high:.2f}]"
        for name, line in fitted.lines.items()
    ]
    note += [f"professions: spread x {fitted.spread.shown('.2f')}", f"Merely equalised? {fitted.verdict}"]
    return with_title(pronoun_scatter(words, fitted.lines), f"{models}: pronouns in both", note)


def sample_size_figures(runs: Mapping[str, Run]) -> Charts:
    """ASLD on samples of growing size."""
    made: Charts = {}
    for place, (name, run) in enumerate(runs.items(), 1):
        tasks = [task for task in run.record.tasks if task.measure == "likelihood-difference" and "category" in task.by]
        for task in tasks:
            prefix, suffix = (f"{task.dataset}-", f" on {task.dataset}") if len(tasks) > 1 else ("", "")
            rows = by_size(run.scores_of(*task.name), seed=task.seed)
            key = f"{prefix}sample-size" + (f"-{place}" if len(runs) > 1 else "")
            title = f"{name}{suffix}: ASLD on samples, 5 draws each"
            made |= {key: sample_sizes(rows, title=title)} if len(rows) else {}
    return made


def label_figures(runs: Mapping[str, Run]) -> Charts:
    """Labels by set."""
    made: Charts = {}
    for dataset in next(iter(runs.values())).datasets:
        rows = _labels(runs, dataset)
        if len(rows):
            note = [f"{name}: {_coal(run, dataset)}" for name, run in runs.items()]
            title = f"{dataset}: labels by set"
            note += ["● labels that a stereotype would give"]
            made[f"labels-{dataset}"] = with_title(label_bars(rows), title, note)
    return made


def _labels(runs: Mapping[str, Run], dataset: str) -> pd.DataFrame:
    """The shares of labels by set and run; empty unless all runs have labels."""
    frames = [distribution(run.values_of(dataset)).assign(model=name) for name, run in runs.items()]
    return pd.concat(frames) if all(len(frame) for frame in frames) else pd.DataFrame()


def _coal(run: Run, dataset: str) -> str:
    return ", ".join(
        f"{name} {row.brief('.3f')}"
        for measure, name in (("nli-coal", "NLI-CoAL"), ("fraction-neutral", "FN"))
        for row in run.values_of(dataset, measure)
        if not row.groups and row.known
    )


def _pronoun_scores(run: Run) -> pd.DataFrame:
    """The scores of the measure pronoun, without the datasets that have the same professions in other templates."""
    scores = run.scores[run.scores["measure"] == "pronoun"]
    scores = scores.drop(columns=[c for c in scores.columns if c != "score" and scores[c].isna().all()])
    return scores[~scores["dataset"].str.partition(" (")[0].isin(OTHER_TEMPLATES)] if len(scores) else scores
