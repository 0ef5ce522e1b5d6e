"""Items and their partners, which differ in gender alone."""

from dataclasses import dataclass

import pandas as pd

from evenhand.errors import BadInput


@dataclass(frozen=True, slots=True)
class Partners:
    """Which items are partners: they have all groups in common but `group`, and those they may `differ` in.

    The contrast is the score of the item with the label `one` minus that of its partner, labelled `other`.
    """

    group: str
    one: str
    other: str
    differ: tuple[str, ...] = ()

    @property
    def contrast(self) -> str:
        return f"{self.one} - {self.other}"

    @property
    def agreeing(self) -> bool:
        """Whether partners differ in a grammatical form, too (German), so that grammar may explain a difference."""
        return "form" in self.differ

    def pairs(self, scores: pd.DataFrame) -> pd.DataFrame:
        """One row for each two partners: their groups, both ids and scores, and `difference` = one - other.

        `scores` has columns id, score and one for each group. Items whose partner was not measured are left out.
        """
        if self.group not in scores:
            raise BadInput(f"Partners need the group '{self.group}'. Got: {', '.join(map(str, scores.columns))}.")
        apart = (self.group, *self.differ, "id", "score")
        on = [column for column in scores.columns if column not in apart]
        sides = [scores[scores[self.group] == label][[*on, "id", "score"]] for label in (self.one, self.other)]
        for side, label in zip(sides, (self.one, self.other), strict=True):
            if side.duplicated(on).any():
                one, two = side[side.duplicated(on, keep=False)]["id"].tolist()[:2]
                raise BadInput(
                    f"Items '{one}' and '{two}' are both {label} and share all other groups, so it is not clear which "
                    "one is whose partner. Give them a group in which they differ."
                )
        joined = sides[0].merge(sides[1], on=on, suffixes=(f"_{self.one}", f"_{self.other}"))
        joined["difference"] = joined[f"score_{self.one}"] - joined[f"score_{self.other}"]
        return joined


FEMALE_MALE = Partners("gender", "female", "male", ("person",))
"""Sentences about a woman and about a man; `slot` says which person words are partners."""
