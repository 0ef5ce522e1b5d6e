"""Checks of the tokenizer: the mask token, word beginnings, capitals."""

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
"""Number of words that are tried."""
CAPITALS = {
    "de": "'Sie' and 'sie' are one, and so are nouns and other words.",
    "en": "'She' and 'she' are one, and so are 'Will' and 'will', 'US' and 'us'.",
}
"""Languages with capitals, and what it means if a tokenizer ignores them."""


def mask_token(case: Case) -> Iterator[Finding]:
    """Which token stands for a hidden word: none that texts have, or they would have holes of their own."""
    if isinstance(case.model, Examined) and case.model.mask.strip(" ▁Ġ").isalnum():
        do = "Set the tokenizer's own mask token, such as [MASK] or <mask>."
        yield Finding("mask token", UNFIT, f"A hidden word is {case.model.mask}, which is a word of texts, too.", do)
    elif isinstance(case.model, Examined):
        yield Finding("mask token", FINE, f"A hidden word is {case.model.mask}.")


def word_beginnings(case: Case) -> Iterator[Finding]:
    """Whether a word has the same tokens at the start of a text as within it, and none in common with its neighbours.

    Words are tokenized where they stand, so a prefix space needs no rule; but a word that is only split at the start
    of a text, or that shares a token with its neighbour, is a different word to the model.
    """
    model = case.model
    if not isinstance(model, Examined) or not (places := _places(case)):
        return
    name = "word beginnings"
    blanks = [Fill(text, span, span.of(text)) for text, span in places]
    if shared := [blank.answer for blank in blanks if _read(model, blank).note == STRADDLES]:
        says = (
            f"{len(shared)} of {len(places)} words share a token with their neighbours: {_some(shared)}. They cannot "
            "be masked alone, and have no score."
        )
        verdict = UNFIT if len(shared) > len(places) / 2 else CAREFUL
        yield Finding(name, verdict, says, "Use a model whose tokenizer keeps words apart.")
        return
    first = dict.fromkeys(span.of(text) for text, span in places if not text[: span.start].strip())
    tokens = {word: (_tokens(model, word, 0), _tokens(model, word, 1)) for word in first}
    differing = [word for word, (start, inside) in tokens.items() if start != inside]
    if cut := [word for word in differing if len(tokens[word][0]) > len(tokens[word][1])]:
        says = (
            f"{len(cut)} of {len(first)} words are split further at the start of a text than within it: {_some(cut)}."
        )
        yield Finding(name, CAREFUL, says, "Compare sentences that begin with the word only with one another.")
    elif differing:
        says = (
            f"{_some(differing)} have other tokens at the start of a text than within it, because of the space before."
        )
        yield Finding(name, FINE, f"{says} Words are tokenized where they stand.")
    else:
        yield Finding(name, FINE, "A word has the same tokens at the start of a text and within it.")


def casing(case: Case) -> Iterator[Finding]:
    """Whether the tokenizer sees capitals, and whether it splits words because of them."""
    if not isinstance(case.model, Examined) or case.language not in CAPITALS:
        return
    seen = _sees_capitals(case.model, case.kind, plain_texts.sentences(case.language))
    if seen is None:
        raise LeftOut("casing", f"it cannot read plain sentences of '{case.language}'")
    if not seen:
        says, german = f"Capitals are not seen: {CAPITALS[case.language]}", case.language == "de"
        do = "Prefer a model that sees capitals: German words differ by them." if german else ""
        yield Finding("casing", CAREFUL if german else FINE, says, do)
        return
    if case.kind == "nli":
        yield Finding("casing", FINE, "Capitals are seen.")
        return
    # Only words at the start of a text: German nouns have a capital anywhere.
    first = {span.of(text) for text, span in _places(case) if not text[: span.start].strip()}
    first = {word for word in first if word[:1].isupper()}
    cut = sorted(word for word in first if _count(case.model, word) > _count(case.model, word.lower()) > 0)
    if cut:
        says = f"Capitals are seen, and {len(cut)} of {len(first)} words are split because of theirs: {_some(cut)}."
        do = "At the start of a sentence they are different words to the model: look at such items separately."
        yield Finding("casing", CAREFUL, says, do)
    else:
        yield Finding("casing", FINE, "Capitals are seen; no word is split because it begins a sentence.")


def _places(case: Case) -> list[Place]:
    """The words to be measured, each once, in a sentence; without datasets, the words of plain sentences."""
    found: dict[str, Place] = {}
    for dataset in case.sampled:
        for item in dataset.items:
            for word, place in asked_about(item):
                found.setdefault(word, place)
    texts = () if case.language in plain_texts.SPACELESS else plain_texts.sentences(case.language)
    chosen = list(found.values()) or [(t, span) for t in texts for span in words(t) if span.of(t).isalpha()]
    return chosen[:: max(1, len(chosen) // LOOKED_AT)]


def _tokens(model: Planned, word: str, at: int) -> tuple[int, ...]:
    """The tokens of the word, repeated once, at its first or second position."""
    start = (len(word) + 1) * at
    reads = _read(model, Fill(f"{word} {word}", Span(start, start + len(word)), word)).reads
    return tuple(token for read in reads for _, token in read.cells)


def _count(model: Examined, word: str) -> int:
    return model.count_tokens([(f"{word} {word}", Span(len(word) + 1, 2 * len(word) + 1))])[0]


def _sees_capitals(model: Planned, kind: str, texts: Sequence[str]) -> bool | None:
    """Whether small letters change a text's tokens; None if the model can read none of the texts."""
    for text in texts:
        asked: list[Question] = [Entail(t, t) if kind == "nli" else Likelihood(t) for t in (text, text.lower())]
        as_is, small = (_read(model, question).reads for question in asked)
        if as_is:
            return as_is != small
    return None


def _read(model: Planned, question: Question) -> Reading:
    return model.plan([question]).readings[0]


def _some(found: list[str]) -> str:
    return ", ".join(f"'{word}'" for word in found[:3])
