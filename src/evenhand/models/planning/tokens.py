"""Tokenized texts, and the tokens that cover a span."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import Any, Self, TypeVar

from evenhand.core.questions import BuiltIn, Choose, Fill, Likelihood, Question, Span
from evenhand.errors import BadInput, UnfitModel
from evenhand.models.planning.plan import Ids, join

Pair = tuple[str, str]
Input = TypeVar("Input", str, Pair)

CHUNK = 1000  # texts or pairs in one call of a tokenizer

UNKNOWN = "unknown word"
TOO_LONG = "too long"
SPECIAL = "special token in the text"
STRADDLES = "part of a piece"  # cached answers have this note
NO_OTHER = "candidates do not differ"
NONE_SHARED = "no token shared with the other sentence"
NONE_CHANGED = "no token that the other sentence lacks"


class Unanswerable(Exception):
    """A question has no answer. The message becomes the note of the answer."""


@dataclass(frozen=True)
class TokenizedText:
    """The tokens of a text, including special tokens."""

    text: str
    ids: Ids
    added: Sequence[int]
    """For each token, 1 if the tokenizer added it around the text, else 0."""
    encoding: Any
    """The tokenizer's `Encoding` of the text, with offsets and word ids."""
    note: str = ""
    """The reason why no question about the text has an answer; empty if questions have answers."""

    def usable(self) -> Self:
        if self.note:
            raise Unanswerable(self.note)
        return self

    @cached_property
    def positions(self) -> list[int]:
        return [i for i, is_added in enumerate(self.added) if not is_added]

    def inside(self, span: Span) -> list[int]:
        """The positions of the tokens that make up the span.

        Some tokenizers make the space before a word part of its first token, others make it a token. In both cases the
        space belongs to the word. A token that reaches beyond the span cannot be masked without masking a part of the
        next word, so `Unanswerable` is raised.
        """
        spans = self._spans
        overlapping = [i for i, (start, stop) in spans.items() if start < span.stop and span.start < stop]
        if not overlapping or spans[overlapping[0]][0] < span.start or spans[overlapping[-1]][1] > span.stop:
            raise Unanswerable(STRADDLES)
        first = overlapping[0]
        while first - 1 in self.positions and first - 1 not in spans:
            first -= 1
        return list(range(first, overlapping[-1] + 1))

    def holding(self, character: int) -> int:
        for position, (start, stop) in self._spans.items():
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
    def _spans(self) -> dict[int, tuple[int, int]]:
        """The start and stop of each token, without white space around it. Tokens of only white space are excluded."""
        spans = {}
        offsets = self.encoding.offsets
        for position in self.positions:
            start, stop = offsets[position]
            characters = self.text[start:stop]
            if stripped := characters.strip():
                start += characters.index(stripped)
                spans[position] = start, start + len(stripped)
        return spans


def built_in(question: Question, model: str) -> BuiltIn:
    """The question. Raises an error if it is not one of evenhand's own, which no network of ours can answer."""
    if isinstance(question, BuiltIn):
        return question
    if not hasattr(question, "fault"):
        raise BadInput(f"A question is a Fill, a Likelihood, an Entail, a Follows or a Choose. Got {question!r}.")
    raise UnfitModel(
        f"{model} cannot answer {type(question).__name__} questions, which are not evenhand's own. Use a model of your "
        "own that can: an object with a `name`, a `fingerprint` and a method `answer`."
    )


def frame(question: BuiltIn) -> Hashable:
    """A key that questions about different candidates of the same blank share. Any other question is its own key."""
    if not isinstance(question, Fill) or not question.among:
        return question
    before, after = question.text[: question.blank.start], question.text[question.blank.stop :]
    stop = question.blank.stop
    hidden = tuple((span.start >= stop, span.shift(-stop) if span.start >= stop else span) for span in question.hidden)
    return before, after, hidden, question.masks, question.among


def texts(question: Question) -> list[str]:
    """The texts, other than pairs, that must be tokenized before the question can be read."""
    if isinstance(question, Fill):
        return [question.filled(candidate)[0] for candidate in question.among or (question.answer,)]
    if isinstance(question, Choose):
        return [question.text + option for option in question.continuations]
    return [question.text, *question.versus] if isinstance(question, Likelihood) else []


def counted_positions(question: Likelihood, tokenized: Mapping[str, TokenizedText]) -> list[int]:
    """The positions of the tokens that count: outside skipped spans and, of two versions, shared by both or changed."""
    tokenized_text = tokenized[question.text].usable()
    outside = tokenized_text.outside(question.skip)
    if not question.versus:
        return outside
    # As in the released code of CrowS-Pairs, special tokens are matched too, and in long texts frequent tokens are not.
    first, second = (tokenized[text].ids for text in question.versus)
    blocks = SequenceMatcher(None, first, second).get_matching_blocks()
    side = question.versus.index(question.text)
    shared = {place for block in blocks for place in range(block[side], block[side] + block.size)}
    changed = question.masked == "changed"
    if not (counted := [position for position in outside if (position in shared) != changed]):
        raise Unanswerable(NONE_CHANGED if changed else NONE_SHARED)
    return counted


def encode(tokenizer: Any, texts: Iterable[str], longest: int, *, templated: bool = False) -> dict[str, TokenizedText]:
    """The tokens of each distinct text. `templated` texts contain their special tokens, which are then allowed."""
    note_on = _notes(tokenizer, longest, set(tokenizer.all_special_ids) if templated else frozenset())
    unneeded = dict.fromkeys(["return_attention_mask", "return_token_type_ids"], False)
    unneeded |= {"add_special_tokens": False} if templated else {}
    tokenized = {}
    # A tokenizer that has no offsets raises an error here.
    for chunk, encoded in _in_chunks(tokenizer, texts, lambda some: (some,), return_offsets_mapping=True, **unneeded):
        for row, text in enumerate(chunk):
            ids = tuple(encoded["input_ids"][row])
            added = [0] * len(ids) if templated else encoded["special_tokens_mask"][row]
            tokenized[text] = TokenizedText(text, ids, added, encoded.encodings[row], note_on(ids, added))
    return tokenized


def _in_chunks(
    tokenizer: Any, inputs: Iterable[Input], texts: Callable[[list[Input]], Iterable[Sequence[str]]], **options: bool
) -> Iterator[tuple[list[Input], Any]]:
    """The distinct inputs in chunks, each with the tokenizer's untruncated output for the `texts` of the chunk."""
    distinct = list(dict.fromkeys(inputs))
    options |= {"truncation": False, "padding": False, "return_special_tokens_mask": True, "verbose": False}
    for start in range(0, len(distinct), CHUNK):
        chunk = distinct[start : start + CHUNK]
        yield chunk, tokenizer(*texts(chunk), **options)


@dataclass(frozen=True, slots=True)
class TokenizedPair:
    """The tokens of two texts, which the tokenizer joined with its separators."""

    ids: Ids
    types: Ids
    """For each token, 0 or 1: the text that it belongs to. Empty if the tokenizer gives no types."""
    note: str = ""

    def with_types(self, size: int, known: int) -> Ids:
        """Each token packed with its type; the tokens alone if there are no types, or one is not below `known`."""
        return join(self.ids, self.types, size) if self.types and max(self.types) < known else self.ids


def encode_pairs(
    tokenizer: Any, pairs: Iterable[Pair], longest: int, *, unknown: bool = False
) -> dict[Pair, TokenizedPair]:
    """The tokens of each distinct pair of texts, never truncated. With `unknown`, unknown words are no fault."""
    note_on = _notes(tokenizer, longest, {tokenizer.unk_token_id} if unknown else frozenset())
    tokenized = {}
    for chunk, encoded in _in_chunks(tokenizer, pairs, lambda some: map(list, zip(*some, strict=True))):
        types = encoded.get("token_type_ids") or [()] * len(chunk)
        for row, pair in enumerate(chunk):
            ids = tuple(encoded["input_ids"][row])
            note = note_on(ids, encoded["special_tokens_mask"][row])
            if not {0, 1} <= set(encoded.sequence_ids(row)):  # the tokenizer dropped all characters of one text
                note = UNKNOWN
            tokenized[pair] = TokenizedPair(ids, tuple(types[row]), note)
    return tokenized


def _notes(tokenizer: Any, longest: int, expected: Set[int] = frozenset()) -> Callable[[Ids, Sequence[int]], str]:
    """A function of token ids that gives the note of their text; see `TokenizedText.note`."""
    unknown = None if tokenizer.unk_token_id in expected else tokenizer.unk_token_id
    special = set(tokenizer.all_special_ids) - {unknown} - expected

    def note(ids: Ids, added: Sequence[int]) -> str:
        of_text = {token for token, is_added in zip(ids, added, strict=True) if not is_added}
        if not of_text or unknown in of_text:
            return UNKNOWN
        if special & of_text:
            return SPECIAL
        return TOO_LONG if len(ids) > longest else ""

    return note


def count(text: TokenizedText, span: Span) -> int:
    """The number of tokens of the span; 0 if the text has a note, or a token reaches beyond the span."""
    try:
        return len(text.usable().inside(span))
    except Unanswerable:
        return 0
