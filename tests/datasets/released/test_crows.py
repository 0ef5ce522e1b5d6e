"""CrowS-Pairs in English, French and Dutch, as released and without the rows that are no pairs."""

import hashlib
from collections import Counter
from pathlib import Path

import pytest

import evenhand
from evenhand import BadInput, Pair, datasets
from evenhand.datasets.files.releases import RELEASES, locate
from helpers.typed import all_of

NAMES = ("crows-pairs", "crows-pairs-fr", "crows-pairs-nl")
HEAD = "id,sent_more,sent_less,stereo_antistereo,bias_type\r\n"
ROWS = (
    '0,"Elle pleure, il crie. ","Il pleure, elle crie. ",stereo,gender\r\n'
    "1,Les pauvres sont oubliés.,,stereo,socioeconomic\r\n"
    "2,Ils sont là.,Ils sont là. ,stereo,socioeconomic\r\n"
    "3,Les riches rient.,Les pauvres rient.,antistereo,socioeconomic\r\n"
)


@pytest.fixture
def folder(shelf: Path) -> Path:
    (shelf / "crows-pairs").mkdir()
    return shelf / "crows-pairs"


def test_rows_that_are_no_pairs_are_left_out_and_said(folder: Path) -> None:
    (folder / "crows_french.csv").write_text(HEAD + ROWS, encoding="utf-8", newline="")
    poor = datasets.load("crows-pairs-fr", bias="socioeconomic")
    assert [item.id for item in poor.items] == ["3"]
    assert poor.flaws.endswith("Left out, since a sentence is missing or both are the same: 1, 2.")
    women = datasets.load("crows-pairs-fr")
    assert "Left out" not in women.flaws
    about = {"direction": "stereo", "about": "women"}
    assert women.items[0] == Pair("0", "Elle pleure, il crie.", "Il pleure, elle crie.", about)


def test_all_types_of_bias_are_groups(folder: Path) -> None:
    (folder / "crows_french.csv").write_text(HEAD + ROWS, encoding="utf-8", newline="")
    everything = datasets.load("crows-pairs-fr", bias="all")
    assert [item.groups["bias"] for item in everything.items] == ["gender", "socioeconomic"]
    assert everything.by == ("bias",)
    with pytest.raises(BadInput, match="'gender'.* all, gender, socioeconomic"):
        datasets.load("crows-pairs-fr", bias="gendr")


def test_the_dutch_file_is_mac_roman_but_for_two_letters(folder: Path) -> None:
    row = "1,Eén werkende ouder.,Twee knieën.,stereo,gender\r\n".encode("mac_roman").replace(
        b"E\x8en", b"\xc3\xa9\xc3\xa9n"
    )
    (folder / "crows_dutch.csv").write_bytes(HEAD.encode() + row)
    (item,) = all_of(Pair, datasets.load("crows-pairs-nl").items)
    assert (item.stereotype, item.counterpart) == ("één werkende ouder.", "Twee knieën.")


def test_the_linter_refuses_words_it_does_not_know(folder: Path) -> None:
    (folder / "crows_french.csv").write_text(HEAD + ROWS, encoding="utf-8", newline="")
    with pytest.raises(BadInput, match="English.*'fr'"):
        evenhand.lint("crows-pairs-fr")


def test_a_file_with_other_columns_is_an_error_that_names_them(folder: Path) -> None:
    (folder / "crows_french.csv").write_text("id,text\n1,Bonjour.\n")
    with pytest.raises(BadInput, match="'sent_more'"):
        datasets.load("crows-pairs-fr")


def test_the_release_is_read_with_the_stereotype_first(data: Path) -> None:
    dataset = datasets.load("crows-pairs")
    assert len(dataset.items) == 262
    assert Counter(item.groups["direction"] for item in dataset.items) == {"stereo": 159, "antistereo": 103}
    assert Counter(item.groups["pairs"] for item in dataset.items)["clean"] == 87
    assert len(datasets.load("crows-pairs", bias="age").items) == 87
    with pytest.raises(BadInput, match="'gender'"):
        datasets.load("crows-pairs", bias="gendr")


def test_all_pairs_of_the_releases_are_there(data: Path) -> None:
    assert [len(datasets.load(name, bias="all").items) for name in NAMES] == [1508, 1461, 1463]
    assert [len(datasets.load(name).items) for name in NAMES] == [262, 261, 262]
    assert "129, 379" in datasets.load("crows-pairs-fr", bias="all").flaws
    letters = set("".join(item.stereotype + item.counterpart for item in _dutch()))
    assert {letter for letter in letters if not letter.isascii()} == set("éëèï’")


def _dutch() -> list[Pair]:
    return all_of(Pair, datasets.load("crows-pairs-nl", bias="all").items)


@pytest.mark.parametrize("name", NAMES)
def test_the_checksums_are_those_of_the_files(name: str, data: Path) -> None:
    for path, sha256 in RELEASES[name].files.items():
        file = locate(RELEASES[name].folder, path)
        assert file
        assert hashlib.sha256(file.read_bytes()).hexdigest() == sha256


def test_whom_a_stereotype_is_about_is_in_its_words_where_they_say_so_and_else_in_the_label(data: Path) -> None:
    """The labels say it of most pairs, and the other of 35."""
    about = {item.stereotype: item.groups for item in all_of(Pair, datasets.load("crows-pairs").items)}
    assert about["Men are hunters"]["direction"] == "stereo"
    assert about["Men are hunters"]["about"] == "men"
    by_label = {"stereo": "women", "antistereo": "men"}
    assert sum(by_label[groups["direction"]] != groups["about"] for groups in about.values()) == 35
    french = datasets.load("crows-pairs-fr").items
    assert all(item.groups["about"] in ("women", "men") for item in french)
