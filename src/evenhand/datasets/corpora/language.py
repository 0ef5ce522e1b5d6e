"""Whether texts are English, the one language whose gendered words evenhand can count and swap."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from itertools import islice

from evenhand.errors import BadInput

WORD = re.compile(r"[^\W\d_]+")
NOT_LATIN = re.compile(r"[^\W\d_\u0000-\u024f\u1e00-\u1eff]")
DOCUMENTS, CHARACTERS = 1_000, 500
"""How many documents are looked at, and how much of each."""
ENOUGH, RARE = 100, 0.04
"""From so many words on, texts with fewer English function words than this share are not English, which has 0.4."""
FUNCTION_WORDS = {
    "English": "a an the and or but of to in on at by for from with as is are was were be been has have had do does "
    "not no it its he she they his her him their we you i my this that these those which who what when there will can "
    "did could would if so",
    "Dutch": "de het een en van ik niet dat die zij hij ze met op voor zijn aan haar te ook maar wordt werd naar om",
    "French": "le la les des et est une un que qui dans pour pas sur elle il je du au aux avec nous vous ce cette sont",
    "German": "der die das und ist nicht ein eine einen einem einer sie er ich mit auf für dem den des sich auch es "
    "von zu im wir wird haben sind oder aber als bei nach wie dass",
    "Italian": "il la che di è un una per non sono con del della dei gli le si ha lei lui nel alla anche più suo sua",
    "Portuguese": "que não uma um da em para com os dos ela ele é foi mais seu sua na por ao são está",
    "Spanish": "el la los las que y en un una es por con del se su para como más pero ella lo está fue no al",
}
"""Of English and of the languages that can be named; a word that both have decides nothing by itself."""

GRAMMAR = """\
a about above across after again against ago ah all almost along already also although always am among an and another
any anybody anyone anything are around as at away back be became because become been before began behind being below
between beyond both but by came can cannot come could did do does doing done down during each either else enough even
ever every everybody everyone everything few first for from further gave get gets getting give given go goes going
gone got had has have having here hers how however i if in instead into is it its itself just last later least less
let like made make makes making many may maybe me might mine more most mr mrs much must my myself near neither never
next no nobody none nor not nothing now of off often oh on once one only onto or other others our ours ourselves out
over own per perhaps quite rather really said same say says second see seem seemed several shall should since so some
somebody someone something sometimes soon still such take taken than that the their theirs them themselves then there
therefore these they this those though three through thus till to together too took toward towards two under until up
upon us very was we well went were what whatever when where whether which while who whom whose why will with within
without would yes yet you your yours yourself yourselves aren couldn didn doesn don hadn hasn haven isn ll re shouldn
ve wasn weren won wouldn
"""
"""English words that say little by themselves: function words, their parts around an apostrophe, the plainest verbs."""


@cache
def function_words() -> frozenset[str]:
    """English words that say little by themselves, which no list of words around people needs."""
    return frozenset(GRAMMAR.split())


def not_english(texts: Iterable[str]) -> str:
    """What shows that the first texts are not English, as a sentence; empty if nothing does.

    >>> not_english(["Die Ärztin sagt, dass sie müde ist."])
    'The texts seem to be German: of their 7 words, 4 are function words of German and 0 of English.'
    """
    sample = [text[:CHARACTERS] for text in islice(texts, DOCUMENTS)]
    words = Counter(word.lower() for text in sample for word in WORD.findall(text))
    letters, others = sum(len(word) * n for word, n in words.items()), sum(len(NOT_LATIN.findall(t)) for t in sample)
    if others > letters / 2:
        return f"The texts are not English: {others:,} of their {letters:,} letters are not Latin."
    n = words.total()
    hits = {language: sum(words[word] for word in listed.split()) for language, listed in FUNCTION_WORDS.items()}
    english = hits.pop("English")
    most = max(hits, key=lambda language: hits[language])
    if hits[most] > max(english, 1):
        told = f"of their {n:,} words, {hits[most]:,} are function words of {most} and {english:,} of English"
        return f"The texts seem to be {most}: {told}."
    if n >= ENOUGH and english < RARE * n:
        return f"The texts seem not to be English: {english:,} of their {n:,} words are English function words."
    return ""


def check_language(texts: Iterable[str], lang: str | None, corpus: str = "") -> None:
    """Raise an error unless the texts are English; `lang="en"` says that they are, and nothing is looked at.

    The error names the `corpus` that they are of.
    """
    if lang not in (None, "en"):
        raise BadInput(f"Gendered words can be counted and swapped in English, `lang='en'`, alone. Got '{lang}'.")
    if lang is None and (why := not_english(texts)):
        named = f"'{corpus}': " if corpus else ""
        raise BadInput(
            f"{named}{why} Gendered words are known in English alone. If these are English, give `lang='en'`."
        )
