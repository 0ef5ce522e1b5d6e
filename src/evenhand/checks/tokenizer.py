"""What the tokenizer does to words: the mask, where a word begins, capitals."""

from collections.abc import Iterator, Sequence

from evenhand.checks import plain_texts
from evenhand.checks.base import CAREFUL, FINE, UNFIT, Case, LeftOut
from evenhand.checks.fit import Place, asked_about
from evenhand.core.questions import Entail, Fill, Likelihood, Question, Span
from evenhand.core.words import words
from evenhand.models.base import Examined, Planned
from evenhand.models.planning.plan import Reading
from evenhand.models.planning.tokens import STRADDLES
from evenhand.runs.record import Finding

LOOKED_AT = 200
"""Words whose places are tried."""
CAPITALS = {
    "de": "'Sie' and 'sie' are one, and so are nouns and other words.",
    "en": "'She' and 'she' are one, and so are 'Will' and 'will', 'US' and 'us'.",
}
"""Languages with capitals, and what that means where they are not seen."""


def mask_token(case: Case) -> Iterator[Finding]:
    """What stands for a hidden word."""
    if isinstance(case.model, Examined):
        yield Finding("mask token", FINE, f"A hidden word is {case.model.mask}.")


def word_beginnings(case: Case) -> Iterator[Finding]:
    """Has a word other pieces at the start of a text than within it, and do the pieces end where the word does?

    Words are tokenized where they stand, so a prefix space needs no rule; but a word that is cut at the start of a
    text only, or that shares a piece with its neighbour, is another word to the model.
    """
    if not isinstance(case.model, Examined):
        return
    if not (places := _places(case)):
        return
    shared = [span.of(text) for text, span in places if _read(case.model, _blank((text, span))).note == STRADDLES]
    if shared:
        yield Finding(
            "word beginnings",
            UNFIT if len(shared) > len(places) / 2 else CAREFUL,
            f"{len(shared)} of {len(places)} words share a piece with what is beside them: {_some(shared)}. "
            "They cannot be masked alone, and have no score.",
            "Use a model whose tokenizer keeps words apart.",
        )
        return
    first = list(dict.fromkeys(span.of(text) for text, span in places if not text[: span.start].strip()))
    differing = [word for word in first if _pieces(case.model, word, 0) != _pieces(case.model, word, 1)]
    cut = [word for word in differing if len(_pieces(case.model, word, 0)) > len(_pieces(case.model, word, 1))]
    if cut:
        yield Finding(
            "word beginnings",
            CAREFUL,
            f"{len(cut)} of {len(first)} words are cut into more pieces at the start of a text than within it: "
            f"{_some(cut)}.",
            "Compare sentences that begin with the word with one another only.",
        )
    elif differing:
        yield Finding(
            "word beginnings",
            FINE,
            f"Marked by the space before: the tokens of {_some(differing)} at the start of a text differ from those "
            "within it. Words are tokenized where they stand.",
        )
    else:
        yield Finding("word beginnings", FINE, "A word has the same pieces at the start of a text and within it.")


def casing(case: Case) -> Iterator[Finding]:
    """Are capitals seen? If so, is a word with one cut where it is whole without?"""
    if not isinstance(case.model, Examined) or case.language not in CAPITALS:
        return
    seen = _sees_capitals(case.model, case.kind, plain_texts.sentences(case.language))
    if seen is None:
        raise LeftOut("casing", f"it cannot read plain sentences of '{case.language}'")
    if not seen:
        yield Finding(
            "casing",
            CAREFUL if case.language == "de" else FINE,
            f"Capitals are not seen: {CAPITALS[case.language]}",
            "Prefer a model that sees capitals: German tells words by them." if case.language == "de" else "",
        )
        return
    if case.kind == "nli":
        yield Finding("casing", FINE, "Capitals are seen.")
        return
    capital = {span.of(text) for text, span in _places(case) if span.of(text)[:1].isupper()}
    # German nouns have a capital anywhere: only what stands at the start has it for that alone.
    first = {span.of(text) for text, span in _places(case) if not text[: span.start].strip()} & capital
    cut = sorted(word for word in first if _count(case.model, word) > _count(case.model, word.lower()) > 0)
    if cut:
        yield Finding(
            "casing",
            CAREFUL,
            f"Capitals are seen, and {len(cut)} of {len(first)} words are cut for theirs: {_some(cut)}.",
            "At the start of a sentence they are other words to the model: look at such items apart.",
        )
    else:
        yield Finding(
            "casing", FINE, "Capitals are seen; no word is cut for the one it has at the start of a sentence."
        )


def _places(case: Case) -> list[Place]:
    """The words to be measured, each once, in their sentences; else those of plain sentences."""
    found: dict[str, Place] = {}
    for dataset in case.sampled:
        for item in dataset.items:
            for word, place in asked_about(item):
                found.setdefault(word, place)
    texts = () if case.language in plain_texts.SPACELESS else plain_texts.sentences(case.language)
    chosen = list(found.values()) or [(t, span) for t in texts for span in words(t) if span.of(t).isalpha()]
    return chosen[:: max(1, len(chosen) // LOOKED_AT)]


def _pieces(model: Planned, word: str, at: int) -> tuple[int, ...]:
    """The pieces of the word, said twice, at its first or second place."""
    start = (len(word) + 1) * at
    reads = _read(model, Fill(f"{word} {word}", Span(start, start + len(word)), word)).reads
    return tuple(token for read in reads for _, token in read.cells)


def _count(model: Examined, word: str) -> int:
    """How many pieces the word has within a text."""
    return model.count_tokens([(f"{word} {word}", Span(len(word) + 1, 2 * len(word) + 1))])[0]


def _sees_capitals(model: Planned, kind: str, texts: Sequence[str]) -> bool | None:
    """Is a text another one to the tokenizer in small letters? None where it can read none of them."""
    for text in texts:
        asked: list[Question] = [Entail(t, t) if kind == "nli" else Likelihood(t) for t in (text, text.lower())]
        as_is, small = (_read(model, question).reads for question in asked)
        if as_is:
            return as_is != small
    return None


def _blank(place: Place) -> Fill:
    text, span = place
    return Fill(text, span, span.of(text))


def _read(model: Planned, question: Question) -> Reading:
    return model.plan([question]).readings[0]


def _some(found: list[str]) -> str:
    return ", ".join(f"'{word}'" for word in found[:3])
