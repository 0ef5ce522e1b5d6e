"""Plain text: paragraphs, wrapped lines that are joined in place, files of any size."""

from itertools import pairwise
from pathlib import Path
from textwrap import fill

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand import BadInput
from evenhand.datasets.files import plain_text
from evenhand.datasets.files.plain_text import paragraphs, read_plain, texts_in, unwrap

LINES = st.lists(st.sampled_from(["He left.", "  she", "", " ", "\t", "Mary\r", "- a"]), max_size=12)


@given(LINES, st.sampled_from(["\n", "\r\n", "\r"]))
def test_paragraphs_joined_are_the_text(lines: list[str], end: str) -> None:
    text = end.join(lines)
    parts = list(paragraphs(text.splitlines(keepends=True)))
    assert "".join(parts) == text
    assert all(part.strip() for part in parts[1:])
    assert all(part.endswith(("\n", "\r")) for part, _ in pairwise(parts))


@given(LINES, st.sampled_from(["\n", "\r\n"]))
def test_joining_lines_moves_no_character(lines: list[str], end: str) -> None:
    text = end.join(lines)
    joined = unwrap(text)
    assert len(joined) == len(text)
    assert all(a == b or (a in "\r\n" and b == " ") for a, b in zip(text, joined, strict=True))


@pytest.mark.parametrize("width", [40, 60, 72])
def test_a_wrapped_paragraph_is_one_line_for_the_grammar(width: int) -> None:
    text = "When I asked her about the letter that Mr. Collins had sent, Elizabeth only laughed. " * 5
    assert unwrap(fill(text, width)) == text.strip()
    assert unwrap(fill(text, width).replace("\n", "\r\n")).replace("  ", " ") == text.strip()


def test_lists_verse_and_addresses_keep_their_lines() -> None:
    verse = "A bird came down\nThe walk: he did not know I saw;"
    for text in ("Bring:\n- her coat\n- his hat", "Mary Smith\n12 The Long and Winding Road", verse):
        assert unwrap(text) == text


def test_a_file_without_empty_lines_is_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_text, "LONGEST", 40)
    file = tmp_path / "a.txt"
    for text in ("He saw her.\n" * 20, "He saw her. " * 20, "x" * 130, "He saw her at her own house and left " * 9):
        file.write_text(text)
        parts = list(read_plain(file))
        assert "".join(parts) == text
        assert max(map(len, parts)) <= 80
        assert len(parts) > 2
    monkeypatch.setattr(plain_text, "LONGEST_LINE", 100)
    file.write_text("He saw her. " * 20)
    with pytest.raises(BadInput, match="lines"):
        list(read_plain(file, lines=True))


def test_bytes_that_are_no_utf8_are_an_error(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"He saw her.\n\nCaf\xe9\n")
    with pytest.raises(BadInput, match="UTF-8"):
        list(read_plain(file))


def test_a_folder_has_its_texts_in_order(tmp_path: Path) -> None:
    for name in ("b/2.txt", "a.csv", "b/1.txt", ".hidden/x.txt", "b/.x.txt", "picture.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("text\nHe left.\n")
    assert [str(path.relative_to(tmp_path)) for path in texts_in(tmp_path)] == ["a.csv", "b/1.txt", "b/2.txt"]
    with pytest.raises(BadInput, match="no texts"):
        texts_in(tmp_path / "c")
