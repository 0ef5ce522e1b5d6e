"""From a question to requests, by what the server can be asked, and from its replies to the answer."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np

from evenhand.core.answers import fault
from evenhand.core.questions import LETTERS, Answer, Choose, Fill, Likelihood, Question, Span
from evenhand.errors import ModelError
from evenhand.models.planning.plan import normalised
from evenhand.models.planning.sequences import BEFORE_BLANK, messages
from evenhand.models.planning.tokens import TOO_LONG, TokenizedText, Unanswerable
from evenhand.models.planning.tokens import texts as plain_texts
from evenhand.models.served import replies
from evenhand.models.served.client import Refused, Reply, Request
from evenhand.models.served.replies import Token

NOT_BACK = "the server's tokens do not give the text back"
UNCLEAR = "fewer than half of the samples name an option"
UNLISTED = -100.0
"""Stands for the log-probability of a letter that is not among the likeliest tokens, if another letter is."""
REPLY_TOKENS = 16
"""Of a sample: enough for a letter, or an option and its letter."""
Z2 = 1.959964**2
Kind = Literal["a", "b", "c"]
KINDS: dict[str, str] = {
    "a": "log-probabilities of whole texts",
    "b": "log-probabilities of the next token",
    "c": "text only",
}


@dataclass(frozen=True, slots=True)
class Ability:
    """What a server can be asked, as `probe` finds out."""

    whole: Literal["", "echo", "prompt_logprobs"] = ""
    """How it gives the log-probabilities of a prompt."""
    next: int = 0
    """How many of the likeliest next tokens it lists after a plain prompt; 0: none."""
    chat_next: int = 0
    """The same after a chat."""
    text: bool = False
    chat_text: bool = False
    start: str = ""
    """The token that we put before a plain prompt, since the server puts none."""
    begins: bool = False
    """Whether a start token is before a plain prompt, the server's or ours."""
    limit: str = "max_tokens"
    """The name of the limit of a chat's reply."""
    density: float = 0.0
    """Tokens of a prompt for each character; 0: the server does not say."""
    samples: int = 20
    """How often a question is asked where the server gives text only."""

    @property
    def kind(self) -> Kind:
        return "a" if self.whole else "b" if self.next or self.chat_next else "c"


def cannot(question: Question, ability: Ability) -> str:
    """Why the question cannot be asked; empty where it can."""
    if isinstance(question, Choose):
        if question.by != "letters":
            if question.chat:
                return "whole options cannot be scored in a server's chat, only their letters (by=letters)"
            return "" if ability.whole else "it gives no log-probabilities of a prompt: only letters can be asked for"
        if question.chat:
            return "" if ability.chat_next or ability.chat_text else "it has no chats: leave out `chat`"
        return "" if ability.whole or ability.next or ability.text else "it has chats only: ask with `chat`"
    if not isinstance(question, Fill | Likelihood):
        return f"{type(question).__name__} questions need a model in this process"
    if not ability.whole:
        return "it gives no log-probabilities of a prompt, which likelihoods and blanks are made of"
    if isinstance(question, Fill):
        return "" if question.among else "blanks need candidates to compare: among='candidates'"
    if question.masked != "each" or question.versus or question.start_once:
        return "it asks for tokens in a way that needs the tokenizer: a model in this process"
    return ""


def texts(question: Question) -> list[str]:
    """The plain texts whose tokens a question is about, where whole texts can be asked."""
    if not isinstance(question, Fill):
        return plain_texts(question)
    found = []
    for candidate in question.among:
        text, blank, hidden = question.filled(candidate)
        if hidden and min(hidden).start < blank.stop:
            raise Unanswerable(BEFORE_BLANK)
        found.append(text[: min(hidden).start].rstrip() if hidden else text)
    return found


def requests(question: Question, ability: Ability, model: str) -> list[Request]:
    """The requests for a question that can be asked; `answer` takes their replies in this order."""
    if not isinstance(question, Choose) or (ability.whole and not question.chat):
        return [whole(text, ability, model) for text in texts(question)]
    if top := ability.chat_next if question.chat else ability.next:
        return [following(question, ability, model, top)]
    return [following(question, ability, model, 0, seed) for seed in range(ability.samples)]


def whole(text: str, ability: Ability, model: str) -> Request:
    """Asks for the log-probability of each token of a text."""
    how = {"prompt_logprobs": 0} if ability.whole == "prompt_logprobs" else {"echo": True, "logprobs": 1}
    return Request.of("completions", model=model, prompt=ability.start + text, max_tokens=1, temperature=1, **how)


def following(question: Choose, ability: Ability, model: str, top: int, seed: int = 0) -> Request:
    """Asks for the `top` likeliest tokens after the prompt, or, with 0, for a sample of text."""
    tokens = 1 if top else REPLY_TOKENS
    how: dict[str, Any] = {"model": model, "temperature": 1} | ({} if top else {"seed": seed})
    if question.chat:
        listed = {"logprobs": True, "top_logprobs": top} if top else {}
        return Request.of("chat/completions", messages=messages(question), **{ability.limit: tokens}, **listed, **how)
    listed = {"logprobs": top} if top else {}
    return Request.of("completions", prompt=ability.start + question.text, max_tokens=tokens, **listed, **how)


def answer(question: Question, ability: Ability, found: Sequence[Reply]) -> Answer:
    """The answer to a question, from the replies to its requests."""
    try:
        for reply in found:
            if isinstance(reply, Refused) and reply.too_long:
                raise Unanswerable(TOO_LONG)
            if isinstance(reply, Refused):
                raise ModelError(f"The server refuses a question ({reply.status}): '{reply.says}'.")
        if not isinstance(question, Choose) or (ability.whole and not question.chat):
            return _answer_from_texts(question, ability, found)
        for reply in found:
            if 0 < replies.prompt_tokens(reply) < ability.density * len(question.text) / 2:
                raise Unanswerable("the server has cut the prompt")
        if ability.chat_next if question.chat else ability.next:
            return Answer(tuple(_letter_logps(question, replies.generated(found[0]))))
        return Answer(tuple(_log_shares(question, [replies.text(reply) for reply in found])))
    except Unanswerable as reason:
        return Answer.none(str(reason))


def _answer_from_texts(question: Question, ability: Ability, found: Sequence[Reply]) -> Answer:
    tokenized = [tokens_of(reply, text, ability) for reply, text in zip(found, texts(question), strict=True)]
    if isinstance(question, Choose):
        inside = [_logps_at(logps, text.inside(Span(len(question.text), len(text.text)))) for text, logps in tokenized]
        return Answer(question.compared(inside))
    if not isinstance(question, Fill):
        text, logps = tokenized[0]
        return Answer(tuple(_logps_at(logps, text.outside(question.skip if isinstance(question, Likelihood) else ()))))
    firsts = {text.text[slice(*text.encoding.offsets[0])] for text, _ in tokenized}
    same = 1 if len(firsts) == 1 else 0  # equally likely in all
    values = [tuple(_logps_at(logps, range(same, len(logps)))) for _, logps in tokenized]
    return Answer((normalised(values)[question.among.index(question.answer)],))


def tokens_of(reply: Reply, text: str, ability: Ability) -> tuple[TokenizedText, list[float | None]]:
    """The tokens of a text, and their log-probabilities, without the start token and what was generated."""
    found = replies.of_prompt(reply) if ability.whole == "prompt_logprobs" else replies.generated(reply)
    skip, space = aligned([token.text for token in found], text)
    check_numbers([token.logp for token in found[skip:]])
    ends = list(accumulate((len(token.text) for token in found[skip:]), initial=-space))
    if len(text) not in ends:
        raise Unanswerable(NOT_BACK)
    count = ends.index(len(text))
    places = [(max(0, start), end) for start, end in pairwise(ends[: count + 1])]
    logps = [token.logp for token in found[skip : skip + count]]
    return TokenizedText(text, tuple(range(count)), [0] * count, SimpleNamespace(offsets=places)), logps


def check_numbers(logps: Sequence[float | None]) -> None:
    """Raise if these cannot be log-probabilities, before they are combined: normalised values would hide the fault."""
    known = [logp for logp in logps if logp is not None]
    if wrong := fault(known):
        raise Unanswerable(wrong)
    if len(known) > 1 and not any(known):
        raise Unanswerable("every log-probability in the server's reply is 0")


def aligned(tokens: Sequence[str], text: str) -> tuple[int, int]:
    """How many tokens come before the text, and whether its first has a space that is not the text's."""
    for skip in range(min(4, len(tokens))):
        joined = "".join(tokens[skip:])
        for space in (0, 1):
            if joined.startswith(" " * space + text) and tokens[skip]:
                return skip, space
    raise Unanswerable(NOT_BACK)


def _logps_at(logps: Sequence[float | None], places: Sequence[int] | range) -> list[float]:
    found = [logp for place in places if (logp := logps[place]) is not None]
    if len(found) < len(places):
        raise Unanswerable("no log-probability of the first token: the server puts no start token before a text")
    return found


def letter(token: str) -> str:
    """A token without the marks of spaces around it."""
    return token.strip(" ▁Ġ\n")


def _letter_logps(question: Choose, tokens: Sequence[Token]) -> list[float]:
    if not tokens:
        raise Unanswerable("the server gave no log-probabilities")
    check_numbers([logp for _, logp in tokens[0].top if logp != -math.inf])
    # A space belongs to the letter, as in this process, unless the server's tokens do not show spaces.
    found = [[logp for text, logp in tokens[0].top if text == option] for option in question.continuations]
    if not any(found):
        found = [[p for text, p in tokens[0].top if letter(text) == letter(o)] for o in question.continuations]
    if not any(found):
        raise Unanswerable("no option is among the likeliest tokens")
    return [float(np.logaddexp.reduce(logps)) if logps else UNLISTED for logps in found]


def _log_shares(question: Choose, given: Sequence[str]) -> list[float]:
    """The log of the midpoint of Wilson's interval of each option's share of the samples, which is never 0."""
    chosen = [parsed(text, question.options) for text in given]
    if sum(choice is not None for choice in chosen) * 2 < len(chosen):
        raise Unanswerable(UNCLEAR)
    counts = [chosen.count(place) for place in range(len(question.options))]
    return [math.log((count + Z2 / 2) / (len(given) + Z2)) for count in counts]


def parsed(text: str, options: Sequence[str]) -> int | None:
    """Which option a reply names: by its letter, at the beginning or after "answer", or as the only one in words."""
    letters = LETTERS[: len(options)]
    letter = rf"([{letters}])(?<!A(?=\s+(?!is\b|because\b|since\b)[a-z]))(?![\w'])"  # in "A woman" it is an article
    for pattern in (rf"^\W*{letter}", rf"(?i:answer)(?i:\s+is)?\W*{letter}"):
        if found := re.search(pattern, text.strip()):
            return letters.index(found[1])
    named = [place for place, option in enumerate(options) if option.strip().lower() in text.lower()]
    return named[0] if len(named) == 1 else None
