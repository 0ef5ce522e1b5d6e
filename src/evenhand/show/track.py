"""A training and its checkpoints: in sentences, on the terminal, as charts and as a page."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pandas as pd
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from evenhand.analysis.change import ONE_TRAINING, Change
from evenhand.analysis.tracking import Curve, Track, way_of
from evenhand.show.page import readings
from evenhand.show.page.charts import chart_values
from evenhand.show.page.readings import probability
from evenhand.show.page.runs import render
from evenhand.show.tables import line, table

MARKS = {"lost": "▲", "gained": "▼", "changed": "◆"}
BECAME = {"lost": "became more biased", "gained": "became less biased", "changed": "changed"}
KNOWS = {"lost": "came to know less", "gained": "came to know more", "changed": "changed"}
"""By Change.way: BECAME for measures of bias, KNOWS for measures of what a model should know."""
MOST_NAMED = 3
"""The most changes that the first sentence names."""


def curve_name(track: Track, curve: Curve) -> str:
    """A curve in words: the title of its dataset (and its name, if titles are equal), its estimand and its groups."""
    title = readings.dataset(curve.task.dataset)
    others = {other.task.dataset for other in track.curves if readings.dataset(other.task.dataset) == title}
    whole = f"{title} · {curve.task.dataset}" if len(others) > 1 else title
    words = readings.words_of(curve.values[0])
    return f"{whole}, {words}" if words else whole


def sentence(track: Track, row: Change) -> str:
    """A change that is shown: both values, the change with its interval, and p."""
    curve = track.curve(row)
    form = curve.values[0].spec
    towards = row.moved or "not shown to be nearer to neutral or farther from it"
    tested = f"change {row.difference.shown()}, {probability(row.p_holm)}, adjusted"
    return f"{curve_name(track, curve)}: {row.before:{form}} → {row.after:{form}}, {towards} ({tested})"


def lead(track: Track) -> str:
    """The answer, in a sentence or two: where the model became more or less biased."""
    unfit, could_not = _unmeasured(track, all)
    if unfit >= len(track.labels) - 1:
        return f"Nothing can be judged: {could_not}"
    if not track.shown:
        whole = _group_changes(track, track.overall)
        overall = "".join(f" From {start} to {end} it {change}{where}." for change, start, end, where in whole)
        others_note = f"No change between neighbouring checkpoints is shown in {_values(len(track.curves))}"
        return f"{others_note}; other measures are not compared here.{overall}"
    groups = list(_group_changes(track, track.shown))
    parts = [f"{change} between {start} and {end}{where}" for change, start, end, where in groups[:MOST_NAMED]]
    text = ", ".join(parts) + (f", and {len(groups) - MOST_NAMED} more" if len(groups) > MOST_NAMED else "")
    others_note = f"No other change between neighbours is shown in {_values(len(track.curves))}"
    return f"{text[:1].upper()}{text[1:]}. {others_note}; other measures are not compared here."


def _group_changes(track: Track, rows: Sequence[Change]) -> Iterator[tuple[str, str, str, str]]:
    """The changes in words, grouped: the change, the two checkpoints, and which or how many values changed."""
    groups: dict[tuple[str, str, str], list[Change]] = {}
    for row in rows:
        became = (KNOWS if row.task.better == "higher" else BECAME)[row.way]
        groups.setdefault((became, row.start, row.end), []).append(row)
    for key, members in groups.items():
        if len(track.curves) == 1:
            yield *key, ""
        elif len(rows) == 1:
            yield *key, f": {sentence(track, members[0]).rpartition(' (')[0]}"
        else:
            yield *key, f" ({len(members)} of {_values(len(track.curves))})"


def _values(n: int) -> str:
    return f"{n} headline value{'s' if n != 1 else ''}"


def _unmeasured(track: Track, quantifier: Callable[[Iterable[bool]], bool]) -> tuple[int, str]:
    """How many checkpoints could not be measured on a curve, or on all of them; and why the first of them could not."""
    curves, checkpoints = {curve.task.dataset for curve in track.curves}, zip(track.labels, track.runs, strict=True)
    unfit = [(label, run) for label, run in checkpoints if quantifier(name in run.unmeasured for name in curves)]
    others = ", ".join(label for label, _ in unfit[1:])
    words = " ".join(f"{label} {run.could_not(curves)}" for label, run in unfit[:1])
    return len(unfit), f"{words} Nor could {others}." if others else words


def notes(track: Track) -> Iterator[str]:
    """Remarks to read before the curves."""
    for labels in track.same_weights:
        yield (
            f"SAME WEIGHTS: {' and '.join(labels)} are one and the same model, so nothing can have changed between "
            "them. Is one a copy, or was nothing trained in between?"
        )
    unfit, could_not = _unmeasured(track, any)
    if unfit and not lead(track).endswith(could_not):
        yield f"No change is judged there: {could_not}"
    if uncertain := [row for row in track.rows if way_of(row) == "few"]:
        needed, measured = max(row.needed for row in uncertain), min(row.clusters for row in uncertain)
        values = _values(len({row.group for row in uncertain}))
        yield (
            f"Careful: too few words to tell a change of {values}: {measured} were measured, {needed} are needed. "
            "Measure more items, with a larger limit or none."
        )
    if track.left_out:
        yield f"Left out, since some runs do not have them: {', '.join(track.left_out)}."
    if track.runs[0].record.partial:
        yield track.runs[0].record.sample


def curve_card(track: Track, curve: Curve) -> dict[str, Any]:
    """The contents of a curve's card on the page: for each checkpoint its value, and the change from the one before."""
    from evenhand.show.plots import page_svg  # drawing libraries take a second, which terminals do not need

    before = {row.end: row for row in track.rows if track.neighbours(row) and track.curve(row) is curve}
    rows = [(label, value, before.get(label)) for label, value in zip(track.labels, curve.values, strict=True)]
    paired = bool(curve.values[0].contrast) or curve.task.by_gender
    asks = readings.reading(curve.task, contrast=paired).title
    values = ", ".join(f"{label} {value.text}" for label, value, _ in rows)
    svg = page_svg(curve_chart(track, curve), values)
    return {"name": curve_name(track, curve), "asks": asks, "svg": svg, "rows": rows}


def curve_chart(track: Track, curve: Curve) -> Any:
    """The Altair chart of a curve."""
    from evenhand.show import plots

    changed = {row.end for row in track.shown if track.curve(row) is curve}
    rows = pd.DataFrame(
        {"label": short, "neutral": value.neutral, "changed": label in changed, **chart_values(value)}
        for label, short, value in zip(track.labels, track.short_labels, curve.values, strict=True)
    )
    return plots.curve(rows, curve.task.unit or "value")


def track_page(track: Track) -> str:
    """The page of a training."""
    return render(
        "track.html.j2",
        track=track,
        title=f"{track.labels[0]} to {track.labels[-1]}",
        lead=lead(track),
        changes=[(row, sentence(track, row)) for row in track.shown],
        overall=[(row, sentence(track, row)) for row in track.overall],
        notes=list(notes(track)),
        cards=[curve_card(track, curve) for curve in track.curves],
        runs=list(zip(track.labels, track.runs, strict=True)),
        marks=MARKS,
        way_of=way_of,
    )  # fmt: skip


SENTENCES = 6
"""The most changes that get a sentence each; the page has the others."""
LABEL, WORDS, CELL = 34, 22, 10
RULE = (
    "▲ farther from neutral, ▼ nearer: the 95 % interval of the change in distance excludes 0, and its p, adjusted "
    "by Holm over all neighbours and the first with the last, is below .05. ◆ changed, but neither is shown."
)


def terminal(track: Track, width: int) -> RenderableType:
    """Where the model changed, in sentences, and a table of all values; no wider than `width`."""
    parts: list[RenderableType] = [Text(lead(track), "bold")]
    changes = [f"{MARKS[row.way]} {row.start} to {row.end}: {sentence(track, row)}." for row in track.shown]
    changes += [f"From {row.start} to {row.end}: {sentence(track, row)}." for row in track.overall]
    parts += [Padding(Text(text), (0, 0, 0, 2)) for text in changes[:SENTENCES]]
    if len(changes) > SENTENCES:
        parts.append(Text(f"  {len(changes) - SENTENCES} more changes are on the page."))
    parts += [Text(note, "bold red" if note.startswith("SAME") else "yellow") for note in notes(track)]
    places = columns(track, max(2, (width - LABEL) // CELL))
    names = track.short_labels
    cut = [name if len(name) <= CELL - 2 else f"{name[: CELL - 3]}…" for name in names]
    start = track.labels[0].rstrip("0123456789") if names[0] != track.labels[0] else ""
    heads = [f"value at {start}" if start else "value at", *(cut[place] for place in places)]
    parts += [table(heads, [_row(track, n, places) for n in range(len(track.curves))], left=heads[:1])]
    if len(places) < len(names):
        parts.append(Text(f"{len(names) - len(places)} more checkpoints are on the page.", "dim"))
    if track.shown or track.overall:
        parts.append(Text(RULE, "dim"))
    parts.append(Text(ONE_TRAINING, "dim"))
    return Group(*parts, *([line(f"Page: {track.page}", "")] if track.page else []))


def columns(track: Track, most: int) -> list[int]:
    """The checkpoints in a table of `most` columns: the first, the last, those around changes, then the earliest."""
    last = len(track.runs) - 1
    around = [track.labels.index(label) for row in track.shown for label in (row.start, row.end)]
    order = dict.fromkeys([0, last, *around, *range(last)])
    return sorted(list(order)[:most])


def _row(track: Track, place: int, shown: list[int]) -> list[str]:
    curve = track.curves[place]
    marks = {row.end: MARKS[row.way] for row in track.shown if track.curve(row) is curve}
    name = curve_name(track, curve)
    cells = [f"{marks.get(track.labels[n], '')}{curve.values[n].text}" for n in shown]
    return [name if len(name) < LABEL else f"{name[: LABEL - 2]}…", *cells]


def chart(track: Track) -> Any:
    """A panel for each headline value: the line of its values in a band of 95 % intervals."""
    import altair as alt  # takes a second, which a terminal does not need

    panels = [curve_chart(track, curve).properties(title=curve_name(track, curve), width=320) for curve in track.curves]
    note = [
        "Bands are 95 % intervals; the level line is neutral. Thick red: changed since the one before.",
        "A hollow dot: no lean is shown.",
    ]
    title = alt.TitleParams(f"{track.labels[0]} to {track.labels[-1]}", subtitle=note)
    return alt.concat(*panels, columns=2).properties(title=title)
