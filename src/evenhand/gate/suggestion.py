"""A policy made from a run: bounds that the run passes, and that as much data can decide."""

import json
import math
import os
from pathlib import Path

from evenhand.analysis.change import FEMALE_MALE
from evenhand.analysis.summary import Headline, headlines
from evenhand.errors import BadInput
from evenhand.gate import evidence
from evenhand.gate.policy import MAX_UNSCORED
from evenhand.runs.folder import Run
from evenhand.stats.estimate import Estimate

OPENING = """\
# Suggested by evenhand gate --suggest {run}
# Each bound is the far end of the 95 % interval that was found, rounded, so that this run passes. It says how the model
# is. What is tolerable depends on what the model is used for: decide that, and change the bounds.
"""
RELATIVE = """\
# To allow nothing worse than a baseline, such as this run for the models after it, take away the # below. Each bound is
# the smallest distance that as much data show four times in five; evenhand compare RUN RUN says it for two runs.
"""


class _NoRule(Exception):
    """Why nothing can be bounded."""


def suggest(run: Run | str | Path, folder: str | Path = ".") -> str:
    """A policy, as TOML, that the run passes: a rule for the number that each dataset is judged by.

    `within` is the distance from neutral of the interval's far end, rounded up, and `low`, where higher is better, its
    low end, rounded down. `worse_by_at_most`, commented out until there is a baseline, is `detectable`, rounded up. For
    female - male by group, the farthest group decides. `folder` is where the policy will be, as seen from here.
    """
    run = run if isinstance(run, Run) else Run.load(run)
    rules, relative, without = [], [], []
    for headline in headlines(run):
        try:
            rule, detectable = _rule(run, headline)
            rules.append(rule)
            relative += detectable
        except _NoRule as why:
            without.append(f"No rule for {_comment(headline.task.dataset)}: {_comment(why)}.")
    if not rules:
        raise BadInput(f"'{run.path}' has nothing that can be bounded. {' '.join(without)} Measure more items.")
    notes = [run.record.sample] if run.record.partial else []
    notes += ["The doctor calls the model unfit, so these bounds mean little: evenhand doctor."] if _unfit(run) else []
    head = OPENING.format(run=_comment(run.path)) + "".join(f"# {_comment(note)}\n" for note in notes)
    path = Path(os.path.relpath(run.path, folder)).as_posix()
    later = f"{RELATIVE}# baseline = {_quoted(path)}\n\n{''.join(relative)}" if relative else ""
    left_out = [f"# {why}\n" for why in without]
    return "\n".join([head, f"max_unscored = {MAX_UNSCORED:g}\n", *rules, *left_out, later]).rstrip() + "\n"


def _rule(run: Run, headline: Headline) -> tuple[str, list[str]]:
    """The rule on the value, and that on the change, if one can be told, as a comment."""
    task = headline.task
    measure = task.measure + (FEMALE_MALE if headline.value.contrast else "")
    values = evidence.values(run, task.dataset, measure)
    groups = {label: values[label] for label in ([evidence.ALL] if not headline.value.contrast else values)}
    for label, found in groups.items():
        if why := evidence.undecidable(found, MAX_UNSCORED):
            raise _NoRule(f"{measure}, {label}: {why}")
    neutral = headline.value.at
    if math.isnan(neutral):
        raise _NoRule(f"{measure} has no neutral value")
    if task.better == "higher":
        label, found = min(groups.items(), key=lambda each: each[1].low)
        key, bound = "low", -above(-found.low)
        if bound <= neutral:
            raise _NoRule(f"{measure} is not shown to be above {neutral:g}: {_told(found, neutral)}")
    else:
        label, found = max(groups.items(), key=lambda each: _far(each[1], neutral))
        key, bound = "within", above(_far(found, neutral))
        low, high = (None, None) if headline.value.contrast else task.bounds
        if low is not None and high is not None and neutral - bound <= low and high <= neutral + bound:
            raise _NoRule(f"a bound that {measure} passes would let every model pass: {_told(found, neutral)}")
    which = f", {label}, the farthest of {len(groups)}" if len(groups) > 1 else ""
    named = [f"measure = {_quoted(measure)}", f"dataset = {_quoted(task.dataset)}"]
    named += ['group = "each"'] if headline.value.contrast else []
    rule = ["[[rule]]", *named, f"{key} = {bound:g}  # {_comment(_told(found, neutral) + which)}", ""]
    detectable = max((each.detectable for each in groups.values()), key=lambda number: (number > 0, number))
    if not detectable > 0:
        return "\n".join(rule), []
    change = ["[[rule]]", *named, f"worse_by_at_most = {above(detectable):g}  # detectable: {detectable:.3f}"]
    return "\n".join(rule), ["".join(f"# {line}\n" for line in change) + "\n"]


def above(number: float) -> float:
    """The next number above this one with two digits: 1.1 above 1.008, 0.36 above 0.353."""
    step = 10.0 ** (math.floor(math.log10(abs(number))) - 1) if number else 0.01
    first = math.floor(number / step) + 1
    return next(
        found for n in (first, first + 1) if (found := float(f"{n * step:.6g}")) > number
    )  # 0.35 / 0.01 is < 35


def _far(found: Estimate, neutral: float) -> float:
    return max(abs(found.low - neutral), abs(found.high - neutral))


def _told(found: Estimate, neutral: float) -> str:
    form = "+.3f" if neutral == 0 else ".3f"
    return f"found {found.shown(form)}, {found.n:,} items, neutral at {neutral:g}"


def _unfit(run: Run) -> bool:
    return any(run.record.unfit(task) for task in run.record.tasks)


def _quoted(text: str) -> str:
    """A string of TOML."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _comment(text: object) -> str:
    """The text in one line, without control characters."""
    return "".join(letter if letter.isprintable() else " " for letter in str(text))
