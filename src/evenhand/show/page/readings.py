"""Numbers in words, by the words of the measure, the dataset and words.toml; and intervals as marks on an SVG scale."""

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from evenhand.analysis.change import Change
from evenhand.core.dataset import ESTIMANDS
from evenhand.runs.record import TaskRecord
from evenhand.runs.rows import Number, Row, dataset_words, measure_words
from evenhand.stats.verdict import MARKS as SIZE_MARKS
from evenhand.stats.verdict import NO_SIZE


@dataclass(frozen=True)
class MeasureWords:
    """The words that explain a measure to a newcomer; docs/extend.md says what each field is."""

    title: str
    asks: str
    kind: str
    published: str = ""
    """What the paper that defines the measure calls its value, and the paper; empty if no paper reports it."""
    ends: tuple[str, str] = ("below", "above")
    leans: tuple[str, str] = ("below neutral", "above neutral")
    much: str | tuple[str, str] = ""
    factor: float = 1.0
    """The factor of values in `much`: 2 if `much` compares the two kinds, which differ by twice the stereotype."""
    scale: tuple[float, float] | None = None
    items: tuple[str, str] = ("Lowest", "Highest")
    sentences: tuple[str, str] = ("sentence", "")
    offends: bool = False
    ranked: str = ""
    unit: str = ""
    among: str = ""
    """A number that the measure keeps of each item: the share of its answers that the value is about."""
    does_not_show: tuple[str, ...] = ()

    @property
    def judged(self) -> bool:
        """Whether its values get a verdict of their own."""
        return self.kind not in _words()["not-judged"]

    def how_much(self, number: Row, among: float = math.nan) -> str:
        """The size of a value in everyday words, for which `much` may have others below neutral than above.

        `among` is the mean share of answers that the value is about.
        """
        above = number.value > (0.0 if math.isnan(number.neutral) else number.neutral)
        value = self.factor * number.value
        times = _capped_exp(value)
        points = f"{abs(100 * value):.0f} percentage points {'likelier' if value > 0 else 'less likely'} than"
        words = self.much if isinstance(self.much, str) else self.much[above]
        return words.format(
            times=_format_factor(times),
            relative=_relative_likelihood(times),
            verb=_verb(times)[0],
            by=_verb(times)[1],
            odds=_odds(number),
            apart=points,
            ratio=_format_factor(value),
            percent=f"{100 * value:.0f}",
            rest=f"{100 - 100 * value:.0f}",
            size=f"{abs(100 * value):.0f}",
            signed=_format_signed(100 * value),
            n=f"{number.n:,}",
            among="?" if math.isnan(among) else f"{100 * among:.0f}",
        )

    def in_percent(self, value: float) -> str:
        """The value as a percentage: a difference of logarithms as how much likelier. Empty if there is none."""
        if math.isnan(value):
            return ""
        value *= self.factor
        if self.unit == "nats":
            times = _capped_exp(value)
            return f"×{times:.3g}" if times >= 2 else f"{_format_signed(100 * (times - 1), fine=True)} %"
        if self.scale == (0.0, 1.0):
            return f"{100 * value:.0f} %" if value >= 0.1 else f"{100 * value:.1f} %"
        return f"{_format_signed(100 * value, fine=True)} points" if self.scale == (-1.0, 1.0) else ""

    def span(self, number: Row) -> str:
        """The interval as percentages, seen from the side of neutral that `much` describes; empty if there is none."""
        low, high = number.low, number.high
        if isinstance(self.much, tuple) and number.value < number.neutral:
            whole = 1.0 if self.scale == (0.0, 1.0) else 0.0
            low, high = whole - high, whole - low
        ends = [self.in_percent(end) for end in (low, high)]
        return f"{ends[0]} to {ends[1]}" if all(ends) else ""


def _format_signed(value: float, *, fine: bool = False) -> str:
    """The value rounded to a whole number, with its sign: +3, -2, but 0. If it is `fine`, +0.3 keeps its digit."""
    if fine and not round(value) and abs(value) >= 0.05:
        return f"{value:+.1f}"
    return f"{whole:+d}" if (whole := round(value)) else "0"


def _capped_exp(value: float) -> float:
    return math.exp(min(value, 300.0))  # larger only for a broken model; a float would overflow


def _format_factor(times: float) -> str:
    return f"{times:.2f}" if times < 10 else f"{times:,.3g}"


def _verb(times: float) -> tuple[str, str]:
    """How odds move by a factor: "lowers" them "by 39 %"."""
    percent = round(100 * (times - 1))
    if not percent:
        return "does not change", "by more than 0.5 %"
    verb = "raises" if percent > 0 else "lowers"
    return (verb, f"by {abs(percent)} %") if percent < 100 else ("multiplies", f"by {_format_factor(times)}")


def _odds(number: Row) -> str:
    """The odds before and after, if the run has them: ", from .42 to .25"."""
    if math.isnan(number.prior):
        return ""
    before, after = (f"{_capped_exp(log):.2g}".removeprefix("0") for log in (number.prior, number.prior + number.value))
    return f", from {before} to {after}"


def _relative_likelihood(times: float) -> str:
    if times >= 2:
        return f"{times:.2g} times as likely as" if times < 10 else f"{times:,.3g} times as likely as"
    percent = round(100 * (times - 1))
    if not percent:
        return "as likely as"
    return f"{abs(percent)} % {'likelier' if percent > 0 else 'less likely'} than"


def reading(task: TaskRecord, *, estimand: str = "", contrast: bool = False, kind: str = "") -> MeasureWords:
    """The words to read a measure's own value or, with `estimand` or `contrast`, its stereotype or women minus men.

    `kind` replaces the measure's kind: "mixed" if items should lie on both sides of neutral, "grammar" if grammar alone
    may explain the value.
    """
    fields: dict[str, Any] = dict(measure_words(task))
    variants = {name: fields.pop(name, {}) for name in (*ESTIMANDS, "contrast")}
    if contrast:
        fields = {"unit": fields["unit"], "kind": "lean", **(variants["contrast"] or _words()["contrast"])}
    elif estimand:
        fields |= {"kind": "lean"} | ({"much": ""} if estimand == "default" else {})
        fields |= _words()["estimands"][estimand] | variants[estimand]
    if (contrast or estimand or "does_not_show" in fields) and not fields.get("all_genders"):
        fields["does_not_show"] = [*fields.get("does_not_show", ()), _words()["everywhere"]["does_not_show"]]
    nouns = {**_words()["kinds"], **dataset_words(task.dataset)}
    for name in ("leans", "much"):
        words = fields.get(name, "")
        fields[name] = (
            _fill_nouns(words, nouns) if isinstance(words, str) else [_fill_nouns(text, nouns) for text in words]
        )
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
    known = {name: value for name, value in fields.items() if name in MeasureWords.__dataclass_fields__}
    return MeasureWords(**known | ({"kind": kind} if kind else {}))


def _fill_nouns(text: str, nouns: Mapping[str, Any]) -> str:
    """The text with a dataset's words in place of {names}: what its items are about."""
    for name in _words()["kinds"]:
        text = text.replace(f"{{{name}}}", nouns[name])
    return text


def dataset(name: str) -> str:
    """The title of a dataset, whatever its options; its name if it has no title."""
    return str(dataset_words(name).get("title", name))


def group(name: str, label: str) -> str:
    """A group's label in words."""
    return str(_words()["groups"].get(name, {}).get(label, label))


def group_name(name: str) -> str:
    """The name of a group in words."""
    return str(_words()["group-names"].get(name, name.replace("_", " ")))


def count_in_words(tone: str, count: int) -> str:
    """How many main numbers have a tone: "2 show no lean"."""
    return f"{count} {_words()['counted'][tone][count > 1]}"


def probability(p: float) -> str:
    """A p-value as in papers: p = .012, p < .001."""
    if math.isnan(p):
        return "–"
    return "p < .001" if p < 0.001 else f"p = {p:.3f}".replace("0.", ".", 1)


def words_of(row: Row | Change) -> str:
    """The estimand and the groups of a row in words; empty for the value of all items."""
    return ", ".join(filter(None, (row.estimand, *(group(name, label) for name, label in row.groups.items()))))


def language(code: str) -> str:
    """A language's name."""
    return str(_words()["languages"].get(code, code))


@cache
def _words() -> dict[str, Any]:
    return tomllib.loads((files("evenhand.show.page") / "words.toml").read_text(encoding="utf-8"))


MARKS = {"leans": NO_SIZE, "undecided": "○", "right": "✓", "level": "◇", "none": "–"}
POLICY = {"pass": "within the policy's bounds", "undecided": "policy undecided", "fail": "beyond the policy's bounds"}
"""The words that replace the size of a lean, by the verdict of a policy that has bounds for the value."""
BY_CHANCE = "its own interval excludes neutral, but among all the rows judged together chance may do that"


@dataclass(frozen=True)
class WordedVerdict:
    """A verdict in words; its tone and size decide its mark."""

    tone: str
    short: str
    because: str = ""
    much: str = ""
    size: str = ""
    """The size of a lean, by stats.verdict.size."""
    bounds: str = ""
    """The verdict of a policy on a lean that it has bounds for, in words; shown instead of the size."""

    @property
    def says(self) -> str:
        return f"{self.short}: {self.because}" if self.because else self.short

    @property
    def mark(self) -> str:
        return SIZE_MARKS.get(self.size, MARKS[self.tone])


def verdict(number: Row, reading: MeasureWords, judged: str = "", among: float = math.nan) -> WordedVerdict:
    """The verdict on a number in words: stats.verdict decides, and the reading has the words.

    A lean is described by its size or, if a policy has bounds for the number, by the policy's verdict, `judged`.
    """
    nothing = number.high - number.low >= number.width
    much = reading.how_much(number, among) if number.known and not nothing else ""
    unjudged: dict[str, tuple[str, str]] = _words()["not-judged"]
    if number.known and reading.kind in unjudged:
        return WordedVerdict("level", *unjudged[reading.kind], much)
    ruled = number.verdict
    if ruled.why == "no value":
        return WordedVerdict("none", "no value", number.note or "no item could be scored")
    if ruled.why == "unfit":
        return WordedVerdict("none", "no verdict", "the model is unfit to be measured: see what the doctor found", much)
    if ruled.why == "not examined":
        return WordedVerdict("none", "no verdict", "the doctor was left out", much)
    if ruled.why == "unscored":
        scores = f"{number.unscored:,} of {number.n + number.unscored:,} items have no score"
        return WordedVerdict("none", "no verdict", scores, much)
    if ruled.why == "too few":
        short = f"too few words, {number.clusters} of {number.needed}"
        return WordedVerdict("none", short, "more are needed for any verdict", much)
    if nothing:
        return WordedVerdict("none", "the data say nothing", "any value is possible: too few words were tested")
    if ruled.why == "no interval":
        because = "too few words, or scores that are all the same: nothing says how sure this is"
        return WordedVerdict("none", "no interval", because, much)
    if ruled.why:
        why = "level" if math.isnan(number.neutral) else number.estimand or "both"
        return WordedVerdict("level", *unjudged[why], much)
    tested = f"{probability(number.p_holm)}, adjusted"
    if ruled.side == 0:
        unshown = "not shown to know it" if reading.kind == "knowledge" else "no lean shown"
        because = f"the interval includes {number.neutral:g}"
        if number.side(number.neutral):
            return WordedVerdict("undecided", f"{unshown}*", f"{BY_CHANCE}; {tested}", much)
        smallest = detectable_lean(number, reading)
        if smallest and number.detectable > abs(number.value - number.neutral):
            because = f"a lean of {smallest} would probably have been found"
        return WordedVerdict("undecided", unshown, because, much)
    tone = "right" if reading.kind == "knowledge" and ruled.side > 0 else "leans"
    words = reading.leans[ruled.side > 0]
    if tone == "right":
        return WordedVerdict(tone, words, tested, much)
    sized, bounds = number.size, POLICY.get(judged, "")
    return WordedVerdict(tone, ", ".join(filter(None, (words, bounds or sized))), tested, much, sized, bounds)


def detectable_lean(number: Row, reading: MeasureWords) -> str:
    """The smallest lean that such data would probably show, also as a percentage where the unit is nats.

    Empty if that lean is beyond the measure's scale: with so few items, even the largest lean may not show.
    """
    largest = max((abs(end - number.neutral) for end in reading.scale or ()), default=math.inf)
    if not 0 < number.detectable <= largest:
        return ""
    percent = f" ({reading.in_percent(number.detectable)})" if reading.unit == "nats" else ""
    return f"{number.detectable:.2f}{percent}"


WIDTH, MARGIN, LINE, FOOT = 320.0, 10.0, 18.0, 20.0
RADII = {"◔": 3, "◑": 4, "◕": 5, "●": 7}


@dataclass(frozen=True)
class Mark:
    """A value, as a dot at x, with its interval from `left` to `right`."""

    x: float
    left: float
    right: float
    y: float
    spans: bool
    number: int
    """The number of its run, from 1."""
    tone: str
    radius: int
    """The larger the lean, the larger its dot."""


@dataclass(frozen=True)
class IntervalScale:
    """A scale with the marks that the template draws on it, and its text for screen readers."""

    marks: tuple[Mark, ...]
    neutral: float | None
    at: str
    ends: tuple[str, str]
    height: float
    alt: str
    width: float = WIDTH

    @property
    def base(self) -> float:
        return self.height - FOOT

    @property
    def anchor(self) -> str:
        """The SVG text-anchor of the neutral value's label."""
        if self.neutral is None:
            return "middle"
        return "start" if self.neutral < WIDTH / 4 else "end" if self.neutral > WIDTH * 3 / 4 else "middle"


def domain(numbers: Sequence[Number], scale: tuple[float, float] | None, neutral: float) -> tuple[float, float]:
    """The ends of the scale: the measure's own, or round numbers beyond all intervals, symmetric about neutral."""
    if scale is not None:
        return scale
    middle = 0.0 if math.isnan(neutral) else neutral
    known = [v for n in numbers for v in (n.value, n.low, n.high) if math.isfinite(v)]
    one_sided = not any(n.spec[0] == "+" for n in numbers)
    reach = _round_up(max((abs(v - middle) for v in known), default=1.0))
    return (middle if known and min(known) >= middle and one_sided else middle - reach), middle + reach


def strip(
    numbers: Sequence[Number],
    ends: tuple[str, str],
    between: tuple[float, float],
    alt: str,
    verdicts: Sequence[WordedVerdict] = (),
) -> IntervalScale:
    """The values of one or more runs on one scale; each is marked by its verdict."""
    low, high = between

    def x(value: float) -> float:
        share = min(max((value - low) / (high - low), 0.0), 1.0)
        return round(MARGIN + share * (WIDTH - 2 * MARGIN), 1)

    marks = []
    for row, number in enumerate(numbers):
        if number.known and math.isfinite(number.value):
            y = LINE * row + LINE / 2
            left, right = (number.low, number.high) if number.spans else (number.value, number.value)
            verdict = verdicts[row] if verdicts else WordedVerdict("leans", "")
            radius = RADII.get(verdict.mark, 5)
            marks.append(Mark(x(number.value), x(left), x(right), y, number.spans, row + 1, verdict.tone, radius))
    neutral = next((n.neutral for n in numbers if not math.isnan(n.neutral)), math.nan)
    where, at = (x(neutral), f"{neutral:g}") if low <= neutral <= high else (None, "")
    return IntervalScale(tuple(marks), where, at, ends, LINE * len(numbers) + FOOT, alt)


def _round_up(value: float) -> float:
    """The value rounded up to 1, 2, 3, 5 or 8 times a power of ten: 0.37 gives 0.5."""
    if value <= 1e-300 or not math.isfinite(value):
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 3, 5, 8, 10) if step * power >= value * (1 - 1e-9))
