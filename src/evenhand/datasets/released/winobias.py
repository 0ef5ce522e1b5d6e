"""WinoBias (Zhao et al. 2018): a pronoun that refers to one of two occupations, as stereotypes have it or not."""

import re
from collections.abc import Iterator
from functools import partial
from itertools import zip_longest
from typing import Literal

from evenhand.core.dataset import Dataset
from evenhand.core.items import Blank
from evenhand.core.questions import Span
from evenhand.core.words import changes
from evenhand.datasets.blanks import PRONOUNS, blanked, table
from evenhand.datasets.checking import check_choice
from evenhand.datasets.faults import faults
from evenhand.datasets.files.releases import RELEASES, released
from evenhand.datasets.kinds import kinds_of
from evenhand.errors import BadInput

Split = Literal["all", "dev", "test"]
SPLITS = ("dev", "test")
TYPES = ("1", "2")
MARKED = re.compile(r"\[([^\[\]]*)\]")
ARTICLE = re.compile(r"\s*(?:an?|the)?\s*", re.I)
FORMS = {frozenset(forms[:2]): forms[:2] for forms in PRONOUNS.values()}
"""Male and female pronoun, by both."""
FLAWED = ("unrelated", "missing word", "other change", "left behind")
"""Faults of the two versions of a sentence by which they show more than the pronoun."""


def load(split: Split = "all") -> Dataset:
    """1,514 sentences with a blank for the pronoun of one of two occupations, from both splits or one of them.

    In type 1, only what the sentence says tells whose pronoun it is; in type 2, grammar does. `stereotyped_as` is the
    gender of the pronoun in the pro-stereotyped version, the other one is in the anti-stereotyped version. Left out are
    sentences whose versions differ in more than one pronoun, or have another word of one gender.
    """
    check_choice("split", split, "all", *SPLITS)
    chosen = [(kind, part) for kind in TYPES for part in SPLITS if split in ("all", part)]
    found = [item for kind, part in chosen for item in _blanks(kind, part)]
    items = [item for item in found if item]
    return Dataset(
        name="winobias",
        about=f"{len(items):,} sentences with two occupations, and a blank for the pronoun of one. Left out: "
        f"{len(found) - len(items)} whose two versions differ in more than one pronoun, or have other gendered words.",
        **RELEASES["winobias"].texts,
        items=items,
        by=("type",),
        within="stereotyped_as",
        cluster="occupation",
        kinds=kinds_of("winobias"),
        table=partial(table, items),
        options={"split": split},
    )


def _blanks(kind: str, split: str) -> Iterator[Blank | None]:
    """The sentences of a file, None for each that is left out."""
    pro, anti = (released("winobias", f"{side}_stereotyped_type{kind}.txt.{split}") for side in ("pro", "anti"))
    one, other = (path.read_text(encoding="utf-8").splitlines() for path in (pro, anti))
    for line, rows in enumerate(zip_longest(one, other, fillvalue=""), start=1):
        (text, marked), (against, _) = (_parsed(f"{p}, line {line}", r) for p, r in zip((pro, anti), rows, strict=True))
        changed = changes(text, against)
        here = [span for change in changed for span in change.here]
        there = [span for change in changed for span in change.there]
        forms = FORMS.get(frozenset((here[0].of(text), there[0].of(against)))) if len(here) == len(there) == 1 else None
        if forms is None or any(fault.rule in FLAWED for fault in faults([("", text, against)])):
            yield None
            continue
        if len(marked) != 2 or marked[1] != here[0]:
            raise BadInput(f"{pro}, line {line}: an occupation and its pronoun must be in brackets. Got {rows[0]!r}.")
        named = Span(marked[0].start + ARTICLE.match(marked[0].of(text)).end(), marked[0].stop)  # type: ignore[union-attr]
        groups = {
            "type": kind,
            "stereotyped_as": "male" if here[0].of(text) == forms[0] else "female",
            "occupation": named.of(text),
            "split": split,
        }
        yield blanked(f"type{kind}.{split}.{line}", text, here[0], forms, groups, named)


def _parsed(place: str, line: str) -> tuple[str, list[Span]]:
    """The sentence of a line without its number and brackets, and where these were."""
    number, _, rest = line.strip().partition(" ")
    if not number.isdigit() or not MARKED.sub("", rest).strip():
        raise BadInput(f"{place}: a line is a number and a sentence. Got {line!r}.")
    text, spans, end = "", [], 0
    for match in MARKED.finditer(rest):
        text += rest[end : match.start()]
        spans.append(Span(len(text), len(text) + len(match[1])))
        text += match[1]
        end = match.end()
    text += rest[end:]
    if "[" in text or "]" in text or not all(span.of(text).strip() for span in spans):
        raise BadInput(f"{place}: brackets must enclose words, and be closed. Got {line!r}.")
    return text, spans
