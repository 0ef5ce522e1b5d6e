"""The results as a table and charts in docs/performance.md, between two marks; the rest of it is written by hand."""

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd

from benchmarks.rows import Row

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "performance.md"
START, STOP = "<!-- written by make bench -->", "<!-- to here -->"
MET = {True: "met", False: "**not met**", None: ""}
CLOCK = {"wall": "wall time", "cpu": "CPU time"}
BLUE, ORANGE = "#0072B2", "#D55E00"


def write(results: Path, order: Sequence[str]) -> None:
    """Table and charts from whatever results of these groups are there."""
    kept = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(results.glob("*.json"))}
    groups = [kept[name] for name in order if "rows" in kept.get(name, {})]
    rows = [Row(**_read(row)) for group in groups for row in group["rows"]]
    made = [_table(rows), _machines([*groups, *([kept["growth"]] if "growth" in kept else [])])]
    ratios(rows).save(str(DOCS / "figures" / "performance-ratios.svg"))
    made.append("![How many times faster, and the goals](figures/performance-ratios.svg)")
    if "growth" in kept:
        growth(pd.DataFrame(kept["growth"]["points"])).save(str(DOCS / "figures" / "performance-growth.svg"))
        made.append("![Time against inputs, length and width](figures/performance-growth.svg)")
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.split(START)[0], text.split(STOP)[1]
    PAGE.write_text(before + "\n\n".join([START, *made, STOP]) + after, encoding="utf-8")


def _read(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"ours": math.nan if row["ours"] is None else row["ours"]}


def line(row: Row) -> str:
    """A row for the terminal."""
    words = [f"{row.name}: {_number(row.ours, row.unit)}"]
    if row.ratio is not None and row.peer is not None:
        words.append(f"peer {_number(row.peer, row.unit)}, {row.ratio:.1f}x")
    if row.difference is not None:
        words.append(f"largest difference {row.difference:.1e}")
    if row.share is not None:
        words.append(f"{row.share:.0%} of the GEMM rate")
    if row.goal is not None:
        words.append(f"goal {_goal(row)}: {'met' if row.met else 'not met'}")
    return "; ".join([*words, *([row.note] if row.note else [])])


def _goal(row: Row) -> str:
    if row.goal is None:
        return ""
    return f"under {row.goal:g} {row.unit}" if row.ratio is None else f"{row.goal:g}x"


def _number(value: float, unit: str) -> str:
    return "-" if math.isnan(value) else f"{value:.3g} {unit}" if value < 100 else f"{value:.0f} {unit}"


def _table(rows: list[Row]) -> str:
    head = ["what: peer", "ours", "peer", "ratio", "goal", "", "largest difference", "share of GEMM", "note"]
    lines = [head, ["---"] * len(head)]
    for row in rows:
        lines.append(
            [
                row.name,
                _number(row.ours, row.unit),
                "" if row.peer is None else _number(row.peer, row.unit),
                "" if row.ratio is None else f"{row.ratio:.1f}x",
                _goal(row),
                MET[row.met],
                "" if row.difference is None else f"{row.difference:.0e}",
                "" if row.share is None else f"{row.share:.0%}",
                row.note,
            ]
        )
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _machines(groups: list[dict[str, Any]]) -> str:
    """Date and machine of each group; those alike in one sentence."""
    alike: dict[str, list[str]] = {}
    for group in groups:
        machine = dict(group["machine"])
        before = machine.pop("load_before")
        versions = ", ".join(f"{name} {machine[name]}" for name in list(machine)[4:])
        cores = f"{machine['threads']} of {machine['cores']} cores, {CLOCK[machine['clock']]}"
        told = f"{group['date']}, {machine['cpu']}, {cores}; {versions}"
        alike.setdefault(told, []).append(f"{group['group']} ({group['seconds']} s, load {before})")
    return "\n\n".join(f"Measured {told}: {', '.join(names)}." for told, names in alike.items())


def ratios(rows: list[Row]) -> alt.TopLevelMixin:
    """A bar for each ratio, on a logarithmic scale from 1, a tick at its goal, a line from its least to its most."""
    frame = pd.DataFrame(
        {
            "name": re.sub(r": ", "\n", row.name),
            "ratio": row.ratio,
            "goal": row.goal,
            "one": 1,
            "least": min(row.spread, default=row.ratio),
            "most": max(row.spread, default=row.ratio),
            "label": f"{row.ratio:.1f}x",
            "right": max(*row.spread, row.ratio, row.goal or 0),
        }
        for row in rows
        if row.ratio is not None
    )
    scale = alt.Scale(type="log", domainMin=min(1.0, frame["least"].min()) * 0.9)
    base = alt.Chart(frame).encode(
        y=alt.Y("name:N", sort=None, title=None, axis=alt.Axis(labelLimit=420, labelExpr="split(datum.label, '\\n')"))
    )
    x = alt.X("ratio:Q", title="times faster than the peer", scale=scale, axis=alt.Axis(values=[1, 2, 5, 10, 20, 50]))
    bars = base.mark_bar(color=BLUE, height=16).encode(x=x, x2="one:Q")
    parts = base.mark_rule(color="black").encode(x=alt.X("least:Q", scale=scale), x2="most:Q")
    goals = base.mark_tick(color=ORANGE, thickness=3, size=26).encode(x=alt.X("goal:Q", scale=scale))
    labels = base.mark_text(align="left", dx=6).encode(x=alt.X("right:Q", scale=scale), text="label:N")
    note = "black: from the least to the most of the parts that were timed in turn; orange: goal"
    chart: alt.LayerChart = bars + parts + goals + labels
    return chart.properties(width=420, height=alt.Step(38), title=alt.TitleParams("Beside the peers", subtitle=note))


def growth(points: pd.DataFrame) -> alt.TopLevelMixin:
    """Seconds against each size, on logarithmic axes: a straight line is a power of it."""
    panels = []
    for what in points["what"].unique():
        own = points[points["what"] == what]
        base = alt.Chart(own).encode(
            x=alt.X(
                "n:Q",
                title=what.split(", "),
                scale=alt.Scale(type="log", nice=False, padding=12),
                axis=alt.Axis(values=list(own["n"])),
            ),
            y=alt.Y("seconds:Q", title="seconds", scale=alt.Scale(type="log", nice=False, padding=12)),
        )
        panels.append(
            (base.mark_line(color=BLUE) + base.mark_point(color=BLUE, filled=True, size=50)).properties(
                width=220, height=200
            )
        )
    return alt.hconcat(*panels).properties(title="Time as the work grows")
