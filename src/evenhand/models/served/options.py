"""How likely each option of a question is, by the tokens that a server lists, or by samples of text."""

import math
import re
import tomllib
import unicodedata
from collections.abc import Sequence
from importlib.resources import files

import numpy as np

from evenhand.core.questions import ASKED_IN, LABELS, Choose, countable_text
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
WORDS = tomllib.loads((files("evenhand.models.served") / "options.toml").read_text(encoding="utf-8"))
IS, OPTION, AFTER, NOT, REFUSAL = ("|".join(WORDS[name]) for name in ("is", "option", "after", "not", "refusal"))
ANSWER = "|".join(re.escape(words["answer"]) for words in ASKED_IN.values())
PART = r"[^\W\u3040-\ud7ff]"
"""A character that makes a word longer: particles of East Asian languages follow a word without a space."""


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
    least = _unlisted_bound([logp for _, logp in top])
    return [float(np.logaddexp.reduce(logps)) if logps else least for logps in found]


def _unlisted_bound(listed: Sequence[float]) -> float:
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


def named_option(reply: str, question: Choose) -> int | None:
    """Which option a reply names, by its label, its words or both; None if it names none, or several.

    A label counts at the beginning, after "answer" in any language that we ask in, and in brackets or bold. What
    follows "not" does not count, nor do thoughts.
    """
    text, named = _plain(countable_text(reply)), []
    for place in sorted(range(question.count), key=lambda n: -len(question.options[n])):  # one may contain another
        option = _plain(question.options[place])
        words = r"[\s*`\"]+".join(map(re.escape, (option.rstrip(".") or option).split()))
        pattern = rf"(?i:(?<![^\W\u3040-\u9fff]){words}(?!{PART}))"
        pattern += (
            rf"(?!(?<= no) +(?!(?:{AFTER}|as|but|for|to)\b)[a-z])"  # "there is no reason" is not "No"; "no because" is
        )
        if option.casefold() in WORDS["ordinary"]:
            pattern = rf"(?i:\A[\W]*{words}\W*\Z|(?<=[\"'“‘`*]){words}(?=[\"'”’`*.]))"
        named += [place] if _match_affirmed(pattern, text) else []
        text = re.sub(pattern, "…", text)
    if question.by in LABELS and (labels := _labels(text, "".join(question.labels))):
        place = question.labels.index(labels.pop())
        return None if labels or (named and place not in named) else place
    return named[0] if len(named) == 1 and not re.match(rf"(?i)\W*(?:{REFUSAL})", text) else None


def _labels(text: str, labels: str) -> set[str]:
    """The label that a text names, and any others after it."""
    label = rf"(?<!{PART})([{labels}])(?!{PART}|['-]\w|[.,]\d| +(?!(?:{AFTER})\b)[A-Za-zÀ-ÿ])"
    for pattern in (
        rf"(?i:(?:{ANSWER})\W*(?:{IS})?)\W*{label}",
        rf"\A\W*(?i:(?:{OPTION})\W+)?{label}",
        rf"(?<=[(\[{{*`\"“]){label}(?=[.:]*[)\]}}*`\"”])",
    ):
        if found := _match_affirmed(pattern, text):
            return {found[0][1], *(other[1] for other in _match_affirmed(label, text[found[0].end(1) :]))}
    return set()


def _match_affirmed(pattern: str, text: str) -> list[re.Match[str]]:
    """What matches, unless "not" stands before it."""
    denied = re.compile(rf"(?i)(?:\b(?:{NOT})|n't)(?:\s+(?:{IS}))?[^\w,.;:!?]+\Z")
    return [found for found in re.finditer(pattern, text) if not denied.search(text[: found.start()])]


def _plain(text: str) -> str:
    """The text in one form of each character, without LaTeX's commands."""
    text = unicodedata.normalize("NFKC", text).replace("’", "'").replace("_", " ").replace("cannot", "can't")
    return re.sub(r"\\(?:boxed|text|textbf|mathbf|mathrm)\b", "", text).strip()
