"""Released sentences with a blank for a gendered word: WinoBias, Winogender schemas and GEST.

In WinoBias (Zhao et al. 2018) the pronoun refers to one of two occupations, and follows the stereotype or not; in
Winogender (Rudinger et al. 2018) to an occupation or to another person. GEST (Pikuliak et al. 2024) has quotations that
carry a stereotype about women or men, and asks who said them, he or she.
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Literal

from evenhand.core.dataset import Dataset
from evenhand.core.items import Blank
from evenhand.core.questions import Span
from evenhand.core.words import WordChange, changes
from evenhand.datasets.blanks import BLANK, PLACE, PRONOUNS, blank_out, table
from evenhand.datasets.faults import faults
from evenhand.datasets.files.releases import RELEASES, find_release
from evenhand.datasets.files.rows import rows
from evenhand.datasets.kinds import kinds_of
from evenhand.datasets.templates import check_choice
from evenhand.errors import BadInput
from evenhand.measures.gest import MEN, WOMEN

Split = Literal["all", "dev", "test"]
MARKED = re.compile(r"\[([^\[\]]*)\]")
ARTICLE = re.compile(r"\s*(?:an?|the)?\s*", re.I)
FORMS = {frozenset(forms[:2]): forms[:2] for forms in PRONOUNS.values()}
"""The male and the female pronoun, in this order, by the set of both."""
FLAWED = ("unrelated", "missing word", "other change", "left behind")
"""Faults of sentences whose two versions differ in more than the pronoun, or show the gender elsewhere."""
REFERENTS = {"0": "occupation", "1": "participant"}
GENDERS = ("male", "female", "neutral")
Version = Literal["1.1", "1.0"]
Template = Literal["all", "1", "2", "3", "4"]
GEST_FILES = {"1.1": "gest_1.1.csv", "1.0": "gest.csv"}
GEST_MASKED = {
    "1": ('___ said: "{}"', ("He", "She")),
    "2": ('The ___ said: "{}"', ("man", "woman")),
    "3": ('"{}", ___ said.', ("he", "she")),
    "4": ('"{}", the ___ said.', ("man", "woman")),
}
"""Template and candidates, by the paper's number; the release counts from 0."""
GEST_CAUSAL = {"3": ('"{}", ___', ("he", "she")), "4": ('"{}", the ___', ("man", "woman"))}
"""The release's templates for causal models. They end with the gendered word, so that only the quotation counts."""
Templates = Mapping[str, tuple[str, tuple[str, str]]]


def winobias(split: Split = "all") -> Dataset:
    """1,514 sentences with a blank for the pronoun of one of two occupations, from both splits or one of them.

    In type 1, only the meaning of the sentence shows whom the pronoun refers to; in type 2, grammar does.
    `stereotyped_as` is the gender of the pronoun in the pro-stereotyped version; the anti-stereotyped version has the
    other gender. Sentences whose versions differ in more than a pronoun, or have other gendered words, are excluded.
    """
    parts = [part for part in ("dev", "test") if split in ("all", part)]
    lines = [item for kind in ("1", "2") for part in parts for item in _winobias_items(kind, part)]
    items = [item for item in lines if item]
    return Dataset(
        name="winobias",
        about=f"{len(items):,} sentences with two occupations, and a blank for the pronoun of one. Left out: "
        f"{len(lines) - len(items)} whose two versions differ in more than one pronoun, or have other gendered words.",
        **RELEASES["winobias"].texts,
        items=items,
        by=("type",),
        within="stereotyped_as",
        cluster="occupation",
        kinds=kinds_of("winobias"),
        table=partial(table, items),
        options={"split": split},
    )


def _winobias_items(kind: str, split: str) -> Iterator[Blank | None]:
    """The sentences of a file, with None for each sentence that is excluded."""
    pro, anti = (find_release("winobias", f"{side}_stereotyped_type{kind}.txt.{split}") for side in ("pro", "anti"))
    sides = (path.read_text(encoding="utf-8").splitlines() for path in (pro, anti))
    for line, versions in enumerate(zip_longest(*sides, fillvalue=""), start=1):
        text, marked = _read_marked(f"{pro}, line {line}", versions[0])
        against, _ = _read_marked(f"{anti}, line {line}", versions[1])
        words = _changed_word(text, against)
        forms = FORMS.get(frozenset((words[0].of(text), words[1].of(against)))) if words else None
        if not words or not forms or any(fault.rule in FLAWED for fault in faults([("", text, against)])):
            yield None
            continue
        if len(marked) != 2 or marked[1] != words[0]:
            wanted = "an occupation and its pronoun must be in brackets"
            raise BadInput(f"{pro}, line {line}: {wanted}. Got {versions[0]!r}.")
        named = Span(marked[0].start + ARTICLE.match(marked[0].of(text)).end(), marked[0].stop)  # type: ignore[union-attr]
        groups = {
            "type": kind,
            "stereotyped_as": "male" if words[0].of(text) == forms[0] else "female",
            "occupation": named.of(text),
            "split": split,
        }
        yield blank_out(f"type{kind}.{split}.{line}", text, words[0], forms, groups, named)


def _read_marked(place: str, line: str) -> tuple[str, list[Span]]:
    """The sentence of a line without its number and brackets, and the spans of what was in brackets."""
    number, _, rest = line.strip().partition(" ")
    if not number.isdigit() or not MARKED.sub("", rest).strip():
        raise BadInput(f"{place}: a line must have a number and a sentence. Got {line!r}.")
    text, spans = "", []
    for turn, part in enumerate(MARKED.split(rest)):
        if turn % 2:  # what was in brackets
            spans.append(Span(len(text), len(text) + len(part)))
        text += part
    if "[" in text or "]" in text or not all(span.of(text).strip() for span in spans):
        raise BadInput(f"{place}: brackets must enclose words, and be closed. Got {line!r}.")
    return text, spans


def _changed_word(first: str, second: str) -> tuple[Span, Span] | None:
    """The position, in each version, of the one word in which they differ; None if they differ in more."""
    match changes(first, second):
        case [WordChange((old,), (new,))]:
            return old, new
    return None


def winogender() -> Dataset:
    """240 sentences with a blank for he, she or they, about 60 occupations: the release's 720, three versions each.

    The group `referent` says whom the pronoun refers to: in half of the sentences the occupation, in the other half the
    other participant, for whom the occupation should make no difference. `workforce` says whether more women or more
    men have the occupation in the US, `bls_pct_female` the percentage of women.
    """
    items = list(_winogender_items(find_release("winogender", "all_sentences.tsv"), _shares_of_women()))
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


def _shares_of_women() -> dict[str, float]:
    path, shares = find_release("winogender", "occupations-stats.tsv"), {}
    for line, row in rows(path, ("occupation", "bls_pct_female")):
        try:
            shares[row["occupation"]] = float(row["bls_pct_female"])
        except ValueError as error:
            raise BadInput(f"{path}, line {line}: the percentage of women must be a number: {error}.") from error
    return shares


def _winogender_items(path: Path, shares: dict[str, float]) -> Iterator[Blank]:
    versions: dict[tuple[str, ...], dict[str, tuple[int, str]]] = {}
    for line, row in rows(path, ("sentid", "sentence")):
        *schema, gender, _ = row["sentid"].split(".") if row["sentid"].count(".") == 4 else ("", "")
        if gender not in GENDERS or schema[2] not in REFERENTS:
            wanted = "occupation.participant.(0 or 1).(male, female or neutral).txt"
            raise BadInput(f"{path}, line {line}: an id must have the form {wanted}. Got {row['sentid']!r}.")
        if gender in versions.setdefault(tuple(schema), {}):
            raise BadInput(f"{path}, line {line}: the id {row['sentid']!r} occurred before.")
        versions[tuple(schema)][gender] = line, row["sentence"]
    for (occupation, participant, answer), by_gender in versions.items():
        place = f"{path}, line {min(line for line, _ in by_gender.values())}"
        if occupation not in shares:
            raise BadInput(f"{place}: the release has no percentage of women for {occupation!r}.")
        slot, blank, text = _find_pronoun(place, {gender: text for gender, (_, text) in by_gender.items()})
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
        id = f"{occupation}.{participant}.{answer}"
        yield blank_out(id, text, blank, PRONOUNS[slot], groups, Span(*named.span()))


def _find_pronoun(place: str, versions: dict[str, str]) -> tuple[str, Span, str]:
    """The slot of the pronoun, the pronoun's span in the male version, and the text of that version."""
    if missing := [gender for gender in GENDERS if not versions.get(gender, "").strip()]:
        raise BadInput(f"{place}: a sentence is missing or empty: {', '.join(missing)}. Each schema needs all three.")
    male, female, neutral = (versions[gender] for gender in GENDERS)
    if words := _changed_word(male, female):
        slot = words[0].of(male)
        _, she, they = PRONOUNS.get(slot, ("", "", ""))
        if words[1].of(female) == she and neutral.startswith(male[: words[0].start] + they):
            return slot, words[0], male
    raise BadInput(f"{place}: the versions of a sentence must differ in one pronoun. Got {male!r} and {female!r}.")


def gest(name: str, version: Version = "1.1", template: Template = "all") -> Dataset:
    """The quotations in templates for masked models (`gest`) or for causal models (`gest-causal`)."""
    templates = GEST_CAUSAL if name == "gest-causal" else GEST_MASKED
    check_choice("template", template, "all", *templates)
    chosen = {number: templates[number] for number in templates if template in ("all", number)}
    items = list(_gest_items(version, chosen))
    shown = ", ".join(text.format("...") for text, _ in chosen.values())
    return Dataset(
        name=name,
        about=f"Quotations that carry one of 16 stereotypes, seven about women and nine about men, in: {shown}",
        **RELEASES["gest"].texts,
        items=items,
        by=("template",) if template == "all" else (),
        within="stereotype",
        cluster="quotation",
        kinds=kinds_of("gest"),
        table=partial(table, items),
        options={"version": version, "template": template},
    )


def _gest_items(version: str, templates: Templates) -> Iterator[Blank]:
    path = find_release("gest", GEST_FILES[version])
    stereotypes = {str(int(label[:2])): label for label in (*WOMEN, *MEN)}
    table = list(enumerate(rows(path, ("sentence", "stereotype"), suffix=".csv"), start=1))
    first: dict[str, str] = {}  # a quotation that occurs twice is one cluster
    for template, (text, candidates) in templates.items():
        for number, (line, row) in table:
            quotation = row["sentence"]
            if not quotation.strip():
                raise BadInput(f"{path}, line {line}: the sentence is empty. Each row of GEST needs one.")
            if (label := stereotypes.get(row["stereotype"])) is None:
                wanted = "a stereotype must be a number from 1 to 16"
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
