"""The gender that a stereotype gives to the items of each dataset, as `core.dataset.Kinds`."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from evenhand.core.dataset import SAMPLES, Kinds
from evenhand.datasets.files import read_toml, read_tsv
from evenhand.datasets.templates import check_keys
from evenhand.errors import BadInput, UnknownName

PROFESSIONS = Kinds("prof_gender", samples=SAMPLES)
"""Professions held mostly by women, and mostly by men, in the US in 2019."""
INFERENCE = Kinds("type")
ABOUT = Kinds("about", ("women",), ("men",))
"""Items whose group `about` says whom the stereotype is about."""
SIDES = Kinds("side", ("Y",), ("X",))
"""The two sets of an association test: a stereotype associates X with men and Y with women."""
GENDER_TESTS = ("6", "6b", "7", "7b", "8", "8b")
"""The tests of WEAT and SEAT that are about gender, and together one dataset."""
TRAITS = ("competent", "likable")
"""The double-bind tests of SEAT: each has several, whose names begin with the trait."""
BBQ = Kinds("about", ("women",), ("men",), turned=("polarity", "not negative"))
"""A negative question asks for the person the stereotype is about, a non-negative one for the other person."""
KINDS = {
    "becpro-en": PROFESSIONS,
    "tgb": ABOUT,
    "gest": Kinds("about", ("women",), ("men",), each="stereotype"),
    "winobias": Kinds("stereotyped_as"),
    "winogender": Kinds("workforce", ("mostly women",), ("mostly men",), only=("referent", "occupation")),
    "crows-pairs": ABOUT,
    "bbq": BBQ,
    "gerbbq": ABOUT,
    "mbbq-ambiguous": BBQ,
    "mbbq-disambiguated": BBQ,
    "stereoset": Kinds("term", ("women",), ("men",), each="target", genders=False),
    "stories-en": Kinds("kind"),
    "choices-pronouns-de": Kinds("stereotype", headline="default"),
    "choices-decisions": Kinds("expects"),
    "choices-descriptions": Kinds("stereotype"),
    "weat": SIDES,
    "seat": SIDES,
}
"""Kinds by prefix of a dataset's name: gest-causal has the kinds of gest."""


def kinds_of(dataset: str, options: Mapping[str, Any] | None = None) -> Kinds | None:
    """The kinds of a bundled or released dataset with these options; None if it has none, or is a user's dataset."""
    options = options or {}
    if dataset == "becpro-de":
        return PROFESSIONS if options.get("forms", "agree") != "agree" else None
    if dataset == "emotions-en":
        words = read_toml("emotions-en.toml")
        return own_kinds("emotions-en.toml", "kind", words["kinds"], list(words["attributes"]), SAMPLES)
    if dataset.startswith("nli-"):
        return INFERENCE
    if dataset in ("tbd", "tbd-simple", "tbd-becpro", "choices-pronouns"):
        return professions()
    if dataset.startswith("crows-pairs") and options.get("bias", "gender") != "gender":
        return None
    if dataset.startswith(("choices-pronouns-control", "choices-decisions-control")):
        return None
    if "-placebo-" in dataset or options.get("test", "all").partition("-")[0] not in ("all", *GENDER_TESTS, *TRAITS):
        return None
    return next((kinds for name, kinds in KINDS.items() if dataset.startswith(name)), None)


def own_kinds(
    file: str, group: str, table: object, labels: Sequence[str], samples: tuple[str, ...] = (), **fields: Any
) -> Kinds:
    """The kinds in the table [kinds] of a user's file, with lists `female` and `male` of labels; it may be empty."""
    if not isinstance(table, dict) or not all(isinstance(words, list) for words in table.values()):
        raise BadInput(f"{file}: [kinds] must have lists, as in female = [{labels[0]!r}]. Got {table!r}.")
    check_keys(f"{file}: [kinds]", table, ("female", "male"))
    female, male = (tuple(table.get(gender, ())) for gender in ("female", "male"))
    for label in (*female, *male):
        if label not in labels:
            raise BadInput(f"{file}: [kinds]: {UnknownName(group, str(label), labels)}")
    if bool(female) != bool(male) or set(female) & set(male):
        raise BadInput(f"{file}: [kinds] needs both female and male, and no word in both lists. Got {table!r}.")
    return Kinds(group, female, male, samples=samples, **fields)


@cache
def professions() -> Kinds:
    """The professions of tbd that have a kind: those that BEC-Pro calls female or male, and those that we chose.

    The headline is the default, a mean over all professions; the stereotype is a mean over the professions with a kind.
    """
    jobs = {gender: list(words) for gender, words in read_toml("stereotyped-en.toml")["jobs"].items()}
    for row in read_tsv("becpro-professions.tsv"):
        jobs.setdefault(row["prof_gender"], []).append(row["profession"])
    return Kinds("profession", tuple(jobs["female"]), tuple(jobs["male"]), headline="default")
