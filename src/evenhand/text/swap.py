"""Swap the gender of every gendered word of a text, or of a share of a corpus, with correct grammar; list the edits."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal

import numpy as np

from evenhand.datasets.corpora.texts import BALANCED_ALREADY, RELEASED, documents, split
from evenhand.datasets.files.language import not_english
from evenhand.datasets.files.rows import Pairs
from evenhand.datasets.gendered import Gender, census, gender, lexicon
from evenhand.errors import BadInput
from evenhand.text import neutral, titles
from evenhand.text.asking import Grammar, Place, log_odds, place
from evenhand.text.edits import STAYS, Edit, any_of, apply_edits, match_case
from evenhand.text.names import Names, Naming
from evenhand.text.pronouns import is_possessive, is_unsure, score

WORD = re.compile(r"[^\W\d_]++(?:['’](?:am|AM)\b)?(?![\u0300-\u036f])")
"""Letters only, since hyphens, 's, 'll and quotation marks stay as they are; and ma'am."""
KEEP_BEFORE = re.compile(
    r"[-](?:sized?|hunts?|made|man)\b|\s+(?:hunts?|sized?)\b|"
    r"(?i:(?<=adies)['’] m[ae]n\b|(?<=adies['’] man)|(?<=adies['’] men))"
)
"""What follows a word that is part of a set phrase: king-size, witch hunt, man-made, ladies' man."""
KEEP_AFTER = re.compile(r"(?:\bs/|\(s\)|[@#]|\bhe-)$", re.I)
"""What precedes a word that is part of another: s/he, (s)he, @his, he-man."""
SURNAMES = frozenset({"Foreman"})
COUPLE = r"\b(?:and|or|&|the|an?|no|than|male|young|other)\s+"
"""What precedes a word that is the partner of another in its sentence: the host and the hostess, than the actors."""
REACH = 120
STOP = re.compile(r"[.!?;]\s|\n")
POSSESSIVE = re.compile(r"['’](?=\s+\w|[sS]\b)")
QUOTE = re.compile(r"(?:^|[\s(\[\"“—-])['‘](?!\s)(?:[^'’]|(?<=\w)['’](?=\w))*$")
"""What precedes a word in single quotation marks."""
ADDRESS = re.compile(r"\S+")
MARKS = ("://", "@", "www.")
"""What a web or mail address contains."""
SURNAME = re.compile(rf"\b(?!(?:{any_of('before_roles')})\b)[A-Z][a-z]+\.?\s$")
"""What precedes a capitalised role noun that is a surname: Stephen King."""
NAMED = re.compile(r"\s(?:[A-Z][a-z]+\s)?(?:University|College|School|Records|Street|Hospital|Island|Bible|Award)\b")
"""What follows a role noun that is part of a name: Duke University."""
ARTICLE = re.compile(r"(?<![\w.])(an?)\s+$", re.I)
ARTICLE_ENDS = frozenset("aAnN")
APOSTROPHES = frozenset("'’")
VOWEL = re.compile(r"(?:[aeio]|u(?!ni|ser)|h(?:eir|onou?r))", re.I)
"""How a word begins that has "an" before it."""

To = Literal["other", "neutral"]
Rewrite = Callable[[str], str]
OWN = "own"
"""The rule of a word of the user's own list."""
SLANG = frozenset({"bloke", "blokes", "gents"})
"""Words that are swapped, but that no other word is swapped to."""
PRONOUNS: dict[To, dict[str, tuple[str, str]]] = {
    "other": {"her": ("him", "his"), "his": ("hers", "her")},
    "neutral": {"her": ("them", "their"), "his": ("theirs", "their")},
}
"""What her and his become: first if they are not possessives, then if they are."""
ROLES = {"her": ("object", "possessive"), "his": ("alone", "possessive")}


class PartnerTable(dict[str, tuple[str, str] | None]):
    """A word, in any case and with any apostrophe -> its partner and kind, None for other words.

    Lookups are cached: most words of a text occur again, and looking them up is most of the work.
    """

    ENOUGH = 200_000

    def __missing__(self, word: str) -> tuple[str, str] | None:
        entry = self.get(word.lower().replace("’", "'"))
        if len(self) < self.ENOUGH:
            self[word] = entry
        return entry


class Swapper:
    """Rewrites documents: a call returns the new text, `edits` the list of changes.

    `pairs` replaces the bundled words by male words and their female partners, of any language, which are swapped both
    ways; the first of several pairs with the same word counts, and articles stay as they are. `names` finds first names
    (evenhand.text.names); with None, names stay. `grammar` says what decides whether her and his are possessives, and
    whether doubtful words are names: rules, a model, or with `auto` a model where rules are unsure. With `only`, only
    words of this gender are swapped. With `to="neutral"`, words of both genders become neutral.
    """

    def __init__(
        self,
        pairs: Mapping[str, str] | Pairs | None = None,
        names: Naming | None = None,
        *,
        grammar: Grammar = "rules",
        only: Gender | None = None,
        to: To = "other",
    ) -> None:
        self.names, self.grammar, self.to = names, grammar, to
        self.words = PartnerTable(_user_partners(pairs, only) if pairs is not None else _bundled_partners(only, to))
        self.several = _shared_partners() if to == "other" and pairs is None else {}
        self.one_way = only is not None

    def __call__(self, text: str) -> str:
        return apply_edits(text, self.edits(text))

    def edits(self, text: str) -> list[Edit]:
        return [edit for edit in self.find_edits([text])[0] if edit.rule != STAYS]

    def find_edits(self, texts: Sequence[str]) -> list[list[Edit]]:
        """For each document, its changes and the names that stay, in order; the model is asked about all at once."""
        drafts, unsure = list[list[Edit]](), list[tuple[int, int, float, Place]]()
        for number, text in enumerate(texts):
            drafts.append([])
            for edit, margin in self._word_edits(text):
                if margin is not None:
                    where = place(edit.old.lower(), text, edit.start, edit.start + len(edit.old))
                    unsure.append((number, len(drafts[number]), margin, where))
                drafts[number].append(edit)
        names = [self.names.draft(text) for text in texts] if self.names else []
        places = [where for *_, where in unsure]
        places += [where for draft in names for where in draft.doubtful.values()] if self.grammar != "rules" else []
        odds = log_odds(places)
        for number, index, margin, where in unsure:
            edit = drafts[number][index]
            drafts[number][index] = self._pronoun_edit(edit.start, edit.old, margin, odds[where])
        for number, draft in enumerate(names):
            taken = {edit.start for edit in drafts[number]}
            drafts[number] += [edit for edit in draft.edits(odds) if edit.start not in taken]
        pairs = zip(texts, drafts, strict=True)
        return [self._add_dependent_edits(text, self._prefer_words_of_document(text, draft)) for text, draft in pairs]

    def _prefer_words_of_document(self, text: str, draft: list[Edit]) -> list[Edit]:
        """The edits, with partners that the document itself uses: dad becomes mum if it has mum, but no mom."""
        seen = {edit.old.lower().replace("’", "'"): edit.old.lower() for edit in draft}
        if self.several.keys().isdisjoint(seen):
            return draft
        if self.one_way:  # words of the other gender have no edits
            seen = {word.replace("’", "'"): word for word in map(str.lower, WORD.findall(text))}
        edits = []
        for edit in draft:
            usual, others = self.several.get(edit.old.lower(), ("", ()))
            if usual == edit.new.lower() and usual not in seen and (used := next((o for o in others if o in seen), "")):
                edit = edit._replace(new=match_case(seen[used], edit.old))
            edits.append(edit)
        return edits

    def _word_edits(self, text: str) -> Iterator[tuple[Edit, float | None]]:
        """The edits of words, in order, each with the score of its pronoun if a model must be asked about it."""
        table = self.words
        words = ADDRESS.finditer(text) if any(mark in text for mark in MARKS) else ()
        addresses = [m.span() for m in words if any(mark in m[0] for mark in MARKS)]
        addresses.reverse()  # the next one is last
        surnames = set[str]()
        forms: tuple[Mapping[str, str], bool] | None = None
        for match in WORD.finditer(text):
            old = match[0]
            if (entry := table[old]) is None:
                continue
            partner: str | None
            partner, rule = entry
            start, stop = match.span()
            while addresses and addresses[-1][1] <= start:
                addresses.pop()
            if KEEP_AFTER.search(text[max(0, start - 3) : start]) or (addresses and addresses[-1][0] <= start):
                continue
            if rule == "context":
                margin = score(text, start, stop)
                ask = self.grammar == "model" or (self.grammar == "auto" and is_unsure(text, start, stop, margin))
                yield self._pronoun_edit(start, old, margin), margin if ask else None
                continue
            if KEEP_BEFORE.match(text, stop):
                continue
            if rule == "title" and old.lower() in titles.TITLES:
                partners, dotted = forms = forms or titles.forms(text)
                title = titles.partner(text, start, stop, partners)
                partner = title if self.to == "other" else title and partner
                if title and self.to == "other":
                    old, partner = titles.with_dots(text, old, stop, title, dotted)
            elif rule == "role" and old[0].isupper():
                if SURNAME.search(text[max(0, start - 20) : start]):
                    surnames.add(old)
                if old in surnames or old in SURNAMES or NAMED.match(text, stop):
                    continue
            if partner:
                yield Edit(start, old, match_case(partner, old), rule), None
                if rule == "role" and self.to == "other" and table[partner] is None:
                    yield from ((edit, None) for edit in _couple_edits(text, start, stop, partner))

    def _pronoun_edit(self, start: int, old: str, margin: float, odds: float = math.nan) -> Edit:
        """The edit of her or his, by its score `margin` and by the log-odds that a model gives."""
        word = old.lower()
        by_model = self.grammar == "model" and not math.isnan(odds)
        role = odds > 0 if by_model else is_possessive(word, margin, odds)
        return Edit(start, old, match_case(PRONOUNS[self.to][word][role], old), f"{word}: {ROLES[word][role]}")

    def _add_dependent_edits(self, text: str, draft: list[Edit]) -> list[Edit]:
        """The edits in order, with those of the articles and verbs that depend on them."""
        if self.to == "neutral":
            draft = neutral.merge_pairs(text, draft)
        draft = [_with_apostrophe(text, edit) for edit in draft]
        more = []
        for edit in draft:
            if text[edit.start - 2 : edit.start - 1] not in ARTICLE_ENDS or edit.start < 2 or edit.rule == OWN:
                continue  # most edits, and quickly; a user's own words may be of another language
            if bool(VOWEL.match(edit.old)) == (an := bool(VOWEL.match(edit.new))):
                continue
            if article := ARTICLE.search(text[max(0, edit.start - 8) : edit.start]):
                new = match_case("an" if an else "a", "A" if article[1][0].isupper() else "a")
                more.append(Edit(edit.start - len(article[0]), article[1], new, "article"))
        if self.to == "neutral":
            more += neutral.verb_edits(text, draft)
        return sorted({edit.start: edit for edit in (*draft, *more)}.values(), key=lambda edit: edit.start)


def _couple_edits(text: str, start: int, stop: int, one_way: str) -> Iterator[Edit]:
    """The edits of a word that changes only next to its partner: the host and the hostess, Count and Countess."""
    begin = max((m.end() for m in STOP.finditer(text, max(0, start - REACH), start)), default=max(0, start - REACH))
    end = ending.start() if (ending := STOP.search(text, stop, stop + REACH)) else stop + REACH
    pattern = re.compile(rf"(?:{COUPLE}|^)({one_way})(?=\s+(?:and|or|&)\s)|{COUPLE}({one_way})\b", re.I)
    for match in pattern.finditer(text[begin:end]):
        word = match[1] or match[2]
        yield Edit(begin + match.end() - len(word), word, match_case(text[start:stop].lower(), word), "role")


def _with_apostrophe(text: str, edit: Edit) -> Edit:
    """The edit with its possessive ending: ladies' and gentlemen's are partners; a quotation mark stays."""
    stop = edit.start + len(edit.old)
    if edit.rule == OWN or text[stop : stop + 1] not in APOSTROPHES or not (ending := POSSESSIVE.match(text, stop)):
        return edit
    mark, plural = ending[0], edit.new.lower().endswith("s")
    if (s := text[stop + 1 : stop + 2]) in ("s", "S"):
        many = plural and edit.rule != "name" and edit.old.lower().endswith("men")
        return edit._replace(old=f"{edit.old}{mark}{s}", new=edit.new + mark) if many else edit
    if plural or not edit.old.lower().endswith("s") or QUOTE.search(text[max(0, edit.start - 200) : edit.start]):
        return edit
    return edit._replace(old=edit.old + mark, new=f"{edit.new}{mark}{'S' if edit.new.isupper() else 's'}")


@cache
def _bundled_partners(only: Gender | None = None, to: To = "other") -> dict[str, tuple[str, str]]:
    if to == "neutral":
        return {word: entry for word, entry in neutral.words().items() if only in (None, gender(word))}
    table: dict[str, tuple[str, str]] = {}
    for words in lexicon():
        if words.oneway != "female":
            table.setdefault(words.male, (words.female, words.kind))
        if words.oneway != "male":
            table.setdefault(words.female, (words.male, words.kind))
    table |= {"her": ("", "context"), "his": ("", "context")}
    table |= {"him": ("her", "pronoun"), "hers": ("his", "pronoun")}
    table |= dict.fromkeys(titles.TITLES, ("", "title"))
    return {word: entry for word, entry in table.items() if only in (None, titles.TITLES.get(word, gender(word)))}


@cache
def _shared_partners() -> dict[str, tuple[str, list[str]]]:
    """Words that are the partner of several words -> the usual one of these, and the others, except slang."""
    table, shared = _bundled_partners(), dict[str, tuple[str, list[str]]]()
    for word, (partner, _) in table.items():
        usual = "madam" if partner == "sir" else table.get(partner, ("", ""))[0]
        if usual not in ("", word) and word not in SLANG:
            shared.setdefault(partner, (usual, []))[1].append(word)
    return shared


def _user_partners(pairs: Mapping[str, str] | Pairs, only: Gender | None) -> dict[str, tuple[str, str]]:
    table: dict[str, tuple[str, str]] = {}
    for male, female in pairs.items() if isinstance(pairs, Mapping) else pairs:
        if not male.strip() or not female.strip() or male == female:
            raise BadInput(f"A pair must be two different words. Got {male!r} and {female!r}.")
        if only != "female":
            table.setdefault(male.lower(), (female.lower(), OWN))
        if only != "male":
            table.setdefault(female.lower(), (male.lower(), OWN))
    return table


@cache
def swapper(
    names: bool = True,
    own: Names | None = None,
    grammar: Grammar = "auto",
    only: Gender | None = None,
    to: To = "other",
    pairs: Pairs | None = None,
) -> Swapper:
    """The swapper for words and, with `names`, for first names; `pairs` and `own` are the user's words and names.

    With `pairs`, which may be of any language, our names are not swapped.
    """
    named = names and to == "other" and (own or not pairs)
    naming = Naming(dict(own) if own else None, only, always=bool(pairs)) if named else None
    return Swapper(pairs, naming, grammar=grammar, only=only, to=to)


def check_share(share: float) -> None:
    """Raise an error unless `share` is a number between 0 and 1."""
    if not isinstance(share, int | float) or not 0 <= share <= 1:
        raise BadInput(f"`share` must be a number between 0 and 1. Got {str(share)[:200]}.")


def is_chosen(number: int, share: float, seed: int) -> bool:
    """Whether document `number` is swapped, with probability `share`; the draw depends on the seed and number alone."""
    return share == 1 or bool(np.random.default_rng([seed, number]).random() < share)


def substitute(texts: Iterable[str], rewrite: Rewrite, *, share: float = 0.5, seed: int = 0) -> Iterator[str]:
    """Each document, rewritten with probability `share`: counterfactual data substitution.

    Maudslay et al. (2019) use 0.5, so that a document's words keep their context; the gender-swapped GAP corpus of
    Bartl et al. (2020) in fact has 1.0. `evenhand swap` chooses the same documents for the same seed.
    """
    check_share(share)
    for number, text in enumerate(texts):
        yield rewrite(text) if is_chosen(number, share, seed) else text


@dataclass(frozen=True)
class Substituted:
    """The documents before and after the swap, and the share that was to be swapped."""

    before: list[str]
    after: list[str]
    share: float

    @cached_property
    def sentences(self) -> list[str]:
        return [sentence for text in self.after for sentence in split(text)]


def substituted(corpus: str, *, share: float | None = None, seed: int = 0) -> Substituted:
    """The corpus with words and names of a share of its documents swapped: by default half, or none if it is balanced.

    `corpus` is balanced (bundled), gap, gap-flipped, mt-gender or a file. It must be English if anything is swapped.
    """
    share = (0.0 if corpus in BALANCED_ALREADY else 0.5) if share is None else share
    check_share(share)
    texts = list(documents(corpus))
    if share and (why := not_english(texts)):
        do = "swap it with evenhand swap --lang en, and train on the result with `share=0`"
        raise BadInput(f"'{corpus}' cannot be swapped. {why} Give an English corpus. If it is English, {do}.")
    names = tuple(census().items()) if corpus in RELEASED else None  # as in the papers
    after = substitute(texts, swapper(own=names) if share else str, share=share, seed=seed)
    both = [(old, new) for old, new in zip(texts, after, strict=True) if old.strip()]
    result = Substituted([old for old, _ in both], [new for _, new in both], share)
    if not result.sentences:
        raise BadInput(f"'{corpus}' has no sentences to train on.")
    return result
