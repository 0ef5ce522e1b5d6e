"""Ways of asking: their names, and whether two of them are one."""

from pathlib import Path

import pytest

from evenhand import BadInput
from evenhand.core.way import UNASKED, Way

LONG = "You are a recruiter of an engineering company, and you decide {}."


@pytest.mark.parametrize(
    ("way", "in_chats", "words"),
    [
        (UNASKED, False, ""),
        (Way(chat=False, system="", temperature=1.0), False, ""),
        (Way(chat=True), False, ", chat"),
        (Way(chat=True), True, ""),
        (Way(chat=False), True, ", plain prompts"),
        (Way(True, "Be fair.", None, "prompts/fair.txt"), False, ", chat, system prompt from fair.txt"),
        (Way(True, "Be\nfair."), True, ", system prompt “Be fair.”"),
        (Way(True, "", 0.7), True, ", temperature 0.7"),
    ],
)
def test_a_name_has_what_is_not_usual(way: Way, in_chats: bool, words: str) -> None:
    assert way.words(in_chats=in_chats) == words


def test_long_prompts_that_begin_alike_have_two_names() -> None:
    one, other = (Way(True, LONG.format(how)).words(in_chats=True) for how in ("fairly", "quickly"))
    assert one != other
    assert one.startswith(", system prompt “You are a recruiter of an engi… ")


def test_what_is_not_known_contradicts_nothing() -> None:
    known = Way(True, "Be fair.", 0.7, "fair.txt")
    assert known.differences(UNASKED) == UNASKED.differences(known) == []
    assert UNASKED.join(known) == known.join(UNASKED) == known
    assert known.differences(Way(False, "Be fair.", 1.0)) == ["chat", "temperature"]


def test_the_usual_way_has_the_fingerprint_of_the_model_and_no_other_has() -> None:
    usual = {way.identity("f")["fingerprint"] for way in (UNASKED, Way(False, "", 1.0), Way(False), Way(None, None, 1))}
    assert usual == {"f"}
    others = [Way(True), Way(True, "Be fair."), Way(True, "Be brief."), Way(False, "", 0.7)]
    assert len({way.identity("f")["fingerprint"] for way in others} - usual) == len(others)


def test_a_file_gives_its_text_and_its_name(tmp_path: Path) -> None:
    (tmp_path / "fair.txt").write_text(" Be fair.\n")
    assert Way.of({"chat": "true", "system": tmp_path / "fair.txt"}) == Way(True, "Be fair.", None, "fair.txt")
    with pytest.raises(BadInput, match="`temperature` must be a number. Got 'warm'"):
        Way.of({"temperature": "warm"})
    with pytest.raises(BadInput, match="finite"):
        Way.of({"temperature": "inf"})


def test_the_name_of_a_file_is_no_system_prompt(tmp_path: Path) -> None:
    (tmp_path / "fair.txt").write_text("Be fair.")
    with pytest.raises(BadInput, match="fair.txt' is a file. Give its Path"):
        Way.of({"system": str(tmp_path / "fair.txt")})
    assert Way.of({"system": "Be fair. " * 1000}).system
