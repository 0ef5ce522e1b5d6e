"""How likely each option of a question is, by the tokens that a server lists, or by samples of text."""

import math
from collections.abc import Sequence

import numpy as np

from evenhand.core.naming import named_option
from evenhand.core.questions import Choose
from evenhand.models.planning.tokens import Unanswerable
from evenhand.models.served import replies
from evenhand.models.served.client import Reply
from evenhand.models.served.replies import Token

UNCLEAR = "fewer than half of the samples name an option"
THINKING = f"{UNCLEAR}: the model thinks until its limit of tokens. Turn its thinking off in the server"
REFUSING = f"{UNCLEAR}: the model refuses"
UNLISTED = -100.0
"""Stands for the log-probability of an option that a reply in text does not name, or that nothing is left for."""
FEWEST = 3
"""A list of fewer tokens does not compare options."""


def bare(token: str) -> str:
    """A token without the marks of spaces around it."""
    return token.strip(" ▁Ġ\n")


def label_logps(question: Choose, tokens: Sequence[Token]) -> list[float]:
    """The log-probability of each label as the next token; an option in words is a whole token, in any case."""
    if not tokens:
        raise Unanswerable("the server gave no log-probabilities")
    top, wanted = list(tokens[0].top), list(question.continuations)
    replies.check_numbers([logp for _, logp in top if logp != -math.inf])
    if question.by == "words":
        top, wanted = [(bare(text).casefold(), p) for text, p in top], [o.casefold() for o in question.labels]
    # A space belongs to the label, as in this process, unless the server's tokens do not show spaces.
    found = [[logp for text, logp in top if text == option] for option in wanted]
    if not any(found):
        found = [[logp for text, logp in top if bare(text) == bare(option)] for option in wanted]
    absent = [option for option, logps in zip(wanted, found, strict=True) if not logps]
    if question.by == "words" and any(text and option.startswith(text) for option in absent for text, _ in top):
        raise Unanswerable("an option may begin with a listed token, and be longer: ask by letters or digits")
    if not any(found):
        raise Unanswerable("no option is among the likeliest tokens")
    least = _unlisted([logp for _, logp in top])
    return [float(np.logaddexp.reduce(logps)) if logps else least for logps in found]


def _unlisted(listed: Sequence[float]) -> float:
    """The most that an unlisted token can have: what the least likely listed one has, or what all of these leave."""
    left = 1 - math.fsum(map(math.exp, listed))
    bounds = [logp for logp in listed if logp != -math.inf]
    return max(UNLISTED, min([*bounds, math.log(left) if left > 0 else UNLISTED]))


def log_shares(question: Choose, found: Sequence[Reply]) -> list[float]:
    """The log of each option's share of the samples; all together are the share that names one."""
    chosen = [named_option(replies.text(reply), question) for reply in found]
    unclear = [reply for reply, place in zip(found, chosen, strict=True) if place is None]
    if len(unclear) * 2 > len(found):
        why = {THINKING: sum(map(replies.only_thinks, unclear)), REFUSING: sum(map(replies.is_refusal, unclear))}
        likeliest = max(why, key=lambda reason: why[reason])
        raise Unanswerable(likeliest if why[likeliest] * 2 > len(unclear) else UNCLEAR)
    counts = [chosen.count(place) for place in range(question.count)]
    return [math.log(count / len(found)) if count else UNLISTED for count in counts]
