"""A text as a tokenizer sees it, and which tokens a span of it covers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from evenhand.core.questions import Span
from evenhand.models.planning.plan import Ids

CHUNK = 1000  # texts a tokenizer call

UNKNOWN = "unknown word"
TOO_LONG = "too long"
SPECIAL = "special token in the text"
STRADDLES = "part of a piece"  # kept answers have this note
NO_OTHER = "candidates do not differ"


class Unanswerable(Exception):
    """The text cannot be asked about; the message is the note for the answer."""


@dataclass(frozen=True)
class TokenizedText:
    """The tokens of a text, special tokens at their places."""

    text: str
    ids: Ids
    added: Sequence[int]
    """1 for the special tokens around the text, 0 for its own tokens."""
    encoding: Any
    """What the tokenizer knows besides; it is asked when somebody wants to know."""
    note: str = ""

    @cached_property
    def positions(self) -> list[int]:
        """Where the text's own tokens are."""
        return [i for i, is_added in enumerate(self.added) if not is_added]

    @cached_property
    def words(self) -> Sequence[int | None]:
        """Which word each token belongs to."""
        return tuple(self.encoding.word_ids)

    def inside(self, span: Span) -> list[int]:
        """The positions of the tokens that make up the span.

        Prefix-space and SentencePiece tokenizers count the space before a word to its first token, or make a
        token of it alone: both belong to the word. A token that reaches beyond the span cannot be masked without
        masking its neighbour, so it has no answer.
        """
        found = [i for i, (start, stop) in self._own.items() if start < span.stop and span.start < stop]
        if not found or self._own[found[0]][0] < span.start or self._own[found[-1]][1] > span.stop:
            raise Unanswerable(STRADDLES)
        first = found[0]
        while first - 1 in self.positions and first - 1 not in self._own:
            first -= 1
        return list(range(first, found[-1] + 1))

    @cached_property
    def _own(self) -> dict[int, tuple[int, int]]:
        """Characters of each token without the white space around them; tokens of white space alone are left out."""
        own = {}
        offsets = self.encoding.offsets
        for position in self.positions:
            start, stop = offsets[position]
            characters = self.text[start:stop]
            if stripped := characters.strip():
                start += characters.index(stripped)
                own[position] = start, start + len(stripped)
        return own


def encode(tokenizer: Any, texts: Sequence[str], longest: int) -> Iterator[TokenizedText]:
    """The tokens of each text; the note says why a text cannot be asked about."""
    notes = _Notes(tokenizer, longest)
    for start in range(0, len(texts), CHUNK):
        chunk = list(texts[start : start + CHUNK])
        encoded = tokenizer(
            chunk,
            truncation=False,
            padding=False,
            return_offsets_mapping=True,  # a tokenizer without says so, rather than give wrong ones
            return_special_tokens_mask=True,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )
        for row, text in enumerate(chunk):
            ids = tuple(encoded["input_ids"][row])
            added = encoded["special_tokens_mask"][row]
            yield TokenizedText(text, ids, added, encoded.encodings[row], notes.of(ids, added))


@dataclass(frozen=True, slots=True)
class TokenizedPair:
    """The tokens of two texts as a tokenizer joins them, with its own separators."""

    ids: Ids
    types: Ids
    """Which of the two texts each token is counted to; empty where the tokenizer does not say."""
    note: str = ""


def encode_pairs(tokenizer: Any, pairs: Sequence[tuple[str, str]], longest: int) -> Iterator[TokenizedPair]:
    """The tokens of each pair of texts, never cut; the note says why a pair cannot be asked about."""
    notes = _Notes(tokenizer, longest)
    for start in range(0, len(pairs), CHUNK):
        chunk = pairs[start : start + CHUNK]
        encoded = tokenizer(
            [first for first, _ in chunk],
            [second for _, second in chunk],
            truncation=False,
            padding=False,
            return_special_tokens_mask=True,
            verbose=False,
        )
        types = encoded.get("token_type_ids") or [()] * len(chunk)
        for row in range(len(chunk)):
            ids = tuple(encoded["input_ids"][row])
            note = notes.of(ids, encoded["special_tokens_mask"][row])
            if not {0, 1} <= set(encoded.sequence_ids(row)):  # nothing is left of one of the two
                note = UNKNOWN
            yield TokenizedPair(ids, tuple(types[row]), note)


class _Notes:
    """Says why tokens cannot be asked about."""

    def __init__(self, tokenizer: Any, longest: int) -> None:
        self.longest = longest
        self.unknown = tokenizer.unk_token_id
        self.special = set(tokenizer.all_special_ids) - {self.unknown}

    def of(self, ids: Ids, added: Sequence[int]) -> str:
        """The note, empty where there is nothing to say; `added` are the tokens that were put around the text."""
        own = {token for token, is_added in zip(ids, added, strict=True) if not is_added}
        if not own or self.unknown in own:
            return UNKNOWN
        if self.special & own:
            return SPECIAL
        return TOO_LONG if len(ids) > self.longest else ""


def count(text: TokenizedText, span: Span) -> int:
    """Into how many tokens the span is cut; 0 where the text cannot be represented."""
    try:
        return 0 if text.note else len(text.inside(span))
    except Unanswerable:
        return 0
