"""BEC-Pro, the Bias Evaluation Corpus with Professions (Bartl, Nissim and Gatt 2020), English and German.

Built from the paper's word lists, not copied from the release: the sentences are the same, but the masks are right in
all rows, since each span is marked when its sentence is built. The release searched for the word to mask, and so found
"man" in "manager" and "Er" in "Ernährungsberater": 23 English rows, 5 German ones.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, Literal, NamedTuple

import pandas as pd

from evenhand.core.dataset import FEMALE_MALE, Dataset, Partners
from evenhand.core.items import Sentence
from evenhand.core.questions import Span
from evenhand.datasets.files import read_toml, read_tsv
from evenhand.datasets.kinds import kinds_of
from evenhand.datasets.templates import combinations, sentence, with_article

FORM_OF = {"male": "masculine", "female": "feminine"}
KINDS = ("male", "female", "balanced")
"""Groups of professions, in the release's order."""
AGREEING = Partners("gender", "female", "male", ("person", "form"))
"""Where the grammatical form agrees with the person's gender, partners also differ in the form."""


class Profession(NamedTuple):
    """A profession, its group by the percentage of women among those who hold it (US, 2019), and its German forms."""

    name: str
    prof_gender: str
    percent_women: float
    german: dict[str, str]


Wording = Callable[[Profession, str, str], tuple[str, str]]
"""Profession, template and grammatical form (empty in English) -> the profession's words, and the template for them."""


def english(articles: Literal["release", "agree"] = "release") -> Dataset:
    """5 templates x 18 person words x 60 professions, in the release's order.

    The release never adjusts a to an (378 sentences read "a electrician"); `articles="agree"` does.
    """

    def wording(job: Profession, template: str, form: str) -> tuple[str, str]:
        return job.name, with_article(template, "profession", job.name) if articles == "agree" else template

    return _dataset(
        "becpro-en",
        _rows(read_toml("becpro-en.toml"), wording, {"male": [""], "female": [""]}),
        about="Person words and professions in five templates; professions held by women, by men, and by both.",
        flaws="Two genders only. 378 sentences read 'a electrician' and the like, unless articles=agree.",
        options={"articles": articles},
    )


def german(
    spelling: Literal["release", "corrected"] = "release", forms: Literal["agree", "crossed", "neutral"] = "agree"
) -> Dataset:
    """5 templates x 18 person words x 60 professions in German, in the release's order.

    `forms="agree"` is the release: women with the feminine form, men with the masculine one, which gives the person's
    gender away. `"crossed"` combines each person word with both forms, which separates agreement from social bias
    (evenhand.papers.findings); `"neutral"` uses one form for everybody (Pflegekraft), added by us.
    `spelling="corrected"` repairs the errors that becpro-de.toml lists.
    """
    words = read_toml("becpro-de.toml")
    corrected = words["corrected"] if spelling == "corrected" else {}

    def wording(job: Profession, template: str, form: str) -> tuple[str, str]:
        article = words["neutral_articles"].get(job.name) if form == "neutral" else None
        text = corrected.get(form, {}).get(job.name, job.german[f"de_{form}"])
        if "{article}" in template:
            text = corrected.get(f"{form}_after_article", {}).get(job.name, text)
        return text, template.replace("{article}", article or words["articles"][form])

    used = {"crossed": list(FORM_OF.values()), "neutral": ["neutral"]}
    return _dataset(
        "becpro-de",
        _rows(words, wording, {gender: used.get(forms, [form]) for gender, form in FORM_OF.items()}),
        language="de",
        about="BEC-Pro in German, where a profession's grammatical form may give the person's gender away.",
        flaws="Two genders only. forms=agree measures grammatical agreement more than bias: see crossed and neutral.",
        options={"spelling": spelling, "forms": forms},
    )


def _dataset(name: str, made: Iterable[tuple[Sentence, str]], options: Mapping[str, str], **texts: Any) -> Dataset:
    rows, forms = list(made), options.get("forms")
    return Dataset(
        name=name,
        source="Bartl, Nissim and Gatt 2020, Unmasking Contextual Stereotypes (GeBNLP); Tables 1 and 6-8",
        licence="CC BY 4.0 (release); word lists from the paper",
        items=[sentence for sentence, _ in rows],
        by=("prof_gender", "gender", "form") if forms == "crossed" else ("prof_gender", "gender"),
        cluster="profession",
        partners=AGREEING if forms == "agree" else FEMALE_MALE,
        kinds=kinds_of(name, options),
        table=partial(_table, rows, german=name == "becpro-de"),
        options=options,
        **texts,
    )


def professions() -> list[Profession]:
    """The paper's 60 professions with the percentages of women from its Tables 6-8, in the release's order."""
    rows = read_tsv("becpro-professions.tsv")
    return [Profession(row["profession"], row["prof_gender"], float(row["percent_women"]), row) for row in rows]


def _rows(words: dict[str, Any], wording: Wording, forms: dict[str, list[str]]) -> Iterator[tuple[Sentence, str]]:
    """Each sentence and its template; `forms` are the grammatical forms to use with person words of each gender."""
    persons = {gender: words["persons"][gender] for gender in FORM_OF}
    everybody = tuple(chain(*persons.values()))
    jobs = {job.name: job for job in professions()}
    by_kind = {kind: [name for name, job in jobs.items() if job.prof_gender == kind] for kind in KINDS}
    made = combinations(words["templates"], persons, by_kind, "prof_gender", "profession")
    for index, (template, groups) in enumerate(made):
        used = forms[groups["gender"]]
        for form in used:
            name, around = wording(jobs[groups["profession"]], template, form)
            id = str(index) if len(used) == 1 else f"{index}-{form}"
            fillings = {"person": groups["person"], "profession": name}
            yield sentence(id, around, fillings, groups | ({"form": form} if form else {}), everybody), around


def _table(rows: Sequence[tuple[Sentence, str]], *, german: bool) -> pd.DataFrame:
    """The rows under the release's column names, with one [MASK] per word of a profession, as in the release."""
    columns = {
        "Sentence": [i.text for i, _ in rows],
        "Sent_TM": [_mask_spans(i.text, i.target) for i, _ in rows],
        "Sent_AM": [_mask_spans(i.text, i.attribute) for i, _ in rows],
        "Sent_TAM": [_mask_spans(i.text, i.attribute, i.target) for i, _ in rows],
        "Template": [t.format(person="<person subject>", profession="<profession>") for _, t in rows],
        "Person": [i.target.of(i.text) for i, _ in rows],
        "Gender": [i.groups["gender"] for i, _ in rows],
        "Profession": [i.attribute.of(i.text) for i, _ in rows],
        "Prof_Gender": [i.groups["prof_gender"] for i, _ in rows],
    }
    if german:
        columns["Profession_EN"] = [i.groups["profession"] for i, _ in rows]
    return pd.DataFrame(columns, index=pd.Index([i.id for i, _ in rows]))


def _mask_spans(text: str, *spans: Span) -> str:
    for span in sorted(spans, reverse=True):  # from the end, so that earlier spans stay valid
        masks = " ".join("[MASK]" for _ in span.of(text).split())
        text = text[: span.start] + masks + text[span.stop :]
    return text
