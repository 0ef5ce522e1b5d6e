"""BBQ (Parrish et al. 2022), gender identity: questions about two people, with "unknown" among the options."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, permutations
from typing import Any, Literal

from evenhand.core.dataset import Dataset
from evenhand.core.items import Choice
from evenhand.datasets.files.releases import RELEASES, released
from evenhand.datasets.kinds import kinds_of
from evenhand.errors import BadInput
from evenhand.measures.choices import AMBIGUOUS, DISAMBIGUATED

Order = Literal["balanced", "released"]
CONDITIONS = {"ambig": AMBIGUOUS, "disambig": DISAMBIGUATED}
NAMES = ("ans0", "ans1", "ans2")
ABOUT = {"F": "women", "M": "men", "trans": "trans people"}
GROUPS = {"women": {"F", "woman", "girl"}, "men": {"M", "man", "boy"}, "trans people": {"trans", "trans_F", "trans_M"}}
"""Which of the release's labels of people a stereotype is about."""
ORDERS = [list(permutations(range(3)))[(number + number // 6) % 6] for number in range(36)]
"""Orders of stereotype, other person and unknown: rounds of all six, each round beginning one order later."""


def load(name: str, order: Order = "balanced") -> Dataset:
    """The questions of the release, gender identity, in ambiguous or disambiguated contexts, as the name says."""
    condition, says = (
        ("ambig", "leaves the answer open") if name == "bbq-ambiguous" else ("disambig", "says the answer")
    )
    return Dataset(
        name=name,
        about=f"Questions about two people; a stereotype points to one of them. The context {says}.",
        **RELEASES["bbq"].texts,
        items=list(_choices(condition, order)),
        by=("about",),
        within="polarity",
        cluster="template",
        kinds=kinds_of(name),
        options={"order": order},
    )


def _choices(condition: str, order: Order) -> Iterator[Choice]:
    path = released("bbq", "Gender_identity.jsonl")
    orders = {polarity: cycle(ORDERS) for polarity in ("neg", "nonneg")} if order == "balanced" else {}
    with path.open(encoding="utf-8") as file:
        for line, text in enumerate(file, start=1):
            try:
                row = json.loads(text)
                if row["context_condition"] != condition or (found := _choice(row, orders)) is None:
                    continue
            except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
                raise BadInput(f"{path}, line {line}: not a row of BBQ ({error!r}). Fetch it again: bbq.") from error
            yield found


def _choice(row: Mapping[str, Any], orders: Mapping[str, Iterator[Sequence[int]]]) -> Choice | None:
    """The row as an item, its options in the next of the orders; None where the stereotype names both people or none.

    A negative question asks for the target of the stereotype, a non-negative one for the other person, as in the
    authors' additional metadata.
    """
    kinds = [row["answer_info"][name][1] for name in NAMES]
    stereotyped = {ABOUT.get(label, "") for label in row["additional_metadata"]["stereotyped_groups"]} - {""}
    if len(stereotyped) != 1 or kinds.count("unknown") != 1:
        raise ValueError(f"stereotyped {stereotyped}, answers {kinds}")
    (about,) = stereotyped
    unknown = kinds.index("unknown")
    targets = [place for place, kind in enumerate(kinds) if kind in GROUPS[about]]
    if len(targets) != 1:
        return None
    other = 3 - unknown - targets[0]
    people = [row["answer_info"][NAMES[place]][0] for place in (targets[0], other)]
    negative = {"neg": True, "nonneg": False}[row["question_polarity"]]
    stereotype, spared = (targets[0], other) if negative else (other, targets[0])
    places = [0, 1, 2]  # which of the released options stands in each place
    if orders:
        places = [(stereotype, spared, unknown)[role] for role in next(orders[row["question_polarity"]])]
    return Choice(
        str(row["example_id"]),
        row["context"],
        row["question"],
        tuple(row[NAMES[place]] for place in places),
        right=places.index(int(row["label"])),
        stereotype=places.index(stereotype),
        unknown=places.index(unknown),
        groups={
            "condition": CONDITIONS[row["context_condition"]],
            "about": about,
            "polarity": "negative" if negative else "not negative",
            "people": "names" if all(name[0].isupper() for name in people) else "words",
            "template": str(row["question_index"]),
        },
    )
