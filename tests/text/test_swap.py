"""Swapping gender: grammar, case, everything else untouched, and back again."""

import csv
import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand import BadInput, swap_text
from evenhand.datasets.gendered import lexicon
from evenhand.text.edits import Edit, apply_edits, match_case
from evenhand.text.names import Naming
from evenhand.text.swap import Swapper, substitute, substituted, swapper
from evenhand.web.app import mark_swaps
from evenhand.web.probing import both_genders
from helpers.edits import gap_rows, is_as_expected, swapped_back

SWAP = Swapper()
BOTH = Swapper(names=Naming())
AUTO = swapper()


@pytest.mark.parametrize(
    ("text", "swapped"),
    [
        ("He's gone, and she'll follow.", "She's gone, and he'll follow."),
        ("HIS mother-in-law’s king-size bed.", "HER father-in-law’s king-size bed."),
        ("It was a witch hunt, said the witch.", "It was a witch hunt, said the wizard."),
        ("The poet's host was a manager.", "The poet's host was a manager."),
        ("“She,” he wrote, ‘is his aunt’.", "“He,” she wrote, ‘is her uncle’."),
        ("The ex-wife of a businessman", "The ex-husband of a businesswoman"),
        ("Stephen King wrote it. King lives in Maine.", "Stephen King wrote it. King lives in Maine."),
        ("The King of Duke University met the Crown Prince.", "The Queen of Duke University met the Crown Princess."),
        (
            "See https://x.org/his/her.html or him@her.org, s/he.",
            "See https://x.org/his/her.html or him@her.org, s/he.",
        ),
        ("theme, shed, hero-worship, them", "theme, shed, heroine-worship, them"),
    ],
)
def test_words_are_swapped_and_nothing_else(text: str, swapped: str) -> None:
    assert SWAP(text) == swapped


@pytest.mark.parametrize(("like", "cases"), [("he", "she"), ("He", "She"), ("HE", "SHE"), ("MacKenzie", "She")])
def test_the_case_is_kept(like: str, cases: str) -> None:
    assert match_case("she", like) == cases


WORDS = "he she her his him hers man woman King queen Mrs Mr. ma'am Mary John, the said to 's . Smith"
TEXTS = st.text(alphabet="abehimrsw'’ .-HSER\n\t\u00e9\u6f22", max_size=60) | st.lists(
    st.sampled_from(WORDS.split()), max_size=25
).map(" ".join)


@given(TEXTS)
def test_the_trail_always_leads_back(text: str) -> None:
    edits = BOTH.edits(text)
    assert swapped_back(apply_edits(text, edits), edits) == text


ONE_TO_ONE = [w for w in lexicon() if not w.oneway and w.male not in ("mr",)]
SAFE = st.lists(
    st.sampled_from([x for w in ONE_TO_ONE for x in (w.male, w.female)] + ["and", "the", "saw", "."]), max_size=20
)


@given(SAFE)
def test_swapping_twice_gives_the_original_where_pairs_are_one_to_one(words: list[str]) -> None:
    text = " ".join(words)
    assert SWAP(SWAP(text)) == text


@pytest.mark.parametrize(
    ("text", "swapped"),
    [
        ("Dad met Mum.", "Mum met Dad."),
        ("Dad met Mom.", "Mom met Dad."),
        ("The bridegroom met the bride.", "The bride met the bridegroom."),
    ],
)
def test_a_document_keeps_its_own_forms_so_that_it_comes_back(text: str, swapped: str) -> None:
    assert SWAP(text) == swapped
    assert SWAP(swapped) == text


def test_a_word_without_its_usual_partner_in_the_document_takes_the_usual_one() -> None:
    assert SWAP("Dad left.") == "Mom left."
    assert SWAP("Dad met Mum and Mom.") == "Mom met Dad and Dad."
    assert SWAP("The bloke met a woman.") == "The woman met a man."  # a word of slang decides nothing
    assert Swapper(only="male")("Dad met Mum.") == "Mum met Mum."
    assert Swapper({"king": "queen", "ruler": "queen"})("The ruler met the queen.") == "The queen met the king."


def test_words_of_many_addresses_stay() -> None:
    text = "He wrote to his@her.org, www.his.org and she@b.de. " * 3
    assert SWAP(text) == "She wrote to his@her.org, www.his.org and she@b.de. " * 3


@given(TEXTS)
def test_everything_between_the_edits_is_untouched(text: str) -> None:
    edits = BOTH.edits(text)
    kept, at = [], 0
    for edit in edits:
        kept.append(text[at : edit.start])
        at = edit.start + len(edit.old)
    kept.append(text[at:])
    rest = apply_edits(text, edits)
    for piece in kept:
        assert piece in rest


def test_edits_of_another_text_are_refused() -> None:
    with pytest.raises(BadInput, match="another text"):
        apply_edits("She left.", [Edit(0, "He", "She", "pronoun")])


def test_own_pairs_take_the_place_of_ours() -> None:
    swap = Swapper(pairs={"wizard": "sorceress"})
    assert swap("The Wizard and he met a sorceress.") == "The Sorceress and he met a wizard."
    with pytest.raises(BadInput, match="different"):
        Swapper(pairs={"x": "x"})


def test_agreement_with_the_released_swap(data: Path) -> None:
    """gap_flipped.tsv: where both change he, she or a noun, they agree; where they differ, why."""
    texts = {row["ID"]: row["Text"] for row in gap_rows(data)}
    with (data / "gap" / "gap_flipped.tsv").open(encoding="utf-8") as file:
        released = {r["ID"]: r["Text"] for r in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)}
    same, differ = Counter[str](), Counter[str]()
    for name, text in texts.items():
        ours = {e.start: e for e in SWAP.edits(text)}
        at = moved = 0
        theirs = released[name]
        for old, new in zip(text.split(" "), theirs.split(" "), strict=True):
            for start, edit in ours.items():
                if at <= start < at + len(old) and len(old) == len(edit.old):
                    kind = "context" if edit.rule.startswith(("her", "his")) else edit.rule
                    (same if new == edit.new else differ)[kind] += 1
            at += len(old) + 1
            moved += len(new) - len(old)
    agree = sum(same[k] for k in ("pronoun", "person", "kinship")) / sum(
        same[k] + differ[k] for k in ("pronoun", "person", "kinship")
    )
    reflexive = sum(text.count("himself") + text.count("herself") for text in texts.values())
    assert differ["pronoun"] <= reflexive  # the release leaves reflexives as they are
    assert agree + reflexive / sum(same[k] + differ[k] for k in ("pronoun", "person", "kinship")) > 0.99
    assert same["context"] / (same["context"] + differ["context"]) > 0.94  # it errs in about one her of twenty


def test_substitution_takes_its_share_and_is_seeded() -> None:
    texts = [f"He is number {i}." for i in range(1000)]
    made = list(substitute(texts, SWAP, share=0.5, seed=1))
    changed = sum(a != b for a, b in zip(texts, made, strict=True))
    assert 430 < changed < 570
    assert made == list(substitute(texts, SWAP, share=0.5, seed=1))
    assert list(substitute(texts, SWAP, share=1.0, seed=1)) == [SWAP(t) for t in texts]
    with pytest.raises(BadInput, match="1.5"):
        list(substitute(texts, SWAP, share=1.5, seed=1))


HARD = [
    ("'He loves the ladies' she said.", "'She loves the gentlemen' he said."),
    ("It was a gentlemen's agreement.", "It was a ladies' agreement."),
    ("THE LADIES' ROOM", "THE GENTLEMEN'S ROOM"),
    ("The hostess or the host will call.", "The host or the hostess will call."),
    ("The actresses were paid less than the actors.", "The actors were paid less than the actresses."),
    ("The countess could not count on him.", "The count could not count on her."),
    ("The actress met an actress and the actor.", "The actor met an actor and the actress."),
    ("The word 'actress' is old.", "The word 'actor' is old."),
    ("‘I don’t like ladies’ he said.", "‘I don’t like gentlemen’ she said."),
    ("THE GENTLEMEN'S CLUB", "THE LADIES' CLUB"),
    ("A Ladies' Man", "A Ladies' Man"),
    ("mAMa and the czAriNa", "papa and the czar"),
    ("The menu\u0301 is his.", "The menu\u0301 is hers."),
    ("Father Dominic and Sister Agnes sang.", "Mother * and Brother * sang."),
]


@pytest.mark.parametrize(("text", "expected"), HARD)
def test_couples_quotation_marks_and_odd_letters(text: str, expected: str) -> None:
    assert is_as_expected(AUTO(text), expected, text), AUTO(text)


def test_of_forty_hard_sentences_two_are_wrong_at_most() -> None:
    """Couples of titles, places and brands named like people, possessives, lists of pronouns, names that are words."""
    with Path(__file__).with_name("hard-sentences.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    wrong = [row for row in rows if not is_as_expected(swap_text(row["sentence"]), row["swapped"], row["sentence"])]
    assert len(rows) == 40
    assert len(wrong) <= 2, wrong


def test_a_string_is_swapped_as_a_file_is(tmp_path: Path) -> None:
    assert swap_text("She saw him.") == "He saw her."
    assert swap_text("She saw him.", only="she-to-he") == "He saw him."
    assert swap_text("He is a fireman.", to="neutral") == "They are a firefighter."
    assert swap_text("Mary Smith saw him.", names=False) == "Mary Smith saw her."
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("han\thon\n")
    assert swap_text("Han såg hon.", word_pairs=pairs) == "Hon såg han."
    with pytest.raises(BadInput, match="German"):
        swap_text("Die Ärztin sagt, dass sie müde ist.")
    with pytest.raises(BadInput, match="only"):
        swap_text("She saw him.", only="both")


def test_edits_never_overlap() -> None:
    """Words of any case and mark next to each other: what is not edited stays, to the byte."""
    words = "mAMa|Mary|ladies'|actress|and the|actor|Lord|and Lady|'|she/her|Mr.|bLoKe|James'|XI"
    rng = random.Random(0)
    for _ in range(300):
        text = " ".join(rng.choices(words.split("|"), k=12))
        end = 0
        for edit in AUTO.edits(text):
            assert edit.start >= end
            end = edit.start + len(edit.old)
            assert text[edit.start : end] == edit.old


def test_own_pairs_are_replaced_word_by_word(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("chico\tchicas\n")
    assert swap_text("los chicas' y 'chico' x", word_pairs=pairs) == "los chico' y 'chicas' x"


def test_debiasing_and_the_server_swap_as_the_command_does(tmp_path: Path) -> None:
    text = "They elected her president of the club."
    assert swapper(grammar="rules")(text) == "They elected his president of the club."
    swapped = "They elected him president of the club."
    (tmp_path / "corpus.txt").write_text(text, encoding="utf-8")
    assert substituted(str(tmp_path / "corpus.txt"), share=1).after == [swapped]
    assert mark_swaps(text, names=True).swapped == swapped
    assert both_genders(f"{text} She was ___.")[1].startswith(swapped)


def test_articles_follow_the_word_after_them() -> None:
    assert AUTO("An earl, a monk, a hostess, an heiress.") == "An earl, a nun, a host, an heir."
