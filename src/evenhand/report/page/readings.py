"""The page's words for measures, datasets and groups: from readings.toml, or else from the run itself."""

import math
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from evenhand.core.dataset import base_name
from evenhand.report.page.numbers import Number, probability
from evenhand.runs.record import TaskRecord

DIFFERENCE = "association, female - male"
"""The reading of associations that compares partners; analysis.change calls it so, too."""

LABELS = "labels, stereotype - counterpart"
"""The reading of how often an NLI classifier's labels differ between the sets pro and anti."""


@dataclass(frozen=True)
class Reading:
    """What a newcomer must know to read one measure; readings.toml says what each field is."""

    title: str
    asks: str
    kind: str
    ends: tuple[str, str] = ("below", "above")
    leans: tuple[str, str] = ("below neutral", "above neutral")
    much: str = ""
    scale: tuple[float, float] | None = None
    items: tuple[str, str] = ("Lowest", "Highest")
    sentences: tuple[str, str] = ("sentence", "")
    offends: bool = False
    ranked: str = ""
    unit: str = ""
    does_not_show: tuple[str, ...] = ()

    @property
    def judged(self) -> bool:
        """Whether its values get a verdict of their own."""
        return self.kind not in NOT_JUDGED

    def how_much(self, value: float) -> str:
        """The size of a value in everyday words."""
        times = _times(value)
        points = f"{abs(100 * value):.0f} percentage points {'likelier' if value > 0 else 'less likely'} than"
        return self.much.format(
            times=f"{times:.2f}" if times < 10 else f"{times:,.3g}",
            relative=_relative(times),
            apart=points,
            percent=f"{100 * value:.0f}",
            signed=_signed(100 * value),
        )

    def in_percent(self, value: float) -> str:
        """The value as a percentage; of a difference of logarithms, by how much likelier. Empty where there is none."""
        if math.isnan(value):
            return ""
        if self.unit == "nats":
            times = _times(value)
            return f"×{times:.3g}" if times >= 2 else f"{_signed(100 * (times - 1))} %"
        if self.scale == (0.0, 1.0):
            return f"{100 * value:.0f} %" if value >= 0.1 else f"{100 * value:.1f} %"
        return f"{_signed(100 * value)} points" if self.scale == (-1.0, 1.0) else ""

    def span(self, number: Number) -> str:
        """The interval as percentages; empty where there is none."""
        ends = [self.in_percent(end) for end in (number.low, number.high)]
        return f"{ends[0]} to {ends[1]}" if all(ends) else ""


def _signed(value: float) -> str:
    """A whole number with its sign, 0 without."""
    return f"{whole:+d}" if (whole := round(value)) else "0"


def _times(value: float) -> float:
    return math.exp(min(value, 300.0))  # beyond, a model is broken, and a float would overflow


def _relative(times: float) -> str:
    if times >= 2:
        return f"{times:.2g} times as likely as" if times < 10 else f"{times:,.3g} times as likely as"
    percent = round(100 * (times - 1))
    if not percent:
        return "as likely as"
    return f"{abs(percent)} % {'likelier' if percent > 0 else 'less likely'} than"


def reading(measure: str, *, unknown: Reading | None = None, mixed: bool = False) -> Reading:
    """How to read a measure; `unknown` is the reading of one that is not known here.

    `mixed`: its items should lie on either side, so that the value of all of them has no reading.
    """
    found = _known()["measures"].get(measure)
    if found is None:
        return unknown or Reading(measure, "", "lean")
    fields: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in found.items()}
    if measure not in (everywhere := _known()["everywhere"])["except"]:
        fields["does_not_show"] = (*fields.get("does_not_show", ()), everywhere["does_not_show"])
    return Reading(**(fields | {"kind": "mixed"} if mixed else fields))


def own(task: TaskRecord) -> Reading:
    """How to read a measure of a user's own: by what it says of itself."""
    kind = {"higher": "quality", "none": "level"}.get(task.better, "lean")
    title, asks = task.title or task.measure, task.asks or task.reading
    return Reading(title, asks, kind, leans=task.leans, unit=task.unit)


def harmless(dataset: str) -> dict[str, str]:
    """The groups of a dataset that offends whose sentences do not; none where that is not known."""
    return dict(_known()["harmless"].get(dataset, {}))


def dataset(name: str) -> str:
    """A dataset's name for people, whatever its options; its own where it has no other."""
    return str(_known()["datasets"].get(base_name(name), name))


def group(name: str, label: str) -> str:
    """A group's label in words."""
    return str(_known()["groups"].get(name, {}).get(label, label))


def group_name(name: str) -> str:
    """What a group is called."""
    return str(_known()["group-names"].get(name, name.replace("_", " ")))


def language(code: str) -> str:
    """A language's name."""
    return str(_known()["languages"].get(code, code))


@cache
def _known() -> dict[str, Any]:
    return tomllib.loads((files("evenhand.report.page") / "readings.toml").read_text(encoding="utf-8"))


NOT_JUDGED = {
    "mixed": ("mixed by design", "some of these words call for he, others for she; read it by group"),
    "size": ("no model reaches 0", "compare with other models"),
    "errors": ("not judged by itself", "wrong labels count, stereotyped or not; how the sets differ is judged"),
    "level": ("a level", "no value is the neutral one"),
    "quality": ("not judged by itself", "higher is better: compare with other models"),
}
"""By kind, why a value gets no verdict of its own."""
MARKS = {"leans": "●", "undecided": "○", "right": "✓", "level": "◇", "none": "–"}


@dataclass(frozen=True)
class Verdict:
    """A tone, by which it is marked, and what to say."""

    tone: str
    short: str
    because: str = ""
    much: str = ""

    @property
    def says(self) -> str:
        """The verdict and its ground."""
        return f"{self.short}: {self.because}" if self.because else self.short

    @property
    def mark(self) -> str:
        """A sign next to the words, so that a glance is enough."""
        return MARKS[self.tone]


def verdict(number: Number, reading: Reading) -> Verdict:
    """The verdict on a number: stats.verdict decides, the reading has the words."""
    much = reading.how_much(number.value) if number.known else ""
    if number.known and reading.kind in NOT_JUDGED:
        return Verdict("level", *NOT_JUDGED[reading.kind], much)
    found = number.verdict
    if found.why == "no value":
        return Verdict("none", "no value", number.note or "no item could be scored")
    if found.why == "unfit":
        return Verdict("none", "no verdict", "the model is unfit to be measured: see what the doctor found", much)
    if found.why == "too few":
        return Verdict(
            "undecided", f"too few words, {number.clusters} of {number.needed}", "more are needed for any verdict", much
        )
    if found.why == "no interval":
        return Verdict(
            "undecided",
            "no interval",
            "too few words, or scores that are all the same: nothing says how sure this is",
            much,
        )
    if found.why:
        return Verdict("level", *NOT_JUDGED["level"], much)
    tested = f"{probability(number.p_holm)}, adjusted"
    if found.side == 0:
        nothing = "not shown to know it" if reading.kind == "knowledge" else "no lean shown"
        because = tested if number.side(number.neutral) else f"the interval includes {number.neutral:g}"
        if number.detectable > abs(number.value - number.neutral):
            because = f"a lean of {_least(number, reading)} would probably have been found"
        return Verdict("undecided", nothing, because, much)
    tone = "right" if reading.kind == "knowledge" and found.side > 0 else "leans"
    return Verdict(tone, reading.leans[found.side > 0], tested, much)


def _least(number: Number, reading: Reading) -> str:
    """The smallest lean that such data would probably show, also as a percentage where the unit is nats."""
    percent = f" ({reading.in_percent(number.detectable)})" if reading.unit == "nats" else ""
    return f"{number.detectable:.2f}{percent}"
