"""The results in docs: a table and charts in performance.md, the speed of swapping in mitigation.md.

They stand between two marks, the rest of these pages is written by hand. `python -m benchmarks.page` writes them again.
"""

import json
import math
from pathlib import Path
from textwrap import wrap
from typing import Any

import altair as alt
import pandas as pd

from benchmarks.rows import Row
from evenhand.show import plots

DOCS = Path(__file__).parent.parent / "docs"
PAGE, SWAPPING = DOCS / "performance.md", DOCS / "mitigation.md"
RESULTS = Path(__file__).parent / "results"
LABEL = 56
"""The most characters in a line of a chart's labels."""
GROUPS = (
    "becpro",
    "likelihood",
    "unmasked",
    "causal",
    "writing",
    "pronouns",
    "memory",
    "growth",
    "startup",
    "swap",
    "workers",
    "vectors",
)
START, STOP = "<!-- written by make bench -->", "<!-- to here -->"
MET = {True: "met", False: "**not met**", None: ""}
CLOCK = {"wall": "wall time", "cpu": "CPU time"}


def write() -> None:
    """Draw the charts, and put what the results say into the pages."""
    kept = _kept()
    rows = [row for group in kept.values() for row in _rows(group)]
    plots.save(ratios(rows), DOCS / "figures/performance-ratios.svg")
    plots.save(growth(pd.DataFrame(kept["growth"]["points"])), DOCS / "figures/performance-growth.svg")
    for page, block in blocks().items():
        text = page.read_text(encoding="utf-8")
        page.write_text(text.split(START)[0] + block + text.split(STOP)[1], encoding="utf-8")


def blocks() -> dict[Path, str]:
    """What the kept results say, by the page that has it: both marks, and all between them."""
    kept = _kept()
    performance = [
        _table([row for group in kept.values() for row in _rows(group)]),
        _machines(sorted(kept.values(), key=lambda group: "points" in group)),
        "![How many times faster, and the goals](figures/performance-ratios.svg)",
        "![Time against inputs, length and width](figures/performance-growth.svg)",
    ]
    made = {PAGE: performance, SWAPPING: [_swapping(kept["swap"])]}
    return {page: "\n\n".join([START, *parts, STOP]) for page, parts in made.items()}


def _kept() -> dict[str, dict[str, Any]]:
    """The results of the groups that have been run."""
    files = {name: RESULTS / f"{name}.json" for name in GROUPS}
    return {name: json.loads(file.read_text(encoding="utf-8")) for name, file in files.items() if file.exists()}


def _rows(group: dict[str, Any]) -> list[Row]:
    return [Row(**row | {"ours": math.nan if row["ours"] is None else row["ours"]}) for row in group.get("rows", ())]


def _swapping(group: dict[str, Any]) -> str:
    words, named = (
        next(row for row in _rows(group) if row.name == f"swap, {name}, 1 core")
        for name in ("words only", "with names")
    )
    told = (
        f"Speed on one core of {group['machine']['cpu']}, by processor time ({group['date']}): "
        f"{_number(words.ours, words.unit)} for words, {_number(named.ours, named.unit)} with names."
    )
    if named.peer is None or named.ratio is None:
        return told
    return (
        f"{told} HanTa, a light tagger, tags the same text at {_number(named.peer, named.unit)}: it takes "
        f"{named.ratio:.0f} times as long as the swap with names."
    )


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
    """Date and machine of each group; one sentence for all groups of the same."""
    same: dict[str, list[str]] = {}
    for group in groups:
        machine = dict(group["machine"])
        before = machine.pop("load_before")
        versions = ", ".join(f"{name} {machine[name]}" for name in list(machine)[4:])
        cores = f"{machine['threads']} of {machine['cores']} cores, {CLOCK[machine['clock']]}"
        told = f"{group['date']}, {machine['cpu']}, {cores}; {versions}"
        same.setdefault(told, []).append(f"{group['group']} ({group['seconds']} s, load {before})")
    return "\n\n".join(f"Measured {told}: {', '.join(names)}." for told, names in same.items())


def ratios(rows: list[Row]) -> alt.TopLevelMixin:
    """A bar for each ratio, on a logarithmic scale from 1, a tick at its goal, a line from its least to its most."""
    frame = pd.DataFrame(
        {
            "name": "\n".join(line for part in row.name.split(": ") for line in wrap(part, LABEL)),
            "ratio": row.ratio,
            "goal": row.goal,
            "one": 1,
            "least": min(row.spread, default=row.ratio),
            "most": max(row.spread, default=row.ratio),
            "label": f"{row.ratio:.1f}x",
            "right": max(*row.spread, row.ratio, row.goal or 0, 1.0),
        }
        for row in rows
        if row.ratio is not None
    )
    scale = alt.Scale(type="log", domainMin=min(1.0, frame["least"].min()) * 0.9)
    base = alt.Chart(frame).encode(
        y=alt.Y("name:N", sort=None, title=None, axis=alt.Axis(labelExpr="split(datum.label, '\\n')"))
    )
    x = alt.X(
        "ratio:Q", title="times faster than the peer", scale=scale, axis=alt.Axis(values=[1, 2, 5, 10, 20, 50, 100])
    )
    bars = base.mark_bar(color=plots.BLUE, height=16).encode(x=x, x2="one:Q")
    parts = base.mark_rule(color="black").encode(x=alt.X("least:Q", scale=scale), x2="most:Q")
    goals = base.mark_tick(color=plots.RUST, thickness=3, size=26).encode(x=alt.X("goal:Q", scale=scale))
    labels = base.mark_text(align="left", dx=6).encode(x=alt.X("right:Q", scale=scale), text="label:N")
    note = ["black: from the least to the most of the parts that were timed in turn", "orange: goal"]
    chart: alt.LayerChart = bars + parts + goals + labels
    title = alt.TitleParams("Beside the peers", subtitle=note)
    room = {"left": 40, "right": 20, "top": 8, "bottom": 8}  # for a font that is wider than the one that was measured
    return chart.properties(width=420, height=alt.Step(42), title=title, padding=room)


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
            (base.mark_line(color=plots.BLUE) + base.mark_point(color=plots.BLUE, filled=True, size=50)).properties(
                width=220, height=200
            )
        )
    return alt.hconcat(*panels).properties(title="Time as the work grows")


if __name__ == "__main__":
    write()
