"""Neutral words in place of gendered words: they for he and she, with a plural verb; firefighter for fireman."""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from evenhand.datasets.files import read_tsv
from evenhand.text.edits import Edit, any_of, match_case

IRREGULAR = {"is": "are", "was": "were", "has": "have", "does": "do", "isn't": "aren't", "wasn't": "weren't"}
IRREGULAR |= {"hasn't": "haven't", "doesn't": "don't", "goes": "go"}
UNCHANGED = ("always", "perhaps", "besides", "sometimes", "afterwards", "towards", "alas", "thus", "as", "was")
"""Words that look like a verb in -s, but are not changed as one."""
ADVERBS = rf"{any_of('adverbs')}|[a-z]{{3,}}ly"
CONTRACTED = re.compile(r"['’](s)\b(?:\s+(not|[a-z]+ly|been|already|never|just|always|[a-z]+))?", re.I)
DONE = re.compile(rf"{any_of('participles')}|[a-z]{{3,}}ed", re.I)
"""What follows "he's" if it is "he has": participles. Some in -ed are passives (he is), which are rarer here."""
PASSIVE = re.compile(rf"(?:{any_of('passives')})\b")
VERB = re.compile(rf"\s+(?:(?:{ADVERBS})\s+){{0,2}}([a-z]+(?:['’]t)?)\b")
AUXILIARY = re.compile(r"\b(is|was|has|does|isn['’]t|wasn['’]t|hasn['’]t|doesn['’]t)(\s+)$", re.I)
"""A verb that stands before he or she: was he there? nor does she know."""
AND = re.compile(
    rf"[^.;:!?\n]{{0,60}}?(?:,|\s)\s*(?:and|but|or)\s+(?:then\s+)?(?:(?:{ADVERBS})\s+)?([a-z]+)\b(?=\s|[.,;])"
)
LATER = re.compile(any_of("later_verbs"))
SUBJECT = re.compile(r"\b(?:he|she|it|who|which|that|they|we|you|i|there|this)\b", re.I)


@cache
def words() -> dict[str, tuple[str, str]]:
    """The words of data/neutral-en.tsv -> their neutral word and its kind; for her and his it depends on their role."""
    rows = read_tsv("neutral-en.tsv", "evenhand.text")
    return {word: (row["neutral"].lower(), row["kind"] or "neutral") for row in rows for word in row["words"].split()}


OR = re.compile(r"\s+or\s+|\s*/\s*", re.I)


def merge_pairs(text: str, edits: Sequence[Edit]) -> list[Edit]:
    """The edits, where the two of "he or she" or of "his/her" become one edit: they, their."""
    made: list[Edit] = []
    for edit in edits:
        last = made[-1] if made else None
        if last and last.new.lower() == edit.new.lower() and OR.fullmatch(text, last.start + len(last.old), edit.start):
            made[-1] = Edit(last.start, text[last.start : edit.start + len(edit.old)], last.new, last.rule)
        else:
            made.append(edit)
    return made


def verb_edits(text: str, edits: Sequence[Edit]) -> Iterator[Edit]:
    """The edits that make verbs plural whose subject changes from he or she to they."""
    for edit in edits:
        if edit.new.lower() != "they":
            continue
        stop = edit.start + len(edit.old)
        if verb := CONTRACTED.match(text, stop):
            after = verb[2] or ""
            new = "ve" if DONE.fullmatch(after) and not PASSIVE.match(after) else "re"
            yield Edit(verb.start(1), verb[1], match_case(new, verb[1]), "verb")
        elif verb := AUXILIARY.search(text[max(0, edit.start - 12) : edit.start]):
            yield Edit(edit.start - len(verb[0]), verb[1], match_case(_plural(verb[1]), verb[1]), "verb")
        elif (verb := VERB.match(text, stop)) and _plural(verb[1]) != verb[1]:
            yield Edit(verb.start(1), verb[1], _plural(verb[1]), "verb")
            yield from _later_verb_edits(text, verb.end())


def _later_verb_edits(text: str, at: int) -> Iterator[Edit]:
    """The edits of later verbs with the same subject: they open the door and walk in."""
    while (verb := AND.match(text, at)) and LATER.fullmatch(verb[1]) and not SUBJECT.search(text, at, verb.start(1)):
        yield Edit(verb.start(1), verb[1], _plural(verb[1]), "verb")
        at = verb.end()


def _plural(verb: str) -> str:
    """The plural of a verb in the third person singular; other words are unchanged.

    >>> [_plural(verb) for verb in ("walks", "tries", "watches", "is", "said", "goes", "does", "misses", "lies")]
    ['walk', 'try', 'watch', 'are', 'said', 'go', 'do', 'miss', 'lie']
    """
    low = verb.lower().replace("’", "'")
    if low in IRREGULAR:
        return IRREGULAR[low].replace("'", "’") if "’" in verb else IRREGULAR[low]
    if not low.endswith("s") or low.endswith(("ss", "us", "is")) or len(low) < 4 or low in UNCHANGED:
        return verb
    if low.endswith("ies") and len(low) > 4:
        return verb[:-3] + "y"
    if low.endswith(("ches", "shes", "sses", "xes", "zzes", "oes")):
        return verb[:-2]
    return verb[:-1]
