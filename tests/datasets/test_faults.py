"""The rules for sentence pairs: each catches what it should and lets the rest pass."""

import pytest

from evenhand.datasets.faults import RULES, faults, tally


def rules(one: str, other: str) -> set[str]:
    return {fault.rule for fault in faults([("1", one, other)])}


@pytest.mark.parametrize(
    ("one", "other", "rule"),
    [
        ("He left.", "He left.", "identical"),
        ("He left.", "", "identical"),
        ("The nurse took her coat and left.", "Die Pflegerin nahm ihren Mantel und ging.", "unrelated"),
        ("Women should stay at home all day.", "Men should not stay at home all day.", "missing word"),
        ("The woman was bad at maths today.", "The man was good at maths today.", "other change"),
        ("John carried the bag to the car.", "Mary carried the bag to the car.", "other change"),
        ("She said he took the car home.", "He said he took the car home.", "left behind"),
        ("The doctor took his coat, he said.", "The doctor took his coat, she said.", "left behind"),
        ("The man  left the room early.", "The woman  left the room early.", "spacing"),
        ("The man left the room .", "The woman left the room .", "spacing"),
        ("the man left the room.", "the woman left the room.", "casing"),
        ("He left the room early.", "she left the room early.", "casing"),
        ("The fault was his, not mine.", "The fault was hers, not mine.", "frequency"),
    ],
)
def test_each_rule_catches_its_fault(one: str, other: str, rule: str) -> None:
    assert rule in rules(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ask him for his keys, he said.", "Ask her for her keys, she said."),
        ("An actor was here, a man of taste.", "An actress was here, a woman of taste."),
        ("He's a mason, isn't he?", "She's a mason, isn't she?"),
        ("No man succeeds without a good woman beside him.", "No woman succeeds without a good man beside her."),
        ("He gave her his coat.", "She gave him her coat."),
        ("She loves her mother.", "He loves his father."),
        ("The only actor here is his sister.", "The only actor here is her brother."),
        ('"Men," said the cook, "burn the soup."', '"Women," said the cook, "burn the soup."'),
    ],
)
def test_a_good_pair_breaks_no_rule(one: str, other: str) -> None:
    assert not rules(one, other) - {"frequency"}


def test_pairs_of_different_length_are_found_with_a_tokenizer() -> None:
    listed = faults([("1", "He is a waiter.", "She is a waitress.")], count=lambda texts: [len(t) for t in texts])
    assert "pieces" in {fault.rule for fault in listed}


def test_a_pair_that_was_there_before_is_found_and_so_is_a_near_one() -> None:
    pairs = [
        ("a", "The plumber lost his keys again.", "The plumber lost her keys again."),
        ("b", "The plumber lost his keys again.", "The plumber lost her keys again."),
        ("c", "The plumber lost his gloves again.", "The plumber lost her gloves again."),
        ("d", "Every plumber lost her keys again.", "Every plumber lost his keys again."),
        ("e", "Nobody has seen the plumber or his van.", "Nobody has seen the plumber or her van."),
    ]
    listed = {(fault.id, fault.rule, fault.what) for fault in faults(pairs)}
    assert listed == {("b", "duplicate", "a"), ("c", "near-duplicate", "a"), ("d", "near-duplicate", "a")}


def test_the_tally_counts_pairs_not_faults() -> None:
    listed = list(faults([("1", "the bad  man left.", "the good  woman left.")]))
    assert sum(fault.rule == "spacing" for fault in listed) == 2
    assert tally(listed)["spacing"] == 1
    assert set(tally(listed)) == set(RULES)
