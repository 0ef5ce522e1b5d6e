"""Turn a question into requests that the server can answer, and the replies into the answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from types import SimpleNamespace
from typing import Any, Literal

from evenhand.core.answers import outcomes_fault
from evenhand.core.questions import (
    LISTED,
    Answer,
    Choose,
    Fill,
    FirstMention,
    Likelihood,
    Question,
    Span,
    Write,
    countable_text,
)
from evenhand.errors import ModelError
from evenhand.models.planning.plan import normalise_logps
from evenhand.models.planning.sequences import BEFORE_BLANK, messages
from evenhand.models.planning.tokens import TOO_LONG, TokenizedText, Unanswerable
from evenhand.models.planning.tokens import texts as plain_texts
from evenhand.models.served import replies
from evenhand.models.served.client import TEMPLATE, Refused, Reply, Request
from evenhand.models.served.options import label_logps, log_shares

NOT_BACK = "the server's tokens do not give the text back"
NO_TEXT = "the model thinks until its limit of tokens: there is no text"
REPLY_TOKENS, THOUGHT_TOKENS = 16, 1024
"""The limits of tokens of a sampled reply (enough for an option and its letter) and of the thoughts before it."""
UNTRUNCATED = {"top_k": -1, "min_p": 0}
"""Settings of llama.cpp, vLLM and SGLang, which otherwise exclude unlikely tokens. OpenAI's API refuses them."""
Kind = Literal["a", "b", "c"]
KINDS: dict[str, str] = {
    "a": "log-probabilities of whole texts",
    "b": "log-probabilities of the next token",
    "c": "text only",
}


@dataclass(frozen=True, slots=True)
class Ability:
    """What a server can be asked. `probe.Probe` finds it out."""

    whole: Literal["", "echo", "prompt_logprobs"] = ""
    """The option by which the server gives the log-probabilities of a prompt; empty if it does not give them."""
    next: int = 0
    """The number of likeliest next tokens that the server lists after a plain prompt."""
    chat_next: int = 0
    """The number of likeliest next tokens that the server lists in a chat."""
    text: bool = False
    chat_text: bool = False
    start: str = ""
    """The start token that we put before a plain prompt if the server does not add one."""
    begins: bool = False
    """Whether a plain prompt begins with a start token, which the server adds or we add."""
    limit: str = "max_tokens"
    """The name of the parameter that limits the tokens of a reply in a chat."""
    density: float = 0.0
    """The number of tokens of a prompt per character; 0 if the server does not count tokens."""
    untruncated: bool = True
    """Whether the server accepts the settings `UNTRUNCATED`, to draw from all tokens."""
    samples: int = 20
    """The number of times that a question is asked if the server gives only text."""
    thinks: bool = False
    """Whether replies in a chat begin with thoughts."""
    warm: bool = True
    """Whether requests in chats state a temperature. Some models refuse it, and have a fixed temperature of 1."""

    @property
    def kind(self) -> Kind:
        return "a" if self.whole else "b" if self.next or self.chat_next else "c"

    @property
    def sampled(self) -> bool:
        """Whether some questions are answered by shares of sampled texts."""
        return self.kind == "c" or (self.chat_text and not self.chat_next)

    def top(self, question: Choose) -> int:
        """The number of likeliest tokens that answer the question; 0 if it is answered by sampled texts."""
        return self.chat_next if question.chat else self.next


def cannot(question: Question, ability: Ability) -> str:
    """The reason why the question cannot be asked; empty if it can."""
    if isinstance(question, Choose):
        whole = ability.whole and not question.chat
        if question.exact and not whole and not ability.top(question) and (ability.kind == "c" or ability.chat_text):
            return "it gives text only, and a share of texts is no probability"
        if question.by not in LISTED:
            if question.chat:
                return "whole options cannot be scored in a server's chat, only their letters (by=letters)"
            return "" if whole else "it gives no log-probabilities of a prompt: only letters can be asked for"
        if question.chat:
            return "" if ability.chat_next or ability.chat_text else "it has no chats: leave out `chat`"
        return "" if whole or ability.next or ability.text else "it has chats only: ask with `chat`"
    if isinstance(question, Write):
        if not question.chat:
            return "" if ability.text else "it has chats only: ask with `chat`"
        if ability.thinks:
            return "it thinks before it writes, which takes the text's tokens: turn its thinking off in the server"
        if not ability.warm and question.temperature != 1:
            return "it takes no temperature, and has its own, which is 1: leave out `temperature`"
        return "" if ability.chat_text else "it has no chats: leave out `chat`"
    if isinstance(question, FirstMention):
        return "first mentions need the probabilities of all next tokens: a model in this process"
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
    """The plain texts whose tokens answer the question, if the server gives the log-probabilities of a prompt."""
    if not isinstance(question, Fill):
        return plain_texts(question)
    up_to_hidden = []
    for candidate in question.among:
        text, blank, hidden = question.filled(candidate)
        if hidden and min(hidden).start < blank.stop:
            raise Unanswerable(BEFORE_BLANK)
        up_to_hidden.append(text[: min(hidden).start].rstrip() if hidden else text)
    return up_to_hidden


def requests(question: Question, ability: Ability, model: str) -> list[Request]:
    """The requests for a question that can be asked. `answer` takes their replies in this order."""
    if isinstance(question, Write):
        return [writing(question, ability, model)]
    if not isinstance(question, Choose) or (ability.whole and not question.chat):
        return [whole(text, ability, model) for text in texts(question)]
    if top := ability.top(question):
        return [next_token_request(question, ability, model, top)]
    return [next_token_request(question, ability, model, 0, seed) for seed in range(ability.samples)]


def countable(question: Question, ability: Ability, model: str) -> list[Request]:
    """The requests for a question; none if it cannot be asked."""
    try:
        return [] if cannot(question, ability) else requests(question, ability, model)
    except Unanswerable:
        return []


def whole(text: str, ability: Ability, model: str) -> Request:
    """The request for the log-probability of each token of a text."""
    option = {"prompt_logprobs": 0} if ability.whole == "prompt_logprobs" else {"echo": True, "logprobs": 1}
    return Request.of("completions", model=model, prompt=ability.start + text, max_tokens=1, temperature=1, **option)


def next_token_request(question: Choose, ability: Ability, model: str, top: int, seed: int = 0) -> Request:
    """The request for the `top` likeliest tokens after the prompt; with `top=0`, for a sampled text."""
    tokens = 1 if top else REPLY_TOKENS
    options: dict[str, Any] = {"model": model} | ({} if top else {"seed": seed})
    if question.chat:
        listed = {"logprobs": True, "top_logprobs": top} if top else {}
        tokens += ability.thinks * THOUGHT_TOKENS
        return Request.of("chat/completions", **in_chat(question, ability, tokens, **listed, **options))
    listed = {"logprobs": top} if top else {}
    prompt = ability.start + question.text
    return Request.of("completions", prompt=prompt, max_tokens=tokens, temperature=1, **listed, **options)


def in_chat(question: Choose | Write, ability: Ability, tokens: int, **options: Any) -> dict[str, Any]:
    """The body of a request for a reply of at most this many tokens, by default at temperature 1."""
    heat = {"temperature": options.pop("temperature", 1)}
    return {"messages": messages(question), ability.limit: tokens} | (heat if ability.warm else {}) | options


def writing(question: Write, ability: Ability, model: str) -> Request:
    """The request for a text, drawn from all tokens if the server accepts settings for it."""
    options: dict[str, Any] = {"model": model, "temperature": question.temperature, "seed": question.seed, "top_p": 1}
    options |= UNTRUNCATED if ability.untruncated else {}
    if question.chat:
        return Request.of("chat/completions", **in_chat(question, ability, question.longest, **options))
    return Request.of("completions", prompt=ability.start + question.text, max_tokens=question.longest, **options)


def answer(question: Question, ability: Ability, received: Sequence[Reply]) -> Answer:
    """The answer to a question, from the replies to its requests."""
    try:
        for reply in received:
            if isinstance(reply, Refused) and reply.too_long:
                raise Unanswerable(TOO_LONG)
            if isinstance(reply, Refused):
                system = isinstance(question, Choose | Write) and question.system and TEMPLATE.search(reply.says)
                do = " Its chat template may not support a system prompt: leave out `system`." if system else ""
                raise ModelError(f"The server refuses a question ({reply.status}): '{reply.says}'.{do}")
        if not isinstance(question, Choose | Write) or (
            ability.whole and isinstance(question, Choose) and not question.chat
        ):
            return _answer_from_texts(question, ability, received)
        for reply in received:
            if 0 < replies.prompt_tokens(reply) < ability.density * len(question.text) / 2:
                raise Unanswerable("the server has cut the prompt")
        if isinstance(question, Write):
            reply, text = received[0], replies.text(received[0])
            if len(text) > 128 * question.longest:  # no token has so many characters
                raise Unanswerable("the text is longer than was asked for")
            if replies.thinks(reply) and not text and not replies.is_refusal(reply):
                raise Unanswerable(NO_TEXT)
            return Answer(text=countable_text(text, cut=replies.is_cut(reply)))
        if ability.top(question):
            return Answer(tuple(label_logps(question, replies.reported_tokens(received[0]))))
        return Answer(tuple(log_shares(question, received)))
    except Unanswerable as reason:
        return Answer.none(str(reason))


def _answer_from_texts(question: Question, ability: Ability, received: Sequence[Reply]) -> Answer:
    tokenized = [tokens_of(reply, text, ability) for reply, text in zip(received, texts(question), strict=True)]
    if isinstance(question, Choose):
        inside = [_logps_at(logps, text.inside(Span(len(question.text), len(text.text)))) for text, logps in tokenized]
        return Answer(question.compared(inside))
    if not isinstance(question, Fill):
        text, logps = tokenized[0]
        return Answer(tuple(_logps_at(logps, text.outside(question.skip if isinstance(question, Likelihood) else ()))))
    firsts = {text.text[slice(*text.encoding.offsets[0])] for text, _ in tokenized}
    same = 1 if len(firsts) == 1 else 0  # a first token that all share is equally likely in all
    values = [tuple(_logps_at(logps, range(same, len(logps)))) for _, logps in tokenized]
    if wrong := outcomes_fault(list(map(sum, values))):
        raise Unanswerable(wrong)
    return Answer((normalise_logps(values)[question.among.index(question.answer)],))


def tokens_of(reply: Reply, text: str, ability: Ability) -> tuple[TokenizedText, list[float | None]]:
    """The tokens of a text and their log-probabilities, without the start token and without generated tokens."""
    tokens = replies.of_prompt(reply) if ability.whole == "prompt_logprobs" else replies.reported_tokens(reply)
    skip, space = align([token.text for token in tokens], text)
    replies.check_numbers([token.logp for token in tokens[skip:]], tokens[skip:])
    ends = list(accumulate((len(token.text) for token in tokens[skip:]), initial=-space))
    if len(text) not in ends:
        raise Unanswerable(NOT_BACK)
    count = ends.index(len(text))
    places = [(max(0, start), end) for start, end in pairwise(ends[: count + 1])]
    logps = [token.logp for token in tokens[skip : skip + count]]
    return TokenizedText(text, tuple(range(count)), [0] * count, SimpleNamespace(offsets=places)), logps


def align(tokens: Sequence[str], text: str) -> tuple[int, int]:
    """The number of tokens before the text, and 1 if its first token has a space that the text lacks, else 0."""
    for skip in range(min(4, len(tokens))):
        joined = "".join(tokens[skip:])
        for space in (0, 1):
            if joined.startswith(" " * space + text) and tokens[skip]:
                return skip, space
    raise Unanswerable(NOT_BACK)


def _logps_at(logps: Sequence[float | None], places: Sequence[int] | range) -> list[float]:
    known = [logp for place in places if (logp := logps[place]) is not None]
    if len(known) < len(places):
        raise Unanswerable("no log-probability of the first token: the server puts no start token before a text")
    return known
