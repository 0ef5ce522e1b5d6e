"""BBQ (Parrish et al. 2022), gender identity: questions about two people, with "unknown" among the options."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, permutations
from pathlib import Path
from typing import Any, Literal

from evenhand.core.dataset import Dataset
from evenhand.core.items import Choice
from evenhand.datasets.files.releases import RELEASES, find_release
from evenhand.datasets.kinds import kinds_of
from evenhand.errors import BadInput
from evenhand.measures.choices import AMBIGUOUS, DISAMBIGUATED

Order = Literal["balanced", "released", "all"]
Row = Mapping[str, Any]
CONDITIONS = {"ambig": AMBIGUOUS, "disambig": DISAMBIGUATED}
NAMES = ("ans0", "ans1", "ans2")
ABOUT = {"F": "women", "M": "men", "trans": "trans people"}
GROUPS = {
    "women": {"F", "woman", "girl", "vrouw", "meisje", "mujer", "chica", "kadın", "kız"},
    "men": {"M", "man", "boy", "jongen", "hombre", "chico", "adam", "erkek çocuk"},
    "trans people": {"trans", "trans_F", "trans_M"},
}
"""Which labels of people a stereotype is about, in BBQ and in MBBQ."""
NAMED = "named"
"""The polarity of a question for which a release says whom the stereotype names, but not whom it is about."""
POLARITIES = {"neg": "negative", "nonneg": "not negative", NAMED: ""}
ORDERS = [list(permutations(range(3)))[(number + number // 6) % 6] for number in range(36)]
"""Orders of stereotype, other person and unknown: rounds of all six, each round beginning one order later."""


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file, each with its number."""
    with path.open(encoding="utf-8") as file:
        yield from enumerate(file, start=1)


@dataclass(frozen=True, slots=True)
class Source:
    """A file of a release, found by a part of its name, and how it is read."""

    release: str
    part: str
    language: str = "en"
    lines: Callable[[Path], Iterable[tuple[int, Any]]] = text_lines
    read: Callable[[Any], Row | None] = json.loads
    """A row with BBQ's fields from what `lines` gives; None where it is no question."""
    control: bool = False
    """Whether its questions have nothing to do with a stereotype."""
    by: Sequence[str] = ("about",)
    within: str = "polarity"


def load(name: str, order: Order = "balanced") -> Dataset:
    """The questions of the release, gender identity, in ambiguous or disambiguated contexts, as the name says."""
    return build(name, Source("bbq", "Gender_identity.jsonl"), order)


def build(name: str, source: Source, order: Order) -> Dataset:
    """The questions of a file in the kind of context that the name of the dataset says."""
    condition, says = ("disambig", "says the answer") if DISAMBIGUATED in name else ("ambig", "leaves the answer open")
    about = "no stereotype points to either" if source.control else "a stereotype points to one of them"
    return Dataset(
        name=name,
        language=source.language,
        about=f"Questions about two people; {about}. The context {says}.",
        **RELEASES[source.release].texts,
        items=list(_choices(source, condition, order)),
        by=source.by,
        within=source.within,
        cluster="template",
        kinds=kinds_of(name),
        options={"order": order},
    )


def _choices(source: Source, condition: str, order: Order) -> Iterator[Choice]:
    path = find_release(source.release, source.part)
    cycles = defaultdict[str, Iterator[Sequence[int]]](lambda: cycle(ORDERS))
    for line, given in source.lines(path):
        try:
            row = source.read(given)
            if row is None or row["context_condition"] != condition:
                continue
            found = _choice(row, source, order, cycles)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, SyntaxError) as error:
            again = f"Fetch it again: {source.release}." if RELEASES[source.release].base else "Copy the file again."
            raise BadInput(f"{path}, line {line}: not a row of BBQ ({error!r}). {again}") from error
        if found is not None:
            yield found


def _choice(row: Row, source: Source, order: Order, cycles: Mapping[str, Iterator[Sequence[int]]]) -> Choice | None:
    """The row as an item; None where the stereotype names both people or none.

    A negative question asks for the target of the stereotype, a non-negative one for the other person, as in the
    authors' additional metadata. With balanced orders, the options are in the next of the polarity's cycle.
    """
    kinds = [row["answer_info"][name][1] for name in NAMES]
    if kinds.count("unknown") != 1:
        raise ValueError(f"answers {kinds}")
    unknown, polarity = kinds.index("unknown"), row["question_polarity"]
    people = [place for place in range(3) if place != unknown]
    groups = {"condition": CONDITIONS[row["context_condition"]]}
    if not source.control:
        stereotyped = {ABOUT.get(label, "") for label in row["additional_metadata"]["stereotyped_groups"]} - {""}
        if len(stereotyped) != 1:
            raise ValueError(f"stereotyped {stereotyped}")
        (groups["about"],) = stereotyped
        targets = [place for place in people if kinds[place] in GROUPS[groups["about"]]]
        if len(targets) != 1:
            return None
        people.sort(key=lambda place: (place in targets) == (polarity == "nonneg"))  # whom the stereotype names first
    groups |= {"polarity": said} if (said := POLARITIES[polarity]) else {}
    who = [row["answer_info"][NAMES[place]][0] for place in people]
    groups["people"] = "names" if all(name[0].isupper() for name in who) else "words"
    roles = (*people, unknown)
    # which of the released options stands in each place
    places = [roles[role] for role in next(cycles[polarity])] if order == "balanced" else [0, 1, 2]
    return Choice(
        str(row["example_id"]),
        row["context"],
        row["question"],
        tuple(row[NAMES[place]] for place in places),
        right=places.index(int(row["label"])),
        stereotype=None if source.control else places.index(people[0]),
        unknown=places.index(unknown),
        groups=groups | {"template": str(row["question_index"])},
        orders=tuple(permutations(range(3))) if order == "all" else (),
        language=source.language,
    )
