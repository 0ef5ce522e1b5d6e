"""Sentences that a swap once got wrong, and forty hard ones, with the bundled model where rules are unsure."""

import csv
import re
from pathlib import Path

import pytest

from evenhand.text.swap import substituted, swapper
from evenhand.web.app import mark_swaps
from evenhand.web.probing import both_genders

AUTO = swapper(grammar="auto")

SEEN_WRONG = [
    ("Every student brought his or her book.", "Every student brought her or his book."),
    ("May I come in?", "May I come in?"),
    ("Will I see you?", "Will I see you?"),
    ("Hope I helped!", "Hope I helped!"),
    ("To Whom It May Concern: he left.", "To Whom It May Concern: she left."),
    ("On Jan. 31 he left.", "On Jan. 31 she left."),
    ("He lives near Logan Circle.", "She lives near Logan Circle."),
    ("Edison is side-stepping the question.", "Edison is side-stepping the question."),
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
    ("I met Frank. To be frank, he was rude.", "I met Debra. To be frank, she was rude."),
    ("She made her Broadway debut and made her way home.", "He made his Broadway debut and made his way home."),
    ("The fright made her lose her way.", "The fright made him lose his way."),
    ("How to Grow Basil. Put basil in soil; water basil.", "How to Grow Basil. Put basil in soil; water basil."),
    ("Dear Janice, he is here.", "Dear Nicholas, she is here."),
    ("Hello Janice: he is here.", "Hello Nicholas: she is here."),
    ("He was buried in Montmartre Cemetery, Paris, France.", "She was buried in Montmartre Cemetery, Paris, France."),
    ("He was in Stoker (2013), Belle (2013) and others.", "She was in Stoker (2013), Belle (2013) and others."),
    ("He founded a repository (IRIS).", "She founded a repository (IRIS)."),
    ("He likes Flora & fauna.", "She likes Flora & fauna."),
    ("Merry Christmas, he said.", "Merry Christmas, she said."),
    ("He knew the 2nd Earl of Clare well.", "She knew the 2nd Earl of Clare well."),
    ("I spoke to her prior to my note.", "I spoke to him prior to my note."),
]


@pytest.mark.parametrize(("text", "swapped"), SEEN_WRONG)
def test_what_was_seen_wrong_is_right(text: str, swapped: str) -> None:
    assert AUTO(text) == swapped


def test_a_name_that_is_also_a_place_is_swapped_like_the_others() -> None:
    text = "Charlotte, the eldest of the sisters, laughed. Elizabeth looked at Charlotte, and Charlotte took her arm."
    new = AUTO(text)
    assert "Charlotte" not in new
    assert "Elizabeth" not in new
    assert AUTO(new) == text
    assert AUTO("He flew from Charlotte to Paris in June.") == "She flew from Charlotte to Paris in June."


def test_a_document_about_basil_is_not_about_a_person_of_that_name() -> None:
    text = "Basil Harvesting. Cut basil often, since basil grows back. Basil needs warm air."
    assert AUTO(text).endswith("Basil needs warm air.")
    named = "Basil Harding cut the grass. Basil needs warm air."
    assert not AUTO(named).endswith("Basil needs warm air.")


def test_debiasing_and_the_server_swap_as_the_command_does(tmp_path: Path) -> None:
    text = "They elected her president of the club."
    assert swapper(grammar="rules")(text) == "They elected his president of the club."
    told = "They elected him president of the club."
    (tmp_path / "corpus.txt").write_text(text, encoding="utf-8")
    assert substituted(str(tmp_path / "corpus.txt"), share=1).after == [told]
    assert mark_swaps(text, names=True).swapped == told
    assert both_genders(f"{text} She was ___.")[1].startswith(told)


def test_hard_sentences_are_mostly_right() -> None:
    """Forty sentences, written before tuning began. What went wrong in them was seen while it went on, and the list of
    verbs in `TWO_OBJECTS` was written after that: they guard against steps back, and are no held-out figure.
    """
    with (Path(__file__).parent / "hard-her-his.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    right = total = 0
    for row in rows:
        places = [found.start() for found in re.finditer(r"\b(?:her|his)\b", row["sentence"], re.I)]
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
