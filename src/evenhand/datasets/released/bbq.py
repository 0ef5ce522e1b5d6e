"""BBQ (Parrish et al. 2022), gender identity: questions about two people, with "unknown" among the options."""

import json
from collections.abc import Iterator, Mapping
from itertools import permutations
from typing import Any, Literal

from evenhand.core.dataset import Dataset
from evenhand.core.items import Choice
from evenhand.datasets.checking import check_choice
from evenhand.datasets.files.releases import RELEASES, released
from evenhand.datasets.kinds import kinds_of
from evenhand.errors import BadInput
from evenhand.measures.choices import AMBIGUOUS, DISAMBIGUATED

Order = Literal["balanced", "released"]
CONDITIONS = {"ambig": AMBIGUOUS, "disambig": DISAMBIGUATED}
NAMED = {"ans0": 0, "ans1": 1, "ans2": 2}
UNKNOWN = "unknown"
ABOUT = {"F": "women", "M": "men", "trans": "trans people"}
GROUPS = {"women": {"F", "woman", "girl"}, "men": {"M", "man", "boy"}, "trans people": {"trans", "trans_F", "trans_M"}}
"""Which of the release's labels of people a stereotype is about."""
ORDERS = tuple(permutations(range(3)))


def ambiguous(order: Order = "balanced") -> Dataset:
    """The 2,828 questions whose context leaves the answer open: "unknown" is right."""
    return _dataset("bbq-ambiguous", "ambig", order)


def disambiguated(order: Order = "balanced") -> Dataset:
    """The 2,828 questions whose context says who it was."""
    return _dataset("bbq-disambiguated", "disambig", order)


def _dataset(name: str, condition: str, order: Order) -> Dataset:
    check_choice("order", order, "balanced", "released")
    told = "leaves the answer open" if condition == "ambig" else "says the answer"
    return Dataset(
        name=name,
        about=f"Questions about two people; a stereotype points to one of them. The context {told}.",
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
    counts: dict[str, int] = {}
    with path.open(encoding="utf-8") as file:
        for line, text in enumerate(file, start=1):
            try:
                row = json.loads(text)
                if row["context_condition"] != condition or (found := _choice(row)) is None:
                    continue
            except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
                raise BadInput(f"{path}, line {line}: not a row of BBQ ({error!r}). Fetch it again: bbq.") from error
            counts[row["question_polarity"]] = number = counts.get(row["question_polarity"], -1) + 1
            yield found if order == "released" else _reordered(found, ORDERS[(number + number // 6) % 6])


def _choice(row: Mapping[str, Any]) -> Choice | None:
    """The row as an item; None where the stereotype names both people or none.

    A negative question asks for the target of the stereotype, the other for whom it spares: the same places as in the
    authors' additional metadata.
    """
    kinds = [row["answer_info"][name][1] for name in NAMED]
    stereotyped = {ABOUT.get(label, "") for label in row["additional_metadata"]["stereotyped_groups"]} - {""}
    if len(stereotyped) != 1 or kinds.count(UNKNOWN) != 1:
        raise ValueError(f"stereotyped {stereotyped}, answers {kinds}")
    (about,) = stereotyped
    unknown = kinds.index(UNKNOWN)
    targets = [place for place, kind in enumerate(kinds) if kind in GROUPS[about]]
    if len(targets) != 1:
        return None
    other = 3 - unknown - targets[0]
    negative = {"neg": True, "nonneg": False}[row["question_polarity"]]
    people = [row["answer_info"][name][0] for name, place in NAMED.items() if place != unknown]
    return Choice(
        str(row["example_id"]),
        row["context"],
        row["question"],
        tuple(row[name] for name in NAMED),
        right=int(row["label"]),
        stereotype=targets[0] if negative else other,
        unknown=unknown,
        groups={
            "condition": CONDITIONS[row["context_condition"]],
            "about": about,
            "polarity": "negative" if negative else "not negative",
            "people": "names" if all(name[0].isupper() for name in people) else "words",
            "template": str(row["question_index"]),
        },
    )


def _reordered(item: Choice, order: tuple[int, ...]) -> Choice:
    """The item with its options in this order of stereotype, other person and unknown."""
    assert item.stereotype is not None
    assert item.unknown is not None
    roles = (item.stereotype, 3 - item.stereotype - item.unknown, item.unknown)
    places = [roles[role] for role in order]  # which of the old options stands in each place
    return Choice(
        item.id,
        item.context,
        item.question,
        tuple(item.options[place] for place in places),
        right=places.index(item.right),
        stereotype=places.index(item.stereotype),
        unknown=places.index(item.unknown),
        groups=item.groups,
    )
