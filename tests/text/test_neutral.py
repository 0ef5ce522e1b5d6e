"""Neutral words come with the plural of their verbs, and with the right article."""

import pytest

from evenhand.text.neutral import _plural
from evenhand.text.swap import swapper

NEUTRAL = [
    ("Every student has his or her book, and he or she reads it.", "Every student has their book, and they read it."),
    ("Ask him/her.", "Ask them."),
    ("He is late, and she was tired.", "They are late, and they were tired."),
    ("She's here. He's gone. She’s not well.", "They're here. They've gone. They’re not well."),
    ("Is he here? Nor does she know. WAS HE?", "Are they here? Nor do they know. WERE THEY?"),
    ("He often watches her and tries to help.", "They often watch them and try to help."),
    ("She opens the door and sees his hat.", "They open the door and see their hat."),
    ("He likes cats and dogs.", "They like cats and dogs."),
    ("She said that he has his own.", "They said that they have their own."),
    ("The fireman met a policewoman.", "The firefighter met a police officer."),
    ("A waitress and an actress left.", "A server and an actor left."),
    ("Her brother saw an uncle of hers.", "Their sibling saw a relative of theirs."),
    ("Mr. Smith hurt himself; Mary Jones saw him.", "Mx. Smith hurt themselves; Mary Jones saw them."),
    ("He is a grandson, an uncle.", "They are a grandchild, a relative."),
]


@pytest.mark.parametrize(("text", "expected"), NEUTRAL)
def test_neutral_words_come_with_their_verbs(text: str, expected: str) -> None:
    assert swapper(to="neutral")(text) == expected


PLURALS = (
    "walks walk, tries try, dies die, watches watch, misses miss, is are, isn’t aren’t, goes go, said said, thus thus"
)


@pytest.mark.parametrize("forms", PLURALS.split(", "))
def test_a_verb_in_the_singular_has_this_plural(forms: str) -> None:
    verb, plural = forms.split()
    assert _plural(verb) == plural
