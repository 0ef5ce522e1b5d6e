"""What a benchmark gives: rows of a table."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One comparison.

    `goal` is what the ratio should reach or, where there is no peer, what `ours` should stay under.
    """

    name: str
    ours: float
    peer: float | None = None
    ratio: float | None = None
    unit: str = "s"
    note: str = ""
    goal: float | None = None
    difference: float | None = None
    """The largest difference between our answers and the peer's, in nats."""
    allowed: float = 1e-4
    share: float | None = None
    """Of the machine's matrix multiplication rate, measured beside it."""
    spread: Sequence[float] = ()
    """The ratio of each part, from which `ratio` is the median."""

    @property
    def met(self) -> bool | None:
        """Is the goal reached? None where there is none."""
        if self.goal is None:
            return None
        return self.ours < self.goal if self.ratio is None else self.ratio >= self.goal

    def check(self) -> None:
        """A ratio of answers that differ means nothing."""
        if self.difference is not None and not self.difference < self.allowed:
            raise SystemExit(
                f"{self.name}: our answers and the peer's differ by {self.difference:.2g}, more than {self.allowed:g}."
            )
