"""Words of sentences, and where two sentences differ."""

from hypothesis import given
from hypothesis import strategies as st

from evenhand import Pair
from evenhand.core.words import changes, words

TEXT = st.text(alphabet="ab '.,\u6f22\u304b-", min_size=1, max_size=30)


def changed(one: str, other: str) -> list[tuple[list[str], list[str]]]:
    return [([s.of(one) for s in c.old], [s.of(other) for s in c.new]) for c in changes(one, other)]


def test_changes_are_whole_words_with_their_place() -> None:
    assert changed("He lost his hat.", "She lost her hat.") == [(["He"], ["She"]), (["his"], ["her"])]
    assert changed("The man manages.", "The woman manages.") == [(["man"], ["woman"])]


def test_a_word_more_on_one_side_stands_for_nothing_on_the_other() -> None:
    assert changed("Women can cook.", "Men can not cook.") == [(["Women"], ["Men"]), ([], ["not"])]


def test_chinese_and_japanese_differ_by_the_character() -> None:
    assert changed("\u4ed6\u662f\u533b\u751f\u3002", "\u5979\u662f\u533b\u751f\u3002") == [(["\u4ed6"], ["\u5979"])]


@given(TEXT)
def test_words_cover_everything_but_white_space(text: str) -> None:
    assert "".join(span.of(text) for span in words(text)) == "".join(text.split())


@given(TEXT, TEXT)
def test_putting_the_changes_in_makes_the_other_sentence(one: str, other: str) -> None:
    stays = [s.of(one) for s in words(one) if s not in {s for c in changes(one, other) for s in c.old}]
    also = [s.of(other) for s in words(other) if s not in {s for c in changes(one, other) for s in c.new}]
    assert stays == also


def test_a_pair_knows_its_changed_words() -> None:
    here, there = Pair("1", "Ask him or his wife.", "Ask her or her husband.").changed
    assert [s.of("Ask him or his wife.") for s in here] == ["him", "his", "wife"]
    assert [s.of("Ask her or her husband.") for s in there] == ["her", "her", "husband"]
