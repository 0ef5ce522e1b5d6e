"""`evenhand swap` on texts as people have them: wrapped chapters, folders, pipes; one direction, and neutral words."""

import io
import json
import sys
from pathlib import Path
from textwrap import fill

import pytest

from evenhand import BadInput
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.text import swap_file, text_files
from evenhand.text.swap_file import swap

PARAGRAPHS = (
    "Mrs. Harcourt had long been persuaded that her second daughter would never marry, and when the news was brought "
    "to her that Mr. Ashby had called twice in one week, she could scarcely believe her own good fortune. His wife "
    "threw up her hands, and nothing vexed her so much as her husband's calm.",
    "Elizabeth, who had been listening at the window with her sister Charlotte, could not help laughing. Charlotte, "
    "the eldest of the sisters, gave her a look of reproach. Then Elizabeth took her by the arm, and on her first "
    "entering the garden Charlotte stopped, for there, upon the bench which had always been hers, sat a young "
    "gentleman. He was a friend of your brother; that is to say, a friend of his asked him to come.",
    '"You might have spared her this," said Miss Harcourt. "The choice was his, not mine," he told her, "and I could '
    'not deny him." She sent the maids home, and for nine days they saw her only at the window.',
)
CHAPTER = "CHAPTER III\n\n" + "\n\n".join(fill(text, 72) for text in PARAGRAPHS) + "\n"
SWAPPED = (
    "Mr. Harcourt had long been persuaded that his second son would never marry, and when the news was brought to him "
    "that Mrs. Ashby had called twice in one week, he could scarcely believe his own good fortune. Her husband threw "
    "up his hands, and nothing vexed him so much as his wife's calm.",
    "David, who had been listening at the window with his brother Troy, could not help laughing. Troy, the eldest "
    "of the brothers, gave him a look of reproach. Then David took him by the arm, and on his first entering the "
    "garden Troy stopped, for there, upon the bench which had always been his, sat a young lady. She was a "
    "friend of your sister; that is to say, a friend of hers asked her to come.",
    '"You might have spared him this," said Master Harcourt. "The choice was hers, not mine," she told him, "and I '
    'could not deny her." He sent the maids home, and for nine days they saw him only at the window.',
)


def test_a_wrapped_chapter_reads_well_and_comes_back(tmp_path: Path) -> None:
    for end in ("\n", "\r\n"):
        file = tmp_path / "chapter.txt"
        file.write_bytes(CHAPTER.replace("\n", end).encode())
        done = swap(file, tmp_path / "there.txt", force=True)
        there = (tmp_path / "there.txt").read_bytes().decode()
        assert [" ".join(text.split()) for text in there.split(end * 2)[1:]] == list(SWAPPED)
        assert [line.count(end) for line in there.split(end * 2)] == [line.count(end) for line in read(file, end)]
        assert (done.documents, done.rewritten) == (4, 3)
        swap(tmp_path / "there.txt", tmp_path / "back.txt", force=True)
        assert (tmp_path / "back.txt").read_bytes() == file.read_bytes()


def read(file: Path, end: str) -> list[str]:
    return file.read_bytes().decode().split(end * 2)


def test_a_name_is_treated_alike_in_all_paragraphs(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("Georgia Smith told him.\n\nWe like Georgia.\n\nHe saw Georgia, who left.\n")
    made = swap(file, grammar="rules").out.read_text()
    assert "Georgia" not in made
    lines = swap(file, tmp_path / "b.txt", lines=True, grammar="rules").out.read_text()
    assert "We like Georgia." in lines  # each line is a document of its own


def test_names_that_stay_are_listed_and_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.txt"
    file.write_text(
        "Gandalf said that he knew. He asked Taylor. Taylor said so, and Gandalf smiled at her. "
        "People said so, too, as people do.\n"
    )
    done = swap(file, trail=True, grammar="rules")
    assert done.names == {"Gandalf": 1, "Taylor": 1}
    assert done.trail is not None
    edits = json.loads(done.trail.read_text())["edits"]
    assert [edit["old"] for edit in edits if edit["rule"] == "name: stays"] == ["Gandalf", "Taylor"]
    assert run_command(app, ["swap", str(file), "--force", "--grammar", "rules"]) == 0
    assert "Gandalf 1, Taylor 1" in capsys.readouterr().out


def test_choosing_paragraphs_of_a_text_without_any_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("He left.\nShe stayed.\n")
    for options in ({"share": 0.5}, {"augment": True}):
        with pytest.raises(BadInput, match="lines=True"):
            swap(file, **options)
    assert swap(file, share=0.5, lines=True, grammar="rules").documents == 2
    file.write_text("He left.\n\nShe stayed.\n")
    assert swap(file, augment=True, grammar="rules", force=True).out.read_text() == (
        "He left.\n\nShe left.\n\nShe stayed.\n\nHe stayed.\n"
    )


@pytest.mark.parametrize(
    ("only", "swapped"),
    [
        ("he-to-she", "She saw her, and Mary saw Mary with her wife; her book is hers."),
        ("she-to-he", "He saw him, and John saw John with his husband; his book is his."),
    ],
)
def test_one_direction_only(only: str, swapped: str, tmp_path: Path) -> None:
    text = "He saw her, and Mary saw John with his wife; her book is his."
    if only == "she-to-he":
        text = "He saw her, and Mary saw John with his wife; her book is hers."
    file = tmp_path / "a.txt"
    file.write_text(text)
    assert swap(file, only=only, grammar="rules").out.read_text() == swapped


def test_a_folder_comes_out_as_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "in"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.txt").write_text("He left.\n")
    (folder / "deep" / "b.jsonl").write_text('{"text": "She saw him."}\n')
    (folder / "notes.pdf").write_bytes(b"x")
    assert run_command(app, ["swap", str(folder), "--grammar", "rules", "--jobs", "1"]) == 0
    out = tmp_path / "in.swapped"
    assert {str(p.relative_to(out)): p.read_text() for p in out.rglob("*") if p.is_file()} == {
        "a.txt": "She left.\n",
        "deep/b.jsonl": '{"text": "He saw her."}\n',
    }
    assert "2 of 2 paragraphs and rows in 2 files rewritten" in capsys.readouterr().out
    assert not list(tmp_path.glob(".*"))
    with pytest.raises(BadInput, match="exists already"):
        swap(folder)
    with pytest.raises(BadInput, match="in or around"):
        swap(folder, folder / "out")


def test_a_folder_goes_on_where_it_was_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, begun = tmp_path / "in", list[str]()
    folder.mkdir()
    for name in "abc":
        (folder / f"{name}.txt").write_text("".join(f"He has {name}{i}.\n\n" for i in range(40)))
    whole = swap(folder, tmp_path / "whole", share=0.5, grammar="rules", jobs=1)
    swap_one = swap_file._swap_one

    def stopping(source: Path, *rest: object) -> object:
        if len(begun) == 1:
            raise KeyboardInterrupt
        begun.append(source.name)
        return swap_one(source, *rest)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(swap_file, "_swap_one", stopping)
        with pytest.raises(KeyboardInterrupt):
            swap(folder, share=0.5, grammar="rules", jobs=1)
    done = swap(folder, share=0.5, grammar="rules", jobs=1)
    assert (done.documents, done.rewritten, done.edits) == (whole.documents, whole.rewritten, whole.edits)
    assert 30 < done.rewritten < 90
    for name in "abc":
        made = (tmp_path / "in.swapped" / f"{name}.txt").read_text()
        assert made == (tmp_path / "whole" / f"{name}.txt").read_text()
    parts = {name: (tmp_path / "whole" / f"{name}.txt").read_text().replace(name, "") for name in "abc"}
    assert len(set(parts.values())) == 3  # documents are numbered through, so each file has a choice of its own


def test_standard_input_and_output(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    def piped(text: bytes, *options: str) -> tuple[int, bytes]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        code = run_command(app, ["swap", "-", "--grammar", "rules", *options])
        return code, capsysbinary.readouterr().out

    assert piped("He saw\r\nher café.\n".encode()) == (0, "She saw\r\nhis café.\n".encode())
    assert piped(b'{"a": "He left.", "b": "She"}\n', "--format", "jsonl", "--column", "a", "--column", "b") == (
        0,
        b'{"a": "She left.", "b": "He"}\n',
    )
    assert piped(b"caf\xe9")[0] == 2
    assert piped(b"He left.", "--trail")[0] == 2


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"grammar": "magic"}, "grammar"),
        ({"only": "him"}, "only"),
        ({"to": "they"}, "`to`"),
        ({"to": "neutral", "only": "he-to-she"}, "both genders"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, str], word: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("He left.")
    with pytest.raises(BadInput, match=word):
        swap(tmp_path / "a.txt", **options)  # type: ignore[arg-type]
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_a_swap_of_a_text_that_was_stopped_in_a_section_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_files, "CHARACTERS", 5_000)
    file, chunks, chunk_edits = tmp_path / "a.txt", list[object](), swap_file._chunk_edits
    file.write_text("".join(f"He told her that his {i} hats\nwere hers, said Mary Jones.\n\n" for i in range(400)))
    whole = swap(file, tmp_path / "whole.txt", grammar="rules", jobs=1).out.read_bytes()

    def stopping(*chunk: object, **options: object) -> object:
        if len(chunks) == 3:
            raise KeyboardInterrupt
        chunks.append(chunk)
        return chunk_edits(*chunk, **options)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(swap_file, "_chunk_edits", stopping)
        with pytest.raises(KeyboardInterrupt):
            swap(file, grammar="rules", jobs=1)
    (part,) = tmp_path.glob(".a.swapped*.part")
    edits = part.read_bytes()
    part.write_bytes(edits[: len(edits) // 2])  # in the middle of a section, and of a line
    assert swap(file, grammar="rules", jobs=1).out.read_bytes() == whole
