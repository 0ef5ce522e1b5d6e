"""Texts as a tokenizer sees them, and which tokens a span covers."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import Any, Self, TypeVar

from evenhand.core.questions import BuiltIn, Choose, Fill, Likelihood, Question, Span
from evenhand.errors import BadInput, UnfitModel
from evenhand.models.planning.plan import Ids, join

Pair = tuple[str, str]
Given = TypeVar("Given", str, Pair)

CHUNK = 1000  # texts in one call of a tokenizer

UNKNOWN = "unknown word"
TOO_LONG = "too long"
SPECIAL = "special token in the text"
STRADDLES = "part of a piece"  # cached answers have this note
NO_OTHER = "candidates do not differ"
NONE_SHARED = "no token shared with the other sentence"
NONE_CHANGED = "no token that the other sentence lacks"


class Unanswerable(Exception):
    """A question about a text has no answer; the message is the answer's note."""


@dataclass(frozen=True)
class TokenizedText:
    """The tokens of a text, special tokens at their places."""

    text: str
    ids: Ids
    added: Sequence[int]
    """1 for the special tokens around the text, 0 for its own tokens."""
    encoding: Any
    """The tokenizer's own record, for what is seldom needed."""
    note: str = ""
    """Why nothing can be asked about the text; empty where it can."""

    def usable(self) -> Self:
        if self.note:
            raise Unanswerable(self.note)
        return self

    @cached_property
    def positions(self) -> list[int]:
        return [i for i, is_added in enumerate(self.added) if not is_added]

    def inside(self, span: Span) -> list[int]:
        """The positions of the tokens that make up the span.

        Prefix-space and SentencePiece tokenizers count the space before a word as part of its first token, or as a
        token: both belong to the word. A token that reaches beyond the span cannot be masked without masking its
        neighbour, so there is no answer.
        """
        overlapping = [i for i, (start, stop) in self._own.items() if start < span.stop and span.start < stop]
        if not overlapping or self._own[overlapping[0]][0] < span.start or self._own[overlapping[-1]][1] > span.stop:
            raise Unanswerable(STRADDLES)
        first = overlapping[0]
        while first - 1 in self.positions and first - 1 not in self._own:
            first -= 1
        return list(range(first, overlapping[-1] + 1))

    def holding(self, character: int) -> int:
        for position, (start, stop) in self._own.items():
            if start <= character < stop:
                return position
        raise Unanswerable(STRADDLES)

    def outside(self, spans: Iterable[Span]) -> list[int]:
        excluded = {position for span in spans for position in self.inside(span)}
        positions = [position for position in self.positions if position not in excluded]
        if not positions:
            raise Unanswerable("nothing left outside the skipped spans")
        return positions

    @cached_property
    def _own(self) -> dict[int, tuple[int, int]]:
        """The characters of each token without white space around them; tokens of only white space are left out."""
        own = {}
        offsets = self.encoding.offsets
        for position in self.positions:
            start, stop = offsets[position]
            characters = self.text[start:stop]
            if stripped := characters.strip():
                start += characters.index(stripped)
                own[position] = start, start + len(stripped)
        return own


def built_in(question: Question, model: str) -> BuiltIn:
    """The question, if it is one of evenhand's own; no network of ours can answer others."""
    if isinstance(question, BuiltIn):
        return question
    if not hasattr(question, "fault"):
        raise BadInput(f"A question is a Fill, a Likelihood, an Entail, a Follows or a Choose. Got {question!r}.")
    raise UnfitModel(
        f"{model} cannot answer {type(question).__name__} questions, which are not evenhand's own. They are for a "
        "model of your own: an object with a `name`, a `fingerprint` and a method `answer`."
    )


def frame(question: BuiltIn) -> Hashable:
    """The same key for all questions about one blank's candidates; any other question is its own key."""
    if not isinstance(question, Fill) or not question.among:
        return question
    before, after = question.text[: question.blank.start], question.text[question.blank.stop :]
    stop = question.blank.stop
    hidden = tuple((span.start >= stop, span.shift(-stop) if span.start >= stop else span) for span in question.hidden)
    return before, after, hidden, question.masks, question.among


def texts(question: Question) -> list[str]:
    """The texts a tokenizer must see before the question can be read, other than in pairs."""
    if isinstance(question, Fill):
        return [question.filled(candidate)[0] for candidate in question.among or (question.answer,)]
    if isinstance(question, Choose):
        return [question.text + option for option in question.continuations]
    return [question.text, *question.versus] if isinstance(question, Likelihood) else []


def counted_positions(question: Likelihood, tokenized: Mapping[str, TokenizedText]) -> list[int]:
    """The positions of the tokens that count: outside the skipped spans, and shared by both sentences, or changed."""
    tokenized_text = tokenized[question.text].usable()
    outside = tokenized_text.outside(question.skip)
    if not question.versus:
        return outside
    # With special tokens, and leaving out common ones in long texts, as in the released code of CrowS-Pairs.
    one, other = (tokenized[text].ids for text in question.versus)
    same = SequenceMatcher(None, one, other).get_matching_blocks()
    which = question.versus.index(question.text)
    shared = {place for block in same for place in range(block[which], block[which] + block.size)}
    changed = question.masked == "changed"
    if not (counted := [position for position in outside if (position in shared) != changed]):
        raise Unanswerable(NONE_CHANGED if changed else NONE_SHARED)
    return counted


def encode(tokenizer: Any, texts: Iterable[str], longest: int, *, templated: bool = False) -> dict[str, TokenizedText]:
    """The tokens of each distinct text; `templated` texts have their special tokens in them, where they are allowed."""
    note_on = _notes(tokenizer, longest, set(tokenizer.all_special_ids) if templated else frozenset())
    unneeded = dict.fromkeys(["return_attention_mask", "return_token_type_ids"], False)
    unneeded |= {"add_special_tokens": False} if templated else {}
    tokenized = {}
    # A tokenizer without offsets raises, rather than give wrong ones.
    for chunk, encoded in _in_chunks(tokenizer, texts, lambda some: (some,), return_offsets_mapping=True, **unneeded):
        for row, text in enumerate(chunk):
            ids = tuple(encoded["input_ids"][row])
            added = [0] * len(ids) if templated else encoded["special_tokens_mask"][row]
            tokenized[text] = TokenizedText(text, ids, added, encoded.encodings[row], note_on(ids, added))
    return tokenized


def _in_chunks(
    tokenizer: Any, given: Iterable[Given], texts: Callable[[list[Given]], Iterable[Sequence[str]]], **how: bool
) -> Iterator[tuple[list[Given], Any]]:
    """The distinct values of `given` in chunks, each with the tokenizer's output for their `texts`, never truncated."""
    distinct = list(dict.fromkeys(given))
    how |= {"truncation": False, "padding": False, "return_special_tokens_mask": True, "verbose": False}
    for start in range(0, len(distinct), CHUNK):
        chunk = distinct[start : start + CHUNK]
        yield chunk, tokenizer(*texts(chunk), **how)


@dataclass(frozen=True, slots=True)
class TokenizedPair:
    """The tokens of two texts, joined by the tokenizer with its own separators."""

    ids: Ids
    types: Ids
    """Which of the two texts each token belongs to; empty where the tokenizer does not say."""
    note: str = ""

    def with_types(self, size: int, known: int) -> Ids:
        """Each token with its type, if the network has `known` types and these are among them."""
        return join(self.ids, self.types, size) if self.types and max(self.types) < known else self.ids


def encode_pairs(tokenizer: Any, pairs: Iterable[Pair], longest: int) -> dict[Pair, TokenizedPair]:
    """The tokens of each distinct pair of texts, never cut."""
    note_on = _notes(tokenizer, longest)
    tokenized = {}
    for chunk, encoded in _in_chunks(tokenizer, pairs, lambda some: map(list, zip(*some, strict=True))):
        types = encoded.get("token_type_ids") or [()] * len(chunk)
        for row, pair in enumerate(chunk):
            ids = tuple(encoded["input_ids"][row])
            note = note_on(ids, encoded["special_tokens_mask"][row])
            if not {0, 1} <= set(encoded.sequence_ids(row)):  # nothing is left of one of the two
                note = UNKNOWN
            tokenized[pair] = TokenizedPair(ids, tuple(types[row]), note)
    return tokenized


def _notes(tokenizer: Any, longest: int, expected: Set[int] = frozenset()) -> Callable[[Ids, Sequence[int]], str]:
    """A function that says why nothing can be asked about these tokens; empty where it can."""
    unknown = None if tokenizer.unk_token_id in expected else tokenizer.unk_token_id
    special = set(tokenizer.all_special_ids) - {unknown} - expected

    def note(ids: Ids, added: Sequence[int]) -> str:
        own = {token for token, is_added in zip(ids, added, strict=True) if not is_added}
        if not own or unknown in own:
            return UNKNOWN
        if special & own:
            return SPECIAL
        return TOO_LONG if len(ids) > longest else ""

    return note


def count(text: TokenizedText, span: Span) -> int:
    """The number of tokens of the span; 0 where the text cannot be represented."""
    try:
        return len(text.usable().inside(span))
    except Unanswerable:
        return 0
