"""What is counted in a corpus: gendered words, first names, and the words next to them."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

from evenhand.core.files import read_given
from evenhand.datasets import gendered
from evenhand.datasets.becpro import professions
from evenhand.datasets.blanks import tbd
from evenhand.datasets.files.rows import Pairs, read_word_pairs
from evenhand.datasets.gendered import Gender
from evenhand.errors import BadInput
from evenhand.text.name_lists import Names, own
from evenhand.text.names import Naming


@dataclass(frozen=True)
class Vocabulary:
    """The words to count: English ones, professions and names of ours, or a user's own.

    `beside` replaces the professions; `pairs` the gendered words, and then no names and no professions of ours are
    counted; `names` our list of names. Texts are split in sentences by the rules of `language`.
    """

    beside: tuple[str, ...] | None = None
    pairs: Pairs | None = None
    names: Names | None = None
    language: str = "en"

    @cached_property
    def gender(self) -> Callable[[str], Gender | None]:
        """What gives the gender of a word."""
        if self.pairs is None:
            return gendered.gender
        sides: tuple[Gender, Gender] = ("male", "female")
        return {word: side for pair in self.pairs for word, side in zip(pair, sides, strict=True)}.get

    def side_of(self, tokens: Iterable[str]) -> tuple[str, Counter[Gender]]:
        """Whom a sentence speaks of: female, male, both or neither; and how many gendered words it has of each."""
        found = Counter(g for token in tokens if (g := self.gender(token)))
        return next(iter(found)) if len(found) == 1 else "both" if found else "neither", found

    @cached_property
    def _naming(self) -> Naming:
        own = dict(self.names or ()) if self.names or self.pairs else None
        return Naming(own, always=bool(self.pairs))

    def first_names(self, text: str) -> Iterator[tuple[str, Gender]]:
        """Every first name of a person in a document, in lower case, with its gender; no words that have one anyway.

        >>> text = "Mary Smith met Tom in May. Will they marry? Ruby said so. Mr King did not."
        >>> list(Vocabulary().first_names(text))
        [('mary', 'female'), ('tom', 'male'), ('ruby', 'female')]
        """
        names = (edit.old.lower() for edit in self._naming(text))
        return ((name, self._naming.table[name].gender) for name in names if not self.gender(name))

    @cached_property
    def _wanted(self) -> tuple[frozenset[str], re.Pattern[str]]:
        listed = self.beside if self.beside is not None else () if self.pairs else _professions()
        wanted = sorted({word.lower() for word in listed}, key=len, reverse=True)
        return frozenset(wanted), re.compile(rf"\b(?:{'|'.join(map(re.escape, wanted))})s?\b" if wanted else r"(?!)")

    def words_beside(self, sentence: str) -> Iterator[str]:
        """The professions of a sentence, or a user's own words, each once; a plural is its singular."""
        wanted, pattern = self._wanted
        return iter({word if word in wanted else word[:-1] for word in pattern.findall(sentence.lower())})


@cache
def _professions() -> tuple[str, ...]:
    return (*(job.name for job in professions()), *(item.groups["profession"] for item in tbd().items))


def read_vocabulary(
    words: Path | None = None, word_pairs: Path | None = None, names: Path | None = None, lang: str | None = None
) -> Vocabulary:
    """The vocabulary of a user's lists, where they are given."""
    pairs = read_word_pairs(word_pairs) if word_pairs else None
    if lang and not pairs and lang != "en":
        raise BadInput(f"`lang='{lang}'` needs a list of gendered words of that language: `word_pairs`.")
    known = Vocabulary(None, pairs, tuple(own(names).items()) if names else None, lang or "en")
    return replace(known, beside=_read_words(words, known)) if words else known


def _read_words(file: Path, known: Vocabulary) -> tuple[str, ...]:
    """A user's words to count next to women and men: one on each line."""
    lines = read_given(file, str.splitlines, "The list of words", "Give a UTF-8 text file.")
    found = [word for line in lines if (word := " ".join(line.split()).lower())]
    if not found:
        raise BadInput(f"The list of words '{file}' is empty: one word on each line is needed.")
    if gendered_words := [word for word in found if known.gender(word)]:
        raise BadInput(f"'{file}': '{gendered_words[0]}' has a gender by itself, so it tells nothing. Leave it out.")
    return tuple(dict.fromkeys(found))
