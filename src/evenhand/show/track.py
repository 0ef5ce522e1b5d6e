"""The checkpoints of a training on the terminal, and as a chart."""

from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from evenhand.analysis.change import ONE_TRAINING
from evenhand.analysis.tracking import Track
from evenhand.show.page.track import MARKS, lead, named, notes, sentence
from evenhand.show.page.track import chart as panel
from evenhand.show.tables import line, table

SENTENCES = 6
"""Changes that get a sentence each; the page has the others."""
LABEL, WORDS, CELL = 34, 22, 10
RULE = (
    "▲ farther from neutral, ▼ nearer: the 95 % interval of the change in distance leaves out 0, and its p, adjusted "
    "by Holm over all neighbours and the first with the last, is below .05. ◆ changed, but neither is shown."
)


def terminal(track: Track, width: int) -> RenderableType:
    """Where the model changed, in sentences, and a table of all values; no wider than `width`."""
    parts: list[RenderableType] = [Text(lead(track), "bold")]
    told = [f"{MARKS[row.way]} {row.start} to {row.end}: {sentence(track, row)}." for row in track.shown]
    told += [f"From {row.start} to {row.end}: {sentence(track, row)}." for row in track.overall]
    parts += [Padding(Text(text), (0, 0, 0, 2)) for text in told[:SENTENCES]]
    if len(told) > SENTENCES:
        parts.append(Text(f"  {len(told) - SENTENCES} more changes are on the page."))
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
    """The checkpoints that a narrow table shows: the first, the last, those around changes, then the earliest."""
    last = len(track.runs) - 1
    around = [track.labels.index(label) for row in track.shown for label in (row.start, row.end)]
    order = dict.fromkeys([0, last, *around, *range(last)])
    return sorted(list(order)[:most])


def _row(track: Track, place: int, shown: list[int]) -> list[str]:
    curve = track.curves[place]
    marks = {row.end: MARKS[row.way] for row in track.shown if track.curve(row) is curve}
    name = named(track, curve)
    cells = [f"{marks.get(track.labels[n], '')}{curve.values[n].text}" for n in shown]
    return [name if len(name) < LABEL else f"{name[: LABEL - 2]}…", *cells]


def chart(track: Track) -> Any:
    """A panel for each headline value: the line of its values in a band of 95 % intervals."""
    import altair as alt  # takes a second, which a terminal does not need

    panels = [panel(track, curve).properties(title=named(track, curve), width=320) for curve in track.curves]
    note = [
        "Bands are 95 % intervals; the level line is neutral. Thick red: changed since the one before.",
        "A hollow dot: no lean is shown.",
    ]
    title = alt.TitleParams(f"{track.labels[0]} to {track.labels[-1]}", subtitle=note)
    return alt.concat(*panels, columns=2).properties(title=title)
