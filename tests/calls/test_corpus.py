"""`evenhand corpus --out`: the page and the numbers of a corpus, from files of any kind, and after a stop."""

import json
import os
import re
from pathlib import Path

import pytest

from evenhand.cli.app import main
from evenhand.text import counting
from evenhand.text.counting import Corpus, Vocabulary, count_all, examples, read_vocabulary
from helpers.counts import count
from helpers.document import parsed

WRAPPED = """The nurse who had come in from the hospital in the
early morning washed her hands, and the doctor lost
his keys.

She left. <b>Mary</b> met
Tom.
"""


def run(*words: object, command: str = "corpus") -> int:
    with pytest.raises(SystemExit) as stopped:
        main([command, *map(str, words)])
    return int(stopped.value.code or 0)


def test_wrapped_lines_are_sentences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.txt"
    file.write_text(WRAPPED)
    assert run(file, "--json") == 0
    found = json.loads(capsys.readouterr().out)["a.txt"]
    assert (found["documents"], found["sentences"]) == (2, 3)
    assert found["sentences_with"] == {"female": 1, "male": 0, "both": 1, "neither": 1}
    assert (found["first_names"]["female"], found["first_names"]["male"]) == (1, 1)
    assert run(file, "--lines", "--json") == 0
    assert json.loads(capsys.readouterr().out)["a.txt"]["documents"] == 5


def test_a_file_without_empty_lines_says_how_to_read_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.txt"
    file.write_text("She left.\nHe stayed.\n")
    assert run(file) == 0
    told = capsys.readouterr()
    assert "'a.txt' is one paragraph" in told.err
    assert "--lines" in told.err
    assert "a.txt: 1 paragraph, 2 sentences" in told.out


def test_columns_and_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "texts"
    (folder / "more").mkdir(parents=True)
    (folder / "a.csv").write_text("title,body\nA man,She left.\nA day,It rains.\n")
    (folder / "more" / "b.jsonl").write_text('{"title": "A girl", "body": "He left."}\n')
    assert run(folder, "--column", "title", "--column", "body", "--json") == 0
    found = json.loads(capsys.readouterr().out)["texts"]
    assert (found["documents"], found["female"], found["male"]) == (3, 2, 2)
    assert run(folder, "--column", "titel") == 2
    assert "'titel'" in (err := capsys.readouterr().err)
    assert "--column" in err
    assert run("balanced", "--column", "text") == 2
    assert "has no columns" in capsys.readouterr().err


def test_the_page_says_who_next_to_what_and_what_was_not_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "a.txt", tmp_path / "out"
    texts = ["The secretary washed her hands & face."] * 20 + ["The judge lost his keys."] * 40
    file.write_text("\n\n".join([*texts, "He saw her. It rains.", WRAPPED]))
    assert run(file, "--out", out) == 0
    assert f"Page: {out / 'report.html'}" in capsys.readouterr().out
    page = parsed((out / "report.html").read_text())
    text = " ".join(page.text.split())
    kept = json.loads((out / "corpus.json").read_text())["corpora"]["a.txt"]
    women = 100 * kept["share"]
    assert f"It speaks more of men: women are {women:.1f} % [" in text
    assert "secretary: more often next to women than the corpus as a whole." in text
    assert "judge: more often next to men than the corpus as a whole." in text
    assert "The secretary washed her hands & face." in text
    assert "2 sentences have no gendered word, and 2 speak of women and of men" in text
    assert "English, by its function words" in text
    assert "Mary 1" in text
    assert run(file, "--out", out) == 2
    assert "exists already" in capsys.readouterr().err
    assert run(file, "--out", out, "--force") == 0


def test_own_words_take_the_place_of_professions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, words = tmp_path / "a.txt", tmp_path / "words.txt"
    file.write_text("\n\n".join(["She likes pottery."] * 9 + ["He likes table tennis."] * 9))
    words.write_text("Pottery\n\ntable  tennis\n")
    assert run(file, "--words", words, "--json") == 0
    rows = json.loads(capsys.readouterr().out)["a.txt"]["beside"]
    found = {row["profession"]: (row["female"], row["male"]) for row in rows}
    assert found == {"pottery": (9, 0), "table tennis": (0, 9)}
    for bad, says in (("\n", "is empty"), ("pottery\nmother\n", "'mother' is a gendered word")):
        words.write_text(bad)
        assert run(file, "--words", words) == 2
        assert says in capsys.readouterr().err
    assert run(file, "--words", tmp_path / "none.txt") == 2
    assert "cannot be read" in capsys.readouterr().err


def test_a_run_of_a_model_is_not_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run.json").write_text("{}")
    assert run("balanced", "--out", tmp_path) == 2
    assert "is the run of a model" in capsys.readouterr().err


def test_a_stopped_count_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, out = tmp_path / "a.txt", tmp_path / "out"
    file.write_text("\n\n".join(["Mary washed her hands.", "The judge lost his keys."] * 10))
    corpora, whole = {"a": Corpus(str(file))}, counting.tally
    expected = count_all(corpora)["a"].as_json()
    monkeypatch.setattr(counting, "CHUNK", 6)
    seen: list[int] = []

    def counted(texts: list[tuple[int, str]], vocabulary: Vocabulary) -> object:
        if len(seen) == 2:
            raise KeyboardInterrupt
        seen.append(texts[0][0])
        return whole(texts, vocabulary)

    monkeypatch.setattr(counting, "tally", counted)
    with pytest.raises(KeyboardInterrupt):
        count_all(corpora, out=out)
    (kept,) = out.iterdir()
    with kept.open("a") as torn:
        torn.write('{"totals": [[1, 0')
    seen.clear()
    assert count_all(corpora, out=out)["a"].as_json() == expected
    assert seen == [12, 18]
    assert not list(out.iterdir())
    seen.clear()
    with pytest.raises(KeyboardInterrupt):
        count_all(corpora, out=out)
    os.utime(file, ns=(1, 1))
    seen.clear()
    with pytest.raises(KeyboardInterrupt):
        count_all(corpora, out=out)
    assert seen == [0, 6]  # another file: counted from its beginning


def test_examples_speak_of_the_side_that_was_asked_for() -> None:
    texts = ["He saw a bridge.", "She saw a bridge.", "They saw a bridge.", "She saw\n his bridge."]
    assert examples(texts, {"bridge": "female"}) == {"bridge": ["She saw a bridge."]}
    assert examples(texts, {"bridge": ""}) == {"bridge": ["He saw a bridge.", "She saw a bridge."]}


def articles(folder: Path, n: int = 12) -> Path:
    """A folder of short articles, a man's or a woman's, in two paragraphs each; and one in German."""
    folder.mkdir()
    for number in range(n):
        who = "She" if number % 3 == 0 else "He"
        folder.joinpath(f"{number:02}.txt").write_text(f"{who} opened the talks.\n\n{who} left the talks at noon.\n")
    folder.joinpath("bericht.txt").write_text("Er sagte nun, dass die Nonne und der Pfleger nicht da sind.\n")
    return folder


def test_a_file_of_a_folder_is_a_document(tmp_path: Path) -> None:
    folder = articles(tmp_path / "articles")
    found = count_all({"articles": Corpus(str(folder))})["articles"]
    assert (found.documents, found.unit, found.words.female, found.words.male) == (12, "document", 8, 16)
    texts = ["She left. She slept."] * 4 + ["He left. He slept."] * 8
    assert found.words.log.low == pytest.approx(count(texts).words.log.low)
    lines = count_all({"articles": Corpus(str(folder), lines=True)})["articles"]
    assert lines.documents == 24


def test_a_text_in_another_language_is_skipped_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = articles(tmp_path / "articles")
    assert run(folder, "--out", tmp_path / "out") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "Not counted, since not English: bericht.txt: it seems to be German" in told
    kept = json.loads((tmp_path / "out" / "corpus.json").read_text())["corpora"]["articles"]
    assert (kept["documents"], list(kept["skipped"])) == (12, ["bericht.txt"])
    assert "bericht.txt" in (tmp_path / "out" / "report.html").read_text()
    assert run(folder, "--lang", "en", "--json") == 0
    assert json.loads(capsys.readouterr().out)["articles"]["documents"] == 13
    for path in folder.glob("[01]*.txt"):
        path.unlink()
    assert run(folder) == 2
    assert "none of its 1 files is English" in capsys.readouterr().err


def test_paragraphs_of_one_text_are_said_to_be_dependent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "novel.txt"
    file.write_text("She left.\n\nHe stayed.\n")
    assert run(file) == 0
    told = capsys.readouterr().out
    assert "novel.txt: 2 paragraphs, 2 sentences" in told
    assert "Paragraphs of one text are not independent" in told


def test_a_folder_with_a_file_of_another_encoding_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = articles(tmp_path / "articles")
    folder.joinpath("99.txt").write_bytes(b"She left. " * 1000 + b"caf\xe9\n")
    assert run(folder, "--out", tmp_path / "out") == 2
    assert "99.txt' is not UTF-8" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert run(folder, "--out", tmp_path / "swapped", command="swap") == 2
    assert not (tmp_path / "swapped").exists()


def test_own_word_pairs_count_another_language(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, pairs, names = tmp_path / "es.txt", tmp_path / "pairs.tsv", tmp_path / "names.tsv"
    text.write_text("Ella salió.\n\nÉl llegó tarde y él comió.\n\nLa mujer vio a Pilar.\n", encoding="utf-8")
    pairs.write_text("él\tella\nhombre\tmujer\n", encoding="utf-8")
    names.write_text("jorge\tpilar\n")
    assert run(text, "--word-pairs", pairs, "--names", names, "--lang", "es", "--json", "--out", tmp_path / "out") == 0
    found = json.loads(capsys.readouterr().out)["es.txt"]
    assert (found["female"], found["male"], found["first_names"]["female"]) == (2, 2, 1)
    assert (found["beside"], found["rare_professions"]) == ([], [])
    assert re.search(r"gendered words of \S*pairs.tsv", (tmp_path / "out" / "report.html").read_text())
    assert list(read_vocabulary(word_pairs=pairs).first_names("Mary Smith said so.")) == []


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("jorge\n", "line 1: two different words"),
        ("él\tella\nhombre\thombre\n", "line 2"),
        ("", "is empty"),
        ("el doctor\tla doctora\n", "single word"),
        ("él\tella\nella\tél\n", "'ella' is male in one pair and female in another"),
        ("".join(f"m{n}\tw{n}\n" for n in range(100_000)), "has 100,000 pairs, more than the allowed 20,000"),
    ],
)
def test_a_bad_list_of_pairs_is_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], written: str, told: str
) -> None:
    text, pairs = tmp_path / "a.txt", tmp_path / "pairs.tsv"
    text.write_text("Ella salió.\n", encoding="utf-8")
    pairs.write_text(written, encoding="utf-8")
    for command in ("corpus", "swap"):
        assert run(text, "--word-pairs", pairs, "--out", tmp_path / "out.txt", command=command) == 2
        assert told in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "out.txt").exists()
