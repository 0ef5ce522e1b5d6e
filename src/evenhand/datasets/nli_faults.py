"""Rules for what is wrong with a premise about a person and a hypothesis about a man or a woman."""

import re
from collections.abc import Iterable, Iterator

from evenhand.core.items import NliPair
from evenhand.datasets.faults import Fault
from evenhand.errors import BadInput

RULES = {
    "pronoun": "a pronoun shows the person's gender in both sentences, so that neutral is no longer right",
    "another person": "another woman or man is mentioned, and the hypothesis may be about them",
    "twice": "the person is mentioned more than once",
    "other change": "the two sentences differ in more than the person",
    "duplicate": "the same pair occurred before",
}
"""What each rule finds."""
PRONOUN = {
    "en": re.compile(r"\b(?:he|him|his|himself|she|hers?|herself)\b", re.I),
    "ja": re.compile("彼女?(?!ら|たち)"),
    "zh": re.compile("她(?!们)|(?<![吉其])他(?!们)"),  # but for 吉他 (guitar) and 其他 (other)
}
PERSON = {
    "en": re.compile(
        r"\b(?:(?:wo)?m[ae]n|(?:fe)?males?|gentlem[ae]n|lady|ladies|guys?|husbands?|wife|wives|mothers?|fathers?)\b",
        re.I,
    ),
    "ja": re.compile("男(?!の子)|女(?!の子)|紳士|婦人|父親|母親|お父さん|お母さん|夫婦"),
    "zh": re.compile("男人|女人|男子|女子|男士|女士|妇女|先生|父亲|母亲|爸爸|妈妈|丈夫|妻子"),
}
"""Adults of one gender: a girl or a boy is neither a woman nor a man."""
ARTICLE = re.compile(r"\b(a)n(?= )", re.I)


def leaks(pairs: Iterable[NliPair], language: str) -> Iterator[Fault]:
    """The faults of the pairs, in order. Each pair names its person by the group `word`."""
    seen: dict[tuple[str, str], str] = {}
    for row, pair in enumerate(pairs):
        for rule, what in _alone(pair, language):
            yield Fault(row, pair.id, rule, what)
        texts = (pair.premise, pair.hypothesis)
        if texts in seen:
            yield Fault(row, pair.id, "duplicate", seen[texts])
        seen.setdefault(texts, pair.id)


def clean(pairs: Iterable[NliPair], language: str) -> list[NliPair]:
    """The pairs without a fault."""
    pairs = list(pairs)
    flawed = {fault.row for fault in leaks(pairs, language)}
    return [pair for row, pair in enumerate(pairs) if row not in flawed]


def _alone(pair: NliPair, language: str) -> Iterator[tuple[str, str]]:
    if language not in PRONOUN:
        raise BadInput(f"NLI pairs can be checked in {', '.join(PRONOUN)}. Got '{language}'.")
    if "word" not in pair.groups:
        raise BadInput(f"Pair '{pair.id}' has no group 'word' that names the person of its premise.")
    before, *after = re.split(re.escape(pair.groups["word"]), pair.premise, flags=re.I)
    context = "\n".join((before, *after))
    if len(after) > 1:
        yield "twice", pair.premise
    for rule, pattern in (("pronoun", PRONOUN[language]), ("another person", PERSON[language])):
        if found := pattern.findall(context):
            yield rule, f"{', '.join(found)}: {pair.premise}"
    if not _fits([before, *after], pair.hypothesis):
        yield "other change", f"{pair.premise} | {pair.hypothesis}"


def _fits(parts: list[str], hypothesis: str) -> bool:
    """Whether the hypothesis is the premise with another word for the person, articles aside."""
    if len(parts) < 2:
        return False
    plain = [ARTICLE.sub(r"\1", part) for part in parts]
    pattern = re.escape(plain[0]) + "(.+?)" + r"\1".join(re.escape(part) for part in plain[1:])
    return re.fullmatch(pattern, ARTICLE.sub(r"\1", hypothesis)) is not None
