"""BEC-Pro, the Bias Evaluation Corpus with Professions (Bartl, Nissim and Gatt 2020).

Built from the paper's word lists, not copied from the release: marking each span while the sentence is made gives
the same sentences, and right masks in the rows where the release has wrong ones. The release searched for the
word it masks, and so found "man" in "manager" and the "of" of "position of": 23 English rows.
"""

import csv
import tomllib
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.resources import files
from typing import Any, Literal, NamedTuple

import pandas as pd

from evenhand.datasets.base import Dataset
from evenhand.datasets.templates import render
from evenhand.errors import BadInput
from evenhand.items import Sentence
from evenhand.questions import Span

DATA = files("evenhand.datasets") / "data"
GENDERS = ("male", "female")
PROF_GENDERS = ("male", "female", "balanced")


class Profession(NamedTuple):
    """A profession and its group by the share of women among those who hold it (US, 2019)."""

    name: str
    prof_gender: str
    percent_women: float


def english(articles: Literal["release", "agree"] = "release") -> Dataset:
    """5 templates x 18 person words x 60 professions, in the release's order.

    The release never adjusts a to an (378 sentences read "a electrician"); `articles="agree"` does.
    """
    if articles not in ("release", "agree"):
        raise BadInput(f"articles must be 'release' or 'agree'. Got {articles!r}.")
    words = tomllib.loads((DATA / "becpro-en.toml").read_text(encoding="utf-8"))
    items = tuple(_sentences(words, professions(), agree=articles == "agree"))
    return Dataset(
        name="becpro-en",
        version=1,
        language="en",
        about="Person words and professions in five templates; professions held by women, by men, and by both.",
        source="Bartl, Nissim and Gatt 2020, Unmasking Contextual Stereotypes (GeBNLP); Tables 1 and 6-8",
        licence="CC BY 4.0 (release); word lists from the paper",
        flaws="Two genders only. 378 sentences read 'a electrician' and the like, unless articles=agree.",
        items=items,
        by=("prof_gender", "gender"),
        cluster="profession",
        table=partial(_table, items, words["templates"]),
        options={"articles": articles},
    )


def professions() -> list[Profession]:
    """The paper's sixty, with the percentage of women of its Tables 6-8, in the release's order."""
    text = (DATA / "becpro-professions.tsv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines(), delimiter="\t")
    return [Profession(row["profession"], row["prof_gender"], float(row["percent_women"])) for row in rows]


def _sentences(words: dict[str, Any], jobs: Sequence[Profession], *, agree: bool) -> Iterator[Sentence]:
    index = 0
    for prof_gender in PROF_GENDERS:
        for number, template in enumerate(words["templates"], start=1):
            for gender in GENDERS:
                for person in words["persons"][gender]:
                    for job in jobs:
                        if job.prof_gender == prof_gender:
                            groups = {
                                "prof_gender": prof_gender,
                                "gender": gender,
                                "profession": job.name,
                                "person": person,
                                "template": str(number),
                            }
                            yield _sentence(str(index), _with_article(template, job.name, agree), groups)
                            index += 1


def _sentence(id: str, template: str, groups: dict[str, str]) -> Sentence:
    person = groups["person"][0].upper() + groups["person"][1:]
    text, spans = render(template, person=person, profession=groups["profession"])
    head = person.split()[-1]
    end = spans["person"].stop
    return Sentence(id, text, Span(end - len(head), end), spans["profession"], groups)


def _with_article(template: str, profession: str, agree: bool) -> str:
    if agree and profession[0] in "aeiou":
        return template.replace(" a {profession}", " an {profession}")
    return template


def _table(items: Sequence[Sentence], templates: Sequence[str]) -> pd.DataFrame:
    """The rows under the release's column names; one [MASK] for each word of a profession, as it has them."""
    shown = [t.replace("{person}", "<person subject>").replace("{profession}", "<profession>") for t in templates]
    return pd.DataFrame(
        {
            "Sentence": [i.text for i in items],
            "Sent_TM": [_masked(i.text, i.target) for i in items],
            "Sent_AM": [_masked(i.text, i.attribute) for i in items],
            "Sent_TAM": [_masked(i.text, i.attribute, i.target) for i in items],
            "Template": [shown[int(i.groups["template"]) - 1] for i in items],
            "Person": [i.target.of(i.text) for i in items],
            "Gender": [i.groups["gender"] for i in items],
            "Profession": [i.groups["profession"] for i in items],
            "Prof_Gender": [i.groups["prof_gender"] for i in items],
        },
        index=pd.Index([int(i.id) for i in items]),
    )


def _masked(text: str, *spans: Span) -> str:
    for span in sorted(spans, reverse=True):  # from the end, so that earlier spans stay where they are
        masks = " ".join("[MASK]" for _ in span.of(text).split())
        text = text[: span.start] + masks + text[span.stop :]
    return text
