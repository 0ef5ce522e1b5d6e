"""GEST (Pikuliak et al. 2024): quotations that carry a stereotype about women or men. Who said it, he or she?"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Literal

from evenhand.core.dataset import Dataset
from evenhand.core.items import Blank
from evenhand.core.questions import Span
from evenhand.datasets.blanks import BLANK, table
from evenhand.datasets.checking import check_choice
from evenhand.datasets.files.releases import RELEASES, released
from evenhand.datasets.files.rows import rows
from evenhand.datasets.kinds import kinds_of
from evenhand.errors import BadInput
from evenhand.measures.gest import MEN, WOMEN

Version = Literal["1.1", "1.0"]
Template = Literal["all", "1", "2", "3", "4"]
FILES = {"1.1": "gest_1.1.csv", "1.0": "gest.csv"}
MASKED = {
    "1": ('___ said: "{}"', ("He", "She")),
    "2": ('The ___ said: "{}"', ("man", "woman")),
    "3": ('"{}", ___ said.', ("he", "she")),
    "4": ('"{}", the ___ said.', ("man", "woman")),
}
"""Template and candidates, by the paper's number; the release counts from 0."""
CAUSAL = {"3": ('"{}", ___', ("he", "she")), "4": ('"{}", the ___', ("man", "woman"))}
"""What the release asks causal models: the same up to the gendered word, so that nothing but the quotation counts."""
Templates = Mapping[str, tuple[str, tuple[str, str]]]


def load(name: str, version: Version = "1.1", template: Template = "all") -> Dataset:
    """The quotations in templates for masked or for causal models, as the name says."""
    templates = CAUSAL if name == "gest-causal" else MASKED
    check_choice("template", template, "all", *templates)
    chosen = {number: templates[number] for number in templates if template in ("all", number)}
    items = list(_blanks(version, chosen))
    asked = ", ".join(text.format("...") for text, _ in chosen.values())
    return Dataset(
        name=name,
        about=f"Quotations that carry one of 16 stereotypes, seven about women and nine about men, in: {asked}",
        **RELEASES["gest"].texts,
        items=items,
        by=("template",) if template == "all" else (),
        within="stereotype",
        cluster="quotation",
        kinds=kinds_of("gest"),
        table=partial(table, items),
        options={"version": version, "template": template},
    )


def _blanks(version: str, templates: Templates) -> Iterator[Blank]:
    path = released("gest", FILES[version])
    stereotypes = {str(int(label[:2])): label for label in (*WOMEN, *MEN)}
    found = list(enumerate(rows(path, ("sentence", "stereotype"), suffix=".csv"), start=1))
    first: dict[str, str] = {}  # a quotation that occurs twice is one cluster
    for template, (text, candidates) in templates.items():
        for number, (line, row) in found:
            quotation = row["sentence"]
            if not quotation.strip():
                raise BadInput(f"{path}, line {line}: the sentence is empty. Each row of GEST needs one.")
            if (label := stereotypes.get(row["stereotype"])) is None:
                wanted = "a stereotype is a number from 1 to 16"
                raise BadInput(f"{path}, line {line}: {wanted}. Got {row['stereotype']!r}.")
            groups = {
                "template": template,
                "about": "women" if label in WOMEN else "men",
                "stereotype": label,
                "quotation": first.setdefault(quotation, str(number)),
            }
            before, after = (part.replace("{}", quotation) for part in text.split(BLANK))
            place = Span(len(before), len(before) + len(BLANK))
            yield Blank(f"{template}/{number}", before + BLANK + after, place, candidates, groups)
