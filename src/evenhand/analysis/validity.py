"""Whether a measure orders models by their bias, where that was tried with models of known bias."""

import math
from dataclasses import dataclass
from functools import cache

from evenhand.datasets.files.bundled import read_tsv
from evenhand.runs.record import RunRecord, TaskRecord

ORDERS, PARTLY = 0.9, 0.5
"""Rank correlations from which on a measure orders models by their bias, well or partly."""


@dataclass(frozen=True)
class Followed:
    """How a measure's values on a dataset rank models trained at several rates of bias: `evenhand metaeval`."""

    reading: str
    """What was ranked: a measure without a direction of its own was read towards stereotypes."""
    model: str
    models: int
    spearman: float
    """With the rate of bias; above 0 where the measure goes the way it should, NaN where it never changed."""

    @property
    def orders(self) -> bool:
        """Whether the ranking is good enough to support the measure."""
        return self.spearman >= ORDERS

    def __str__(self) -> str:
        how = "ranked" if self.orders else "partly ranked" if self.spearman >= PARTLY else "did not rank"
        rank = "its value never changed" if math.isnan(self.spearman) else f"rank correlation {self.spearman:.2f}"
        models = f"{self.models} small models, trained from {self.model},"
        return f"{self.reading}, it {how} {models} by the bias put in ({rank})"


def followed(run: RunRecord, task: TaskRecord, estimand: str = "") -> Followed | None:
    """What the meta-evaluation of this number gave; None where it was another one that was tested, or none."""
    return None if run.causal else _all().get((*task.name, estimand))


@cache
def _all() -> dict[tuple[str, str, str], Followed]:
    return {
        (row["dataset"], row["measure"], row["estimand"]): Followed(
            row["reading"], row["model"], int(row["models"]), int(row["rises"]) * float(row["spearman"] or "nan")
        )
        for row in read_tsv("followed.tsv", "evenhand.analysis")
    }
