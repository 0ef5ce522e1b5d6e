"""The probability of each option of a question, from the tokens that a server lists or from sampled texts."""

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
"""The log-probability of an option that no sample names, or for which the listed tokens leave no probability."""
FEWEST = 3
"""The fewest likeliest tokens that a server must list so that options can be compared."""
WORDS = tomllib.loads((files("evenhand.models.served") / "options.toml").read_text(encoding="utf-8"))
IS, OPTION, AFTER, NOT, REFUSAL = ("|".join(WORDS[name]) for name in ("is", "option", "after", "not", "refusal"))
ANSWER = "|".join(re.escape(words["answer"]) for words in ASKED_IN.values())
DENIED = re.compile(rf"(?i)(?:\b(?:{NOT})|n't)(?:\s+(?:{IS}))?[^\w,.;:!?]+\Z")
PART = r"[^\W\u3040-\ud7ff]"
"""A character that continues a word. East Asian ones do not, since particles follow a word without a space."""
READ, NEAR = 4_000, 60
"""The characters of a reply that are read, and those before a match in which "not" denies it: models may loop."""


def bare(token: str) -> str:
    """The token without spaces and their marks (▁, Ġ) around it."""
    return token.strip(" ▁Ġ\n")


def label_logps(question: Choose, tokens: Sequence[Token]) -> list[float]:
    """The log-probability of each label as the next token. With by="words", upper and lower case are equal."""
    if not tokens:
        raise Unanswerable("the server gave no log-probabilities")
    top, wanted = list(tokens[0].top), list(question.continuations)
    replies.check_numbers([logp for _, logp in top if logp != -math.inf], tokens[:1])
    if question.by == "words":
        top, wanted = [(bare(text).casefold(), p) for text, p in top], [o.casefold() for o in question.labels]
    # A space belongs to the label, as in this process, unless the server's tokens do not show spaces.
    by_label = [[logp for text, logp in top if text == option] for option in wanted]
    if not any(by_label):
        by_label = [[logp for text, logp in top if bare(text) == bare(option)] for option in wanted]
    absent = [option for option, logps in zip(wanted, by_label, strict=True) if not logps]
    if question.by == "words" and any(text and option.startswith(text) for option in absent for text, _ in top):
        raise Unanswerable("an option may begin with a listed token, and be longer: ask by letters or digits")
    if not any(by_label):
        raise Unanswerable("no option is among the likeliest tokens")
    least = _unlisted_bound([logp for _, logp in top])
    return [float(np.logaddexp.reduce(logps)) if logps else least for logps in by_label]


def _unlisted_bound(listed: Sequence[float]) -> float:
    """An upper bound for an unlisted token: the least likely listed token, or the probability that the list leaves."""
    left = 1 - math.fsum(map(math.exp, listed))
    bounds = [logp for logp in listed if logp != -math.inf]
    return max(UNLISTED, min([*bounds, math.log(left) if left > 0 else UNLISTED]))


def log_shares(question: Choose, samples: Sequence[Reply]) -> list[float]:
    """The log of the share of samples that name each option. Shares add up to that of samples naming an option."""
    chosen = [named_option(replies.text(reply), question) for reply in samples]
    unclear = [reply for reply, place in zip(samples, chosen, strict=True) if place is None]
    if len(unclear) * 2 > len(samples):
        why = {THINKING: sum(map(replies.only_thinks, unclear)), REFUSING: sum(map(replies.is_refusal, unclear))}
        likeliest = max(why, key=lambda reason: why[reason])
        raise Unanswerable(likeliest if why[likeliest] * 2 > len(unclear) else UNCLEAR)
    counts = [chosen.count(place) for place in range(question.count)]
    return [math.log(count / len(samples)) if count else UNLISTED for count in counts]


def named_option(reply: str, question: Choose) -> int | None:
    """The index of the option that a reply names, by its label, its words or both; None if it names none, or several.

    A label counts at the beginning of the reply, after "answer" in any language that we ask in, and in brackets or
    bold. Words after "not" and thoughts do not count, and nothing beyond the first `READ` characters.
    """
    said = countable_text(reply)
    text, named = _plain(countable_text(said[:READ], cut=len(said) > READ)), []
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
    """The label that a text names, and any other labels after it."""
    label = rf"(?<!{PART})([{labels}])(?!{PART}|['-]\w|[.,]\d| +(?!(?:{AFTER})\b)[A-Za-zÀ-ÿ])"
    for pattern in (
        rf"(?i:(?:{ANSWER})\W*+(?:{IS})?+)\W*+{label}",
        rf"\A\W*(?i:(?:{OPTION})\W+)?{label}",
        rf"(?<=[(\[{{*`\"“]){label}(?=[.:]*[)\]}}*`\"”])",
    ):
        if matches := _match_affirmed(pattern, text):
            return {matches[0][1], *(other[1] for other in _match_affirmed(label, text[matches[0].end(1) :]))}
    return set()


def _match_affirmed(pattern: str, text: str) -> list[re.Match[str]]:
    """The matches that are not preceded by "not"."""
    matches = re.finditer(pattern, text)
    return [m for m in matches if not DENIED.search(text, max(0, m.start() - NEAR), m.start())]


def _plain(text: str) -> str:
    """The text with each character in one form (NFKC), and without LaTeX commands."""
    text = unicodedata.normalize("NFKC", text).replace("’", "'").replace("_", " ").replace("cannot", "can't")
    return re.sub(r"\\(?:boxed|text|textbf|mathbf|mathrm)\b", "", text).strip()
