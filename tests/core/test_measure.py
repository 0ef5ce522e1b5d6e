"""What a measure's class may say of itself, and what holds where it does not."""

import math
from dataclasses import dataclass
from typing import ClassVar

from evenhand.core.measure import Traits


@dataclass(frozen=True)
class Mine:
    """Has an option whose name is that of a trait."""

    rank: int = 3

    name: ClassVar[str] = "mine"
    neutral: ClassVar[float] = 0.0
    unit: ClassVar[str] = "points"


class Level:
    """Has no neutral value."""

    neutral = math.nan


def test_traits_are_those_of_the_class_and_options_are_none() -> None:
    assert Traits.of(Mine(rank=1)) == Traits.of(Mine) == Traits(unit="points")


def test_of_a_level_no_value_is_better() -> None:
    assert Traits.of(Level).better == "none"
