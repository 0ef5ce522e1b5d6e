"""Folders that are swapped: named by a dot, or with links in them."""

import re
from pathlib import Path

import pytest

import evenhand
from evenhand import BadInput, EvenhandError, swap
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command

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
    with pytest.raises(BadInput, match=f"{link}' is a link"):
        evenhand.swap(texts, jobs=1)
    assert not texts.with_name("texts.swapped").exists()


@pytest.mark.parametrize(
    "command", ["swap texts --out o", "swap around --out o", "swap texts/one.txt --out around/o.txt"]
)
def test_links_in_a_circle_are_refused(
    texts: Path, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before Python 3.13 `Path.resolve` raises a RuntimeError for them."""
    monkeypatch.chdir(texts.parent)
    Path("around").symlink_to("around")
    Path("texts/a.txt").symlink_to("b.txt")
    Path("texts/b.txt").symlink_to("a.txt")
    assert run_command(app, command.split()) == 2
    assert "Traceback" not in capsys.readouterr().err
    assert sorted(path.name for path in Path().iterdir()) == ["around", "texts"]


def test_a_file_takes_the_place_of_a_link_to_nothing(texts: Path) -> None:
    out = texts.with_name("o.txt")
    out.symlink_to(out)
    assert evenhand.swap(texts / "one.txt", out, jobs=1, grammar="rules", lang="en").out.read_text() != TEXT


def test_an_output_folder_that_is_a_file_leaves_no_litter(texts: Path) -> None:
    out = texts.with_name("o")
    out.symlink_to(out)
    with pytest.raises(EvenhandError, match="must be a folder"):
        evenhand.swap(texts, out, jobs=1, lang="en")
    assert sorted(path.name for path in texts.parent.iterdir()) == ["o", "texts"]


def test_the_edits_of_a_stopped_swap_of_a_folder_go_with_the_next_swap(texts: Path) -> None:
    """They are of other texts, or with other settings, so nothing resumes them."""
    stopped = texts.with_name(".o.0123abcd.part")
    stopped.touch()
    evenhand.swap(texts, texts.with_name("o"), jobs=1, grammar="rules", lang="en")
    assert not stopped.exists()


def test_a_link_within_the_folder_is_a_file_like_others(texts: Path) -> None:
    (texts / "two.txt").symlink_to(texts / "one.txt")
    assert evenhand.swap(texts, jobs=1, grammar="rules").files == 2


def test_a_text_in_another_language_is_skipped_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "articles"
    folder.mkdir()
    (folder / "a.txt").write_text("She left.\n")
    (folder / "b.txt").write_text("Er sagte nun, dass die Nonne und der Pfleger nicht da sind.\n")
    assert run_command(app, ["swap", str(folder)]) == 0
    assert re.search(r"b\.txt: it\s+seems\s+to\s+be\s+German", capsys.readouterr().out)
    assert [path.name for path in (tmp_path / "articles.swapped").iterdir()] == ["a.txt"]
    assert (tmp_path / "articles.swapped" / "a.txt").read_text() == "He left.\n"
    assert swap(folder, tmp_path / "all", lang="en").skipped == {}
    assert "monk" in (tmp_path / "all" / "b.txt").read_text()  # "nun", taken for English as you said


def test_own_word_pairs_swap_another_language(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, pairs, names = tmp_path / "es.txt", tmp_path / "pairs.tsv", tmp_path / "names.tsv"
    text.write_text("Ella vio a Pilar y a él. La actriz y el pilar.\n", encoding="utf-8")
    pairs.write_text("él\tella\nactor\tactriz\n", encoding="utf-8")
    names.write_text("jorge\tpilar\n")
    assert run_command(app, ["swap", str(text), "--word-pairs", str(pairs), "--names", str(names)]) == 0
    assert "Grammar" in capsys.readouterr().out
    assert (tmp_path / "es.swapped.txt").read_text() == "Él vio a Jorge y a ella. La actor y el pilar.\n"
    done = swap(text, tmp_path / "one.txt", word_pairs=pairs, only="he-to-she")
    assert done.out.read_text() == "Ella vio a Pilar y a ella. La actriz y el pilar.\n"
    with pytest.raises(BadInput, match="word_pairs"):
        swap(text, word_pairs=pairs, to="neutral")


def test_the_edit_logs_of_a_swap_are_no_texts(texts: Path) -> None:
    done = swap(texts, trail=True, lang="en")
    assert sorted(path.name for path in done.out.iterdir()) == ["one.txt", "one.txt.trail.jsonl"]
    assert swap(done.out, lang="en").files == 1


def test_an_empty_file_of_a_folder_is_copied(texts: Path) -> None:
    (texts / "empty.txt").touch()
    done = swap(texts)
    assert (done.out / "empty.txt").read_bytes() == b""
    assert (done.files, done.rewritten) == (2, 1)
