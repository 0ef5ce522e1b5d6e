"""How large a lean is, in one word: a rule of our own, since the field has none."""

import math
from bisect import bisect_right

from evenhand.stats.estimate import Estimate

MARKS = {"negligible": "◔", "small": "◑", "clear": "◕", "large": "●"}
"""The sizes from the smallest on, each with its sign: the fuller, the larger."""
SHARES, ODDS = (0.02, 0.05, 0.15), (1.05, 1.2, 2.0)
"""Where one size ends and the next begins: distances of shares and probabilities, and ratios of odds."""
LOGARITHMS, RATIO = "nats", "ratio"
OF_SHARES = ("proportion", "probability", "difference of shares", "difference of probabilities")
"""Units of values that lie between 0 and 1, and of their differences."""
RULE = (
    f"{', '.join(f'{sign} {word}' for word, sign in MARKS.items())}: how large a lean is at least, by the end of its "
    f"interval nearer to neutral. The limits are evenhand's own: {', '.join(f'{limit:g}'[1:] for limit in SHARES)} for "
    f"shares and probabilities, odds times {', '.join(f'{limit:g}' for limit in ODDS)}"
)


def size(found: Estimate, neutral: float, unit: str) -> str:
    """The word for a value whose interval leaves out neutral; empty where it does not, or the unit has no sizes.

    It is the least that the data support: the end of the interval that is nearer to neutral decides.
    """
    side = found.side(neutral) if found.spans else 0
    if not side:
        return ""
    near = found.low if side > 0 else found.high
    if unit in OF_SHARES:
        return list(MARKS)[bisect_right(SHARES, abs(near - neutral))]
    if unit not in (LOGARITHMS, RATIO):
        return ""
    apart = math.log(near / neutral) if unit == RATIO and neutral else near - neutral  # rows of a ratio have neutral 0
    return list(MARKS)[bisect_right([math.log(limit) for limit in ODDS], abs(apart))]
