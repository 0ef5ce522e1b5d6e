"""Which option a reply in words names."""

import re
import tomllib
import unicodedata
from importlib.resources import files

from evenhand.core.questions import LABELS, Choose
from evenhand.core.wordings import ASKED_IN
from evenhand.core.writing import countable_text

WORDS = tomllib.loads((files("evenhand.core") / "naming.toml").read_text(encoding="utf-8"))
IS, OPTION, AFTER, NOT, REFUSAL = ("|".join(WORDS[name]) for name in ("is", "option", "after", "not", "refusal"))
ANSWER = "|".join(re.escape(words["answer"]) for words in ASKED_IN.values())
PART = r"[^\W\u3040-\ud7ff]"
"""A character that makes a word longer: particles of East Asian languages follow a word without a space."""


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
