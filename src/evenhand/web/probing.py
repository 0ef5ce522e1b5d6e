"""The probability of each word in the blank of a sentence, for one or two models, as bars."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from evenhand.core.model import Model
from evenhand.core.questions import Answer, Fill, Span
from evenhand.errors import BadInput, UnknownName
from evenhand.models import load_masked
from evenhand.models.loading.names import find, kind, named

BLANK = re.compile(r"\[MASK\]|<mask>|_{2,}", re.I)
LONGEST_TEXT = 2_000
LONGEST_WORD = 100
MOST_WORDS = 50
KEPT = 3
"""The number of models kept in memory."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A word's log-probability in the blank, or NaN and a note, and the length of its bar, from 0 to 100."""

    logp: float
    length: float
    note: str

    @property
    def shown(self) -> str:
        """The probability, with three digits."""
        share = 100 * math.exp(self.logp)
        return self.note or ("under 0.001 %" if share < 0.001 else f"{share:.3g} %")


class Probe:
    """Models by name, loaded when they are first asked. Not thread-safe: a model answers one request at a time."""

    def __init__(self, given: Sequence[str] = ()) -> None:
        for name in given:
            find(name)
        masked = (name for name in named() if kind(find(name)) == "masked")
        self.names = list(dict.fromkeys([*given, *masked]))
        self._loaded = lru_cache(maxsize=KEPT)(load_masked)

    def load(self, name: str) -> Model:
        """An offered model; requests cannot load others."""
        if name not in self.names:
            raise UnknownName("model", name, self.names)
        return self._loaded(name)

    def ask(self, models: Sequence[str], text: str, words: Sequence[str]) -> Mapping[str, list[Bar]]:
        """For each word one bar per model, all on one scale; the longest is 100."""
        blank = _blank(text)
        questions = [Fill(text, blank, word) for word in words]
        answers = [self.load(name).answer(questions) for name in models]
        longest = max((answer.logp for given in answers for answer in given if not answer.note), default=0.0)
        return {word: [_bar(given[n], longest) for given in answers] for n, word in enumerate(words)}


def listed(text: str) -> list[str]:
    """The words of a list, separated by commas or line ends, without repetitions."""
    words = list(dict.fromkeys(word.strip() for word in re.split(r"[,\n]", text) if word.strip()))
    if not words:
        raise BadInput("There are no words. Give one or more, separated by commas: he, she, they.")
    if len(words) > MOST_WORDS:
        raise BadInput(f"At most {MOST_WORDS} words at a time. Got {len(words)}.")
    if any(len(word) > LONGEST_WORD for word in words):
        raise BadInput(f"A word has at most {LONGEST_WORD} characters. Put commas between words.")
    return words


def _blank(text: str) -> Span:
    if len(text) > LONGEST_TEXT:
        raise BadInput(f"A sentence has at most {LONGEST_TEXT:,} characters here. Got {len(text):,}.")
    blanks = [Span(*match.span()) for match in BLANK.finditer(text)]
    if len(blanks) != 1:
        raise BadInput(f"The sentence must have one blank, written [MASK] or ___. Got {len(blanks) or 'none'}.")
    return blanks[0]


def _bar(answer: Answer, longest: float) -> Bar:
    if math.isnan(answer.logp):
        return Bar(math.nan, 0.0, answer.note or "no answer")
    return Bar(answer.logp, 100 * math.exp(answer.logp - longest), "")
