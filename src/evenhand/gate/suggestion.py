"""A policy that is made from a run: bounds that the run passes, and that another run of the same size can decide."""

import json
import math
import os
from collections.abc import Sequence
from pathlib import Path

from evenhand.errors import BadInput
from evenhand.gate.gate import ALL, NONE, values, why_undecided
from evenhand.gate.policy import MAX_UNSCORED
from evenhand.runs.folder import StoredRun
from evenhand.runs.record import TaskRecord
from evenhand.runs.rows import Row, measure_words
from evenhand.stats.estimate import Estimate

OPENING = """\
# Suggested by evenhand gate --suggest {run}
# Each bound is the far end of the 95 % interval that was found, and room for another training by the same recipe:
# {room}. It says how the model is.
# What is tolerable depends on what the model is used for: decide that, and change the bounds.
"""
ROOM = {
    False: "the smallest distance that as much data show four times in five, since no other training was given",
    True: "by how much the far ends of these runs differ",
}
RELATIVE = """\
# To allow nothing worse than a baseline, such as this run for the models after it, take away the # below. Each bound is
# the smallest distance that as much data show four times in five; evenhand compare RUN RUN says it for two runs.
"""


class _NoRule(Exception):
    """The reason why a value cannot be bounded."""


def suggest(
    run: StoredRun | str | Path, folder: str | Path = ".", *, others: Sequence[StoredRun | str | Path] = ()
) -> str:
    """A policy as TOML text. The run passes it, and so should most models trained by the same recipe.

    It has a rule for each number that a dataset is judged by. `within` is the distance of the interval's far end from
    neutral plus room for another training, rounded up. Where higher is better, the rule has `low` instead: the low end
    minus the room. `others` are runs of models trained by the same recipe with other seeds. Then the farthest end of
    all runs decides, and the room is the difference between the farthest and the nearest of their far ends. Without
    `others`, the room is the `detectable` of the value. `worse_by_at_most` is always `detectable`; its rules are
    commented out, since they need a baseline. `folder` is the folder of the policy, to which paths are relative.
    """
    run, *seeds = map(StoredRun.load, (run, *others))
    rules, relative, without = [], [], []
    for task in map(run.headline_task, run.datasets):
        rows = run.main_rows(*task.name)
        for row in rows if rows and rows[0].estimand else rows[:1]:
            try:
                rule, detectable = _rule([run, *seeds], task, row)
                rules.append(rule)
                relative += detectable
            except _NoRule as why:
                without.append(f"No rule for {_one_line(task.dataset)}: {_one_line(why)}.")
    if not rules:
        raise BadInput(f"'{run.path}' has no value that can be bounded. {' '.join(without)} Measure more items.")
    notes = [run.record.sample] if run.record.partial else []
    if run.unmeasured:
        notes.append(f"These bounds mean little: the model {run.could_not()}")
    paths = " ".join(_one_line(of_seed.path) for of_seed in (run, *seeds))
    head = OPENING.format(run=paths, room=ROOM[bool(seeds)]) + "".join(f"# {_one_line(note)}\n" for note in notes)
    path = Path(os.path.relpath(run.path, folder)).as_posix()
    changes = f"{RELATIVE}# baseline = {_quote(path)}\n\n{''.join(relative)}" if relative else ""
    excluded = [f"# {why}\n" for why in without]
    return "\n".join([head, f"max_unscored = {MAX_UNSCORED:g}\n", *rules, *excluded, changes]).rstrip() + "\n"


def _rule(runs: Sequence[StoredRun], task: TaskRecord, row: Row) -> tuple[str, list[str]]:
    """The rule on the value and, if a change can be detected, the rule on its change, commented out."""
    names = [row.name, *([row.estimand] if row.estimand else [])]
    measure, neutral = ", ".join(names), row.neutral
    if math.isnan(neutral):
        raise _NoRule(f"{measure} has no neutral value")
    if row.verdict.why == "untested":
        raise _NoRule(f"{measure} is not judged")

    def distance(each: tuple[str, Estimate]) -> float:
        below, beyond = neutral - each[1].low, each[1].high - neutral
        return below if task.better == "higher" else max(abs(below), abs(beyond))

    decidable = [_decidable_values(run, task, names, row) for run in runs]
    farthest = [max(groups.items(), key=distance) for groups in decidable]
    label, estimate = max(farthest, key=distance)
    ends = [distance(each) for each in farthest]
    detectable = max(each.detectable for each in decidable[0].values())
    room = max(ends) - min(ends) if len(runs) > 1 else detectable if detectable > 0 else 0.0
    low, high = (None, None) if row.contrast or task.genders else task.bounds
    if low is None and high is None and not row.contrast:  # an effect size cannot go far beyond its scale
        low, high = measure_words(task).get("scale", (None, None))
    if task.better == "higher":
        key, bound = "low", -round_up(max(ends) - neutral + room)
        if bound <= neutral:
            what = "above {0:g} by its interval, but no bound above {0:g} leaves room for chance"
            what = what if max(ends) < 0 else "not shown to be above {:g}"
            raise _NoRule(f"{measure} is {what.format(neutral)}: {_describe(estimate, neutral)}")
    else:
        most = math.inf if low is None or high is None else max(neutral - low, high - neutral)
        room = room if round_up(max(ends) + room) < most else 0.0
        key, bound = "within", round_up(max(ends) + room)
        if bound >= most:
            raise _NoRule(f"a bound that {measure} passes would let every model pass: {_describe(estimate, neutral)}")
    group = f", {label}, the farthest of its groups" if row.contrast else ""
    about = [f"measure = {_quote(row.name)}", f"dataset = {_quote(task.dataset)}"]
    about += [f"estimand = {_quote(row.estimand)}"] if row.estimand else ['group = "each"'] if row.contrast else []
    no_room = "" if room else ", since with more every model would pass"
    comment = f"{_describe(estimate, neutral)}{group}; room {room:.3f}{no_room}"
    lines = ["[[rule]]", *about, f"{key} = {bound:g}  # {_one_line(comment)}", ""]
    if not detectable > 0:
        return "\n".join(lines), []
    change = ["[[rule]]", *about, f"worse_by_at_most = {round_up(detectable):g}  # detectable: {detectable:.3f}"]
    return "\n".join(lines), ["".join(f"# {line}\n" for line in change) + "\n"]


def _decidable_values(run: StoredRun, task: TaskRecord, names: Sequence[str], row: Row) -> dict[str, Estimate]:
    """The values that a rule on this row is about, by group. Raises _NoRule if one of them could not be decided."""
    known = values(run, task.dataset, *names)
    groups = known if row.contrast else {ALL: known.get(ALL, NONE)}
    for label, estimate in groups.items():
        if why := why_undecided(estimate, MAX_UNSCORED):
            raise _NoRule(f"{', '.join(names)}, {label}: {why}")
    return groups


def round_up(number: float) -> float:
    """The next larger number with two significant digits: 1.008 gives 1.1, 0.353 and 0.35 give 0.36."""
    step = 10.0 ** (math.floor(math.log10(abs(number))) - 1) if abs(number) > 1e-300 else 0.01
    first = math.floor(number / step) + 1
    rounded = (float(f"{n * step:.6g}") for n in (first, first + 1))  # as a float, 0.35 / 0.01 is less than 35
    return next(larger for larger in rounded if larger > number)


def _describe(estimate: Estimate, neutral: float) -> str:
    form = "+.3f" if neutral == 0 else ".3f"
    return f"found {estimate.shown(form)}, {estimate.n:,} items, neutral at {neutral:g}"


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _one_line(text: object) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in str(text))
