"""What leaks a gender in a pair for inference: each rule catches what it should and lets the rest pass."""

import pytest

from evenhand import BadInput, NliPair
from evenhand.datasets.faults import clean, leaks


@pytest.mark.parametrize(
    ("premise", "hypothesis", "language", "rules"),
    [
        ("An umpire is asleep.", "A man is asleep.", "en", set()),
        ("A nurse is with two girls.", "A man is with two girls.", "en", set()),
        ("A nurse lost her hat.", "A man lost her hat.", "en", {"pronoun"}),
        ("A nurse sees a lady.", "A man sees a lady.", "en", {"another person"}),
        ("A nurse meets a nurse.", "A man meets a man.", "en", {"twice"}),
        ("A nurse meets a nurse.", "A man meets a woman.", "en", {"twice", "other change"}),
        ("A nurse is asleep.", "A man is awake.", "en", {"other change"}),
        ("一个护士在弹吉他。", "一个男人在弹吉他。", "zh", set()),
        ("一个护士和他的狗。", "一个男人和他的狗。", "zh", {"pronoun"}),
        ("看護師が女の子と話す。", "男性が女の子と話す。", "ja", set()),
        ("看護師が女性と話す。", "男性が女性と話す。", "ja", {"another person"}),
    ],
)
def test_each_rule_catches_its_fault(premise: str, hypothesis: str, language: str, rules: set[str]) -> None:
    word = next(word for word in ("umpire", "nurse", "护士", "看護師") if word in premise)
    listed = leaks([NliPair("1", premise, hypothesis, {"word": word})], language)
    assert {fault.rule for fault in listed} == rules


def test_pairs_that_cannot_be_looked_through_are_refused() -> None:
    with pytest.raises(BadInput, match="'de'"):
        list(leaks([NliPair("1", "a", "b", {"word": "a"})], "de"))
    with pytest.raises(BadInput, match="'word'"):
        list(leaks([NliPair("1", "a", "b")], "en"))


def test_a_pair_that_was_there_before_is_found() -> None:
    first, other = (NliPair(id, f"A nurse is {id}.", f"A man is {id}.", {"word": "nurse"}) for id in ("here", "there"))
    again = NliPair("again", first.premise, first.hypothesis, first.groups)
    assert [(fault.row, fault.rule, fault.what) for fault in leaks([first, other, again], "en")] == [
        (2, "duplicate", "here")
    ]


def test_clean_pairs_are_those_without_a_fault() -> None:
    good = NliPair("1", "A nurse is asleep.", "A man is asleep.", {"word": "nurse"})
    bad = NliPair("2", "A nurse lost her hat.", "A man lost her hat.", {"word": "nurse"})
    assert clean(iter([bad, good, good]), "en") == [good]
