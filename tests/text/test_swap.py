"""Swapping gender: grammar, case, everything else untouched, and back again."""

import csv
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand import BadInput
from evenhand.datasets.gendered import lexicon
from evenhand.text.edits import Edit, apply_edits, match_case
from evenhand.text.names import Naming, census, read_names
from evenhand.text.pronouns import SURE, score
from evenhand.text.swap import Swapper, substitute
from helpers.edits import swapped_back

SWAP = Swapper()
BOTH = Swapper(names=Naming())


@pytest.mark.parametrize(
    ("text", "swapped"),
    [
        ("He's gone, and she'll follow.", "She's gone, and he'll follow."),
        ("HIS mother-in-law’s king-size bed.", "HER father-in-law’s king-size bed."),
        ("I saw her yesterday.", "I saw him yesterday."),
        ("I saw her brother yesterday.", "I saw his sister yesterday."),
        ("Give him his book, it is his.", "Give her her book, it is hers."),
        ("A friend of hers told her about it.", "A friend of his told him about it."),
        ("Her and Sam's house was old.", "His and Sam's house was old."),
        ("Yes, ma'am, said Mr. Jones himself.", "Yes, sir, said Ms. Jones herself."),
        ("Mrs Smith took 5 ms and an MS.", "Mr Smith took 5 ms and an MS."),
        ("It was a witch hunt, said the witch.", "It was a witch hunt, said the wizard."),
        ("The poet's host was a manager.", "The poet's host was a manager."),
        ("“She,” he wrote, ‘is his aunt’.", "“He,” she wrote, ‘is her uncle’."),
        ("The ex-wife of a businessman", "The ex-husband of a businesswoman"),
        ("Sir Paul said: yes, sir. YES, MA'AM!", "Dame Paul said: yes, ma'am. YES, SIR!"),
        ("Lord Nelson met Dame Judi at Notre Dame.", "Lady Nelson met Sir Judi at Notre Dame."),
        ("My lady, the lady, Lady Jane, the First Lady", "My lord, the gentleman, Lord Jane, the First Gentleman"),
        ("MS. JONES, Miss Jones, Miss Ohio, the Lord Mayor", "MR. JONES, Mr Jones, Miss Ohio, the Lord Mayor"),
        ("They found her guilty and followed her home.", "They found him guilty and followed him home."),
        ("It was against his will, his A Short History.", "It was against her will, her A Short History."),
        ("She won her back; her last film; her back.", "He won him back; his last film; his back."),
        ("His was blue, and a friend of his came.", "Hers was blue, and a friend of hers came."),
        ("I made her cry and watched her dance.", "I made him cry and watched him dance."),
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
        ("Mr. Ash met Miss Lee.", "Miss Ash met Mr. Lee."),
        ("Mr Ash met Miss Lee.", "Miss Ash met Mr Lee."),
        ("MR. ASH met Miss Lee and Mr. Day.", "MISS ASH met Mr. Lee and Miss Day."),
        ("MR. ASH MET MISS LEE.", "MISS ASH MET MR. LEE."),
        ("Mr. Ash met Miss Lee. Mr. Ray met Miss Day.", "Miss Ash met Mr. Lee. Miss Ray met Mr. Day."),
        ("Mr Ash met Miss Lee. “Yes, Miss.”", "Miss Ash met Mr Lee. “Yes, Miss.”"),
        ("Mr. Ash met Mrs. Lee and Miss Lee.", "Mrs. Ash met Mr. Lee and Master Lee."),
        ("“Yes, ma’am.” “No, sir.”", "“Yes, sir.” “No, ma’am.”"),
        ("Yes, madam. No, sir.", "Yes, sir. No, madam."),
        ("Sir Paul said: yes, ma'am; no, sir.", "Dame Paul said: yes, sir; no, ma'am."),
        ("Dad met Mum.", "Mum met Dad."),
        ("Dad met Mom.", "Mom met Dad."),
        ("The bridegroom met the bride.", "The bride met the bridegroom."),
        ("Her ladyship met your lordship.", "His lordship met your ladyship."),
        ("He bought the lordship of Ireland.", "She bought the lordship of Ireland."),
    ],
)
def test_a_document_keeps_its_own_forms_so_that_it_comes_back(text: str, swapped: str) -> None:
    there = Swapper()
    assert there(text) == swapped
    assert there(swapped) == text


def test_a_word_without_its_usual_partner_in_the_document_takes_the_usual_one() -> None:
    there = Swapper()
    assert there("Dad left.") == "Mom left."
    assert there("Dad met Mum and Mom.") == "Mom met Dad and Dad."
    assert there("The bloke met a woman.") == "The woman met a man."  # a word of slang decides nothing
    assert Swapper(only="male")("Dad met Mum.") == "Mum met Mum."
    assert Swapper({"king": "queen", "ruler": "queen"})("The ruler met the queen.") == "The queen met the king."


def test_a_title_that_the_document_has_in_another_form_only_is_swapped() -> None:
    assert Swapper()("Mr Hill met Miss Hill. The Mrs was out.") == "Miss Hill met Mr Hill. The Mr was out."


def test_most_titles_decide_about_dots() -> None:
    assert Swapper()("Mr. Ash met Miss Lee. Mr. Day left. Mr Ray left.") == (
        "Miss Ash met Mr. Lee. Miss Day left. Miss Ray left."
    )


def test_a_name_is_one_although_the_document_has_the_word_as_often() -> None:
    there = Swapper(names=Naming())
    assert there("I met Frank. To be frank, he was rude.") == "I met Debra. To be frank, she was rude."
    assert there("We bought Basil seeds. Sow basil, then water basil.") == (
        "We bought Basil seeds. Sow basil, then water basil."
    )


def test_words_of_many_addresses_stay() -> None:
    text = "He wrote to his@her.org, www.his.org and she@b.de. " * 3
    assert Swapper()(text) == "She wrote to his@her.org, www.his.org and she@b.de. " * 3


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
    with pytest.raises(BadInput, match="belong to another text"):
        apply_edits("She left.", [Edit(0, "He", "She", "pronoun")])


def test_own_pairs_take_the_place_of_ours() -> None:
    swap = Swapper(pairs={"wizard": "sorceress"})
    assert swap("The Wizard and he met a sorceress.") == "The Sorceress and he met a wizard."
    with pytest.raises(BadInput, match="two different words"):
        Swapper(pairs={"x": "x"})


def gold(data: Path) -> list[tuple[str, int, str, str, str]]:
    """Hand labels: text, offset, word, label, source."""
    texts: dict[str, str] = {}
    for part in ("development", "validation", "test"):
        with (data / "gap" / f"gap-{part}.tsv").open(encoding="utf-8") as file:
            texts |= {r["ID"]: r["Text"] for r in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)}
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


def test_agreement_with_the_released_swap(data: Path) -> None:
    """gap_flipped.tsv: where both change he, she or a noun, they agree; where they differ, why."""
    texts: dict[str, str] = {}
    for part in ("development", "validation", "test"):
        with (data / "gap" / f"gap-{part}.tsv").open(encoding="utf-8") as file:
            texts |= {r["ID"]: r["Text"] for r in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)}
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


NAMES = [
    ("Mary Smith saw John.", {"Mary", "John"}),
    ("They moved to Jordan in May.", set()),
    ("Michael Jordan scored. Jordan left.", {"Michael"}),
    ("Jordan Smith left. Jordan was tired.", {"Jordan"}),
    ("The James Madison University and St. Mary Street", set()),
    ("Mr. James arrived with King Charles.", {"Charles"}),
    ("Dr. Susan Calvin spoke. Calvin smiled.", {"Susan"}),
    ("Mark my words, said Mark.", {"Mark"}),
    ("When Alice left, Bob wept.", {"Alice", "Bob"}),
    ("Jean-Paul met Ann Arbor", set()),
    ("North Carolina and Virginia Beach", set()),
    ("New York Mayor Michael Bloomberg met Janet Street-Porter.", {"Michael", "Janet"}),
    ("Ruby said so. The novels of Virginia Woolf.", {"Ruby", "Virginia"}),
    ("Jack went home. Don't. The series Ellen; the song ``Dixie''", {"Jack"}),
    ("She left Milford, Ohio, on 20 April for the Lou Grant Show.", set()),
    ("Sir James met Lord Nelson, Don Carlos, Dean Mary Smith and Anthony O'Donnell.", {"James", "Mary", "Anthony"}),
    ("Victoria and Emily flew to Victoria, the state.", {"Victoria", "Emily"}),
]


@pytest.mark.parametrize(("text", "found"), NAMES)
def test_first_names_are_told_from_other_words(text: str, found: set[str]) -> None:
    assert {edit.old for edit in Naming()(text)} == found


def test_a_word_before_i_is_no_name_with_a_surname() -> None:
    assert [edit.old for edit in Naming()("May I ask? Will I see Mary I of England?")] == ["Mary"]


def test_partners_are_one_to_one_and_of_the_other_gender() -> None:
    table = census()
    assert len(table) > 2000
    assert all(table[table[name].partner].partner == name for name in table)
    assert (table["james"].partner, table["mary"].partner) == ("barbara", "john")


def test_common_names_have_partners_that_are_recognised_alike() -> None:
    """A first name must not become a word that is taken for a surname, or a text swapped twice would not come back."""
    table = census()
    unlike = [name for name, found in table.items() if found.surname != table[found.partner].surname]
    assert len(unlike) < 0.13 * len(table)
    commonest = list(table)[:150]  # the file has the commonest first
    assert not set(commonest).intersection(name for name in unlike if not table[name].surname)


def test_a_name_has_one_partner_throughout_a_document() -> None:
    edits = list(Naming()("Mary Smith left. Mary's sister saw Mary. MARY!"))
    assert {edit.new.lower() for edit in edits} == {"john"}
    assert len(edits) == 4


def test_annotated_names_of_gap_are_swapped(data: Path) -> None:
    """Of the annotated full names whose first word is in the list."""
    total = hit = 0
    naming = Naming()
    for part in ("development", "validation", "test"):
        with (data / "gap" / f"gap-{part}.tsv").open(encoding="utf-8") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                found = {edit.start for edit in naming(row["Text"])}
                for side in "AB":
                    words = row[side].split()
                    if len(words) > 1 and words[0].lower() in naming.table and words[0][0].isupper():
                        total += 1
                        hit += int(row[f"{side}-offset"]) in found
    assert total > 2000
    assert hit / total >= 0.98


def test_few_swapped_names_are_no_people(data: Path) -> None:
    """Read by hand: twice 200 swapped names of GAP that it does not annotate."""
    texts, naming = dict[str, str](), Naming()
    for part in ("development", "validation", "test"):
        with (data / "gap" / f"gap-{part}.tsv").open(encoding="utf-8") as file:
            texts |= {r["ID"]: r["Text"] for r in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)}
    with (Path(__file__).parent / "names.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    swapped = Counter(
        row["label"] for row in rows if int(row["offset"]) in {e.start for e in naming(texts[row["document"]])}
    )
    assert swapped["first name"] / sum(row["label"] == "first name" for row in rows) > 0.99
    assert swapped["other"] / swapped.total() < 0.02


def test_a_list_of_names_with_duplicates_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "names.tsv"
    file.write_text("Adam\tEve\nKain\tEve\n")
    with pytest.raises(BadInput, match="'eve' has two partners, 'adam' and 'kain'"):
        read_names(str(file))
    file.write_text("Adam Eve\n")
    with pytest.raises(
        BadInput, match="line 1: two different names are needed, the male one, a tab, and the female one"
    ):
        read_names(str(file))


def test_substitution_takes_its_share_and_is_seeded() -> None:
    texts = [f"He is number {i}." for i in range(1000)]
    made = list(substitute(texts, SWAP, share=0.5, seed=1))
    changed = sum(a != b for a, b in zip(texts, made, strict=True))
    assert 430 < changed < 570
    assert made == list(substitute(texts, SWAP, share=0.5, seed=1))
    assert list(substitute(texts, SWAP, share=1.0, seed=1)) == [SWAP(t) for t in texts]
    with pytest.raises(BadInput, match="between 0 and 1"):
        list(substitute(texts, SWAP, share=1.5, seed=1))
