"""Her becomes him or his, and his becomes her or hers: by rules, and with the bundled model where these are unsure."""

import csv
import re
from collections import Counter
from pathlib import Path

import pytest

from evenhand.text.pronouns import SURE, is_possessive, score
from evenhand.text.swap import Swapper, swapper
from helpers.edits import gap_rows

BY_RULES = [
    ("I saw her yesterday.", "I saw him yesterday."),
    ("I saw her brother yesterday.", "I saw his sister yesterday."),
    ("Give him his book, it is his.", "Give her her book, it is hers."),
    ("A friend of hers told her about it.", "A friend of his told him about it."),
    ("Her and Sam's house was old.", "His and Sam's house was old."),
    ("They found her guilty and followed her home.", "They found him guilty and followed him home."),
    ("It was against his will, his A Short History.", "It was against her will, her A Short History."),
    ("She won her back; her last film; her back.", "He won him back; his last film; his back."),
    ("His was blue, and a friend of his came.", "Hers was blue, and a friend of hers came."),
    ("I made her cry and watched her dance.", "I made him cry and watched him dance."),
]


@pytest.mark.parametrize(("text", "swapped"), BY_RULES)
def test_rules_tell_objects_from_possessives(text: str, swapped: str) -> None:
    assert Swapper()(text) == swapped


POSSESSIVES = [
    ("He saw [her].", False),
    ("He saw [her] there.", False),
    ("He read [her] book.", True),
    ("[Her] and Sam's house was old.", True),
    ("She has [her] A levels.", True),
    ("She made [her] debut.", True),
    ("We loved [her] three dogs.", True),
    ("We met [her] three years ago.", False),
    ("Ask him or [her].", False),
    ("Her pronouns are she/[her].", False),
    ("It is [his].", False),
    ("It was against [his] will.", True),
    ("A friend of [his] came.", False),
    ("[His] was blue.", False),
]


@pytest.mark.parametrize(("text", "possessive"), POSSESSIVES)
def test_a_place_is_a_possessive_or_not(text: str, possessive: bool) -> None:
    before, word, after = re.split(r"[\[\]]", text)
    margin = score(before + word + after, len(before), len(before + word))
    assert is_possessive(word.lower(), margin) == possessive


AUTO = swapper()
SEEN_WRONG = [
    ("Every student brought his or her book.", "Every student brought her or his book."),
    ("The choice is his alone.", "The choice is hers alone."),
    ("That car of his broke down.", "That car of hers broke down."),
    ("We could send her home.", "We could send him home."),
    ("Put her back in the room.", "Put him back in the room."),
    ("We reminded her several times.", "We reminded him several times."),
    ("Gives her headaches.", "Gives him headaches."),
    ("It was like part of her died with it.", "It was like part of him died with it."),
    ("I trained her myself.", "I trained him myself."),
    ("The widow came with her two sons.", "The widower came with his two daughters."),
    ("I loved her three dogs.", "I loved his three dogs."),
    ("We met her two years ago.", "We met him two years ago."),
    ("They drove her five miles.", "They drove him five miles."),
    ("They gave her two apples.", "They gave him two apples."),
    ("They paid her $10 more.", "They paid him $10 more."),
    ("She lives in her $2.3 million mansion.", "He lives in his $2.3 million mansion."),
    ("He saw her make her debut.", "She saw him make his debut."),
    ("They let her mark the papers.", "They let him mark the papers."),
    ("What made her feel that way?", "What made him feel that way?"),
    ("He left her two houses.", "She left him two houses."),
    ("She made her Broadway debut and made her way home.", "He made his Broadway debut and made his way home."),
    ("The fright made her lose her way.", "The fright made him lose his way."),
    ("I spoke to her prior to my note.", "I spoke to him prior to my note."),
    ("The pronouns are they/her.", "The pronouns are they/him."),
]


@pytest.mark.parametrize(("text", "swapped"), SEEN_WRONG)
def test_what_was_seen_wrong_is_right(text: str, swapped: str) -> None:
    assert AUTO(text) == swapped


def test_hard_sentences_are_mostly_right() -> None:
    """Forty sentences, written before tuning began. What went wrong in them was seen while it went on, and the list of
    verbs in `TWO_OBJECTS` was written after that: they guard against steps back, and are no held-out figure.
    """
    with (Path(__file__).parent / "hard-her-his.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    right = total = 0
    for row in rows:
        places = [match.start() for match in re.finditer(r"\b(?:her|his)\b", row["sentence"], re.I)]
        edits = {edit.start: edit.new.lower() for edit in AUTO.edits(row["sentence"])}
        wanted = row["swapped"].split()
        assert len(places) == len(wanted)
        right += sum(edits[place] == new for place, new in zip(places, wanted, strict=True))
        total += len(places)
    assert (len(rows), total) == (40, 43)
    assert right >= 41


def test_the_model_alone_decides_where_it_is_told_to() -> None:
    text = "The news left her cold, and a friend of his came."
    assert swapper(grammar="model")(text) == "The news left him cold, and a friend of hers came."


def gold(data: Path) -> list[tuple[str, int, str, str, str]]:
    """Hand labels: text, offset, word, label, source."""
    texts = {row["ID"]: row["Text"] for row in gap_rows(data)}
    with (Path(__file__).parent / "her-his.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return [(texts[r["document"]], int(r["offset"]), r["word"].lower(), r["label"], r["source"]) for r in rows]


def test_her_and_his_are_right_in_97_of_100_on_text_it_was_not_trained_on(data: Path) -> None:
    right: Counter[tuple[str, str]] = Counter()
    total: Counter[tuple[str, str]] = Counter()
    for text, start, word, label, source in gold(data):
        if word == "hers":
            continue
        possessive = score(text, start, start + 3) > (0 if word == "her" else SURE)
        total[word, source] += 1
        right[word, source] += possessive == (label == "possessive")
    assert (total["her", "random"], total["her", "fresh"], total["her", "later"]) == (399, 300, 250)
    for source in ("random", "fresh", "later"):  # rules were written with an eye on the first two, not on the third
        assert right["her", source] / total["her", source] >= 0.97
    assert right["his", "random"] / total["his", "random"] >= 0.99
    assert right["her", "hard"] / total["her", "hard"] >= 0.89  # chosen to be hard; with the model 94 are right
