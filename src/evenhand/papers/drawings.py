"""The papers' charts for the page, as SVG."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from evenhand import Drawing
from evenhand.papers.equalising import before_after, equalising
from evenhand.papers.nli_labels import SETS, distribution
from evenhand.papers.workforce import by_profession, shares
from evenhand.show.page.charts import KINDS, WIDTH
from evenhand.show.page.readings import group
from evenhand.show.page.svg import FOOT, HEAD, LETTER, LINE, Canvas, lines_of_legend, printable, round_domain

LABELS = {"entailment": "sky", "neutral": "pale", "contradiction": "rust"}
STEREOTYPED = {("pro", "entailment"), ("anti", "contradiction"), ("non", "entailment"), ("non", "contradiction")}


def workforce(m: Any) -> Iterator[Drawing]:
    """Each profession of BEC-Pro against the share of women in it."""
    if len(m.runs) > 1 or not m.dataset.startswith("becpro") or m.measure != "association":
        return
    means = by_profession(m.scores[0])
    known = means.assign(share=means["profession"].map(shares())).dropna(subset=["share", "difference"])
    if len(known) < 3:
        return
    x, y = known["share"].to_numpy(dtype=float), known["difference"].to_numpy(dtype=float)
    up = round_domain(y.tolist())
    series = {group("prof_gender", label): kind for label, kind in KINDS.items()}
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


def labels(m: Any) -> Iterator[Drawing]:
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
        label = printable(f"{name}, {m.names[one]}" if len(m.runs) > 1 else group("set", name))
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


def words(m: Any) -> Iterator[Drawing]:
    """Every profession in two runs, where that was measured."""
    if len(m.runs) != 2 or m.measure != "pronoun" or not {"category", "better", "profession"} <= set(m.scores[0]):
        return
    both = before_after(*m.scores).dropna(subset=["before", "after"])
    told = equalising(both, seed=m.task.seed)
    if told is None or len(set(both["better"])) > 1:
        return
    ends = (-1.0, 1.0)
    shown = Canvas(ends, WIDTH, 360.0, left=44.0)
    shown.axis(f"“he” minus “she”, {m.names[0]}")
    shown.side_axis(ends)
    shown.line(shown.x(-1), shown.y(-1, ends), shown.x(1), shown.y(1, ends), "neutral")
    for row in both.to_dict("records"):
        at = (shown.x(row["before"]), shown.y(row["after"], ends))
        shown.add("rect", x=at[0] - 3, y=at[1] - 3, width=6, height=6, class_="point run2")
    line = told.professions
    reach = [min(both["before"]), max(both["before"])]
    y = [shown.y(line.intercept + line.slope * x, ends) for x in reach]
    shown.line(shown.x(reach[0]), y[0], shown.x(reach[1]), y[1], "fit")
    yield shown.drawn(
        f"Each square is a profession: from left to right in {m.names[0]}, from bottom to top in {m.names[1]}; on the "
        f"full line both are the same. In the second they lie {told.spread.shown('.2f')} times as far apart."
    )
