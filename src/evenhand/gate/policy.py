"""The rules of a gate, and the policy file that holds them."""

import math
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from evenhand.core.dataset import ESTIMANDS
from evenhand.core.files import from_toml, read_given
from evenhand.core.measure import Traits
from evenhand.errors import BadInput, UnknownName, check_known
from evenhand.measures import MEASURES
from evenhand.runs.rows import FEMALE_MALE

KEYS = ("allow_unfit", "baseline", "max_unscored", "rule")
MAX_UNSCORED = 0.1
"""The default of a policy's `max_unscored`: a rule is undecided if a larger share of its items has no score."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A bound for one measure on one dataset: on its value, or on how much worse than a baseline's the value may be.

    `within` is the largest distance from the neutral value. `low` and `high` are the lowest and the highest value;
    either may be omitted. `worse_by_at_most` is how much farther from neutral the value may be than the baseline's (for
    words that call for one gender: farther from what they call for). `estimand` is "stereotype" or "default", which
    verdicts are about; without it, a rule is about the measure's own value, which may mix the two. `group` is a label
    as `evenhand compare` prints it, "all" (all items) or "each" (each group). Without `group`, a rule is about all
    items, or about each group if the measure has values of groups only, such as female - male by profession. `dataset`
    may be omitted if the run has the measure on one dataset only. `max_unscored` replaces that of the policy.
    """

    measure: str
    dataset: str = ""
    estimand: str = ""
    group: str | None = None
    within: float | None = None
    low: float | None = None
    high: float | None = None
    worse_by_at_most: float | None = None
    max_unscored: float | None = None

    def __post_init__(self) -> None:
        for name in ("measure", "dataset", "estimand", "group"):
            value = getattr(self, name)
            optional = value is None if name == "group" else value == "" and name in ("dataset", "estimand")
            if not optional and (not isinstance(value, str) or not value):
                raise BadInput(f"'{name}' must be a name in quotes. Got {value!r}.")
        if self.estimand and self.estimand not in ESTIMANDS:
            raise UnknownName("estimand", self.estimand, ESTIMANDS)
        for name in ("within", "low", "high", "worse_by_at_most", "max_unscored"):
            _check_number(name, getattr(self, name))
        if self.base not in MEASURES or (self.estimand and self.base != self.measure):
            unknown = UnknownName("measure", self.measure, MEASURES)
            raise BadInput(f"{unknown} If the measure is your own, load its file with `plugin`.")
        self._check_bounds()

    def _check_bounds(self) -> None:
        bounds = [name for name in ("within", "low", "high", "worse_by_at_most") if getattr(self, name) is not None]
        ranged = bool({"low", "high"} & set(bounds))
        if bounds not in (["low", "high"], bounds[:1]) or not bounds:
            raise BadInput(
                "A rule needs exactly one kind of bound: 'within', or 'low' and 'high' (or one of these), or "
                f"'worse_by_at_most'. Got {', '.join(bounds) or 'none'}."
            )
        if self.low is not None and self.high is not None and self.low > self.high:
            raise BadInput(f"'low' must not be above 'high'. Got {self.low:g} and {self.high:g}.")
        if math.isnan(self.neutral) and not ranged:
            raise BadInput(f"{self.measure} has no neutral value. Use the bounds 'low' and 'high'.")
        traits = Traits.of(MEASURES[self.base])
        if traits.better == "higher" and self.within is not None:
            raise BadInput(
                f"'within' does not suit {self.measure}, which should be far above {self.neutral:g}. Use 'low' or "
                "'worse_by_at_most'."
            )
        self._check_reach(traits)

    def _check_reach(self, traits: Traits) -> None:
        """Raise an error if every value that the rule may be about is within its bounds, or none is."""
        lowest, highest = traits.bounds
        if self.base != self.measure or (self.estimand and traits.favours in ("item", "other")):  # a difference
            lowest, highest = lowest - highest, highest - lowest
        low, high = self.tolerated if self.worse_by_at_most is None else (math.nan, math.nan)
        if (none := low > highest or high < lowest) or (low <= lowest and high >= highest):
            outcome, most = "pass" if none else "fail", "" if math.isinf(highest) else f" and at most {highest:g}"
            where = f"{self.name} is at least {lowest:g}{most}"
            raise BadInput(f"No run could {outcome}, since {where}. Choose another bound than '{self.bound}'.")

    @property
    def base(self) -> str:
        """The name of the measure alone, without ", female - male"."""
        return self.measure.removesuffix(FEMALE_MALE)

    @property
    def name(self) -> str:
        """The measure, and the estimand if the rule has one."""
        return f"{self.measure}, {self.estimand}" if self.estimand else self.measure

    @property
    def neutral(self) -> float:
        """The value that means "no bias"; NaN if there is none."""
        difference = self.estimand and Traits.of(MEASURES[self.base]).favours in ("item", "other")
        return 0.0 if difference or self.base != self.measure else MEASURES[self.measure].neutral

    @property
    def tolerated(self) -> tuple[float, float]:
        """The lowest and the highest value that pass; with `worse_by_at_most`, those of the growth of the distance."""
        if self.worse_by_at_most is not None:
            return -math.inf, self.worse_by_at_most
        if self.within is not None:
            return self.neutral - self.within, self.neutral + self.within
        return -math.inf if self.low is None else self.low, math.inf if self.high is None else self.high

    @property
    def on(self) -> str:
        """What is bounded: "value", or "worse", how much farther from neutral the value is than the baseline's."""
        return "value" if self.worse_by_at_most is None else "worse"

    @property
    def bound(self) -> str:
        if self.worse_by_at_most is not None:
            return f"worse than the baseline by at most {self.worse_by_at_most:g}"
        if self.within is not None:
            return f"within {self.within:g} of {self.neutral:g}"
        ends = [("at least", self.low), ("at most", self.high)]
        return " and ".join(f"{word} {end:g}" for word, end in ends if end is not None)


def read(path: str | Path) -> dict[str, Any]:
    """Read the fields of a `Gate` from a policy file in TOML. The path of its baseline is relative to the file."""
    path = Path(path).expanduser()
    data = read_given(path, from_toml, "The policy", "It must be a TOML file in UTF-8.")
    tables, baseline = data.get("rule", []), data.get("baseline")
    most, unfit = data.get("max_unscored", MAX_UNSCORED), data.get("allow_unfit", False)
    try:
        check_known("key", data, KEYS)
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise BadInput(f"'rule' must be a list of tables, each under a line [[rule]]. Got {tables!r}.")
        if baseline is not None and (not isinstance(baseline, str) or not baseline):
            raise BadInput(f"'baseline' must be a run folder, in quotes. Got {baseline!r}.")
        _check_number("max_unscored", most)
        if not isinstance(unfit, bool):
            raise BadInput(f"'allow_unfit' must be true or false. Got {unfit!r}.")
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from error
    if not tables:
        raise BadInput(f"{path} has no rules, so every run would pass. Add one: [[rule]], measure = ..., within = ...")
    rules = []
    for number, table in enumerate(tables, start=1):
        try:
            check_known("key", table, [field.name for field in fields(Rule)])
            if "measure" not in table:
                raise BadInput(f"A rule needs a 'measure'. Got {', '.join(table) or 'nothing'}.")
            rules.append(Rule(**table))
        except BadInput as error:
            raise BadInput(f"{path}, rule {number}: {error}") from error
    baseline = path.parent / Path(baseline).expanduser() if baseline else None
    return {"rules": tuple(rules), "baseline": baseline, "max_unscored": most, "allow_unfit": unfit}


def _check_number(name: str, value: object) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise BadInput(f"'{name}' must be a number. Got {value!r}.")
    if name not in ("low", "high") and value < 0:
        raise BadInput(f"'{name}' must be at least 0. Got {value:g}.")
    if name == "max_unscored" and value > 1:
        raise BadInput(f"'max_unscored' is a share of the items and must be between 0 and 1. Got {value:g}.")
