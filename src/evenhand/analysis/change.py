"""What differs between two models, or one before and after a change: measure by measure, item by item."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evenhand.analysis.two_runs import Means, Summaries, Values
from evenhand.core.design import Design
from evenhand.core.estimands import Row, rows
from evenhand.core.measure import Traits, summary_of
from evenhand.core.scores import FAST, MacroMean, generator, inside, share
from evenhand.errors import BadInput
from evenhand.measures import MEASURES, load
from evenhand.runs.comparable import in_common, of_two_kinds, same_task, shared_ids
from evenhand.runs.folder import StoredRun
from evenhand.runs.record import TaskRecord
from evenhand.stats.significance import detectable, holm
from evenhand.stats.verdict import FEWEST_CROSSED, enough, moved

COLUMNS = (
    *("dataset", "measure", "group", "estimand", "before", "after", "change", "low", "high", "p", "p_holm"),
    *("detectable", "n", "left_out", "clusters", "needed", "neutral"),
    *("worse", "worse_low", "worse_high", "worse_p", "worse_p_holm", "moved"),
)
INTERNAL = ("goal", "crossed", "unfit", "family", "freedom")
"""What `adjust_families` needs to know of a row, and leaves out of the table."""
FEMALE_MALE = ", female - male"
"""Added to the name of a measure whose female and male items are compared as pairs."""
ONE_TRAINING = "One training of each was compared, not the recipe: another training by the same recipe may differ."
SIDES = {"she": -1.0, "he": 1.0}
"""Where P(he) - P(she) should be for words that call for one gender."""


def changed(before: StoredRun, after: StoredRun) -> pd.DataFrame:
    """For each measure and group that both runs have: both values, their difference with its 95 % interval, and p.

    Where stereotype and default can be told apart, each is a row, `estimand`, and the measure's own values get no
    verdict. `change` = after - before, item by item (of GEST in logarithms), with an interval clustered as the values'
    own. `p_holm` is adjusted over the family: stereotype and default of all items, the rows below them, or else all
    rows of the dataset and measure. `detectable` is the smallest change that such data would show four times in five.
    Items that one run could not score are `left_out`. Of two samples, the items that both have are compared.

    `worse` is the change of the distance from `neutral`, below 0 if it shrank, with its interval and p; for words that
    call for one gender, from what they call for. `moved` says so in words where the rule of stats.verdict holds: the
    interval of `worse` leaves out 0, and its adjusted p is below .05.
    """
    return adjust_families(
        [row for task in in_common([before, after]) for row in differences(before, after, *task) if row["n"]]
    )


def adjust_families(found: Sequence[Mapping[str, Any]], by: Sequence[str] = ("dataset", "family")) -> pd.DataFrame:
    """The rows of one or several comparisons with what depends on their families: adjusted p, detectable, moved."""
    more = [key for key in (found[0] if found else ()) if key not in (*COLUMNS, *INTERNAL)]
    unknown = dict.fromkeys(("p_holm", "worse_p_holm", "detectable"), math.nan)
    judged = [{**unknown, "needed": 0, **row} for row in found]
    families: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in judged:
        if row["family"]:
            families.setdefault(tuple(row[name] for name in by), []).append(row)
    for family in families.values():
        for p in ("p", "worse_p"):
            known = [row for row in family if not math.isnan(row[p])]
            for row, adjusted in zip(known, holm([row[p] for row in known]), strict=True):
                row[f"{p}_holm"] = adjusted
        n = max(1, sum(not math.isnan(row["p"]) for row in family))
        for row in family:
            row["needed"] = FEWEST_CROSSED if any(of["crossed"] for of in family) else enough(n)
            row["detectable"] = detectable(row["low"], row["high"], row["freedom"], row["clusters"], rows=n)
    return pd.DataFrame([row | {"moved": _moved(row)} for row in judged], columns=[*more, *COLUMNS])


def _moved(row: Mapping[Any, Any]) -> str:
    """What happened, in words: nothing where it is not shown, or the two models allow no verdict."""
    ends = (row["worse_low"], row["worse_high"], row["worse_p_holm"])
    way = moved(*ends, row["clusters"], row["needed"], unfit=row["unfit"] or not row["family"])
    return f"{'towards' if way < 0 else 'away from'} {row['goal']}" if way else ""


def way(row: Mapping[Any, Any]) -> str:
    """What a row of `changed` shows, in a word, by the one rule.

    gained (nearer to where it should be), lost (farther), changed (but not shown to be nearer or farther), few (too few
    words to tell), same (no change shown), or unjudged (a value that stereotype and default are part of).
    """
    if row["moved"]:
        return "gained" if row["moved"].startswith("towards") else "lost"
    if not row["needed"]:
        return "unjudged"
    if row["clusters"] < row["needed"]:
        return "few"
    return "changed" if moved(row["low"], row["high"], row["p_holm"], row["clusters"], row["needed"]) else "same"


def differences(
    before: StoredRun, after: StoredRun, dataset: str, measure: str, *, judged: bool = False
) -> Iterator[dict[str, Any]]:
    """The rows of `changed` for one dataset and measure; `adjust_families` adds `p_holm`. `judged`: see `compare`."""
    task = same_task([before, after], dataset, measure, shared=True)
    if measure not in MEASURES:
        raise BadInput(
            f"'{measure}' is not a measure of evenhand's, so it is not known how its scores are summarised. If it is "
            "your own, load its `plugin`, or call evenhand.measures.add with its class."
        )
    same = before.record.fingerprint == after.record.fingerprint
    one, other = (run.scores_of(dataset, measure) for run in (before, after))
    if (shared := shared_ids(before, after, dataset, measure)) is not None:
        one, other = (frame[frame["id"].astype(str).isin(shared)] for frame in (one, other))
    unfit = of_two_kinds([before, after]) or any(run.record.unfit(task) for run in (before, after))
    for found in two_values(one, other, task, judged=judged):
        named = {"dataset": dataset, "measure": measure + (FEMALE_MALE if found.contrast else "")}
        told = {"group": found.label, "estimand": found.estimand, "unfit": unfit, "family": found.family}
        row = found.values.row(found.rng, same)
        yield {**named, **told, "crossed": found.crossed, **row} | ({} if found.family else {"p": math.nan})


@dataclass(frozen=True)
class TwoValues:
    """A row of two runs: its label, what it is of, its scores in both, and the family that p is adjusted over."""

    label: str
    values: Values
    rng: np.random.Generator
    family: str
    """Empty where there is no verdict: a value that stereotype and default are part of."""
    estimand: str = ""
    contrast: str = ""

    @property
    def crossed(self) -> bool:
        """Whether p is that of a t test."""
        return isinstance(self.values, Means) and bool(self.values.crossed or self.estimand or self.contrast)


def row_label(groups: Mapping[str, str], estimand: str = "") -> str:
    """What a row is called: its labels and what is estimated; "all" for a value of all items."""
    return ", ".join(filter(None, (*groups.values(), estimand))) or "all"


def two_values(
    one: pd.DataFrame, other: pd.DataFrame, task: TaskRecord, *, judged: bool = False
) -> Iterator[TwoValues]:
    """What a task is compared by in two runs: stereotype, default and the rows below them; then the measure's values.

    Where women and men have values of their own, their difference stands for these. With `judged`, without values that
    get no verdict.
    """
    how = load(task.measure, **task.measure_options)
    name = task.family or task.measure
    agreeing = task.partners is not None and task.partners.agreeing
    found = list(rows(one, Design.of(task), how, after=other))
    for row in found:
        seeded = generator(task.seed, {**row.groups, "estimand": row.estimand, "gender": row.contrast})
        family = "" if agreeing else f"{name}, {'all items' if row.main else 'rows'}"
        label = row_label(row.groups, row.estimand)
        yield TwoValues(label, _of_row(row), seeded, family, row.estimand, row.contrast)
    mixes = any(row.main for row in found)
    if not task.by_gender and not (mixes and judged):
        for label, values, rng in _items(one, other, task):
            yield TwoValues(label, values, rng, "" if mixes else name)


def _of_row(row: Row) -> Means:
    """The scores of a row in both runs; ratios as logarithms."""
    clusters, crossed, _ = row.ways
    factor = row.scale.factor(row.estimand)
    before, after = (row.scale.neutral + factor * (row.values(name) - row.scale.neutral) for name in ("d", "d_after"))
    how: dict[str, Any] = {"neutral": row.scale.neutral, "better": 0.0, "crossed": crossed, "sets": row.sets}
    return Means(before, after, clusters, **how, unit=row.scale.unit)


def _items(
    one: pd.DataFrame, other: pd.DataFrame, task: TaskRecord
) -> Iterator[tuple[str, Values, np.random.Generator]]:
    joined = one.merge(other[["id", "score"]], on="id", suffixes=("", "_after"), validate="one_to_one")
    by = list(task.by)
    yield "all", _item_scores(joined, task), generator(task.seed, {"change": "all"})
    for labels, part in joined.groupby(by) if by else ():
        label = ", ".join(map(str, labels))
        yield label, _item_scores(part, task, by), generator(task.seed, {"change": label})


def _item_scores(joined: pd.DataFrame, task: TaskRecord, groups: Collection[str] = ()) -> Values:
    """The values of these items in two runs; the items share the labels of `groups`."""
    how = load(task.measure, **task.measure_options)
    before, after = (joined[name].to_numpy(dtype=float) for name in ("score", "score_after"))
    clusters = joined[task.cluster or "id"].astype(str).tolist()
    towards = (how.neutral, _better(task, joined))
    plain = inside(summary_of(how), groups)
    of_means = plain.within if isinstance(plain, MacroMean) else plain
    if of_means not in FAST:
        labels: Any = joined.drop(columns=["id", "score", "score_after"]).astype(str).to_dict("records")
        return Summaries(before, after, clusters, *towards, summarise=plain, groups=labels)
    macro = plain if isinstance(plain, MacroMean) else None
    return Means(
        FAST[of_means](before),
        FAST[of_means](after),
        clusters,
        *towards,
        crossed=[joined[task.crossed].astype(str).tolist()] if task.crossed else [],
        sets=joined[macro.by].astype(str).tolist() if macro else None,
        every=macro.sets if macro else (),
        shares=of_means is share,
        unit=Traits.of(how).bounds == (0.0, 1.0),
    )


def _better(task: TaskRecord, part: pd.DataFrame) -> float:
    """Which way is better: see Values.better."""
    if task.better == "higher":
        return 1.0
    wanted = {SIDES.get(word, 0.0) for word in part["calls_for"]} if "calls_for" in part else {0.0}
    return wanted.pop() if len(wanted) == 1 else math.nan
