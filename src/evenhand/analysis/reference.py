"""Context for a value: the published values of well-known models, and whether the measure follows a known bias."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from evenhand.core.dataset import base_name
from evenhand.datasets.files import read_tsv
from evenhand.runs.record import RunRecord, TaskRecord

_rows = cache(read_tsv)


@dataclass(frozen=True, slots=True)
class Reference:
    """A published value, its source, and how its measurement differs from the run's."""

    model: str
    group: str
    value: float
    source: str
    differs: tuple[str, ...]

    @property
    def words(self) -> str:
        """For example: "bert-base-uncased +0.16 (male, male; there masks=words)"."""
        details = "; ".join(filter(None, (self.group, *self.differs)))
        return f"{self.model} {self.value:g}{f' ({details})' if details else ''}"


def references(record: RunRecord, task: TaskRecord) -> list[Reference]:
    """The published values of a task's measure on its dataset, of models of the same kind as the run's."""
    kind = record.audit_of(task).kind
    return [
        Reference(row["model"], row["group"], float(row["value"]), row["source"], tuple(_differences(row, task)))
        for row in _rows("reference.tsv", "evenhand.analysis")
        if (row["measure"], row["dataset"], row["kind"]) == (task.measure, base_name(task.dataset), kind)
    ]


def by_source(record: RunRecord, task: TaskRecord) -> dict[str, list[str]]:
    """The published values in words, by source."""
    sources: dict[str, list[str]] = {}
    for reference in references(record, task):
        sources.setdefault(reference.source, []).append(reference.words)
    return sources


def reference_texts(record: RunRecord, task: TaskRecord, label: str, *, contrast: bool) -> list[str]:
    """The published values for one line of a run, in words: "bert-base-uncased -0.40 (source)".

    `label` is the label of the line's group, empty for all items. With `contrast`, the line is women minus men, and
    each value is the difference of two published ones.
    """
    rows = references(record, task)
    if contrast:
        men = {row.model: row.value for row in rows if row.group == f"{label}, male"}
        women = [row for row in rows if row.group == f"{label}, female" and row.model in men]
        rows = [replace(row, value=row.value - men[row.model]) for row in women]
    else:
        rows = [row for row in rows if row.group == label]
    form = "+.2f" if contrast else "g"
    return [f"{row.model} {row.value:{form}} ({'; '.join((row.source, *row.differs))})" for row in rows]


def _differences(row: dict[str, str], task: TaskRecord) -> Iterator[str]:
    options = {**task.dataset_options, **task.measure_options}
    for option in filter(None, row["options"].split(", ")):
        name, _, value = option.partition("=")
        if str(options.get(name)) != value:
            yield f"there {option}"
    if int(row["version"]) != task.dataset_version:
        yield f"there version {row['version']} of the dataset"
    if task.partial:
        yield "there all items"


ORDERS, PARTLY = 0.9, 0.5
"""The lowest rank correlations with which a measure orders models by their bias well, and partly."""


@dataclass(frozen=True)
class RateCorrelation:
    """How well a measure's values on a dataset rank models trained at several rates of bias: `evenhand metaeval`."""

    reading: str
    """The values that were ranked. Those of a measure without a direction were read towards stereotypes."""
    model: str
    models: int
    spearman: float
    """The correlation with the rate of bias: above 0 if the value moves the right way, NaN if it never changed."""
    smallest: float = math.nan
    """The change of the rate that one audit detects half of the time: above 1 if none is, NaN if unknown."""

    @property
    def causal(self) -> bool:
        """Whether the models were causal ones."""
        return self.model.startswith("SmolLM2")

    @property
    def orders(self) -> bool:
        """Whether the ranking is good enough, and its steps large enough, to support the measure."""
        return self.spearman >= ORDERS and not self.smallest > 1

    def __str__(self) -> str:
        verb = "ranked" if self.spearman >= ORDERS else "partly ranked" if self.spearman >= PARTLY else "did not rank"
        rank = "its value never changed" if math.isnan(self.spearman) else f"rank correlation {self.spearman:.2f}"
        models = f"{self.models} small models, trained from {self.model},"
        unseen = ", in steps too small for one audit to see" if self.smallest > 1 else ""
        return f"{self.reading}, it {verb} {models} by the bias put in ({rank}{unseen})"


def meta_evaluation(run: RunRecord, task: TaskRecord, estimand: str = "") -> RateCorrelation | None:
    """The meta-evaluation of a task's stereotype, default or own value (`estimand` empty); None if there is none."""
    known = _meta_evaluations().get((*task.name, estimand))
    of_files = run.audits[-1].kind == "vectors"  # only networks were trained
    return known if known and not of_files and known.causal == run.causal else None


@cache
def _meta_evaluations() -> dict[tuple[str, str, str], RateCorrelation]:
    return {
        (row["dataset"], row["measure"], row["estimand"]): RateCorrelation(
            row["reading"],
            row["model"],
            int(row["models"]),
            int(row["rises"]) * float(row["spearman"] or "nan"),
            float(row["smallest"] or "nan"),
        )
        for row in read_tsv("followed.tsv", "evenhand.analysis")
    }
