"""What differs between two models, or one before and after a change: measure by measure, item by item."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evenhand.analysis.paired import first_group
from evenhand.analysis.two_runs import Means, Summaries, Values
from evenhand.core.contrasts import Partners, pairs
from evenhand.core.measure import Traits
from evenhand.core.scores import FAST, MacroMean, generator, inside, share
from evenhand.errors import BadInput
from evenhand.measures import MEASURES, load
from evenhand.runs.comparable import in_common, of_two_kinds, same_task
from evenhand.runs.folder import Run
from evenhand.runs.record import TaskRecord
from evenhand.stats.significance import detectable, holm
from evenhand.stats.verdict import FEWEST_CROSSED, enough, moved

COLUMNS = (
    *("dataset", "measure", "group", "before", "after", "change", "low", "high", "p", "p_holm"),
    *("detectable", "n", "left_out", "clusters", "needed", "neutral"),
    *("worse", "worse_low", "worse_high", "worse_p", "worse_p_holm", "moved"),
)
INTERNAL = ("goal", "crossed", "unfit")
"""What `adjusted` needs to know of a row, and leaves out of the table."""
FEMALE_MALE = ", female - male"
"""Added to the name of a measure whose female and male items are compared as pairs."""
SIDES = {"she": -1.0, "he": 1.0}
"""Where P(he) - P(she) should be for words that call for one gender."""


def changed(before: Run, after: Run) -> pd.DataFrame:
    """For each measure and group that both runs have: both values, their difference with its 95 % interval, and p.

    `change` = after - before, item by item, with an interval clustered as the values' own. Associations are compared by
    their difference female - male, for each profession group. `p` flips the signs of whole clusters, or goes with the
    interval where clusters cross; `p_holm` is adjusted over the rows of the same dataset and measure. `detectable` is
    the smallest change that such data would show four times in five. Items (for associations: pairs) that one run could
    not score are `left_out`.

    `worse` is the change of the distance from `neutral`, below 0 if it shrank, with its interval and p; for words that
    call for one gender, from what they call for. `moved` says so in words where the rule of stats.verdict holds: the
    interval of `worse` leaves out 0, and its adjusted p is below .05.
    """
    rows = [row for task in in_common([before, after]) for row in differences(before, after, *task) if row["n"]]
    return adjusted(rows)


def adjusted(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The rows of one or several comparisons with what depends on their families: adjusted p, detectable, moved."""
    more = [key for key in (rows[0] if rows else ()) if key not in (*COLUMNS, *INTERNAL)]
    frame = pd.DataFrame(rows, columns=[*more, *COLUMNS, *INTERNAL])
    frame = frame.astype({"p_holm": float, "worse_p_holm": float, "detectable": float, "needed": object})
    for _, family in frame.groupby(["dataset", "measure"], sort=False, dropna=False):
        for p in ("p", "worse_p"):
            known = family.index[family[p].notna()]
            frame.loc[known, f"{p}_holm"] = holm(family.loc[known, p].tolist())
        n = max(1, int(family["p"].notna().sum()))
        frame.loc[family.index, "needed"] = FEWEST_CROSSED if family["crossed"].eq(True).any() else enough(n)
        frame.loc[family.index, "detectable"] = [
            detectable(row["low"], row["high"], row["clusters"], rows=n) for _, row in family.iterrows()
        ]
    frame["moved"] = [_moved(row) for row in frame.to_dict("records")]
    return frame.drop(columns=list(INTERNAL))


def _moved(row: Mapping[Any, Any]) -> str:
    """What happened, in words: nothing where it is not shown, or the two models allow no verdict."""
    ends = (row["worse_low"], row["worse_high"], row["worse_p_holm"])
    way = moved(*ends, row["clusters"], row["needed"], unfit=row["unfit"])
    return f"{'towards' if way < 0 else 'away from'} {row['goal']}" if way else ""


def way(row: Mapping[Any, Any]) -> str:
    """What a row of `changed` shows, in a word, by the one rule.

    gained (nearer to where it should be), lost (farther), changed (but not shown to be nearer or farther), few (too few
    words to tell), or same (no change shown).
    """
    if row["moved"]:
        return "gained" if row["moved"].startswith("towards") else "lost"
    if row["clusters"] < row["needed"]:
        return "few"
    return "changed" if moved(row["low"], row["high"], row["p_holm"], row["clusters"], row["needed"]) else "same"


def differences(before: Run, after: Run, dataset: str, measure: str) -> Iterator[dict[str, Any]]:
    """A row of `changed` for all items of one dataset, and for each group; `adjusted` adds `p_holm`."""
    task = same_task([before, after], dataset, measure)
    if measure not in MEASURES:
        raise BadInput(
            f"'{measure}' is not a measure of evenhand's, so it is not known how its scores are summarised. If it is "
            "your own, load its `plugin`, or call evenhand.measures.add with its class."
        )
    same = before.record.fingerprint == after.record.fingerprint
    one, other = (run.scores_of(dataset, measure) for run in (before, after))
    unfit = of_two_kinds([before, after]) or any(run.record.unfit(task) for run in (before, after))
    whole = {"dataset": dataset, "measure": measure + (FEMALE_MALE if task.genders else ""), "unfit": unfit}
    for label, part, rng in two_values(one, other, task):
        crossed = isinstance(part, Means) and part.crossed is not None
        yield {**whole, "group": label, "crossed": crossed, **part.row(rng, same)}


Found = Iterator[tuple[str, Values, np.random.Generator]]


def two_values(one: pd.DataFrame, other: pd.DataFrame, task: TaskRecord) -> Found:
    """What a task is compared by in two runs, by label: female - male where there are partners, else the values."""
    return _pairs(one, other, task, task.partners) if task.partners and task.genders else _items(one, other, task)


def _pairs(one: pd.DataFrame, other: pd.DataFrame, task: TaskRecord, partners: Partners) -> Found:
    """Female - male of each pair, by the first group."""
    one, by = first_group(one, task.by)
    ids = ["id_female", "id_male"]
    both = pairs(one, partners).merge(pairs(other, partners)[[*ids, "difference"]], on=ids)
    for label, part in both.groupby(by):
        before, after = (part[name].to_numpy(dtype=float) for name in ("difference_x", "difference_y"))
        clusters = part[task.cluster or "id_female"].astype(str).tolist()
        found = Means(before, after, clusters, neutral=0.0, better=0.0)
        yield str(label), found, generator(task.seed, {by: str(label), "gender": "female - male"})


def _items(one: pd.DataFrame, other: pd.DataFrame, task: TaskRecord) -> Found:
    """The scores of all items, then of each group."""
    joined = _joined_by_item(one, other)
    by = list(task.by)
    yield "all", _item_scores(joined, task), generator(task.seed, {"change": "all"})
    for labels, part in joined.groupby(by) if by else ():
        label = ", ".join(map(str, labels))
        yield label, _item_scores(part, task, by), generator(task.seed, {"change": label})


def _joined_by_item(one: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """The scores of two runs, with the second one's as `score_after`."""
    return one.merge(other[["id", "score"]], on="id", suffixes=("", "_after"), validate="one_to_one")


def _item_scores(joined: pd.DataFrame, task: TaskRecord, groups: Collection[str] = ()) -> Values:
    """The values of these items in two runs; the items share the labels of `groups`."""
    how = load(task.measure, **task.measure_options)
    before, after = (joined[name].to_numpy(dtype=float) for name in ("score", "score_after"))
    clusters = joined[task.cluster or "id"].astype(str).tolist()
    towards = (how.neutral, _better(task, joined))
    plain = inside(how.summarise, groups)
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
        crossed=joined[task.crossed].astype(str).tolist() if task.crossed else None,
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
