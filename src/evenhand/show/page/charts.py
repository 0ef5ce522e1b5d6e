"""The charts of one measure, for the page."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from evenhand.analysis.equalising import before_after, equalising
from evenhand.analysis.nli_labels import SETS, distribution
from evenhand.analysis.workforce import by_profession, shares
from evenhand.runs.rows import Number
from evenhand.show.page import readings
from evenhand.show.page.section import Measured
from evenhand.show.page.svg import FOOT, HEAD, LETTER, LINE, Canvas, Drawing, lines_of_legend, printable, round_domain

MOST = 40
"""Groups in a chart; with more it could not be read."""
BINS = 30
WIDTH = 440.0
Dot = tuple[str, str, Number]
"""The value of one group in one series: a gender, or a run."""
KINDS = {"female": "women", "male": "men", "balanced": "both"}
"""By label, the class of its colour in style.css."""
LABELS = {"entailment": "sky", "neutral": "pale", "contradiction": "rust"}


def pictures(measured: Measured) -> list[Drawing]:
    """The charts of a measure: values by group, or scores where there are no groups; and charts of its dataset."""
    return [*_groups(measured), *_workforce(measured), *_labels(measured), *_words(measured)]


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


def _workforce(m: Measured) -> Iterator[Drawing]:
    if len(m.runs) > 1 or not m.dataset.startswith("becpro") or m.measure != "association":
        return
    means = by_profession(m.scores[0])
    known = means.assign(share=means["profession"].map(shares())).dropna(subset=["share", "difference"])
    if len(known) < 3:
        return
    x, y = known["share"].to_numpy(dtype=float), known["difference"].to_numpy(dtype=float)
    up = round_domain(y.tolist())
    series = {readings.group("prof_gender", label): kind for label, kind in KINDS.items()}
    top = HEAD + 17 * lines_of_legend(list(series), WIDTH)
    shown = Canvas((0.0, 100.0), WIDTH, top + 250 + FOOT, left=44.0, top=top)
    shown.axis("women among those who hold the profession (%, US 2019)")
    shown.side_axis(up)
    shown.line(shown.left, shown.y(0.0, up), shown.x(100.0), shown.y(0.0, up), "neutral")
    for row in known.to_dict("records"):
        kind = KINDS.get(row["prof_gender"], "both")
        at = (shown.x(row["share"]), shown.y(row["difference"], up))
        shown.add("rect", x=at[0] - 3, y=at[1] - 3, width=6, height=6, class_=f"point {kind}")
    slope, level = np.polyfit(x, y, 1)
    shown.line(shown.x(0.0), shown.y(level, up), shown.x(100.0), shown.y(level + 100 * slope, up), "fit")
    shown.legend(list(series.items()))
    yield shown.drawn(
        "Each square is a profession; the higher, the more it speaks for women (nats). If the dashed line were level, "
        "it would not matter to the model who holds the profession."
    )


def _labels(m: Measured) -> Iterator[Drawing]:
    """The share of each label in each set, stacked; a star marks the labels that a stereotype would give."""
    if m.measure != "nli-coal":
        return
    frames = [distribution(run.values_of(m.dataset)) for run in m.runs]
    if not all(len(frame) and frame["value"].notna().all() for frame in frames):
        return
    rows = [(name, one) for name in SETS for one in range(len(m.runs))]
    left = 16 + LETTER * 26
    top = HEAD + 17
    shown = Canvas((0.0, 1.0), WIDTH, top + LINE * len(rows) * 1.25 + FOOT, left, top)
    shown.axis("share of pairs")
    for place, (name, one) in enumerate(rows):
        y = top + LINE * 1.25 * place
        label = printable(f"{name}, {m.names[one]}" if len(m.runs) > 1 else readings.group("set", name))
        shown.text(left - 8, y + 18, label if len(label) <= 26 else f"{label[:25]}…", "end")
        at = 0.0
        for part in frames[one][frames[one]["set"] == name].to_dict("records"):
            expected = (name, part["label"]) in STEREOTYPED
            x, wide = shown.x(at), shown.x(at + part["value"]) - shown.x(at)
            shown.add(
                "rect", x=x, y=y + 3, width=max(0.0, round(wide - 1, 1)), height=LINE, class_=LABELS[part["label"]]
            )
            if wide > 40:
                told = f"{'*' if expected else ''}{part['value']:.2f}"
                on = "on-pale" if part["label"] == "neutral" else "on-dark"
                shown.add("text", told, x=x + wide / 2, y=y + 18, text_anchor="middle", class_=on)
            at += part["value"]
    shown.legend(list(LABELS.items()))
    yield shown.drawn("Labels by set. A star marks those that a stereotype would give; “neutral” is always right.")


STEREOTYPED = {("pro", "entailment"), ("anti", "contradiction"), ("non", "entailment"), ("non", "contradiction")}


def _words(m: Measured) -> Iterator[Drawing]:
    """Every profession in two runs, where that was measured."""
    if len(m.runs) != 2 or m.measure != "pronoun" or not {"category", "better", "profession"} <= set(m.scores[0]):
        return
    words = before_after(*m.scores).dropna(subset=["before", "after"])
    told = equalising(words, seed=m.task.seed)
    if told is None or len(set(words["better"])) > 1:
        return
    ends = (-1.0, 1.0)
    shown = Canvas(ends, WIDTH, 360.0, left=44.0)
    shown.axis(f"“he” minus “she”, {m.names[0]}")
    shown.side_axis(ends)
    shown.line(shown.x(-1), shown.y(-1, ends), shown.x(1), shown.y(1, ends), "neutral")
    for row in words.to_dict("records"):
        at = (shown.x(row["before"]), shown.y(row["after"], ends))
        shown.add("rect", x=at[0] - 3, y=at[1] - 3, width=6, height=6, class_="point run2")
    line = told.professions
    reach = [min(words["before"]), max(words["before"])]
    y = [shown.y(line.intercept + line.slope * x, ends) for x in reach]
    shown.line(shown.x(reach[0]), y[0], shown.x(reach[1]), y[1], "fit")
    yield shown.drawn(
        f"Each square is a profession: from left to right in {m.names[0]}, from bottom to top in {m.names[1]}; on the "
        f"full line both are the same. In the second they lie {told.spread.shown('.2f')} times as far apart."
    )
