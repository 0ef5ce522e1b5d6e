"""From a question to masked inputs: which tokens are masked, and where the answer is read."""

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from evenhand.core.questions import Entail, Fill, Likelihood, Question, Span, frame
from evenhand.errors import BadInput, UnfitModel
from evenhand.models.planning.plan import Ids, Read, Reading, normalised
from evenhand.models.planning.tokens import NO_OTHER, TokenizedText, Unanswerable


def answerable(question: Question) -> Fill | Likelihood:
    """The question, if a masked language model can answer it."""
    if isinstance(question, (Fill, Likelihood)):
        return question
    if not isinstance(question, Entail):
        raise BadInput(f"A question is a Fill, a Likelihood or an Entail. Got {question!r}.")
    raise UnfitModel(
        f"A masked language model cannot answer {type(question).__name__} questions. They are for an NLI classifier."
    )


class Masked:
    """Turns questions into reads of masked inputs; `mask` is the id of the mask token."""

    def __init__(self, tokenized: Mapping[str, TokenizedText], mask: int) -> None:
        self.tokenized = tokenized
        self.mask = mask
        self._compared: dict[Hashable, Reading] = {}

    def reading(self, question: Fill | Likelihood) -> Reading:
        """The question as reads, or a note saying why it has no answer."""
        if isinstance(question, Likelihood):
            return _noted(self._likelihood(question))
        if not question.among:
            return _noted(self._fill(question))
        together = frame(question)
        if together not in self._compared:  # the same for all candidates of a blank
            self._compared[together] = _noted(self._fill(question))
        shared = self._compared[together]
        mine = question.among.index(question.answer)
        return Reading(shared.reads, shared.note, lambda values: (normalised(values)[mine],))

    def _fill(self, question: Fill) -> Iterator[Read]:
        for answer in question.among or (question.answer,):
            text, blank, hidden = question.filled(answer)
            found = self.tokenized[text].checked()
            asked = found.inside(blank)
            masked, dropped = set(asked), set[int]()
            for span in hidden:
                if question.masks == "pieces":
                    masked.update(found.inside(span))
                else:
                    for word in _words(text, span) if question.masks == "words" else (span,):
                        first, *rest = found.inside(word)
                        masked.add(first)
                        dropped.update(rest)
            ids = [self.mask if p in masked else token for p, token in enumerate(found.ids) if p not in dropped]
            places = [(p, found.ids[p]) for p in asked]
            if (place := question.read_after_filling) is not None:
                places = [(found.holding(place), found.ids[asked[0]])]
            yield Read(tuple(ids), tuple((p - sum(d < p for d in dropped), token) for p, token in places))
        if len(set(question.among)) == 1:  # the answer would be certain, whatever the model
            raise Unanswerable(NO_OTHER)

    def _likelihood(self, question: Likelihood) -> Iterator[Read]:
        found = self.tokenized[question.text].checked()
        ids = found.ids
        words: Sequence[int | None] = found.words if question.within_word else ()
        hidden: Ids = (self.mask,)
        for position in found.outside(question.skip):
            later = position + 1
            if words:  # the rest of the word is masked with its token
                while later < len(ids) and words[later] == words[position]:
                    later += 1
                hidden = (self.mask,) * (later - position)
            yield Read(ids[:position] + hidden + ids[later:], ((position, ids[position]),))


def _noted(reads: Iterable[Read]) -> Reading:
    try:
        return Reading(tuple(reads))
    except Unanswerable as reason:
        return Reading(note=str(reason))


def _words(text: str, span: Span) -> Iterator[Span]:
    """The words of the span, separated by white space."""
    return (Span(*word.span()).shift(span.start) for word in re.finditer(r"\S+", span.of(text)))
