"""Turn questions into masked inputs: which tokens are masked, and at which positions the answer is read."""

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from evenhand.core.questions import Entail, Fill, Follows, Likelihood, Question, Span
from evenhand.errors import UnfitModel
from evenhand.models.planning import tokens
from evenhand.models.planning.plan import FOLLOWS, WEIGHED, Ids, Read, Reading, join, normalise_logps
from evenhand.models.planning.tokens import (
    NO_OTHER,
    Pair,
    TokenizedPair,
    TokenizedText,
    Unanswerable,
    counted_positions,
)


def answerable(question: Question, *, next_sentence: bool = False) -> Fill | Likelihood | Follows:
    """The question. Raises an error if a masked model, with a next-sentence head or without, cannot answer it."""
    if isinstance(question, Fill | Likelihood) or (next_sentence and isinstance(question, Follows)):
        return question
    if isinstance(question, Follows):
        raise UnfitModel(
            "This model has no next-sentence head (BERT has one), so it cannot say whether one sentence follows "
            "another. Of StereoSet, measure `dataset='stereoset-intrasentence'`, or use the option asks=likelihood, "
            "which scores the tokens of the sentences and so is another quantity."
        )
    known = tokens.built_in(question, "A masked language model")
    other = "an NLI classifier" if isinstance(known, Entail) else "a causal language model"
    raise UnfitModel(f"A masked language model cannot answer {type(question).__name__} questions. Use {other}.")


@dataclass
class Masked:
    """Turns questions into reads of masked inputs. `mask` is the id of the mask token; for `size`, see `plan.join`."""

    tokenized: Mapping[str, TokenizedText]
    pairs: Mapping[Pair, TokenizedPair]
    mask: int
    size: int
    _compared: dict[Hashable, Reading] = field(default_factory=dict)

    def reading(self, question: Fill | Likelihood | Follows) -> Reading:
        if isinstance(question, Follows):
            pair = self.pairs[question.first, question.second]
            cells = tuple((0, label) for label in join((0, 1), (FOLLOWS, FOLLOWS), self.size))
            return Reading(note=pair.note) if pair.note else Reading((Read(pair.with_types(self.size, 2), cells),))
        if isinstance(question, Likelihood):
            return _as_reading(self._likelihood(question))
        if not question.among:
            return _as_reading(self._fill(question))
        frame = tokens.frame(question)
        if frame not in self._compared:  # all candidates of a blank have the same reads
            self._compared[frame] = _as_reading(self._fill(question))
        shared = self._compared[frame]
        candidate = question.among.index(question.answer)
        return Reading(shared.reads, shared.note, lambda values: (normalise_logps(values)[candidate],))

    def _fill(self, question: Fill) -> Iterator[Read]:
        for answer in question.among or (question.answer,):
            text, blank, hidden = question.filled(answer)
            tokenized = self.tokenized[text].usable()
            filled = tokenized.inside(blank)
            masked, dropped = set[int](), set[int]()
            for span in hidden:
                if question.masks == "pieces":
                    masked.update(tokenized.inside(span))
                else:
                    for word in _words(text, span) if question.masks == "words" else (span,):
                        first, *rest = tokenized.inside(word)
                        masked.add(first)
                        dropped.update(rest)
            steps = [(filled, list[int]())]
            if question.one_by_one:
                steps = [([position], filled[n:]) for n, position in enumerate(filled, start=1)]
            for shown, later in steps:
                hidden_now, omitted = masked.union(shown), dropped.union(later)
                ids = [
                    self.mask if p in hidden_now else token for p, token in enumerate(tokenized.ids) if p not in omitted
                ]
                places = [(p, tokenized.ids[p]) for p in shown]
                if (place := question.read_after_filling) is not None:
                    places = [(tokenized.holding(place), tokenized.ids[filled[0]])]
                yield Read(tuple(ids), tuple((p - sum(d < p for d in omitted), token) for p, token in places))
        if len(set(question.among)) == 1:  # the only candidate has probability 1 for every model
            raise Unanswerable(NO_OTHER)

    def _likelihood(self, question: Likelihood) -> Iterator[Read]:
        counted = counted_positions(question, self.tokenized)
        tokenized = self.tokenized[question.text]
        ids = tokenized.ids
        if question.masked == "none":
            tokens: Sequence[int] = [ids[p] for p in counted]
            if question.attention:
                tokens = join(tokens, [WEIGHED] * len(tokens), self.size)
            yield Read(ids, tuple(zip(counted, tokens, strict=True)))
            return
        if question.masked == "changed":
            masked = tuple(self.mask if p in counted else token for p, token in enumerate(ids))
            yield Read(masked, tuple((p, ids[other]) for p in counted for other in counted))
            return
        words: Sequence[int | None] = tokenized.encoding.word_ids if question.within_word else ()
        hidden: Ids = (self.mask,)
        for position in counted:
            later = position + 1
            if words:  # later tokens of the word are masked together with this token
                while later < len(ids) and words[later] == words[position]:
                    later += 1
                hidden = (self.mask,) * (later - position)
            yield Read(ids[:position] + hidden + ids[later:], ((position, ids[position]),))


def _as_reading(reads: Iterable[Read]) -> Reading:
    try:
        return Reading(tuple(reads))
    except Unanswerable as reason:
        return Reading(note=str(reason))


def _words(text: str, span: Span) -> Iterator[Span]:
    return (Span(*word.span()).shift(span.start) for word in re.finditer(r"\S+", span.of(text)))
