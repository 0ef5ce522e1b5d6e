"""From a question to masked inputs: which tokens are masked, and where the answer is read."""

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from evenhand.core.questions import Entail, Fill, Follows, Likelihood, Question, Span, frame
from evenhand.errors import BadInput, UnfitModel
from evenhand.models.planning.plan import Ids, Read, Reading, normalised
from evenhand.models.planning.tokens import NO_OTHER, Pair, TokenizedPair, TokenizedText, Unanswerable


def answerable(question: Question, *, next_sentence: bool = False) -> Fill | Likelihood | Follows:
    """The question, if a masked language model can answer it, one with a next-sentence head or without."""
    if isinstance(question, Fill | Likelihood) or (next_sentence and isinstance(question, Follows)):
        return question
    if isinstance(question, Follows):
        raise UnfitModel(
            "This model has no next-sentence head, as BERT has: it cannot say whether one sentence follows another. Of "
            "StereoSet, measure `dataset='stereoset-intrasentence'`, or score the tokens of the sentences with the "
            "option asks=likelihood, which is another quantity."
        )
    if not isinstance(question, Entail):
        raise BadInput(f"A question is a Fill, a Likelihood, an Entail or a Follows. Got {question!r}.")
    raise UnfitModel(
        f"A masked language model cannot answer {type(question).__name__} questions. They are for an NLI classifier."
    )


class Masked:
    """Turns questions into reads of masked inputs; `mask` is the id of the mask token.

    In a pair of sentences a token is `token + type * size`, where `size` is the number of the network's embeddings.
    What the next-sentence head says is read as two tokens from `size` on: it follows, it does not.
    """

    def __init__(
        self, tokenized: Mapping[str, TokenizedText], pairs: Mapping[Pair, TokenizedPair], mask: int, size: int
    ) -> None:
        self.tokenized = tokenized
        self.pairs = pairs
        self.mask = mask
        self.size = size
        self._compared: dict[Hashable, Reading] = {}

    def reading(self, question: Fill | Likelihood | Follows) -> Reading:
        """The question as reads, or a note saying why it has no answer."""
        if isinstance(question, Follows):
            pair = self.pairs[question.first, question.second]
            cells = (0, self.size), (0, self.size + 1)
            return Reading(note=pair.note) if pair.note else Reading((Read(pair.typed(self.size, 2), cells),))
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
            masked, dropped = set[int](), set[int]()
            for span in hidden:
                if question.masks == "pieces":
                    masked.update(found.inside(span))
                else:
                    for word in _words(text, span) if question.masks == "words" else (span,):
                        first, *rest = found.inside(word)
                        masked.add(first)
                        dropped.update(rest)
            steps = [(asked, list[int]())]
            if question.one_by_one:
                steps = [([position], asked[n:]) for n, position in enumerate(asked, start=1)]
            for here, later in steps:
                hidden_now, out = masked.union(here), dropped.union(later)
                ids = [self.mask if p in hidden_now else token for p, token in enumerate(found.ids) if p not in out]
                places = [(p, found.ids[p]) for p in here]
                if (place := question.read_after_filling) is not None:
                    places = [(found.holding(place), found.ids[asked[0]])]
                yield Read(tuple(ids), tuple((p - sum(d < p for d in out), token) for p, token in places))
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
