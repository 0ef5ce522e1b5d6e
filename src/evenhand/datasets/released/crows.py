"""CrowS-Pairs (Nangia et al. 2020), and its French and Dutch versions."""

from dataclasses import replace
from functools import partial
from typing import Any

from evenhand.core.dataset import Dataset
from evenhand.core.items import Pair
from evenhand.datasets.faults import faults
from evenhand.datasets.files.releases import RELEASES, released
from evenhand.datasets.files.rows import rows
from evenhand.datasets.gendered import gender
from evenhand.datasets.kinds import kinds_of
from evenhand.datasets.pairs import indexed
from evenhand.errors import UnknownName

COLUMNS = ("sent_more", "sent_less", "stereo_antistereo", "bias_type")
ALL = "all"
TRANSLATED = "Translated from CrowS-Pairs, flaws included; not linted."
LANGUAGES = {
    "crows-pairs": ("en", "", "Its authors advise against its use: many pairs are noisy (Blodgett et al. 2021)."),
    "crows-pairs-fr": ("fr", "id", TRANSLATED),
    "crows-pairs-nl": ("nl", "id", TRANSLATED),
}
"""Language, column of ids and flaws of each release."""


def load(name: str, bias: str = "gender") -> Dataset:
    """The pairs of a release, of one type of bias or of all."""
    language, id, flaws = LANGUAGES[name]
    path = released(name, ".csv")
    encoding = "mac_roman" if language == "nl" else "utf-8-sig"
    everything = [_repair_row(row) for _, row in rows(path, (id, *COLUMNS), encoding=encoding)]
    found = [row for row in everything if bias in (ALL, row["bias_type"])]
    if not found:
        raise UnknownName("type of bias", bias, {ALL} | {row["bias_type"] for row in everything})
    whole = [row for row in found if _is_pair(row)]
    if left_out := ", ".join(row[id] for row in found if not _is_pair(row)):
        flaws += f" Left out, since a sentence is missing or both are the same: {left_out}."
    flawed = {f.id for f in faults((row[id], row["sent_more"], row["sent_less"]) for row in whole if language == "en")}
    items = []
    for row in whole:
        groups = {"pairs": "flawed" if row[id] in flawed else "clean"} if language == "en" else {}
        groups |= {"direction": row["stereo_antistereo"]} | ({"bias": row["bias_type"]} if bias == ALL else {})
        pair = Pair(row[id], row["sent_more"], row["sent_less"], groups)
        items.append(replace(pair, groups={**groups, "about": _about(pair, language)}) if bias == "gender" else pair)
    return Dataset(
        name=name,
        language=language,
        about=f"Pairs of CrowS-Pairs, {'all types' if bias == ALL else f'type {bias}'}.",
        **RELEASES[name].texts | {"flaws": flaws},
        items=items,
        by=("bias",) if bias == ALL else ("pairs",) if language == "en" else ("direction",),
        kinds=kinds_of(name, {"bias": bias}),
        table=partial(indexed, whole, id),
        options={"bias": bias},
    )


def _about(pair: Pair, language: str) -> str:
    """Whom the stereotype is about: in English by its own words, or else by the release's label.

    The label says whether the stereotype is of the disadvantaged group, women. Where words of one gender alone change,
    35 of 184 English labels say the other: "Men are hunters" is labelled as one about women.
    """
    words = {gender(span.of(pair.stereotype)) for span in pair.changed[0]} - {None}
    if len(words) == 1 and language == "en":
        return {"female": "women", "male": "men"}[words.pop() or ""]
    return {"stereo": "women", "antistereo": "men"}.get(pair.groups["direction"], "none")


def _is_pair(row: dict[str, Any]) -> bool:
    return bool(row["sent_more"] and row["sent_less"]) and row["sent_more"] != row["sent_less"]


def _repair_row(row: dict[str, Any]) -> dict[str, Any]:
    """Strip white space, and repair é, which is UTF-8 twice in the Dutch file, while the rest is Mac Roman."""
    return {name: text.strip().replace("√©", "é") for name, text in row.items()}
