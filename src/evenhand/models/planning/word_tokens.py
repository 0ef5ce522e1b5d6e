"""The tokens that complete a listed word after given letters, to find the first gendered word of a text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.core.questions import THOUGHT, WORD

Tokens = NDArray[np.int64]
GENDERS = ("female", "male")


@dataclass(frozen=True, slots=True)
class Completing:
    """The tokens that complete a word of each gender, female first: by themselves, or unless a letter follows."""

    inside: tuple[Tokens, Tokens]
    """Tokens in which a character other than a letter follows the word."""
    at_end: tuple[Tokens, Tokens]
    """Tokens that end with the word's last letter."""


def token_texts(tokenizer: Any, size: int) -> list[str]:
    """The text that each token adds after another token, including spaces; empty for special tokens."""
    anchor = tokenizer("a", add_special_tokens=False)["input_ids"][-1]
    known = min(size, len(tokenizer))
    pairs = [[anchor], *([anchor, token] for token in range(known))]
    first, *both = tokenizer.batch_decode(pairs, clean_up_tokenization_spaces=False)
    special = set(tokenizer.all_special_ids)
    texts = ["" if token in special else text[len(first) :] for token, text in enumerate(both)]
    return texts + [""] * (size - known)


class WordTokens:
    """The tokens of a vocabulary, and the words that they complete after a state: the letters that a text ends with.

    A word is a sequence of letters in upper or lower case. `boundary` marks the tokens that begin with a character
    other than a letter, and so end the word before them.
    """

    def __init__(self, texts: Sequence[str], female: Sequence[str], male: Sequence[str]) -> None:
        self._texts = [text.lower() for text in texts]
        self.words: Mapping[str, int] = {word: n for n, words in enumerate((female, male)) for word in words}
        self.thoughts = [token for token, text in enumerate(texts) if text.strip() == THOUGHT]
        self.boundary = np.array([bool(text) and not text[0].isalpha() for text in texts])
        self._heads: dict[str, list[int]] = {}
        self._tails = [""] * len(texts)
        for token, text in enumerate(self._texts):
            if text and text[0].isalpha():
                self._heads.setdefault(_head(text), []).append(token)
            if text and text[-1].isalpha() and not text.isalpha():
                self._tails[token] = WORD.findall(text)[-1]
        self._states: dict[str, Completing | None] = {
            word[:length]: None for word in self.words for length in range(len(word))
        }
        self._none = _completing(([], []), ([], []))

    def after(self, state: str, token: int) -> str:
        """The state after a token that follows `state`."""
        text = self._texts[token]
        return state + text if not text or text.isalpha() else self._tails[token]

    def gender(self, state: str) -> int | None:
        """0 if the state is a female word, 1 if it is a male word, else None."""
        return self.words.get(state)

    @cached_property
    def anywhere(self) -> Completing:
        """The tokens that complete a word after every state, since the word also begins in the token."""
        inside: tuple[list[int], list[int]] = ([], [])
        at_end: tuple[list[int], list[int]] = ([], [])
        for token, text in enumerate(self._texts):
            if not text or text.isalpha():
                continue
            begun = WORD.findall(text[len(_head(text)) :])
            whole = begun[:-1] if begun and self._tails[token] else begun
            first = next((self.words[word] for word in whole if word in self.words), None)
            if first is not None:
                inside[first].append(token)
            elif (last := self.words.get(self._tails[token])) is not None:
                at_end[last].append(token)
        return _completing(inside, at_end)

    def of(self, state: str) -> Completing:
        """The tokens that complete a word which begins with the state. These tokens begin with letters."""
        if state not in self._states:  # no word begins with it
            return self._none
        if (known := self._states[state]) is None:
            inside: tuple[list[int], list[int]] = ([], [])
            at_end: tuple[list[int], list[int]] = ([], [])
            for word, gender in self.words.items():
                if word.startswith(state) and word != state:
                    for token in self._heads.get(word[len(state) :], ()):
                        (at_end if self._texts[token].isalpha() else inside)[gender].append(token)
            known = self._states[state] = _completing(inside, at_end)
        return known


def _head(text: str) -> str:
    """The letters at the beginning of a text."""
    match = WORD.match(text)
    return match[0] if match else ""


def _completing(*tokens: tuple[list[int], list[int]]) -> Completing:
    inside, at_end = ((np.array(female, dtype=np.int64), np.array(male, dtype=np.int64)) for female, male in tokens)
    return Completing(inside, at_end)
