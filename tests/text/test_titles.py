"""Titles: their partners where they stand, and in the forms that their document uses."""

import re

import pytest

from evenhand.text.swap import Swapper
from evenhand.text.titles import partner

PARTNERS = [
    ("[Sir] Paul left.", "dame"),
    ("Yes, [sir].", "madam"),
    ("[Dame] Judi left.", "sir"),
    ("Notre [Dame] in Paris", None),
    ("Yes, [madam].", "sir"),
    ("[Madam] Smith left.", "mr"),
    ("[Lord] Nelson left.", "lady"),
    ("[Lord] and Lady Grantham", "lady"),
    ("my [Lord] Chancellor", None),
    ("my [lord], he said", "lady"),
    ("a [lady] left", "gentleman"),
    ("the First [Lady] left", "gentleman"),
    ("my [lords] and ladies", "ladies"),
    ("the [ladies] left", "gentlemen"),
    ("the [lords] left", None),
    ("your [lordship]", "ladyship"),
    ("the [lordship] of Ireland", None),
    ("[Miss] Smith left.", "mr"),
    ("[Miss] Ohio left.", None),
    ("I [miss] Ann.", None),
    ("[Mrs] Smith left.", "mr"),
    ("[Ms] Smith left.", "mr"),
    ("[MS]. SMITH LEFT.", "mr"),
    ("an [MS] of Bede", None),
]


@pytest.mark.parametrize(("text", "expected"), PARTNERS)
def test_what_a_title_becomes_depends_on_what_is_around_it(text: str, expected: str | None) -> None:
    before, title, after = re.split(r"[\[\]]", text)
    assert partner(before + title + after, len(before), len(before + title)) == expected


SWAPPED = [
    ("Yes, ma'am, said Mr. Jones himself.", "Yes, sir, said Ms. Jones herself."),
    ("Mrs Smith took 5 ms and an MS.", "Mr Smith took 5 ms and an MS."),
    ("Sir Paul said: yes, sir. YES, MA'AM!", "Dame Paul said: yes, ma'am. YES, SIR!"),
    ("Lord Nelson met Dame Judi at Notre Dame.", "Lady Nelson met Sir Judi at Notre Dame."),
    ("My lady, the lady, Lady Jane, the First Lady", "My lord, the gentleman, Lord Jane, the First Gentleman"),
    ("MS. JONES, Miss Jones, Miss Ohio, the Lord Mayor", "MR. JONES, Mr Jones, Miss Ohio, the Lord Mayor"),
    ("The House of Lords met the ladies.", "The House of Lords met the gentlemen."),
    ("Father Brown sang.", "Mother Brown sang."),
    ("Mr. and Miss Ash met Mr. Lee.", "Miss and Mr. Ash met Miss Lee."),
]


@pytest.mark.parametrize(("text", "swapped"), SWAPPED)
def test_titles_are_swapped(text: str, swapped: str) -> None:
    assert Swapper()(text) == swapped


BOTH_WAYS = [
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
    ("Her ladyship met your lordship.", "His lordship met your ladyship."),
    ("He bought the lordship of Ireland.", "She bought the lordship of Ireland."),
]


@pytest.mark.parametrize(("text", "swapped"), BOTH_WAYS)
def test_a_document_keeps_its_own_forms_so_that_it_comes_back(text: str, swapped: str) -> None:
    assert Swapper()(text) == swapped
    assert Swapper()(swapped) == text


def test_a_title_that_the_document_has_in_another_form_only_is_swapped() -> None:
    assert Swapper()("Mr Hill met Miss Hill. The Mrs was out.") == "Miss Hill met Mr Hill. The Mr was out."


def test_most_titles_decide_about_dots() -> None:
    assert Swapper()("Mr. Ash met Miss Lee. Mr. Day left. Mr Ray left.") == (
        "Miss Ash met Mr. Lee. Miss Day left. Miss Ray left."
    )
