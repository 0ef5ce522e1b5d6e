"""Worlds in which it is known what is there: scores drawn for the real items of a dataset, judged as an audit does.

d of an item, women minus men, is the sum of effects of its words, templates and pairs and of noise, whose standard
deviations were fitted to measured models (`fitted`); labels and choices are made from d by a threshold. In the
symmetric world effects are normal, in the skewed one exponential; both have neither a stereotype nor a default. In the
world default the model prefers men as much as the measured one, whatever the item's kind.
"""

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evenhand import Run, datasets, measures
from evenhand.core.dataset import Design
from evenhand.core.estimands import SIGN, ItemRow, rows
from evenhand.core.scores import Value
from evenhand.stats.intervals import Floats, Indices, number_clusters
from evenhand.stats.verdict import adjust, decide

COMPONENTS = Path(__file__).parent / "components.toml"
WORLDS = ("symmetric", "skewed", "default")
BESIDE = {"fraction-entailment": ("fraction-entailment", "fraction-contradiction")}
"""Measures that are judged together."""
THRESHOLDS = {"stereotype-share": "sign", "crows-pairs": "sign"} | dict.fromkeys(BESIDE, "label")
DRAWS = 50
"""Draws that a shift of d is found by, where d is a threshold's."""


@dataclass(frozen=True)
class Headline:
    """What a dataset is judged by, with the effects on d that a model was measured to have."""

    dataset: str
    measure: str
    model: str
    noise: float
    default: float
    effects: Mapping[str, float] = field(hash=False)
    """By groups, joined by *: the standard deviation; `kind` is the gender that the stereotype gives to the item."""

    @property
    def threshold(self) -> str:
        """How d is made of the sum: its sign for pairs, -1, 0 or 1 for labels, the sum itself elsewhere."""
        return THRESHOLDS.get(self.measure, "")


@cache
def headlines() -> tuple[Headline, ...]:
    """What is simulated."""
    return tuple(Headline(**found) for found in tomllib.loads(COMPONENTS.read_text(encoding="utf-8"))["headline"])


@cache
def main_rows(dataset: str, measure: str) -> tuple[ItemRow, ...]:
    """The rows of all items, without scores."""
    data = datasets.load(dataset)
    frame = pd.DataFrame({"id": item.id, "score": 0.0, **item.groups} for item in data.items)
    found = rows(frame, Design.of(data), measures.load(measure))
    return tuple(row for row in found if isinstance(row, ItemRow) and row.main)


@dataclass(frozen=True)
class Drawn:
    """The items of a headline, ready to get d."""

    of: Headline
    ids: pd.Index
    kinds: Floats
    """1 for what is taken for women's, -1 for men's, 0 for the rest."""
    effects: tuple[tuple[float, Indices], ...]
    """The standard deviation of an effect, and the number of the label that each item has."""

    def d(self, rng: np.random.Generator, world: str, default: float, stereotype: float) -> Floats:
        """d of each item in one model."""
        total = default + stereotype * self.kinds + self.of.noise * _standard(rng, world, len(self.ids))
        for sd, index in self.effects:
            total += (sd * _standard(rng, world, index.max() + 1))[index]
        if self.of.threshold == "sign":
            return np.where(total > 0, 0.5, -0.5)
        return np.clip(np.round(total), -1, 1) if self.of.threshold == "label" else total


@cache
def drawn(dataset: str, model: str) -> Drawn:
    """What is needed to draw d for a dataset, with the effects of a model: of the row that has most items."""
    of = next(one for one in headlines() if (one.dataset, one.model) == (dataset, model))
    found = main_rows(of.dataset, of.measure)
    items = max((row.items for row in found), key=len)
    kinds = {id: k for row in found for id, k in zip(row.items["id"], row.items["k"], strict=True) if k}
    items = items.assign(kind=items["id"].map(kinds).fillna(""))
    labels = {names: items[names.split("*")].astype(str).agg("\0".join, axis=1) for names in of.effects}
    effects = tuple((sd, number_clusters(labels[names].tolist())[1]) for names, sd in of.effects.items())
    kinds_of = np.array([SIGN.get(kind, 0.0) for kind in items["kind"]])
    return Drawn(of, pd.Index(items["id"]), kinds_of, effects)


def _standard(rng: np.random.Generator, world: str, n: int) -> Floats:
    return rng.exponential(size=n) - 1 if world == "skewed" else rng.normal(size=n)


def shifts(of: Headline, world: str, default: float, stereotype: float) -> tuple[float, float]:
    """The shifts of the sum that give d these means: a threshold turns shifts into others, and skew into a mean."""
    if not of.threshold:
        return default, stereotype
    model, found = drawn(of.dataset, of.model), []
    for sign, target in ((1, default + stereotype), (-1, default - stereotype)):
        low, high = -8.0, 8.0
        for _ in range(20):
            middle, rng = (low + high) / 2, np.random.default_rng(0)
            mean = np.mean([model.d(rng, world, middle, 0.0)[model.kinds == sign].mean() for _ in range(DRAWS)])
            low, high = (middle, high) if mean < target else (low, middle)
        found.append((low + high) / 2)
    return (found[0] + found[1]) / 2, (found[0] - found[1]) / 2


def judged(of: Headline, seed: int, world: str, default: float, stereotype: float) -> list[tuple[Value, float]]:
    """The main rows of one model in a world, judged as a family, each with its neutral value."""
    model, family, neutral = drawn(of.dataset, of.model), list[Value](), list[float]()
    for number in range(len(BESIDE.get(of.measure, (of.measure,)))):
        d = model.d(np.random.default_rng([seed, number, WORLDS.index(world)]), world, default, stereotype)
        for row in main_rows(of.dataset, of.measure):
            scored = row.items.assign(d=d[model.ids.get_indexer(pd.Index(row.items["id"]))])
            family.append(replace(row, items=scored).estimate(seed, {}))
            neutral.append(1.0 if row.scale.ratio else row.scale.neutral)
    return list(zip(adjust(family, crossed=True), neutral, strict=True))


def fitted(run: Run, dataset: str, measure: str) -> Headline:
    """The effects on d in a run: covariances of items that share these words, templates and kinds and no others.

    The method of moments: what two items with the same profession, in different templates, have in common is the effect
    of the profession, and so on; effects of two groups together are what is left after those of each.
    """
    task = run.task(dataset, measure)
    how = measures.load(measure, **task.measure_options)
    found = rows(run.scores_of(dataset, measure), Design.of(task), how)
    main = [row for row in found if isinstance(row, ItemRow) and row.main]
    row = max(main, key=lambda row: len(row.items))
    items = row.items.dropna(subset=["d"])
    kinds = {id: k for one in main for id, k in zip(one.items["id"], one.items["k"], strict=True) if k}
    names = [row.scale.cluster or "id", *([row.scale.crossed] if row.scale.crossed else []), *row.scale.samples]
    items = items.assign(kind=items["id"].map(kinds).fillna(""))
    means = items.groupby("kind")["d"].mean()
    rest = (items["d"] - items["kind"].map(means)).to_numpy(dtype=float)
    own = [name for name in names if items.groupby(name)["kind"].nunique().max() > 1]
    effects: dict[tuple[str, ...], float] = {}
    for size in range(1, len(names) + 1):
        for chosen in combinations(names, size):
            shared = _shared(items, rest, chosen, names)
            if math.isnan(shared):
                continue
            below = math.fsum(v for of, v in effects.items() if set(of) - {"kind"} < set(chosen))
            apart = 0.0
            if set(chosen) <= set(own) and items["kind"].nunique() > 1:  # also within kinds: what these add
                within = _shared(items, rest, (*chosen, "kind"), [*names, "kind"])
                across = 2 * shared - within  # each kind has about half of the items
                apart = max(0.0, within - max(0.0, across))
                shared = max(0.0, across)
            effects[chosen] = max(0.0, shared - below)
            if apart > 0:
                effects[*chosen, "kind"] = apart
    noise = max(0.0, float((rest**2).mean()) - math.fsum(effects.values()))
    big = {"*".join(of): round(math.sqrt(v), 3) for of, v in effects.items() if v > 0.001 * float((rest**2).mean())}
    default = float(items["d"].mean() if "" in means else (means["female"] + means["male"]) / 2)
    return Headline(dataset, measure, run.record.model, round(math.sqrt(noise), 3), round(default, 3), big)


def _shared(items: pd.DataFrame, rest: Floats, chosen: Sequence[str], names: Sequence[str]) -> float:
    """The mean product of two items that have the same labels in `chosen`, and others in the rest of `names`."""
    total, count = 0.0, 0.0
    others = [name for name in names if name not in chosen]
    for size in range(len(others) + 1):
        for more in combinations(others, size):
            sums = pd.Series(rest).groupby([items[name].to_numpy() for name in (*chosen, *more)]).agg(["sum", "count"])
            sign = -1 if size % 2 else 1
            total += sign * float((sums["sum"] ** 2).sum() - (rest**2).sum())
            count += sign * float((sums["count"] ** 2).sum() - len(rest))
    return total / count if count > 0 else math.nan


def outcomes(of: Headline, world: str, seeds: Sequence[int], effect: float = 0.0) -> Iterator[dict[str, Any]]:
    """For each simulated model: which rows lean, which intervals exclude neutral, and what could be detected.

    `effect` is a distance of the headline from neutral that is put in.
    """
    row = main_rows(of.dataset, of.measure)[0]
    if row.scale.ratio and effect:
        effect = math.log1p(effect) / (2 if row.estimand == "stereotype" else 1)
    put = {"default": 0.0, "stereotype": 0.0} | ({row.estimand: effect} if effect else {})
    if world == "default":
        put["default"] = of.default
    if not of.threshold or put["default"] or put["stereotype"] or world == "skewed":
        put = dict(zip(put, shifts(of, world, put["default"], put["stereotype"]), strict=True))
    for seed in seeds:
        found = judged(of, seed, world, **put)
        yield {
            "leans": [decide(value, at).side != 0 for value, at in found],
            "outside": [value.side(at) != 0 for value, at in found],
            "estimands": [value.estimand for value, _ in found],
            "detectable": found[0][0].detectable,
        }
