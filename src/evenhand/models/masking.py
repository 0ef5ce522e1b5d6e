"""From a question to masked inputs: which pieces are hidden, and where the answer is read."""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from evenhand.errors import UnfitModel
from evenhand.models.batching import Ids, Read, Reading
from evenhand.models.pieces import NO_OTHER, Pieces, Unanswerable
from evenhand.questions import Fill, Likelihood, Question, Span


def texts(question: Fill | Likelihood) -> list[str]:
    """The texts a tokenizer must see before the question can be read."""
    if isinstance(question, Fill):
        return [alone.filled()[0] for alone in _alone(question)]
    return [question.text]


def answerable(question: Question) -> Fill | Likelihood:
    """The question, if it is one for a masked language model."""
    if isinstance(question, (Fill, Likelihood)):
        return question
    raise UnfitModel(
        f"A masked language model cannot answer {type(question).__name__} questions. "
        "They are for a model of natural language inference."
    )


def reading(question: Fill | Likelihood, pieces: Mapping[str, Pieces], mask: int) -> Reading:
    """The question as reads of masked inputs; `pieces` by text, `mask` the tokenizer's id for it."""
    try:
        if isinstance(question, Fill):
            reads = tuple(_fill(alone, pieces, mask) for alone in _alone(question))
            if not question.among:
                return Reading(reads)
            if len(set(question.among)) == 1:  # it would be certain, whatever the model
                raise Unanswerable(NO_OTHER)
            mine = question.among.index(question.answer)
            return Reading(reads, finish=lambda values: _normalised(values, mine))
        return Reading(tuple(_likelihood(question, pieces, mask)))
    except Unanswerable as reason:
        return Reading(note=str(reason))


def _fill(question: Fill, pieces: Mapping[str, Pieces], mask: int) -> Read:
    text, blank, hidden = question.filled()
    found = _usable(pieces[text])
    asked = found.inside(blank)
    masked, dropped = set(asked), set[int]()
    for span in hidden:
        if question.masks == "pieces":
            masked.update(found.inside(span))
        else:
            for word in _words(text, span):
                first, *rest = found.inside(word)
                masked.add(first)
                dropped.update(rest)
    kept = [p for p in range(len(found.ids)) if p not in dropped]
    ids = tuple(mask if p in masked else found.ids[p] for p in kept)
    return Read(ids, tuple((kept.index(p), found.ids[p]) for p in asked))


def _likelihood(question: Likelihood, pieces: Mapping[str, Pieces], mask: int) -> Iterator[Read]:
    found = _usable(pieces[question.text])
    skipped = {p for span in question.skip for p in found.inside(span)}
    asked = [p for p in found.positions if p not in skipped]
    if not asked:
        raise Unanswerable("nothing left outside the skipped spans")
    ids = found.ids
    words: Sequence[int | None] = found.words if question.within_word else ()
    hidden: Ids = (mask,)
    for position in asked:
        later = position + 1
        if words:  # the rest of the word is hidden with its piece
            while later < len(ids) and words[later] == words[position]:
                later += 1
            hidden = (mask,) * (later - position)
        yield Read(ids[:position] + hidden + ids[later:], ((position, ids[position]),))


def _alone(question: Fill) -> list[Fill]:
    """The question for each of its candidates by itself, over the whole vocabulary."""
    if not question.among:
        return [question]
    return [Fill(question.text, question.blank, c, question.hidden, question.masks) for c in question.among]


def _normalised(values: list[tuple[float, ...]], mine: int) -> tuple[float, ...]:
    totals = [math.fsum(v) for v in values]
    return (float(totals[mine] - np.logaddexp.reduce(totals)),)


def _usable(pieces: Pieces) -> Pieces:
    if pieces.note:
        raise Unanswerable(pieces.note)
    return pieces


def _words(text: str, span: Span) -> Iterator[Span]:
    """The words of the span, as white space divides them."""
    at = span.start
    for word in span.of(text).split():
        start = text.index(word, at)
        at = start + len(word)
        yield Span(start, at)
