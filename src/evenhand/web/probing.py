"""What one or two models expect in the blank of a sentence and of its gender-swapped counterpart."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from evenhand.core.questions import Fill, Span
from evenhand.errors import BadInput, check_known
from evenhand.models import load_masked
from evenhand.models.loading.names import find, kind, known_models
from evenhand.text.swap import swapper

if TYPE_CHECKING:
    from evenhand.models.networks.masked import MaskedLM

BLANK = re.compile(r"\[MASK\]|<mask>|_{2,}", re.I)
LONGEST_TEXT = 2_000
LONGEST_WORD = 100
MOST_WORDS = 50
LIKELIEST = 10
KEPT = 3
"""The number of models kept in memory."""


@dataclass(slots=True)
class Bar:
    """A word's log-probability in the blank (NaN with a note if unknown) and the length of its bar, from 0 to 100."""

    word: str
    logp: float
    length: float = 0.0
    note: str = ""

    @property
    def share(self) -> str:
        share = 100 * math.exp(self.logp)
        return self.note or ("under 0.001 %" if share < 0.001 else f"{share:.3g} %")


class ProbedModels:
    """Models by name, loaded when they are first asked. Not thread-safe: only one thread may ask."""

    def __init__(self, extra: Sequence[str] = ()) -> None:
        for name in extra:
            find(name)
        masked = (name for name in known_models() if kind(find(name)) == "masked")
        self.names = list(dict.fromkeys([*extra, *masked]))
        self._loaded = lru_cache(maxsize=KEPT)(load_masked)

    def load(self, name: str) -> "MaskedLM":
        """Load a model that the server offers; requests cannot load others."""
        check_known("model", [name], self.names)
        return self._loaded(name)

    def ask(self, models: Sequence[str], text: str, words: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
        """By model, the answers for the sentence and, if it has gendered words, for its counterpart.

        An answer has the `text`, the bars of the words `asked` about, and those of the `likeliest` words. All bars have
        one scale.
        """
        texts = both_genders(text)
        answers = {name: [_probe_text(self.load(name), text, words) for text in texts] for name in models}
        bars = [bar for sides in answers.values() for side in sides for bar in (*side["asked"], *side["likeliest"])]
        likeliest = max((bar.logp for bar in bars if not bar.note), default=0.0)
        for bar in bars:
            bar.length = 0.0 if bar.note else 100 * math.exp(bar.logp - likeliest)
        return answers


def both_genders(text: str) -> list[str]:
    """The sentence and its gender-swapped counterpart; the sentence alone if no word can be swapped."""
    _find_blank(text)
    swapped = swapper()(text)
    return [text, swapped] if swapped != text and len(BLANK.findall(swapped)) == 1 else [text]


def split_words(text: str) -> list[str]:
    """The words of a list, separated by commas or line ends, without repetitions."""
    words = list(dict.fromkeys(word.strip() for word in re.split(r"[,\n]", text) if word.strip()))
    if not words:
        raise BadInput("There are no words. Give one or more, separated by commas: he, she, they.")
    if len(words) > MOST_WORDS:
        raise BadInput(f"At most {MOST_WORDS} words at a time. Got {len(words)}.")
    if any(len(word) > LONGEST_WORD for word in words):
        raise BadInput(f"A word can have at most {LONGEST_WORD} characters. Separate words by commas.")
    return words


def _find_blank(text: str) -> Span:
    if len(text) > LONGEST_TEXT:
        raise BadInput(f"A sentence can have at most {LONGEST_TEXT:,} characters here. Got {len(text):,}.")
    blanks = [Span(*match.span()) for match in BLANK.finditer(text)]
    if len(blanks) != 1:
        raise BadInput(f"The sentence must have one blank, written [MASK] or ___. Got {len(blanks) or 'none'}.")
    return blanks[0]


def _probe_text(model: "MaskedLM", text: str, words: Sequence[str]) -> dict[str, Any]:
    blank = _find_blank(text)
    answers = model.answer([Fill(text, blank, word) for word in words])
    bars = [
        Bar(word, answer.logp, note=(answer.note or "no answer") if math.isnan(answer.logp) else "")
        for word, answer in zip(words, answers, strict=True)
    ]
    likeliest = [Bar(word, logp) for word, logp in model.likeliest(text, blank, LIKELIEST)]
    return {"text": text, "asked": bars, "likeliest": likeliest}
