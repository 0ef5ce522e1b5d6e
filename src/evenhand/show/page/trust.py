"""How far to trust a value: the reasons for and against it."""

from collections.abc import Iterator
from dataclasses import dataclass

from evenhand.analysis.reference import followed
from evenhand.core.dataset import Kinds
from evenhand.runs.folder import StoredRun
from evenhand.runs.rows import Row
from evenhand.show.page.readings import Reading

LEVELS = ("fine", "not tested", "careful", "unfit")
"""The doctor's verdicts, from good to bad; and "not tested": the measure was never tried on models of known bias."""
UNSCORED = {"careful": 0.01, "unfit": 0.5}
"""The share of unscored items from which a value gets this level."""
FEW, FEW_BY_T = 8, 5
"""With fewer clusters an interval is unreliable; stereotype and default are judged by t, which needs fewer."""


@dataclass(frozen=True)
class Reason:
    """One reason to trust a value, or not to."""

    level: str
    says: str


@dataclass(frozen=True)
class Trust:
    """The worst of the reasons, and all of them."""

    reasons: tuple[Reason, ...]

    @property
    def level(self) -> str:
        return max((reason.level for reason in self.reasons), key=LEVELS.index, default="fine")

    @property
    def why(self) -> str:
        """The first of the worst reasons; empty where all is fine."""
        return "" if self.level == "fine" else next(r.says for r in self.reasons if r.level == self.level).rstrip(".")


UNTRIED = Reason("not tested", "nobody has tried this number on models whose bias is known")


def trust(run: StoredRun, reading: Reading, number: Row) -> Trust:
    """The reasons for and against one value."""
    return Trust(tuple(_reasons(run, reading, number)))


def _reasons(run: StoredRun, reading: Reading, number: Row) -> Iterator[Reason]:
    task, audit = number.task, number.audit
    items = number.n + number.unscored
    share = number.unscored / items if items else 1.0
    level = "unfit" if share >= UNSCORED["unfit"] else "careful" if share >= UNSCORED["careful"] else "fine"
    missing = f"{number.unscored:,} of {items:,} items ({share:.0%}) could not be scored"
    yield Reason(level, missing if number.unscored else "every item could be scored")
    if task.partial:
        yield Reason("careful", f"a sample of at most {task.limit:,} items, not all of them")
    if not number.spans:
        yield Reason("unfit", "there is no interval")
    elif number.clusters < max(FEW_BY_T if number.estimand or task.genders else FEW, number.needed):
        ways = [task.cluster or "item", *([task.crossed] if task.crossed else []), *(task.kinds or Kinds("")).samples]
        of = f"{ways[0]}s" if len(ways) == 1 else f"different values of {' or '.join(ways)}"
        yield Reason("careful", f"the interval rests on only {number.clusters} {of}")
    if reading.kind in ("lean", "errors") or number.estimand or number.contrast:
        known = followed(run.record, task, number.estimand)
        yield Reason("fine" if known.orders else "careful", str(known)) if known else UNTRIED
    yield from _precision_reasons(number)
    if imported := audit.imported:
        yield Reason("careful", f"imported from {imported.file}: computed elsewhere, the model was not checked")
    for finding in audit.doctor:
        if finding.verdict != "fine" and finding.about(task.dataset):
            yield Reason(finding.verdict, f"doctor, {finding.check}: {finding.says}")
    if task.flaws:
        yield Reason("fine", f"known flaws of the sentences: {task.flaws}")


def _precision_reasons(number: Row) -> Iterator[Reason]:
    """What half precision changed, if the run was measured in it."""
    audit = number.audit
    for found in audit.precision.deviations if audit.precision else ():
        if (found.dataset, found.measure) == number.task.name:
            dtype = audit.loaded["dtype"]
            said = f"computed in {dtype}: on {found.items} items the mean is {found.shift:+.4f} from float32"
            doubtful = ", ".join(found.doubtful)
            yield Reason("careful", f"{said}, which may decide for: {doubtful}") if doubtful else Reason("fine", said)
