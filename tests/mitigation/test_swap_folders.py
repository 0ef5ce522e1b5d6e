"""Folders that are swapped: named by a dot, or with links in them."""

from pathlib import Path

import pytest

import evenhand
from evenhand import BadInput

TEXT = "He saw her, and she saw him.\n"


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    (folder / "more").mkdir(parents=True)
    (folder / "one.txt").write_text(TEXT)
    return folder


def test_the_folder_one_is_in_is_written_next_to_it(texts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(texts)
    done = evenhand.swap(".", jobs=1, grammar="rules")
    assert done.out == texts.with_name("texts.swapped")
    monkeypatch.chdir(texts / "more")
    done = evenhand.swap("..", jobs=1, grammar="rules", force=True)
    assert done.out == texts.with_name("texts.swapped")
    assert (done.out / "one.txt").read_text().startswith("She saw him")


@pytest.mark.parametrize("link", ["secret.txt", "more/secret.txt", "folder", "nothing.txt"])
def test_a_link_out_of_the_folder_is_refused(texts: Path, link: str) -> None:
    elsewhere = texts.with_name("elsewhere")
    elsewhere.mkdir()
    (elsewhere / "secret.txt").write_text(TEXT)
    target = {"folder": elsewhere, "nothing.txt": texts / "gone.txt"}.get(link, elsewhere / "secret.txt")
    (texts / link).symlink_to(target)
    with pytest.raises(BadInput, match=f"{link}' is a link out of the folder '.*texts', or to nothing"):
        evenhand.swap(texts, jobs=1)
    assert not texts.with_name("texts.swapped").exists()


def test_a_link_within_the_folder_is_a_file_like_others(texts: Path) -> None:
    (texts / "two.txt").symlink_to(texts / "one.txt")
    assert evenhand.swap(texts, jobs=1, grammar="rules").files == 2
