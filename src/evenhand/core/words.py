"""The words of a sentence, and those in which two sentences differ."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

from evenhand.core.questions import Span

WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+|[^\w\s]")
"""A run of letters and digits, or a single mark; in Chinese and Japanese, which have no spaces, a character."""


@dataclass(frozen=True, slots=True)
class WordChange:
    """The words `old` of one sentence, and the words `new` that replace them in the other; either may be empty."""

    old: tuple[Span, ...]
    new: tuple[Span, ...]


def words(text: str) -> list[Span]:
    """The spans of the words and marks of a text.

    >>> [span.of("She's here.") for span in words("She's here.")]
    ['She', "'", 's', 'here', '.']
    """
    return [Span(*match.span()) for match in WORD.finditer(text)]


def changes(first: str, second: str) -> list[WordChange]:
    """Where two sentences differ, word by word, in order.

    >>> changes("He lost his hat.", "She lost her hat.")[1]
    WordChange(old=(Span(start=8, stop=11),), new=(Span(start=9, stop=12),))
    """
    old, new = words(first), words(second)
    if len(old) == len(new):  # word by word, or "gave her his" and "gave him her" would seem to share "her"
        pairs = [WordChange((a,), (b,)) for a, b in zip(old, new, strict=True) if a.of(first) != b.of(second)]
        if len(pairs) <= len(old) / 2:
            return pairs
    matcher = SequenceMatcher(None, [w.of(first) for w in old], [w.of(second) for w in new], autojunk=False)
    return [WordChange(tuple(old[i:j]), tuple(new[k:m])) for tag, i, j, k, m in matcher.get_opcodes() if tag != "equal"]


def capitalise(text: str) -> str:
    """The text with its first letter in upper case."""
    return text[:1].upper() + text[1:]
