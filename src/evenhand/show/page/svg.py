"""Drawing as SVG in the page's own colours, light or dark: axes, dots with intervals, bars, points, lines.

By hand, since a drawing library takes longer to load and draw than the rest of the page takes to make.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from evenhand.core.sections import Drawing

LETTER = 6.5
"""The mean width of a letter, in units of the drawing."""
HEAD, FOOT, RIGHT, LINE = 10.0, 38.0, 14.0, 22.0


@dataclass
class Canvas:
    """A frame with a scale across, to which marks are added; `drawn` gives the SVG."""

    across: tuple[float, float]
    width: float
    height: float
    left: float = 12.0
    top: float = HEAD
    parts: list[Markup] = field(default_factory=list)

    def x(self, value: float) -> float:
        low, high = self.across
        share = (min(max(value, low), high) - low) / (high - low)
        return round(self.left + share * (self.width - self.left - RIGHT), 1)

    def y(self, value: float, between: tuple[float, float]) -> float:
        low, high = between
        share = (min(max(value, low), high) - low) / (high - low)
        return round(self.bottom - share * (self.bottom - self.top), 1)

    @property
    def bottom(self) -> float:
        return self.height - FOOT

    def add(self, name: str, text: str = "", **attributes: object) -> None:
        """Add an element; its text and attributes are escaped."""
        given = Markup("").join(
            Markup(' {}="{}"').format(key.strip("_").replace("_", "-"), value) for key, value in attributes.items()
        )
        self.parts.append(Markup("<{0}{1}>{2}</{0}>").format(name, given, text))

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        self.add("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind)

    def text(self, x: float, y: float, text: str, anchor: str = "start") -> None:
        self.add("text", printable(text), x=x, y=y, text_anchor=anchor)

    def value(self, x: float, y: float, tone: str, kind: str) -> None:
        """A value: filled where it leans, hollow where no lean is shown, a diamond where it is not judged."""
        if tone == "level":
            self.add("path", d=f"M{x - 6},{y} L{x},{y - 6} L{x + 6},{y} L{x},{y + 6} Z", class_=f"value {kind}")
        else:
            hollow = "" if tone in ("leans", "right") else " hollow"
            self.add("circle", cx=x, cy=y, r=5, class_=f"value {kind}{hollow}")

    def axis(self, title: str) -> None:
        """Ticks with thin lines below the frame, and what they are of."""
        for tick in ticks(*self.across, most=max(2, int((self.width - self.left) / 60))):
            self.line(self.x(tick), self.top, self.x(tick), self.bottom, "grid")
            self.text(self.x(tick), self.bottom + 15, f"{tick:g}".replace("-", "−"), "middle")
        self.text(self.left + (self.width - self.left - RIGHT) / 2, self.height - 5, title, "middle")

    def side_axis(self, between: tuple[float, float]) -> None:
        """The same at the left side."""
        for tick in ticks(*between, most=6):
            at = self.y(tick, between)
            self.line(self.left, at, self.width - RIGHT, at, "grid")
            self.text(self.left - 5, at + 4, f"{tick:g}".replace("-", "−"), "end")

    def legend(self, series: Sequence[tuple[str, str]]) -> None:
        """A coloured square and a name for each series, above the frame: (name, class), as many in a line as fit."""
        at, row = 12.0, 10.0
        for name, kind in series:
            wide = 24 + LETTER * len(name)
            if at > 12 and at + wide > self.width:
                at, row = 12.0, row + 17
            self.add("rect", x=at, y=row - 8, width=10, height=10, class_=kind)
            self.text(at + 15, row + 1, name)
            at += wide + 6

    def drawn(self, caption: str) -> Drawing:
        """All that was added; `caption` says what it shows, also to screen readers."""
        svg = Markup('<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
            self.width, self.height, printable(caption), Markup("").join(self.parts)
        )
        return Drawing(svg, caption)


def lines_of_legend(names: Sequence[str], width: float) -> int:
    """How many lines `legend` takes."""
    at, lines = 12.0, 1
    for name in names:
        wide = 24 + LETTER * len(name)
        if at > 12 and at + wide > width:
            at, lines = 12.0, lines + 1
        at += wide + 6
    return lines


def ticks(low: float, high: float, most: int = 6) -> Iterator[float]:
    """Round numbers from low to high, at most about `most`."""
    step = _step((high - low) / max(most, 1))
    first = math.ceil(low / step - 1e-9)
    for number in range(first, first + 4 * most):
        if (value := number * step) > high + 1e-9 * step:
            return
        yield float(f"{value:.6g}")


def round_domain(values: Sequence[float], *, zero: bool = True) -> tuple[float, float]:
    """Round numbers that hold all values, and 0."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        low, high = low - 1.0, high + 1.0
    step = _step((high - low) / 6)
    return math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step


def printable(label: str) -> str:
    """The label without control characters, which SVG does not allow."""
    return "".join(letter for letter in label if letter.isprintable())


def _step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough)) if rough > 0 and math.isfinite(rough) else 1.0
    return next(step * power for step in (1, 2, 5, 10) if step * power >= rough * (1 - 1e-9))
