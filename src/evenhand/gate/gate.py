"""The gate: it judges the intervals of a run's values by rules, so a verdict can be "undecided"."""

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple, NoReturn

import pandas as pd

from evenhand.analysis.change import differences
from evenhand.core.dataset import ESTIMANDS, Design, base_name
from evenhand.core.estimands import ItemRow, SummaryRow, rows
from evenhand.core.files import public_path, real_path
from evenhand.core.loop import Task
from evenhand.core.measure import summarising
from evenhand.core.model import NOT_EXAMINED, UNCHECKED, Finding
from evenhand.core.typed import check_fields, typed
from evenhand.errors import BadInput, UnknownName
from evenhand.gate.policy import MAX_UNSCORED, Rule, read
from evenhand.gate.verdict import Judged, Verdict, judge_interval
from evenhand.runs.comparable import enough_shared, item_ids, shared_ids, task_names
from evenhand.runs.folder import StoredRun
from evenhand.runs.record import RunRecord
from evenhand.runs.rows import FEMALE_MALE, Row, row_label
from evenhand.stats.estimate import Estimate

UNFIT = "the model is unfit to be measured"
NOT_CHECKED = "whether the model has learnt its language could not be checked"
SHOWN = 12
"""The number of groups that an error about an unknown group lists: the most similar ones."""


ALL, EACH = "all", "each"


class Labels(NamedTuple):
    """The labels for which a measure has values: all items (`whole`), groups (`each`), parts of groups (`within`)."""

    whole: bool
    each: list[str]
    within: list[str]

    def labels_for(self, group: str | None) -> list[str]:
        """The labels that a rule with this `group` judges; None means all items or, without their value, each group."""
        if group is None:
            group = ALL if self.whole else EACH
        return self.each or [EACH] if group == EACH else [group]


Known = dict[tuple[str, str], Labels]
"""The labels by dataset and measure."""
NONE = Estimate(math.nan, note="no such items in this sample")


@dataclass(frozen=True)
class Gate:
    """Rules for runs. `Gate.load` reads them from a policy file.

    `baseline` is the run that `worse_by_at_most` compares with. A rule is undecided if a larger share of items than
    `max_unscored` has no score. Unless `allow_unfit`, it is also undecided if the doctor calls the model unfit for the
    rule's dataset, or could not check the model.
    """

    rules: Sequence[Rule]
    baseline: StoredRun | None = None
    max_unscored: float = MAX_UNSCORED
    name: str = "policy"
    allow_unfit: bool = False

    def __post_init__(self) -> None:
        check_fields(self, "baseline")
        if not self.rules:
            raise BadInput("A gate without rules would pass every run. Give at least one rule.")

    @classmethod
    @typed
    def load(cls, path: str | Path, baseline: StoredRun | str | Path | None = None) -> "Gate":
        """Read a gate from a policy file; `baseline` replaces the baseline run that the file names."""
        policy = read(path)
        baseline = policy["baseline"] if baseline is None else baseline
        against = None if baseline is None else StoredRun.load(baseline)
        return cls(**policy | {"baseline": against, "name": public_path(path)})

    @classmethod
    def of(cls, gate: "Gate | str | Path | None", baseline: StoredRun | str | Path | None = None) -> "Gate | None":
        """The gate, read from a policy file if `gate` is a path; `baseline` replaces the baseline of the gate."""
        if gate is None and baseline is not None:
            raise BadInput(
                "`baseline` is the run that the rules of `gate` compare with, and there is no `gate`. Add `gate`, or "
                "compare two runs: evenhand compare."
            )
        if isinstance(gate, str | Path):
            return cls.load(gate, baseline)
        return replace(gate, baseline=StoredRun.load(baseline)) if gate and baseline is not None else gate

    def check(
        self,
        tasks: Sequence[Task],
        path: Path,
        earlier: RunRecord | None = None,
        *,
        samples: Sequence[Task] = (),
        baseline_later: bool = False,
    ) -> None:
        """Raise an error if a run of these tasks in the folder `path` could not be judged.

        `earlier` is the record of the run that is in the folder already. `samples` are the tasks with the items that
        will be measured, of which the baseline must have enough. With `baseline_later`, a missing baseline is no
        error, since the baseline will be a run of the same tasks.
        """
        known = labels_of_run(StoredRun(path, earlier)) if earlier else {}
        known |= labels_of_tasks(tasks)
        for number, (rule, dataset) in enumerate(self._resolve(known, path, self.baseline, (), later=baseline_later)):
            if rule.on != "worse":
                continue
            name = dataset, rule.base
            sampled = [task.dataset for task in samples if (task.dataset.name, task.measure.name) == name]
            ids = {str(item.id) for data in sampled for item in data.items}
            of_baseline = item_ids(self.baseline, *name) if self.baseline else ids
            if not enough_shared(ids, of_baseline):
                shared = f"it has {len(of_baseline & ids):,} of the {len(ids):,} items of {name[0]} to be measured"
                self._fail(number, f"the baseline is of another sample: {shared}. Use the `limit` and `seed` it has.")

    def judge(self, run: StoredRun | str | Path, baseline: StoredRun | str | Path | None = None) -> Verdict:
        """Judge a run: pass, fail or undecided for each rule. `baseline` replaces the baseline of the policy.

        Pass: the whole 95 % interval is within the bounds. Fail: the whole interval is outside. Undecided: a part of
        the interval is outside, there is no interval, too many items have no score, or the doctor objects: see `Gate`.
        """
        run = StoredRun.load(run)
        baseline = self.baseline if baseline is None else StoredRun.load(baseline)
        known = labels_of_run(run)
        about = self._resolve(known, run.path, baseline, {task.dataset for task in run.record.tasks if task.partial})
        rules = [judged for rule, dataset in about for judged in self._judge_rule(rule, dataset, known, run, baseline)]
        notes = [run.record.sample] if run.record.partial else []
        compared = dict.fromkeys((dataset, rule.base) for rule, dataset in about if rule.on == "worse")
        if baseline and not compared:
            notes.append("Nothing is compared with the baseline: no rule has worse_by_at_most.")
        for name in compared:
            if (shared := shared_ids(run, baseline or run, *name)) is not None:
                notes.append(f"{name[0]}: compared with the baseline by the {len(shared):,} items that both have.")
        if could_not := run.could_not({dataset for _, dataset in about}):
            notes.insert(0, f"{run.record.model} {could_not}")
        return Verdict(run.record.model, self.name, tuple(rules), tuple(notes))

    def _resolve(
        self, known: Known, path: Path, baseline: StoredRun | None, samples: Collection[str], *, later: bool = False
    ) -> list[tuple[Rule, str]]:
        """The rules, each with its dataset. Raises an error if a rule names something that the run does not have.

        The datasets in `samples` may lack the group of a rule. With `later`, the baseline may be missing.
        """
        about = []
        for number, rule in enumerate(self.rules):
            against = baseline if rule.on == "worse" else None
            if rule.on == "worse" and not against and not later:
                self._fail(number, "worse_by_at_most needs a baseline run. Give `baseline`, or name it in the policy.")
            if against and real_path(against.path) == real_path(path):
                self._fail(number, f"the baseline is the run itself, '{path}'. Give another run as the baseline.")
            dataset = self._dataset(number, known)
            about.append((rule, dataset))
            if against and (dataset, rule.base) not in task_names(against):
                without = f"the baseline '{against.path}' has no {rule.base} on {dataset}"
                self._fail(number, f"{without}. Audit the baseline in the same way as the run.")
            labels = known[dataset, rule.name]
            groups = [*([ALL] if labels.whole else []), *([EACH] if labels.each else []), *labels.each]
            groups += labels.within if rule.on == "value" else []
            if rule.group is None or rule.group in groups or (dataset in samples and rule.group != ALL):
                continue
            near = get_close_matches(rule.group, groups, n=SHOWN, cutoff=0) if len(groups) > SHOWN else groups
            self._fail(number, str(UnknownName(f"group of {dataset}", rule.group, near)))
        return about

    def _dataset(self, number: int, known: Known) -> str:
        """The name of the dataset that a rule is about. Raises an error if that is unknown or ambiguous."""
        rule = self.rules[number]
        measures = {measure for _, measure in known}
        if rule.on == "worse":  # runs are compared by female - male where items are pairs
            measures -= {measure.removesuffix(FEMALE_MALE) for measure in measures if measure.endswith(FEMALE_MALE)}
        if rule.name not in measures:
            ends = tuple(f", {estimand}" for estimand in ESTIMANDS)
            of_kind = {m for m in measures if m.endswith(ends) == bool(rule.estimand)}
            kind = f"measure with a {rule.estimand}" if rule.estimand else "measure"
            like = {m.removesuffix(f", {rule.estimand}") for m in of_kind if m.endswith(rule.estimand)}
            self._fail(number, str(UnknownName(kind, rule.measure, like)))
        datasets = sorted(dataset for dataset, measure in known if measure == rule.name)
        of_name = [dataset for dataset in datasets if base_name(dataset) == rule.dataset]
        if rule.dataset not in datasets and len(of_name) == 1:  # measured with other options than the default ones
            return of_name[0]
        if rule.dataset and rule.dataset not in datasets:
            self._fail(number, str(UnknownName(f"dataset of {rule.name}", rule.dataset, datasets)))
        if not rule.dataset and len(datasets) > 1:
            several = " and ".join(datasets)
            self._fail(number, f"{rule.name} is measured on {several}. Name one of them: dataset = '{datasets[0]}'.")
        return rule.dataset or datasets[0]

    def _fail(self, number: int, message: str) -> NoReturn:
        raise BadInput(f"{self.name}, rule {number + 1}: {message}")

    def _judge_rule(
        self, rule: Rule, dataset: str, known: Known, run: StoredRun, baseline: StoredRun | None
    ) -> Iterator[Judged]:
        if rule.on == "worse" and baseline is not None:
            by_group = distance_growth(baseline, run, dataset, rule)
        else:
            by_group = values(run, dataset, rule.measure, rule.estimand)
        most_unscored = self.max_unscored if rule.max_unscored is None else rule.max_unscored
        compared = [run, baseline] if rule.on == "worse" and baseline is not None else [run]
        audits = [each.record.audit_of(each.task(dataset, rule.base)) for each in compared]
        concerns = (_concern(audit.doctor, dataset) for audit in audits)
        unfit = "" if self.allow_unfit else next(filter(None, concerns), "")
        for group in known[dataset, rule.name].labels_for(rule.group):
            estimate = by_group.get(group, NONE)
            reason = unfit or why_undecided(estimate, most_unscored)
            verdict = "undecided" if reason else judge_interval(estimate.low, estimate.high, *rule.tolerated)
            ends = (estimate.value, estimate.low, estimate.high, *rule.tolerated)
            value, low, high, least, most = (end if math.isfinite(end) else None for end in ends)
            yield Judged(
                f"{dataset} · {rule.name} · {group} · {rule.bound}",
                verdict,
                _describe(estimate, reason, rule),
                *(dataset, rule.measure, group, rule.on, value, low, high, rule.estimand),
                *(estimate.n, estimate.unscored, least, most),
            )


def _concern(doctor: Sequence[Finding], dataset: str) -> str:
    """The doctor's objection to a verdict on this dataset, with the doctor's advice; empty if there is none."""
    if any(finding.check == NOT_EXAMINED.check for finding in doctor):
        return f"{NOT_EXAMINED.says} {NOT_EXAMINED.do}"
    about = [finding for finding in doctor if finding.about(dataset)]
    unfit = [finding.do for finding in about if finding.verdict == "unfit"]
    unchecked = any(finding.check == UNCHECKED for finding in about)
    advice = unfit or [finding.do for finding in about if finding.verdict == "careful"] * unchecked
    return ". ".join(filter(None, (UNFIT if unfit else NOT_CHECKED, advice[-1]))) if advice else ""


def _describe(estimate: Estimate, reason: str, rule: Rule) -> str:
    form = "+.3f" if rule.neutral == 0 or rule.on == "worse" else ".3f"
    words = f"{estimate.brief(form)}, {estimate.n:,} items" if estimate.known else ""
    return "; ".join(filter(None, (words, reason)))


def values(run: StoredRun, dataset: str, measure: str, estimand: str = "") -> dict[str, Estimate]:
    """The values that a rule is about, by group: the measure's own, female - male, stereotype or default."""
    rows, base = run.values_of(dataset, measure), measure.removesuffix(FEMALE_MALE)
    if estimand:
        rows = [row for row in run.rows_of(dataset, measure) if row.estimand == estimand]
    elif base != measure:
        rows = run.contrasts_of(dataset, base)
    return {row_label(row.groups): row for row in rows}


def distance_growth(baseline: StoredRun, run: StoredRun, dataset: str, rule: Rule) -> dict[str, Estimate]:
    """How much farther from neutral the run is than the baseline, by group: `worse` of analysis.change."""
    by_group = {}
    for row in differences(baseline, run, dataset, rule.base):
        if (row.estimand, row.name) == (rule.estimand, rule.measure):
            mixed = math.isnan(row.worse) and not math.isnan(row.change)
            note = "some words call for she, some for he: choose a group" if mixed else ""
            label = row.group.removesuffix(rule.estimand).removesuffix(", ") or ALL
            by_group[label] = Estimate(row.worse, row.worse_low, row.worse_high, row.n, row.left_out, note)
    return by_group


def labels_of_run(run: StoredRun) -> Known:
    """The labels for which a run has values."""
    known: Known = {}
    for task in run.record.tasks:
        by = task.by
        rows = [row.groups for row in run.values_of(*task.name)]
        each, within = ([row_label(groups) for groups in rows if len(groups) == n] for n in (len(by), len(by) + 1))
        known[task.name] = Labels(True, each if by else [], within)
        known |= _labels_of_rows(*task.name, run.rows_of(*task.name), task.by_gender)
    return known


def labels_of_tasks(tasks: Sequence[Task]) -> Known:
    """The labels for which a run of these tasks will have values."""
    known: Known = {}
    for task in tasks:
        data, measure = task.dataset, task.measure.name
        items = [item.groups for item in data.items]
        levels = [data.by, (*data.by, data.within) if data.within else ()]
        each, within = (
            sorted({row_label({name: groups[name] for name in level}) for groups in items}) if level else []
            for level in levels
        )
        known[data.name, measure] = Labels(True, each, within)
        frame = pd.DataFrame({"id": item.id, "score": 1.0, **item.groups} for item in data.items)
        by_gender = data.partners is not None and not set(data.partners.differ) & set(data.by)
        with summarising(task.measure):
            known |= _labels_of_rows(data.name, measure, rows(frame, Design.of(data), task.measure), by_gender)
    return known


def _labels_of_rows(
    dataset: str, measure: str, judged_rows: Iterable[ItemRow | SummaryRow | Row], by_gender: bool
) -> Known:
    """The labels of stereotypes and defaults and, with `by_gender`, of female - male."""
    labels: dict[str, list[str]] = {}
    for row in judged_rows:
        if row.estimand or by_gender:
            name = f"{measure}, {row.estimand}" if row.estimand else measure + FEMALE_MALE
            labels.setdefault(name, []).append(row_label(row.groups))
    return {
        (dataset, name): Labels(ALL in rows and FEMALE_MALE not in name, [r for r in rows if r != ALL] or rows, [])
        for name, rows in labels.items()
    }


def why_undecided(estimate: Estimate, most: float) -> str:
    """The reason why this estimate cannot be judged, whatever the bounds are; empty if it can be judged."""
    if estimate.note or not estimate.n:
        return estimate.note or "no scored items"
    n = estimate.n + estimate.unscored
    if estimate.unscored / n > most:
        return f"{estimate.unscored / n:.1%} of {n:,} items unscored, more than {most:.1%}"
    if math.isnan(estimate.value):
        return "no value"
    return "" if estimate.spans else "no interval: too few clusters, or all scores are the same"
