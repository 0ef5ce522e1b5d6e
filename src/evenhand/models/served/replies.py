"""Read a server's replies: tokens with their log-probabilities, texts, the model that answered.

Log-probabilities come in three formats: of completions (`tokens`, `token_logprobs`, `top_logprobs`; vLLM, SGLang), of
chats (`content`, a list of tokens, which llama.cpp also uses for completions), and of prompts (vLLM's
`prompt_logprobs`).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.core.answers import fault, outcomes_fault
from evenhand.core.questions import END_OF_THOUGHT, THOUGHT, countable_text
from evenhand.errors import ModelError
from evenhand.models.planning.tokens import Unanswerable
from evenhand.models.served.client import Refused, Reply


@dataclass(frozen=True, slots=True)
class Token:
    """A token's text, its log-probability (None for the first of a text) and the likeliest tokens in its place."""

    text: str
    logp: float | None
    top: tuple[tuple[str, float], ...] = ()


def reported_tokens(reply: Reply) -> list[Token]:
    """The tokens that a reply reports with log-probabilities; none if it has no log-probabilities."""
    listed = _object(_choice(reply).get("logprobs"))
    try:
        if isinstance(content := listed.get("content"), list):
            rows = [(token["token"], float(token["logprob"]), token.get("top_logprobs") or ()) for token in content]
            rows = [(text, logp, [(top["token"], top["logprob"]) for top in tops]) for text, logp, tops in rows]
        else:
            texts, logps = listed.get("tokens") or [], listed.get("token_logprobs") or []
            tops = [(top or {}).items() for top in listed.get("top_logprobs") or [None] * len(texts)]
            rows = list(zip(texts, logps, tops, strict=True))
        return [
            Token(str(text), None if logp is None else float(logp), tuple((str(t), float(p)) for t, p in tops))
            for text, logp, tops in rows
        ]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _unexpected_reply(listed, error) from error


def likeliest(reply: Reply) -> tuple[tuple[str, float], ...]:
    """The likeliest tokens in the place of the first generated token; none if the reply lists none."""
    tokens = reported_tokens(reply)
    return tokens[0].top if tokens else ()


def offsets(reply: Reply) -> list[int]:
    """The start of each token in the text, as the server reports it; empty if it does not."""
    places = _object(_choice(reply).get("logprobs")).get("text_offset")
    return places if isinstance(places, list) and all(isinstance(place, int) for place in places) else []


def of_prompt(reply: Reply) -> list[Token]:
    """The tokens of the prompt from vLLM's `prompt_logprobs`; none if the reply lacks them."""
    places = _choice(reply).get("prompt_logprobs") or _object(reply).get("prompt_logprobs")
    if not isinstance(places, list):
        return []
    try:
        rows = [[(str(t["decoded_token"]), float(t["logprob"])) for t in (place or {}).values()] for place in places]
        return [Token(*row[0], tuple(row)) if row else Token("", None) for row in rows]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _unexpected_reply(places, error) from error


def check_numbers(logps: Sequence[float | None], listed: Sequence[Token] = ()) -> None:
    """Raise `Unanswerable` if these, or those of listed tokens, are no log-probabilities: normalising would hide it."""
    known = [logp for logp in logps if logp is not None]
    zeros = "every log-probability in the server's reply is 0" if len(known) > 1 and not any(known) else ""
    tops = [[logp for _, logp in token.top if logp != -math.inf] for token in listed]
    if wrong := next(filter(None, (fault(known), zeros, *map(outcomes_fault, tops))), ""):
        raise Unanswerable(wrong)


def text(reply: Reply) -> str:
    """The generated text, without thoughts that the server reports separately."""
    content = _message(reply).get("content") if "message" in _choice(reply) else _choice(reply).get("text")
    parts = [str(part.get("text") or "") for part in _list(content) if isinstance(part, dict)]
    return content if isinstance(content, str) else "".join(parts)


def thinks(reply: Reply) -> bool:
    """Whether the model thought before it replied: separately, in its text, unseen, or up to the limit of tokens."""
    separate = any(_message(reply).get(name) for name in ("reasoning_content", "reasoning"))
    unseen = _object(_object(_object(reply).get("usage")).get("completion_tokens_details")).get("reasoning_tokens")
    return bool(separate or unseen or THOUGHT in text(reply) or END_OF_THOUGHT in text(reply) or only_thinks(reply))


def only_thinks(reply: Reply) -> bool:
    """Whether the limit of tokens was reached before any text outside thoughts."""
    return is_cut(reply) and not countable_text(text(reply))


def is_refusal(reply: Reply) -> bool:
    """Whether the server reports that the model or a content filter refused to reply."""
    return bool(_message(reply).get("refusal")) or _choice(reply).get("finish_reason") == "content_filter"


def is_cut(reply: Reply) -> bool:
    """Whether the text was cut by the limit of tokens."""
    return _choice(reply).get("finish_reason") == "length"


def model(reply: Reply) -> str:
    """The name of the model that answered; empty if the server does not report it."""
    return str(_object(reply).get("model") or "")


def names(reply: Reply) -> list[str]:
    """The models that a server lists, with their aliases; none if the reply is not such a list."""
    listed = [entry for entry in _list(_object(reply).get("data")) if isinstance(entry, dict)]
    return [str(entry.get("id")) for entry in listed] + [
        str(name) for entry in listed for name in _list(entry.get("aliases"))
    ]


def prompt_tokens(reply: Reply) -> int:
    """The number of tokens of the prompt; 0 if the server does not report it."""
    count = _object(_object(reply).get("usage")).get("prompt_tokens")
    return count if isinstance(count, int) else 0


def _message(reply: Reply) -> Mapping[str, Any]:
    return _object(_choice(reply).get("message"))


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _choice(reply: Reply) -> Mapping[str, Any]:
    if isinstance(reply, Refused):
        raise ModelError(f"The server refuses a request ({reply.status}): '{reply.says}'.")
    choices = reply.get("choices")
    if not isinstance(choices, Sequence) or not choices or not isinstance(choices[0], dict):
        raise _unexpected_reply(reply, None)
    return choices[0]


def _unexpected_reply(value: object, error: Exception | None) -> ModelError:
    why = f" ({error!r})" if error else ""
    return ModelError(
        f"The server's reply is not of the shape of OpenAI's API{why}: '{str(value)[:120]}'. Is it such a server?"
    )
