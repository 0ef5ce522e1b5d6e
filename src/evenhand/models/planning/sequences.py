"""Turn questions into sequences of tokens, in a chat template if asked for, and say which of the tokens count."""

import hashlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.core.questions import (
    BuiltIn,
    By,
    Choose,
    Entail,
    Fill,
    FirstMention,
    Follows,
    Likelihood,
    Question,
    Span,
    Write,
)
from evenhand.errors import BadInput, UnfitModel
from evenhand.models.planning import tokens
from evenhand.models.planning.plan import Cell, Ids, Read, common_beginning, join, normalise_logps
from evenhand.models.planning.tokens import NO_OTHER, TOO_LONG, TokenizedText, Unanswerable, encode

READING = 1  # increase it when the same question becomes other sequences, so that cached answers are not used
BEFORE_BLANK = "attribute before the blank"
PROMPT = "{premise}\nQuestion: {hypothesis} {0}, {2} or {1}?\nAnswer:"
"""The prompt that asks a causal model for an NLI label (after Brown et al. 2020, appendix G, for ANLI)."""

Words = tuple[str, str, str]
"""The words that stand for entailment, neutral and contradiction."""
USUAL: Words = ("True", "Neither", "False")


@dataclass(frozen=True, slots=True)
class Part:
    """A sequence, including the start token, and the positions of the tokens that count."""

    ids: Ids
    asked: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Asking:
    """The sequences that answer a question. `finish` makes the answer from their tokens' log-probabilities."""

    parts: tuple[Part, ...] = ()
    note: str = ""
    finish: Callable[[list[tuple[float, ...]]], tuple[float, ...]] = lambda values: tuple(chain(*values))


def label_words(labels: str | Sequence[str]) -> Words | None:
    """The words for entailment, neutral and contradiction; None if `labels` is empty."""
    words = [word.strip() for word in (labels.split(",") if isinstance(labels, str) else labels)]
    if not words or words == [""]:
        return None
    if len(words) != 3 or len(set(words)) < 3 or not all(words):
        raise BadInput(
            "`labels` of a causal model must be three different words for entailment, neutral and contradiction, in "
            f"this order, such as True,Neither,False. Got '{','.join(words)}'."
        )
    return words[0], words[1], words[2]


def as_choice(question: Entail, words: Words, by: By) -> Choose:
    """The NLI question as a choice among the three words."""
    prompt = PROMPT.format(*words, premise=question.premise, hypothesis=question.hypothesis)
    return Choose(prompt.removesuffix("\nAnswer:") if by == "letters" else prompt, words, by)


def answerable(question: Question, words: Words | None) -> BuiltIn:
    """The question, if a causal model can answer it, else an error."""
    known = tokens.built_in(question, "A causal language model")
    if isinstance(known, Follows):
        raise UnfitModel(
            "A causal language model has no next-sentence head. Use asks='likelihood', the probability of a sentence "
            "after another, which is the default of StereoSet's measures for causal models."
        )
    if isinstance(known, Entail) and not words:
        raise UnfitModel(
            "A causal language model has no classifier. To ask it NLI questions, give the words that stand for "
            "entailment, neutral and contradiction: `labels='True,Neither,False'`"
        )
    if isinstance(known, Fill) and not known.among:
        raise UnfitModel(
            f"A causal language model compares the candidates of a blank. Got only {known.answer!r} for "
            f"{known.text!r}. Give the candidates as `among` of Fill, or use the measure with among='candidates'."
        )
    if isinstance(known, Likelihood) and known.masked != "each":
        raise UnfitModel(
            "A causal language model has no masks: it scores each token after the tokens before it. "
            f"masked={known.masked!r} is only for masked language models."
        )
    return known


def texts(question: BuiltIn, words: Words | None) -> list[str]:
    """The texts that must be tokenized before the question can be read."""
    return tokens.texts(as_choice(question, words, "total") if isinstance(question, Entail) and words else question)


def template(tokenizer: Any) -> str | None:
    """The tokenizer's chat template, the default one of several; None if it has none."""
    templates = getattr(tokenizer, "chat_template", None)
    return templates.get("default") if isinstance(templates, dict) else templates


def messages(question: Choose | Write | FirstMention) -> list[dict[str, str]]:
    """The messages before the reply: the system prompt, if there is one, and the user's prompt."""
    before = [{"role": "system", "content": question.system}] if question.system else []
    return [*before, {"role": "user", "content": question.text}]


Replies = Mapping[Choose, Sequence[tuple[TokenizedText, int]]]


def replies(model: str, tokenizer: Any, questions: Iterable[BuiltIn]) -> Replies:
    """For each `Choose` with `chat` and each option, the tokens of template and option, and where the option starts."""
    asked = [question for question in questions if isinstance(question, Choose) and question.chat]
    before = chats(model, tokenizer, asked)
    whole = {q: [before[q.text, q.system] + option for option in q.continuations] for q in asked}
    tokenized = encode(tokenizer, chain(*whole.values()), 2**31, templated=True)
    return {q: [(tokenized[text], len(before[q.text, q.system])) for text in whole[q]] for q in asked}


def chats(model: str, tokenizer: Any, asked: Sequence[Choose | Write | FirstMention]) -> dict[tuple[str, str], str]:
    """The templated text before the reply, by prompt and system prompt.

    If the template can turn off thinking, the model is asked to reply without it.
    """
    if not asked:
        return {}
    if not template(tokenizer):
        raise UnfitModel(f"The tokenizer of '{model}' has no chat template. Leave out `chat` to use a plain prompt.")
    try:
        options = {"tokenize": False, "add_generation_prompt": True, "enable_thinking": False}
        return {(q.text, q.system): str(tokenizer.apply_chat_template(messages(q), **options)) for q in asked}
    except Exception as error:  # templates are programs, and may raise any error
        raise UnfitModel(
            f"The chat template of '{model}' refuses the prompt: {error}. If it takes no `system` prompt, remove that."
        ) from error


@dataclass
class Sequences:
    """Turns questions into sequences, which begin with the token `start`, or with the chat template.

    `replies` has the options of each `Choose` in a chat: see `replies`.
    """

    tokenized: Mapping[str, TokenizedText]
    start: int
    longest: int
    words: Words | None
    replies: Replies
    _compared: dict[Hashable, Asking] = field(default_factory=dict)

    def asking(self, question: BuiltIn) -> Asking:
        if not isinstance(question, Fill):
            return self._asking(question)
        frame = tokens.frame(question)
        if frame not in self._compared:  # all candidates of a blank have the same sequences
            self._compared[frame] = self._asking(question)
        candidate = question.among.index(question.answer)
        return replace(self._compared[frame], finish=lambda values: (normalise_logps(values)[candidate],))

    def _asking(self, question: BuiltIn) -> Asking:
        try:
            if isinstance(question, Likelihood):
                return self._likelihood(question)
            if isinstance(question, Choose):
                return Asking(tuple(self._options(question)), finish=question.compared)
            if isinstance(question, Fill):
                sequences = [self._up_to_hidden(question, candidate) for candidate in question.among]
            else:
                sequences = [self._whole(text) for text in texts(question, self.words)]
            same = common_beginning(sequences)  # equally likely in all sequences, so not read
            if all(len(ids) == same for ids in sequences):
                raise Unanswerable(NO_OTHER)
            parts = tuple(Part(ids, tuple(range(same, len(ids)))) for ids in sequences)
            return Asking(parts, finish=normalise_logps)
        except Unanswerable as reason:
            return Asking(note=str(reason))

    def _likelihood(self, question: Likelihood) -> Asking:
        ids = self._whole(question.text)
        counted = set(tokens.counted_positions(question, self.tokenized))
        positions = self.tokenized[question.text].positions
        places = tuple(n for n, position in enumerate(positions, start=1) if position in counted)
        if not question.start_once:
            return Asking((Part(ids, places),))
        first = Part(ids[:2], tuple(n for n in places if n == 1))
        rest = Part(ids[1:], tuple(n - 1 for n in places if n > 1))
        return Asking((first, rest))

    def _options(self, question: Choose) -> Iterator[Part]:
        """The prompt followed by each option. Only the tokens of the option count."""
        if question.chat:
            for text in tokens.texts(question):
                self.tokenized[text].usable()  # the question must not contain a special token of the template
            for tokenized, start in self.replies[question]:
                ids = tokenized.usable().ids
                if len(ids) > self.longest:
                    raise Unanswerable(TOO_LONG)
                yield Part(ids, tuple(tokenized.inside(Span(start, len(tokenized.text)))))
            return
        for text in tokens.texts(question):
            tokenized = self.tokenized[text].usable()
            inside = tokenized.inside(Span(len(question.text), len(text)))
            yield Part(self._whole(text), tuple(1 + tokenized.positions.index(position) for position in inside))

    def _up_to_hidden(self, question: Fill, candidate: str) -> Ids:
        """The sentence with the candidate up to the first hidden span, since a causal model cannot skip tokens."""
        text, blank, hidden = question.filled(candidate)
        ids = self._whole(text)
        if not hidden:
            return ids
        if min(hidden).start < blank.stop:
            raise Unanswerable(BEFORE_BLANK)
        tokenized = self.tokenized[text]
        return ids[: 1 + tokenized.positions.index(tokenized.inside(min(hidden))[0])]

    def _whole(self, text: str) -> Ids:
        tokenized = self.tokenized[text].usable()
        ids = (self.start, *(tokenized.ids[position] for position in tokenized.positions))
        if len(ids) > self.longest:
            raise Unanswerable(TOO_LONG)
        return ids


def fingerprint(network: str, words: Words | None, template: str | None) -> str:
    """A hash of the network's fingerprint, `READING`, the words for labels with their prompt, and the chat template."""
    chat = f" {template}" if template else ""
    return hashlib.sha256(f"{network} {READING} {words and (words, PROMPT)}{chat}".encode()).hexdigest()[:32]


Place = tuple[int, int]
"""The index of a row, and of a node in the row."""


class Forest:
    """Rows that are trees of tokens, in which every sequence is a path from the root.

    Sequences that begin with the same token are put into one row, so that they share their common beginning. A row has
    at most `most` nodes, or twice the length of its longest sequence if that is more. With `most=0`, rows have no
    branches: a row has one sequence and the sequences that are beginnings of it. A beginning may be in several rows,
    but it is read only in the first of them, so that the same token after the same tokens has the same number to the
    last bit.
    """

    def __init__(self, sequences: Iterable[Ids], size: int, most: int) -> None:
        rows: list[list[int]] = [[]]
        parents: list[list[int]] = [[]]
        path: list[int] = []  # the nodes of the previous sequence in the last row
        homes: list[Place] = []  # the place where each token of the previous sequence is read
        last: Ids = ()
        self._homes: dict[Ids, tuple[Place, ...]] = {}
        for ids in sorted(set(sequences)):
            same = common_beginning([last, ids])
            path, homes = path[:same], homes[:same]
            room = max(most, 2 * len(ids)) if most else 0
            if rows[-1] and (not same or (len(rows[-1]) + len(ids) - same > room and same < len(rows[-1]))):
                rows.append([])
                parents.append([])
                path = []
            for depth in range(len(path), len(ids)):
                rows[-1].append(ids[depth])
                parents[-1].append(path[-1] if path else 0)
                path.append(len(rows[-1]) - 1)
                if depth == len(homes):
                    homes.append((len(rows) - 1, path[-1]))
            self._homes[ids] = tuple(homes)
            last = ids
        self.rows: list[Ids] = [join(row, above, size) for row, above in zip(rows, parents, strict=True)]

    def path(self, ids: Ids) -> list[tuple[Ids, int]]:
        """For each token of a sequence, its row (as tokens) and its node in the row."""
        return [(self.rows[row], node) for row, node in self._homes[ids]]

    def reads(self, ids: Ids, asked: Sequence[int]) -> tuple[Read, ...]:
        """The reads for the `asked` positions of a sequence, one per row. A token is read at the node before it."""
        if not asked:
            return ()
        homes = self._homes[ids[: max(asked)]]
        cells: dict[int, list[Cell]] = {}
        for position in asked:
            row, node = homes[position - 1]
            cells.setdefault(row, []).append((node, ids[position]))
        return tuple(Read(self.rows[row], tuple(in_row)) for row, in_row in cells.items())


def visible_nodes(parents: NDArray[np.int64]) -> NDArray[np.bool_]:
    """For each node, the nodes it attends to: itself and its ancestors. (rows, nodes) -> (rows, nodes, nodes)."""
    rows, nodes = parents.shape
    every = np.arange(rows)
    visible = np.zeros((rows, nodes, nodes), dtype=np.bool_)
    for node in range(nodes):
        if node:
            visible[:, node] = visible[every, parents[:, node]]
        visible[:, node, node] = True
    return visible
