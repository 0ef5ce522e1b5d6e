"""Winogender schemas (Rudinger et al. 2018): a pronoun that refers to an occupation, or to somebody else."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from evenhand.core.dataset import Dataset
from evenhand.core.items import Blank
from evenhand.core.questions import Span
from evenhand.core.words import changes
from evenhand.datasets.blanks import PLACE, PRONOUNS, blanked, table
from evenhand.datasets.files.releases import RELEASES, released
from evenhand.datasets.files.rows import rows
from evenhand.datasets.kinds import kinds_of
from evenhand.errors import BadInput

REFERENTS = {"0": "occupation", "1": "participant"}
GENDERS = ("male", "female", "neutral")


def load() -> Dataset:
    """240 sentences with a blank for he, she or they, of 60 occupations: the release's 720, each in its three versions.

    The pronoun refers to the occupation in half of them, to the other participant in the rest, whom the occupation
    should not touch: the group `referent`. `workforce` says of whom an occupation has more in the US, `bls_pct_female`
    how many in 100 are women.
    """
    path = released("winogender", "all_sentences.tsv")
    items = list(_blanks(path, _shares(released("winogender", "occupations-stats.tsv"))))
    return Dataset(
        name="winogender",
        about=f"{len(items)} sentences about an occupation and another person, with a blank for the pronoun of one.",
        **RELEASES["winogender"].texts,
        items=items,
        by=("referent", "workforce"),
        cluster="occupation",
        kinds=kinds_of("winogender"),
        table=partial(table, items),
    )


def _shares(path: Path) -> dict[str, float]:
    found = {}
    for line, row in rows(path, ("occupation", "bls_pct_female")):
        try:
            found[row["occupation"]] = float(row["bls_pct_female"])
        except ValueError as error:
            raise BadInput(f"{path}, line {line}: a percentage of women is a number. Got {error}.") from error
    return found


def _blanks(path: Path, shares: dict[str, float]) -> Iterator[Blank]:
    versions: dict[tuple[str, ...], dict[str, tuple[int, str]]] = {}
    for line, row in rows(path, ("sentid", "sentence")):
        *schema, gender, _ = row["sentid"].split(".") if row["sentid"].count(".") == 4 else ("", "")
        if gender not in GENDERS or schema[2] not in REFERENTS:
            wanted = "occupation.participant.0 or 1.male, female or neutral.txt"
            raise BadInput(f"{path}, line {line}: an id of Winogender is {wanted}. Got {row['sentid']!r}.")
        if gender in versions.setdefault(tuple(schema), {}):
            raise BadInput(f"{path}, line {line}: the id {row['sentid']!r} occurred before.")
        versions[tuple(schema)][gender] = line, row["sentence"]
    for (occupation, participant, answer), found in versions.items():
        place = f"{path}, line {min(line for line, _ in found.values())}"
        if occupation not in shares:
            raise BadInput(f"{place}: no percentage of women is released for {occupation!r}.")
        slot, blank, text = _pronoun(place, {gender: text for gender, (_, text) in found.items()})
        named = re.search(rf"\b{re.escape(occupation)}\b", text, re.I)
        if named is None:
            raise BadInput(f"{place}: the sentence does not name the {occupation}. Got {text!r}.")
        groups = {
            "referent": REFERENTS[answer],
            "workforce": "mostly women" if shares[occupation] > 50 else "mostly men",
            "occupation": occupation,
            "participant": participant,
            "place": PLACE[slot],
            "bls_pct_female": f"{shares[occupation]:g}",
        }
        yield blanked(f"{occupation}.{participant}.{answer}", text, blank, PRONOUNS[slot], groups, Span(*named.span()))


def _pronoun(place: str, versions: dict[str, str]) -> tuple[str, Span, str]:
    """The slot of the pronoun, where it is in the male version, and that version."""
    if missing := [gender for gender in GENDERS if not versions.get(gender, "").strip()]:
        raise BadInput(f"{place}: a sentence is missing or empty: {', '.join(missing)}. Each schema needs three.")
    male, female, neutral = (versions[gender] for gender in GENDERS)
    match changes(male, female):
        case [change] if len(change.here) == len(change.there) == 1:
            slot, blank = change.here[0].of(male), change.here[0]
            words = PRONOUNS.get(slot, ("", "", ""))
            if change.there[0].of(female) == words[1] and neutral.startswith(male[: blank.start] + words[2]):
                return slot, blank, male
    raise BadInput(f"{place}: the versions of a sentence must differ in one pronoun. Got {male!r} and {female!r}.")
