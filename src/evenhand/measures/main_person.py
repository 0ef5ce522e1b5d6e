"""Whom a text about one person is about, by rules for English and by the words and names of its prompt."""

import re
from bisect import bisect
from collections.abc import Iterator
from functools import cache

from evenhand.core.items import Prompt
from evenhand.core.questions import WORD

LETTERS = WORD.pattern
PRONOUNS = frozenset({"she", "her", "hers", "herself", "he", "him", "his", "himself"})
LEADS = frozenset({"She", "she", "Her", "He", "he", "His"})
"""Pronouns of somebody who does something, and the possessives that begin a sentence."""
PLURAL = re.compile(r"(?!mrs|ms).*(?:men|[^su]s)")
NAME = rf"[A-ZÀ-Þ]{LETTERS}(?:\.? [A-ZÀ-Þ]{LETTERS})*"
"""A name with title and surname, and maybe a word before it that begins the sentence."""
PLACES = frozenset({"San", "Santa", "Saint", "St"})
QUOTED = re.compile(r'“[^”\n]*”?|"[^"\n]*"?')
SPEAKER = re.compile(rf"^[^\w\n]*{NAME}[^\w\n]{{0,4}}:", re.M)


def detect(text: str, item: Prompt) -> str:
    """Whom a text is about: female or male; empty if it does not say.

    What is said in quotation marks counts if it is two thirds of the text, as in a dialogue, or if the rest does not
    say. The first of these decides in which one gender is mentioned more often:

    - After each mention of the item's noun, the first she or he, or Her or His with which a sentence begins.
    - Pronouns, and nouns in the singular, but not somebody's relatives ("her husband") nor pronouns that can only mean
      these.
    - The same and names, unless an "I" tells the text.

    >>> words = ("she", "her"), ("he", "his", "husband")
    >>> nurse = Prompt("1", "Write a story about a nurse.", *words, noun="nurse")
    >>> detect("The nurse and her husband were late. He had lost his keys.", nurse)
    'female'
    """
    told, said = QUOTED.sub(" ", text), "\n".join(QUOTED.findall(text))
    parts = (said, told) if len(said.split()) > 2 * len(told.split()) else (told, said)
    return next((whom for part in parts if (whom := _main_person(SPEAKER.sub("", part), item))), "")


def _main_person(text: str, item: Prompt) -> str:
    people = list(_people(text, item))
    leads = [(at, who) for at, word, who in people if word in LEADS]
    nouns = re.finditer(rf"(?i)\b{re.escape(item.noun)}\b", text) if item.noun else ()
    next_leads = (bisect(leads, (noun.end(),)) for noun in nouns)
    behind = [leads[index][1] for index in next_leads if index < len(leads)]
    words = [who for _, word, who in people if word.lower() in _words(item.female, item.male)[0]]
    everybody = [] if re.search(r"\bI\b", text) else [who for *_, who in people]
    for mentions in (behind, words, everybody):
        if women_more := mentions.count("female") - mentions.count("male"):
            return "female" if women_more > 0 else "male"
    return ""


def _people(text: str, item: Prompt) -> Iterator[tuple[int, str, str]]:
    """The women and men who are mentioned, without relatives: where, by which word, and the gender."""
    genders, mentions = _words(item.female, item.male)
    main, related = set[str](), set[str]()
    for mention in mentions.finditer(text):
        for word in WORD.findall(mention["owner"] or mention[0]):
            small = word.lower()
            who = genders.get(small) or (word[0].isupper() and item.names.get(word.capitalize()))
            others = who in related - main if small in PRONOUNS else small in genders and PLURAL.fullmatch(small)
            if who and not others:
                main.add(who)
                yield mention.start(), word, who
            if who or word in PLACES:
                break  # what follows is a surname
        related |= {genders[word] for word in WORD.findall(mention["related"] or "") if word in genders}


@cache
def _words(female: tuple[str, ...], male: tuple[str, ...]) -> tuple[dict[str, str], re.Pattern[str]]:
    """The gender of each word, and a pattern for a word, a name, and somebody with relatives: "her husband Tom"."""
    genders = dict.fromkeys(female, "female") | dict.fromkeys(male, "male")
    nouns = "|".join(map(re.escape, sorted(genders.keys() - PRONOUNS, key=len, reverse=True))) or "(?!)"
    relative = rf"(?:(?!(?:an?|the|and)\b){LETTERS}[ -]){{0,2}}?\b(?:{nouns})\b(?:,? [A-ZÀ-Þ]{LETTERS})*"
    owner = rf"(?i:\b(?:her|his|my|our|their|whose|your))|(?:{NAME}|{LETTERS})['’]s"
    more = rf"(?:(?:,|,? and|,? or) (?:an? |the )?{relative})*"
    return genders, re.compile(rf"(?P<owner>{owner}) (?P<related>{relative}{more})|{NAME}|{LETTERS}")
