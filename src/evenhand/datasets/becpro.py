"""BEC-Pro, the Bias Evaluation Corpus with Professions (Bartl, Nissim and Gatt 2020), English and German.

Built from the paper's word lists, not copied from the release: marking each span while the sentence is made gives
the same sentences, and right masks in the rows where the release has wrong ones. The release searched for the
word it masks, and so found "man" in "manager" and "Er" in "Ernährungsberater": 23 English rows, 5 German ones.
"""

import csv
import tomllib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.resources import files
from typing import Any, Literal, NamedTuple

import pandas as pd

from evenhand.core.dataset import Dataset
from evenhand.core.items import Sentence
from evenhand.core.questions import Span
from evenhand.core.words import capitalised
from evenhand.datasets.templates import agreeing, render
from evenhand.errors import BadInput

DATA = files("evenhand.datasets") / "data"
GENDERS = ("male", "female")
PROF_GENDERS = ("male", "female", "balanced")
FORM_OF = {"male": "masculine", "female": "feminine"}
PAPER = "Bartl, Nissim and Gatt 2020, Unmasking Contextual Stereotypes (GeBNLP); Tables 1 and 6-8"
LICENCE = "CC BY 4.0 (release); word lists from the paper"


class Profession(NamedTuple):
    """A profession, its group by the share of women among those who hold it (US, 2019), and its German forms."""

    name: str
    prof_gender: str
    percent_women: float
    german: dict[str, str]


class Wording(NamedTuple):
    """How a sentence names the profession: grammatical form (English has none), words, and the template around them."""

    form: str
    words: str
    template: str


Wordings = Callable[[Profession, str, str], list[Wording]]
"""Profession, template and gender of the person word -> the ways to put it."""


def english(articles: Literal["release", "agree"] = "release") -> Dataset:
    """5 templates x 18 person words x 60 professions, in the release's order.

    The release never adjusts a to an (378 sentences read "a electrician"); `articles="agree"` does.
    """
    _check("articles", articles, "release", "agree")

    def wordings(job: Profession, template: str, gender: str) -> list[Wording]:
        if articles == "agree":
            template = agreeing(template, "profession", job.name)
        return [Wording("", job.name, template)]

    rows = list(_rows(_words("en"), wordings))
    return Dataset(
        name="becpro-en",
        version=1,
        language="en",
        about="Person words and professions in five templates; professions held by women, by men, and by both.",
        source=PAPER,
        licence=LICENCE,
        flaws="Two genders only. 378 sentences read 'a electrician' and the like, unless articles=agree.",
        items=[sentence for sentence, _ in rows],
        by=("prof_gender", "gender"),
        cluster="profession",
        table=partial(_table, rows),
        options={"articles": articles},
    )


def german(
    spelling: Literal["release", "corrected"] = "release",
    forms: Literal["agree", "crossed", "neutral"] = "agree",
) -> Dataset:
    """The same in German, in the release's order.

    `forms="agree"` is the release: a woman with the feminine form, a man with the masculine. There the form gives the
    person away. `"crossed"` puts each person word with both forms, so that agreement and social effect can be told
    apart (evenhand.analysis.agreement); `"neutral"` with one form for everybody (Pflegekraft), ours.
    `spelling="corrected"` repairs the slips that becpro-de.toml lists.
    """
    _check("spelling", spelling, "release", "corrected")
    _check("forms", forms, "agree", "crossed", "neutral")
    words = _words("de")
    corrected = words["corrected"] if spelling == "corrected" else {}

    def wording(job: Profession, template: str, form: str) -> Wording:
        article = words["neutral_articles"].get(job.name) if form == "neutral" else None
        text = corrected.get(form, {}).get(job.name, job.german[form])
        if "{article}" in template:
            text = corrected.get(f"{form}_after_article", {}).get(job.name, text)
        return Wording(form, text, template.replace("{article}", article or words["articles"][form]))

    def wordings(job: Profession, template: str, gender: str) -> list[Wording]:
        chosen = {"agree": [FORM_OF[gender]], "crossed": list(FORM_OF.values()), "neutral": ["neutral"]}
        return [wording(job, template, form) for form in chosen[forms]]

    rows = list(_rows(words, wordings))
    return Dataset(
        name="becpro-de",
        version=1,
        language="de",
        about="BEC-Pro in German, where a profession's grammatical form may give the person's gender away.",
        source=PAPER,
        licence=LICENCE,
        flaws="Two genders only. forms=agree measures grammatical agreement more than bias: see crossed and neutral.",
        items=[sentence for sentence, _ in rows],
        by=("prof_gender", "gender", "form") if forms == "crossed" else ("prof_gender", "gender"),
        cluster="profession",
        table=partial(_table, rows, german=True),
        options={"spelling": spelling, "forms": forms},
    )


def professions() -> list[Profession]:
    """The paper's sixty, with the percentage of women of its Tables 6-8, in the release's order."""
    text = (DATA / "becpro-professions.tsv").read_text(encoding="utf-8")
    return [
        Profession(
            row["profession"],
            row["prof_gender"],
            float(row["percent_women"]),
            {form: row[f"de_{form}"] for form in ("masculine", "feminine", "neutral")},
        )
        for row in csv.DictReader(text.splitlines(), delimiter="\t")
    ]


def _words(language: str) -> dict[str, Any]:
    return tomllib.loads((DATA / f"becpro-{language}.toml").read_text(encoding="utf-8"))


def _rows(words: dict[str, Any], wordings: Wordings) -> Iterator[tuple[Sentence, str]]:
    """Every sentence in the release's order, with the template it was made from."""
    jobs = professions()
    everybody = tuple(capitalised(person) for gender in GENDERS for person in words["persons"][gender])
    index = 0
    for prof_gender in PROF_GENDERS:
        for number, template in enumerate(words["templates"], start=1):
            for gender in GENDERS:
                for slot, person in enumerate(words["persons"][gender], start=1):
                    for job in (job for job in jobs if job.prof_gender == prof_gender):
                        options = wordings(job, template, gender)
                        for wording in options:
                            groups = {
                                "prof_gender": prof_gender,
                                "gender": gender,
                                "profession": job.name,
                                "person": person,
                                "slot": str(slot),
                                "template": str(number),
                            } | ({"form": wording.form} if wording.form else {})
                            id = str(index) if len(options) == 1 else f"{index}-{wording.form}"
                            yield _sentence(id, person, wording, groups, everybody), wording.template
                        index += 1


def _sentence(id: str, person: str, wording: Wording, groups: dict[str, str], everybody: tuple[str, ...]) -> Sentence:
    person = capitalised(person)
    text, spans = render(wording.template, person=person, profession=wording.words)
    end = spans["person"].stop
    target = Span(end - len(person.split()[-1]), end)
    return Sentence(id, text, target, spans["profession"], groups, spans["person"], everybody)


def _table(rows: Sequence[tuple[Sentence, str]], *, german: bool = False) -> pd.DataFrame:
    """The rows under the release's column names; one [MASK] for each word of a profession, as it has them."""
    columns = {
        "Sentence": [i.text for i, _ in rows],
        "Sent_TM": [_masked(i.text, i.target) for i, _ in rows],
        "Sent_AM": [_masked(i.text, i.attribute) for i, _ in rows],
        "Sent_TAM": [_masked(i.text, i.attribute, i.target) for i, _ in rows],
        "Template": [
            t.replace("{person}", "<person subject>").replace("{profession}", "<profession>") for _, t in rows
        ],
        "Person": [i.target.of(i.text) for i, _ in rows],
        "Gender": [i.groups["gender"] for i, _ in rows],
        "Profession": [i.attribute.of(i.text) for i, _ in rows],
        "Prof_Gender": [i.groups["prof_gender"] for i, _ in rows],
    }
    if german:
        columns["Profession_EN"] = [i.groups["profession"] for i, _ in rows]
    return pd.DataFrame(columns, index=pd.Index([i.id for i, _ in rows]))


def _masked(text: str, *spans: Span) -> str:
    for span in sorted(spans, reverse=True):  # from the end, so that earlier spans stay where they are
        masks = " ".join("[MASK]" for _ in span.of(text).split())
        text = text[: span.start] + masks + text[span.stop :]
    return text


def _check(option: str, value: str, *allowed: str) -> None:
    if value not in allowed:
        raise BadInput(f"{option} must be {' or '.join(map(repr, allowed))}. Got {value!r}.")
