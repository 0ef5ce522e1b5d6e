"""`evenhand swap`: formats, resuming, memory, bad files."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evenhand import BadInput, RunError
from evenhand.cli.app import app, main
from evenhand.cli.terminal import run as run_command
from evenhand.datasets.files.plain_text import LONGEST
from evenhand.text import swap_file, text_files
from evenhand.text.edits import Edit
from evenhand.text.swap import substituted
from evenhand.text.swap_file import swap
from helpers import tables
from helpers.edits import swapped_back

TEXTS = ['He said "no" to her, twice.', "Nothing here.", "Mary Smith's brother, ÄÖÜ 漢字"]
SWAPPED = ['She said "no" to him, twice.', "Nothing here.", "John Smith's sister, ÄÖÜ 漢字"]


def write(path: Path) -> Path:
    if path.suffix == ".txt":
        path.write_text("\n".join(TEXTS))
        return path
    return tables.write(pd.DataFrame({"id": [1, 2, 3], "text": TEXTS}), path)


def texts(path: Path) -> list[str]:
    return path.read_text().split("\n") if path.suffix == ".txt" else tables.read(path)["text"].tolist()


@pytest.mark.parametrize("suffix", [".txt", ".csv", ".tsv", ".jsonl", ".parquet"])
def test_every_format_comes_back_swapped(tmp_path: Path, suffix: str) -> None:
    done = swap(write(tmp_path / f"a{suffix}"), jobs=1, trail=True, lines=suffix == ".txt")
    assert done.out == tmp_path / f"a.swapped{suffix}"
    assert texts(done.out) == SWAPPED
    assert (done.documents, done.rewritten) == (3, 2)
    trail = [json.loads(line) for line in (tmp_path / f"a.swapped{suffix}.trail.jsonl").read_text().splitlines()]
    for row, new, old in zip(trail, SWAPPED, TEXTS, strict=True):
        assert swapped_back(new, [Edit(**edit) for edit in row["edits"]]) == old.rstrip("\n")
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(("inside", "end"), [("\n", "\n"), ("\r\n", "\r\n"), ("\r", "\n"), ("\n", "")])
def test_a_field_with_line_ends_stays_one_field(tmp_path: Path, inside: str, end: str) -> None:
    file = tmp_path / "a.csv"
    file.write_bytes(f'text,n\n"He left.{inside}She stayed.",1{end}'.encode())
    swap(file, jobs=1)
    assert (tmp_path / "a.swapped.csv").read_bytes() == f'text,n\n"She left.{inside}He stayed.",1{end}'.encode()


def test_augmenting_writes_both(tmp_path: Path) -> None:
    done = swap(write(tmp_path / "a.csv"), augment=True, jobs=1)
    assert texts(done.out) == [TEXTS[0], SWAPPED[0], TEXTS[1], TEXTS[2], SWAPPED[2]]


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        (
            "a.csv",
            '\ufeff# one\r\n#two\r\nid,text\r\n1,He left.\r\n\r\n2,"She, ""too"",\r\n\r\nleft."\r\n\r\n"3","his"',
            '\ufeff# one\r\n#two\r\nid,text\r\n1,He left.\r\n1,She left.\r\n\r\n2,"She, ""too"",\r\n\r\nleft."\r\n'
            '2,"He, ""too"",\r\n\r\nleft."\r\n\r\n"3","his"\n"3","hers"',
        ),
        (
            "a.tsv",
            '#x\ntext\nHe left\n\n  \n"She"\nnobody\n',
            '#x\ntext\nHe left\nShe left\n\n  \n"She"\n"He"\nnobody\n',
        ),
        ("a.jsonl", '\n{"text":"He","n":1.5}\n  \n', '\n{"text":"He","n":1.5}\n{"text":"She","n":1.5}\n  \n'),
    ],
)
def test_all_that_is_no_row_stays_where_it_was(tmp_path: Path, name: str, before: str, after: str) -> None:
    file = tmp_path / name
    file.write_bytes(before.encode())
    assert swap(file, augment=True, lang="en", jobs=1).out.read_bytes().decode() == after


def test_a_share_is_seeded_and_the_rest_is_untouched(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("".join(f"He has {i} hats.\r\n" for i in range(400)))
    half = swap(file, tmp_path / "1.txt", share=0.5, lines=True, jobs=1).out.read_bytes()
    assert half == swap(file, tmp_path / "2.txt", share=0.5, lines=True, jobs=1).out.read_bytes()
    assert half != swap(file, tmp_path / "3.txt", share=0.5, lines=True, seed=1, jobs=1).out.read_bytes()
    lines = half.decode().splitlines(keepends=True)
    assert 150 < sum(line.startswith("She") for line in lines) < 250
    assert all(line.endswith("\r\n") for line in lines)


def test_a_file_that_exists_is_never_replaced_unless_forced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, kept = write(tmp_path / "a.txt"), tmp_path / "keep.txt"
    kept.write_text("My thesis.")
    with pytest.raises(SystemExit, match="2"):
        main(["swap", str(file), "--out", str(kept), "--jobs", "1"])
    assert "--force" in capsys.readouterr().err
    assert kept.read_text() == "My thesis."
    assert swap(file, jobs=1).out == tmp_path / "a.swapped.txt"
    with pytest.raises(BadInput, match="a.swapped.txt"):
        swap(file, jobs=1)
    assert swap(file, kept, jobs=1, force=True).out.read_text() == "\n".join(SWAPPED)


@pytest.mark.parametrize("trail", [True, False])
def test_a_file_that_has_the_name_of_the_edit_log_stays(tmp_path: Path, trail: bool) -> None:
    log = tmp_path / "b.txt.trail.jsonl"
    log.write_text("mine")
    with pytest.raises(BadInput, match="trail.jsonl"):
        swap(write(tmp_path / "a.txt"), tmp_path / "b.txt", trail=trail, jobs=1)
    assert log.read_text() == "mine"


def test_a_swap_that_was_stopped_after_its_edit_log_goes_on(tmp_path: Path) -> None:
    file = write(tmp_path / "a.txt")
    stopped(file, trail=True)
    assert (tmp_path / "a.swapped.txt.trail.jsonl").exists()
    assert texts(swap(file, trail=True, jobs=1).out) == SWAPPED


def test_a_file_that_came_after_the_swap_was_stopped_is_not_replaced(tmp_path: Path) -> None:
    file, out = write(tmp_path / "a.txt"), tmp_path / "a.swapped.txt"
    stopped(file)
    out.write_text("My thesis.")
    with pytest.raises(BadInput, match="a.swapped.txt"):
        swap(file, jobs=1)
    assert out.read_text() == "My thesis."


def test_the_edits_of_stopped_swaps_with_other_settings_go_with_the_next_one(tmp_path: Path) -> None:
    """Not those of one that is running, and not those of another `out`."""
    file = write(tmp_path / "a.txt")
    for options in ({}, {"share": 0.5}, {"seed": 3}, {"out": tmp_path / "b.txt"}):
        stopped(file, lines=True, **options)
    first, *_ = sorted(tmp_path.glob(".a.swapped.txt.*.part"))
    with swap_file.lock_swap(first):
        assert texts(swap(file, jobs=1, seed=5, lines=True).out) == SWAPPED
        left = {path for path in tmp_path.glob(".*") if path.suffix == ".part"}
    assert left == {first, *tmp_path.glob(".b.txt.*.part")}


def stopped(file: Path, **options: Any) -> None:
    """Swap a file, but stop before the texts are written."""

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(swap_file, "write_texts", stop)
        with pytest.raises(KeyboardInterrupt):
            swap(file, jobs=1, **options)


COLUMNS = pd.DataFrame({"a": TEXTS, "n": [1, 2, 3], "b": [TEXTS[2], "He left.", None]})


def columns(path: Path, *names: str) -> list[list[Any]]:
    """What is in these columns; None where nothing is."""
    frame = tables.read(path)
    return [[None if pd.isna(value) else value for value in frame[name]] for name in names]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_every_column_that_is_named_is_swapped(tmp_path: Path, suffix: str) -> None:
    file = tables.write(COLUMNS, tmp_path / f"a{suffix}")
    assert run_command(app, ["swap", str(file), "--column", "a", "--column", "b", "--trail", "--jobs", "1"]) == 0
    both = SWAPPED, [SWAPPED[2], "She left.", None], [1, 2, 3]
    assert columns(tmp_path / f"a.swapped{suffix}", "a", "b", "n") == [*both]
    log = [json.loads(line) for line in (tmp_path / f"a.swapped{suffix}.trail.jsonl").read_text().splitlines()]
    assert [edit["column"] for edit in log[0]["edits"]] == ["a", "a", "b", "b"]
    done = swap(file, tmp_path / f"both{suffix}", column=("a", "b"), augment=True, jobs=1)
    assert (done.documents, done.rewritten) == (3, 3)
    doubled = [TEXTS[2], SWAPPED[2], "He left.", "She left.", None, None]
    assert columns(done.out, "b", "n") == [doubled, [1, 1, 2, 2, 3, 3]]


def test_all_columns_of_a_row_are_swapped_or_none(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    pd.DataFrame({"a": ["He left."] * 200, "b": ["He came."] * 200}).to_csv(file, index=False)
    table = pd.read_csv(swap(file, column=["a", "b"], share=0.5, jobs=1).out)
    swapped = table["a"] == "She left."
    assert 60 < swapped.sum() < 140
    assert (swapped == (table["b"] == "She came.")).all()


def test_columns_that_cannot_be_swapped_are_refused(tmp_path: Path) -> None:
    file = tables.write(COLUMNS, tmp_path / "a.csv")
    for columns, word in ((("a", "a"), "a, a"), ((), "none"), (("a", "c"), "'c'")):
        with pytest.raises(BadInput, match=word):
            swap(file, column=columns, jobs=1)
    with pytest.raises(BadInput, match="no columns"):
        swap(write(tmp_path / "a.txt"), column="a", jobs=1)


@pytest.mark.parametrize(
    "text", ["Die Ärztin sagt, dass sie müde ist.\nEr ist Pfleger und sie nicht.\n", "彼女は医者です。\n"]
)
def test_texts_in_another_language_are_refused(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.txt"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit, match="2"):
        main(["swap", str(file), "--jobs", "1"])
    assert "--lang en" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    with pytest.raises(BadInput, match="lang='de'"):
        swap(file, lang="de", jobs=1)
    with pytest.raises(BadInput, match="gendered word"):  # but is not refused for its language
        swap(file, lang="en", jobs=1)


def test_a_swap_that_changes_nothing_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.txt"
    file.write_text("It rains.\nThe door is open.\n")
    assert run_command(app, ["swap", str(file), "--lines", "--jobs", "1"]) == 2
    assert "no gendered word" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert run_command(app, ["swap", str(file), "--lines", "--jobs", "1", "--share", "0.5"]) == 0
    assert "0 of 2 documents rewritten. None" in capsys.readouterr().out


def test_names_can_be_left_alone(tmp_path: Path) -> None:
    done = swap(write(tmp_path / "a.txt"), names=False, jobs=1)
    assert "Mary Smith's sister" in done.out.read_text()


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet", ".csv", ".tsv"])
def test_gap_columns_follow_the_text_in_every_format(tmp_path: Path, suffix: str) -> None:
    text = "Mary Hill met Jo before she left Robert Barry."
    row = {"Text": text, "Pronoun": "she", "A": "Mary Hill", "A-coref": True, "B": "Robert Barry"}
    offsets = {f"{name}-offset": text.index(str(row[name])) for name in ("Pronoun", "A", "B")}
    file = tables.write(pd.DataFrame([row | offsets]), tmp_path / f"gap{suffix}")
    new = tables.read(swap(file, column="Text", jobs=1).out).iloc[0]
    assert (new["Pronoun"], new["A"], new["B"]) == ("he", "John Hill", "Linda Barry")
    for name in ("Pronoun", "A", "B"):
        assert new["Text"].index(new[name]) == new[f"{name}-offset"]


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        (
            "a.csv",
            '\ufeff# a comment\r\n"id",text\r\n\'1\',"It rains, today"\r\n"2","He left"\r\n\r\n3,He',
            '\ufeff# a comment\r\n"id",text\r\n\'1\',"It rains, today"\r\n"2","She left"\r\n\r\n3,She',
        ),
        ("a.tsv", '# x\nid\ttext\n"1"\t"He ""x"""\n2\tNo "x" here', '# x\nid\ttext\n"1"\t"She ""x"""\n2\tNo "x" here'),
        (
            "a.jsonl",
            '{"text":"Caf\\u00e9","n":1.5}\n\n{"text":"He \\u00e9","n":1}\r\n{"n": 2, "text": "é her"}',
            '{"text":"Caf\\u00e9","n":1.5}\n\n{"text":"She \\u00e9","n":1}\r\n{"n": 2, "text": "é him"}',
        ),
    ],
)
def test_what_is_not_swapped_stays_to_the_byte(tmp_path: Path, name: str, before: str, after: str) -> None:
    (tmp_path / name).write_bytes(before.encode())
    assert swap(tmp_path / name, jobs=1).out.read_bytes() == after.encode()


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("a.txt", b"", "no texts"),
        ("a.txt", b"caf\xe9\n", "UTF-8"),
        ("a.txt", b"\x00\x01\x02", "binary"),
        ("a.txt", b"<!DOCTYPE html><p>He</p>", "HTML"),
        ("a.csv", b"id,txt\n1,x\n", "'text'"),
        ("a.docx", b"x", ".parquet"),
    ],
)
def test_a_bad_file_is_refused_and_leaves_nothing(tmp_path: Path, name: str, content: bytes, word: str) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(BadInput, match=word):
        swap(file, jobs=1)
    assert not list(tmp_path.glob("*.swapped*"))


def test_the_original_is_never_replaced(tmp_path: Path) -> None:
    file = write(tmp_path / "a.txt")
    with pytest.raises(BadInput, match="original"):
        swap(file, file)


def test_a_line_of_any_length_is_one_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_files, "CHARACTERS", 10_000)
    file, sentences = tmp_path / "a.txt", "He saw her brother there. " * (LONGEST // 25)
    file.write_text(f"Ruby was there. {sentences}Ruby said so.")
    done = swap(file, lines=True, grammar="rules", jobs=1)
    assert (done.documents, done.edits["name"]) == (1, 2)  # the same name, from one end to the other
    assert sentences.replace("He", "She").replace("her brother", "his sister") in done.out.read_text()


KILLED = """
import os, signal, sys
from evenhand.text import swap_file
swap_file.DOCUMENTS, chunk_edits, chunks = 100, swap_file._chunk_edits, []
def killed(*args, **options):
    chunks.append(args)
    if len(chunks) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return chunk_edits(*args, **options)
swap_file._chunk_edits = killed
swap_file.swap(sys.argv[1], lines=True, jobs=1)
"""


def test_a_killed_swap_goes_on(tmp_path: Path) -> None:
    """In the middle of its work; tools/kill_at_random.py kills the command at any moment."""
    file = tmp_path / "a.txt"
    file.write_text("".join(f"He told her that his {i} hats were hers, said Mary Jones.\n" for i in range(400)))
    whole = swap(file, tmp_path / "whole.txt", lines=True, jobs=1).out.read_bytes()
    process = subprocess.run([sys.executable, "-c", KILLED, str(file)])
    assert process.returncode == -signal.SIGKILL
    (part,) = tmp_path.glob(".a.swapped*.part")
    with part.open("ab") as cut:
        cut.write(b"[[0, 1")  # as if in the middle of a line
    assert swap_file.count_finished(part) == 200
    assert swap(file, lines=True, jobs=1).out.read_bytes() == whole


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
def test_workers_end_with_a_killed_parent(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("He told her that his hats were hers, said Mary Jones.\n" * 100_000)
    process = subprocess.Popen([sys.executable, "-m", "evenhand", "swap", str(file), "--jobs", "2"])
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob(".a.swapped*.part")) or len(workers := children.read_text().split()) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.kill()
    process.wait()
    while any(Path(f"/proc/{worker}").exists() for worker in workers):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_killed_worker_is_a_sentence_and_the_swap_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.txt"
    file.write_text("He left.\n" * 250)
    monkeypatch.setattr(swap_file, "DOCUMENTS", 100)
    with monkeypatch.context() as patched:
        patched.setattr(swap_file, "_start_worker", os.abort)
        with pytest.raises(RunError, match="killed.*jobs"):
            swap(file, lines=True, jobs=2)
    done = swap(file, lines=True, jobs=2)
    assert done.rewritten == 250
    assert done.out.read_text() == "She left.\n" * 250


PEAKS = """
import re, sys
from pathlib import Path
from evenhand.text import text_files
from evenhand.text.swap_file import swap
text_files.CHARACTERS = 30_000
for file in sys.argv[1:]:
    swap(file, grammar="rules", jobs=1)
    print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="reads the peak of memory in /proc")
def test_memory_stays_flat(tmp_path: Path) -> None:
    """By VmHWM: ru_maxrss begins with what the process had that started this one, which is more than a swap takes."""
    sizes = {tmp_path / f"{n}.txt": n for n in (3_000, 10_000)}  # about 4 sections, and 15
    for file, n in sizes.items():
        file.write_text("".join(f"He told her that his {i} hats were hers.\n\n" for i in range(n)))
    out = subprocess.run([sys.executable, "-c", PEAKS, *sizes], capture_output=True, text=True, check=True).stdout
    small, large = map(int, out.split())
    assert large - small < 2_500  # kB; the texts alone are 310 more, their edits 6,500


def test_what_is_no_text_is_refused_or_kept(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"text": null, "n": 1.0}\n{"text": "He left.", "n": [1]}\n')
    assert swap(file, jobs=1).out.read_text() == '{"text": null, "n": 1.0}\n{"text": "She left.", "n": [1]}\n'
    file.write_text('{"text": 3}\n')
    with pytest.raises(BadInput, match="line 1: .*Got 3"):
        swap(file, jobs=1, force=True)
    frame = pd.DataFrame({"text": ["He left.", None], "n": [1, 2]})
    frame.to_parquet(tmp_path / "b.parquet")
    table = pd.read_parquet(swap(tmp_path / "b.parquet", jobs=1).out)
    assert table["text"].isna().tolist() == [False, True]
    assert table["n"].tolist() == [1, 2]
    pd.DataFrame({"text": [1, 2]}).to_parquet(tmp_path / "c.parquet")
    with pytest.raises(BadInput, match="row 1: .*Got 1"):
        swap(tmp_path / "c.parquet", jobs=1)


def test_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("id,text,text\n1,He,She\n")
    with pytest.raises(BadInput, match="twice"):
        swap(file, jobs=1)


def test_copies_never_run_together(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("He left.")
    assert swap(file, augment=True, lines=True, jobs=1).out.read_text() == "He left.\nShe left."
    assert swap(file, augment=True, jobs=1, force=True).out.read_text() == "He left.\n\nShe left."


def test_an_old_trail_does_not_stay_beside_a_new_text(tmp_path: Path) -> None:
    file = write(tmp_path / "a.txt")
    assert swap(file, trail=True, jobs=1).trail is not None
    swap(file, jobs=1, force=True)
    assert not list(tmp_path.glob("*.trail.jsonl"))


def test_the_same_swap_twice_at_once_is_refused(tmp_path: Path) -> None:
    with (
        swap_file.lock_swap(tmp_path / "x.part"),
        pytest.raises(RunError, match="running"),
        swap_file.lock_swap(tmp_path / "x.part"),
    ):
        pass


def test_a_folder_that_is_not_there_is_made(tmp_path: Path) -> None:
    assert swap(write(tmp_path / "a.txt"), tmp_path / "new" / "b.txt", jobs=1).out.exists()
    for options in ({"seed": -1}, {"jobs": 0}, {"share": 2.0}):
        with pytest.raises(BadInput):
            swap(tmp_path / "a.txt", **options)


def test_a_swap_and_a_debiasing_choose_the_same_documents(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("".join(f"He is number {i}.\n" if i % 7 else "\n" for i in range(300)))
    swapped = swap(file, share=0.5, seed=3, lines=True, jobs=1).out.read_text().splitlines()
    trained_on = [text.rstrip("\n") for text in substituted(str(file), share=0.5, seed=3).after]
    assert [text for text in swapped if text.strip()] == trained_on
    assert 80 < sum("She" in text for text in swapped) < 180


def test_damaged_parquet_is_a_sentence_wherever_the_damage_is(tmp_path: Path) -> None:
    """Swapped all the same where nothing notices: parquet has no checksums unless its writer asks for them."""
    whole = tmp_path / "whole.parquet"
    texts = [f"He is number {number}." for number in range(3_000)]
    pd.DataFrame({"id": range(len(texts)), "text": texts}).to_parquet(whole, row_group_size=250, compression=None)
    content, chance = whole.read_bytes(), random.Random(0)
    assert content.count(b"number 2900") == 1
    late = tmp_path / "late.parquet"  # no UTF-8, long after the rows that are looked at first
    late.write_bytes(content.replace(b"number 2900", b"number \xff\xfe\xff\xfe"))
    with pytest.raises(BadInput, match="late.parquet.*utf-8"):
        swap(late, jobs=1, lang="en", share=0.01)
    refused = 0
    for number in range(8):
        damaged = bytearray(content)
        for _ in range(chance.choice((1, 3, 20))):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        source = tmp_path / f"{number}.parquet"
        source.write_bytes(damaged)
        try:
            swap(source, tmp_path / f"out-{number}.parquet", jobs=1, lang="en", share=0.01)
        except BadInput as error:
            assert "cannot be read" in str(error)  # noqa: PT017
            refused += 1
    assert refused > 2
    assert not list(tmp_path.glob(".*"))


FULL = """
import resource, sys
from evenhand.cli.app import main
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))  # no file may grow beyond this
main(["swap", sys.argv[1], "--lines", "--jobs", "1", "--lang", "en"])
"""


def test_a_full_disk_is_a_sentence_and_the_swap_goes_on_when_there_is_room(tmp_path: Path) -> None:
    source = tmp_path / "texts.txt"
    source.write_text("He is here.\n" * 1_000)
    done = subprocess.run([sys.executable, "-c", FULL, str(source)], capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert "File too large. Free some space" in done.stderr
    assert swap(source, lines=True, jobs=1, lang="en").rewritten == 1_000


@pytest.mark.parametrize("number", ["9" * 6_000, "0.1000000000000000000001", "1E5", "-0", "1e999"])
def test_numbers_next_to_a_text_keep_their_digits(tmp_path: Path, number: str) -> None:
    """Python reads at most 4,300 digits of a whole number, and rounds others."""
    file = tmp_path / "a.jsonl"
    file.write_text(f'{{"text":"He left.","n":[{number}]}}\n')
    assert swap(file, jobs=1).out.read_text() == f'{{"text":"She left.","n":[{number}]}}\n'


def test_a_place_with_too_many_digits_is_no_annotation(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    names = ("Pronoun", "A", "B")
    row = dict.fromkeys(names, "He") | {f"{name}-offset": "9" * 6_000 for name in names}
    file.write_text(json.dumps({"text": "He left."} | row) + "\n")
    assert json.loads(swap(file, jobs=1).out.read_text()) == {"text": "She left."} | row


def test_half_of_a_surrogate_pair_stays_as_it_is(tmp_path: Path) -> None:
    source = tmp_path / "texts.jsonl"
    source.write_text('{"text": "He is \\ud83d here."}\n{"text": "It is his."}\n')
    swap(source, lang="en", jobs=1)
    assert (tmp_path / "texts.swapped.jsonl").read_text().startswith('{"text": "She is \\ud83d here."}\n')
