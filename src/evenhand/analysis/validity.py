"""What is known of each measure: how far it follows bias that was put into models on purpose."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class Followed:
    """The correlation of a measure with the rate of bias, over models trained at several rates: `evenhand metaeval`."""

    measure: str
    reading: str
    """What was correlated: a measure without a direction of its own was read towards stereotypes."""
    model: str
    models: int
    pearson: float
    low: float
    high: float
    smallest: float

    def __str__(self) -> str:
        if self.pearson != self.pearson:
            return f"{self.reading}, it does not follow bias: no change over {self.models} models of {self.model}"
        span = f" [{self.low:.2f}, {self.high:.2f}]" if self.low == self.low else ""
        return f"{self.reading}, it follows bias by r = {self.pearson:.2f}{span} ({self.models} models of {self.model})"


def followed(measure: str) -> Followed | None:
    """What a measure's meta-evaluation gave; None where there was none."""
    return _all().get(measure)


@cache
def _all() -> dict[str, Followed]:
    text = (files("evenhand.analysis") / "data" / "followed.tsv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {
        row["measure"]: Followed(
            row["measure"],
            row["reading"],
            row["model"],
            int(row["models"]),
            *(float(row[name] or "nan") for name in ("pearson", "pearson_low", "pearson_high", "smallest")),
        )
        for row in csv.DictReader(lines, delimiter="\t")
    }
