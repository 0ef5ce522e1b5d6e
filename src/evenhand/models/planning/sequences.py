"""From a question to sequences: which tokens follow the start token, and which of them count."""

import hashlib
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.core.questions import Entail, Fill, Likelihood, Question, frame
from evenhand.errors import BadInput, UnfitModel
from evenhand.models.planning.plan import Ids
from evenhand.models.planning.tokens import NO_OTHER, TOO_LONG, TokenizedText, Unanswerable

READING = 1  # raised whenever the same question becomes other sequences: kept answers are then asked again
BEFORE_BLANK = "attribute before the blank"
PROMPT = "{premise}\nQuestion: {hypothesis} {0}, {2} or {1}?\nAnswer:"
"""How inference is put to a model without a classifier (after Brown et al. 2020, appendix G, for ANLI)."""

Words = tuple[str, str, str]
"""What stands for entailment, neutral and contradiction."""


@dataclass(frozen=True, slots=True)
class Part:
    """A sequence from the start token on, and which of its tokens count."""

    ids: Ids
    asked: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Asking:
    """A question as sequences, and how the log-probabilities of what counts in each make its answer."""

    parts: tuple[Part, ...] = ()
    note: str = ""
    finish: Callable[[list[tuple[float, ...]]], tuple[float, ...]] = lambda values: values[0]


def answerable(question: Question, words: Words | None) -> Question:
    """The question, if a causal model can answer it."""
    if not isinstance(question, Fill | Likelihood | Entail):
        raise BadInput(f"A question is a Fill, a Likelihood or an Entail. Got {question!r}.")
    if isinstance(question, Entail) and not words:
        raise UnfitModel(
            "A causal language model has no classifier. It answers questions of inference by three words that stand "
            "for entailment, neutral and contradiction, if it is given them: --labels True,Neither,False"
        )
    if isinstance(question, Fill) and not question.among:
        raise UnfitModel(
            f"A causal language model compares the candidates of a blank. Got none but {question.answer!r} for "
            f"{question.text!r}: give Fill its `among`, or the measure among='candidates'."
        )
    return question


def texts(question: Question, words: Words | None) -> list[str]:
    """The texts a tokenizer must see before the question can be read."""
    if isinstance(question, Fill):
        return [question.filled(candidate)[0] for candidate in question.among]
    if isinstance(question, Entail):
        prompt = PROMPT.format(*words or (), premise=question.premise, hypothesis=question.hypothesis)
        return [f"{prompt} {word}" for word in words or ()]
    return [question.text]


class Sequences:
    """Turns questions into sequences; `tokenized` by text, `start` the token before the first token of every one."""

    def __init__(self, tokenized: Mapping[str, TokenizedText], start: int, longest: int, words: Words | None) -> None:
        self.tokenized = tokenized
        self.start = start
        self.longest = longest
        self.words = words
        self._compared: dict[Hashable, tuple[Part, ...] | str] = {}

    def asking(self, question: Question) -> Asking:
        """The question as sequences, or a note saying why it has no answer."""
        try:
            if isinstance(question, Likelihood):
                return Asking((self._likelihood(question),))
            if isinstance(question, Fill):
                mine = question.among.index(question.answer)
                return Asking(self._fill(question), finish=lambda values: (_normalised(values)[mine],))
            parts = self._differing([self._whole(text) for text in texts(question, self.words)])
            return Asking(parts, finish=_normalised)
        except Unanswerable as reason:
            return Asking(note=str(reason))

    def _likelihood(self, question: Likelihood) -> Part:
        ids = self._whole(question.text)
        found = self.tokenized[question.text]
        skipped = {position for span in question.skip for position in found.inside(span)}
        asked = tuple(n for n, position in enumerate(found.positions, start=1) if position not in skipped)
        if not asked:
            raise Unanswerable("nothing left outside the skipped spans")
        return Part(ids, asked)

    def _fill(self, question: Fill) -> tuple[Part, ...]:
        """The same for all candidates of a blank, however many questions ask for one of them."""
        key = frame(question)
        if key not in self._compared:
            try:
                self._compared[key] = self._differing([self._filled(question, c) for c in question.among])
            except Unanswerable as reason:
                self._compared[key] = str(reason)
        found = self._compared[key]
        if isinstance(found, str):
            raise Unanswerable(found)
        return found

    def _filled(self, question: Fill, candidate: str) -> Ids:
        """The sentence with the candidate; up to the first hidden span, since what comes later is as if unknown."""
        text, blank, hidden = question.filled(candidate)
        ids = self._whole(text)
        if not hidden:
            return ids
        if min(hidden).start < blank.stop:
            raise Unanswerable(BEFORE_BLANK)
        found = self.tokenized[text]
        return ids[: 1 + found.positions.index(found.inside(min(hidden))[0])]

    def _whole(self, text: str) -> Ids:
        found = self.tokenized[text]
        if found.note:
            raise Unanswerable(found.note)
        ids = (self.start, *(found.ids[position] for position in found.positions))
        if len(ids) > self.longest:
            raise Unanswerable(TOO_LONG)
        return ids

    def _differing(self, sequences: Sequence[Ids]) -> tuple[Part, ...]:
        """What the sequences have in common at the beginning is equally likely in all, and left out."""
        same = 0
        while all(len(ids) > same for ids in sequences) and len({ids[same] for ids in sequences}) == 1:
            same += 1
        if all(len(ids) == same for ids in sequences):
            raise Unanswerable(NO_OTHER)
        return tuple(Part(ids, tuple(range(same, len(ids)))) for ids in sequences)


def fingerprint(network: str, words: Words | None) -> str:
    """The network's own, with what else makes the answers: how questions are read, and the words for labels."""
    return hashlib.sha256(f"{network} {READING} {words and (words, PROMPT)}".encode()).hexdigest()[:32]


def _normalised(values: list[tuple[float, ...]]) -> tuple[float, ...]:
    totals = [math.fsum(v) for v in values]
    return tuple(float(total - np.logaddexp.reduce(totals)) for total in totals)
