"""Checks whether a masked model reads the words on both sides of a blank."""

from collections.abc import Iterator
from statistics import fmean

from evenhand.checks import plain_texts
from evenhand.checks.base import FINE, UNFIT, Case, LeftOut, is_number
from evenhand.checks.head_and_language import FEW
from evenhand.checks.stability import ROUNDING
from evenhand.core.questions import Fill, Span
from evenhand.core.words import words
from evenhand.runs.record import Finding


def right_context(case: Case) -> Iterator[Finding]:
    """How much answers about a word depend on the words to its right: not at all under a causal mask."""
    for language in dict.fromkeys((case.language, *plain_texts.LANGUAGES)):
        if apart := _differences(case, language):
            break
    else:
        raise LeftOut("right context", "it answers none of our plain questions")
    if max(apart) < ROUNDING[case.dtype]:
        says = f"In {len(apart)} plain sentences, the words to the right of a blank change no answer."
        do = 'It reads from the left alone. Look for a causal mask: "is_decoder" in its config.json must be false.'
        yield Finding("right context", UNFIT, says, do)
    else:
        says = f"The words to the right of a blank change answers by {fmean(apart):.1f} nats."
        yield Finding("right context", FINE, says)


def _differences(case: Case, language: str) -> list[float]:
    """Nats between answers about the first word of plain sentences, with the other words there and masked."""
    seen, unseen = [], []
    for text in plain_texts.sentences(language)[: None if case.thorough else FEW]:
        first, *others = words(text)
        seen.append(Fill(text, first, first.of(text)))
        unseen.append(Fill(text, first, first.of(text), hidden=(Span(others[0].start, others[-1].stop),)))
    answers = case.ask([*seen, *unseen])
    pairs = zip(answers[: len(seen)], answers[len(seen) :], strict=True)
    return [abs(one.logp - other.logp) for one, other in pairs if is_number(one) and is_number(other)]
