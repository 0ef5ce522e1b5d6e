"""Where the numbers of an audit come from, if not from float32: half precision, or scores computed elsewhere."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

Finite = Annotated[float, Field(allow_inf_nan=False, ge=-1e100, le=1e100)]
"""A finite number whose sums and products are finite, too: answers end at 1e60."""


@dataclass(frozen=True, slots=True)
class Deviation:
    """How scores in half precision differ from those in float32.

    `shift` is the mean of half - float32 with its 95 % interval, `largest` the largest difference of one item, in the
    measure's unit. `doubtful` are the groups whose interval could lie on another side of the neutral value, or include
    it, if the value moved by as much as the interval of `shift` allows.
    """

    dataset: str
    measure: str
    items: int
    shift: Finite
    low: Finite | None
    high: Finite | None
    largest: Finite
    doubtful: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Precision:
    """How a run in half precision compares with float32, or `why` it was not compared."""

    asked: str | None = None
    overflowed: int | None = None
    deviations: tuple[Deviation, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class Imported:
    """The file that scores were imported from, and how many of its `rows` `matched` an item of the dataset.

    `numbers` names what each row has: the `score` of its item, or the answers that the measure makes a score of.
    """

    file: str
    sha256: str
    format: str
    numbers: tuple[str, ...]
    rows: int
    matched: int

    @property
    def told(self) -> str:
        whose = f"{self.format}, {' and '.join(self.numbers)}, SHA-256 {self.sha256[:12]}"
        return f"imported from {self.file} ({whose}), {self.matched:,} of its {self.rows:,} rows"
