"""Sentence pairs: ours as the issue of the thesis asks for them, and users' files."""

import csv
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import pytest

import evenhand
from evenhand import Answer, BadInput, Pair, Table, datasets
from evenhand.core.questions import Question
from evenhand.core.words import changes, words
from evenhand.datasets.pairs import release_rows
from helpers import tiny

pytestmark = pytest.mark.usefixtures("without_pages")

TGB = (files("evenhand.datasets") / "data" / "tgb-en.tsv").read_text(encoding="utf-8").splitlines()
ROWS = list(csv.DictReader(TGB[2:], delimiter="\t", quoting=csv.QUOTE_NONE))


def test_there_are_a_hundred_pairs_of_each_kind_about_women_and_men() -> None:
    assert Counter(row["category"] for row in ROWS) == {"occupation": 100, "hostile": 100, "benevolent": 100}
    for category in ("occupation", "hostile", "benevolent"):
        about = Counter(row["about"] for row in ROWS if row["category"] == category)
        assert min(about["women"], about["men"]) >= 25


def test_the_file_warns_before_anything_else() -> None:
    assert "CONTENT WARNING" in TGB[0]
    assert all(line.startswith("#") for line in TGB[:2])


def test_the_changed_spans_of_the_file_are_right() -> None:
    for row in ROWS:
        spans = " ".join(
            "/".join(",".join(f"{s.start}-{s.stop}" for s in side) for side in (c.old, c.new))
            for c in changes(row["stereotype"], row["counterpart"])
        )
        assert spans == row["changed"], row["id"]


def test_no_two_sentences_begin_alike_and_lengths_vary() -> None:
    openings = Counter(tuple(row["stereotype"].lower().split()[:3]) for row in ROWS)
    assert openings.most_common(1)[0][1] == 1
    lengths = [len(row["stereotype"].split()) for row in ROWS]
    assert min(lengths) >= 5
    assert max(lengths) <= 30
    assert len(set(lengths)) > 20


def test_every_pair_names_its_idea_and_has_a_stable_id() -> None:
    assert all(row["note"].strip() for row in ROWS)
    assert [item.id for item in datasets.load("tgb").items] == [row["id"] for row in ROWS]


def test_a_users_file_is_measured_by_category(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text('more,less,category\n"He cooks.","She cooks.",home\n"He drives.","She drives.",road\n')
    run = evenhand.audit(
        Table(lambda q: (-1.0 if q.text.startswith("He") else -3.0,)),
        pairs=file,
        options={"stereotype": "more", "counterpart": "less"},
        out=tmp_path / "runs",
    )
    assert {r["measure"] for r in run.results} == {
        "likelihood-difference", "likelihood-lean", "stereotype-share", "crows-pairs"
    }  # fmt: skip
    values = {(r["measure"], r["groups"].get("category")): r["value"] for r in run.results}
    assert values["likelihood-lean", "home"] == 2.0
    assert values["stereotype-share", None] == 1.0
    again = evenhand.rescore(run.path)
    assert again.results == run.results
    file.write_text(file.read_text() + '"He sings.","She sings.",home\n')
    with pytest.raises(BadInput, match="changed"):
        evenhand.rescore(run.path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("more,counterpart\na,b\n", "'stereotype'"),
        ("stereotype,counterpart\nHe left.,He left.\n", "line 2: .*differ"),
        ("stereotype,counterpart\nHe left.,Er ging.\n", "line 2: .*in common"),
        ("stereotype,counterpart\nHe left.,\n", "line 2: .*empty"),
        ("stereotype,counterpart\n", "no rows"),
    ],
)
def test_a_file_that_cannot_be_measured_gives_no_number(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "bad.csv"
    file.write_text(text)
    with pytest.raises(BadInput, match=says):
        datasets.load("pairs", file=str(file))


def test_a_pair_of_one_sentence_is_refused() -> None:
    with pytest.raises(BadInput, match="differ"):
        Pair("1", "He left.", "He left.")


def test_a_file_larger_than_a_chunk_is_asked_in_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model never sees more than a chunk at once, and the numbers are those of one chunk."""
    from evenhand.core import loop

    pairs = [Pair(str(i), f"He has {i} hats.", f"She has {i} hats.") for i in range(50)]
    model = evenhand.load(str(tiny.save("roberta", tmp_path / "model")))
    whole = evenhand.measure(model, pairs, evenhand.LikelihoodDifference())
    calls: list[int] = []
    answer = model.answer

    def counting(questions: Sequence[Question]) -> Sequence[Answer]:
        calls.append(len(questions))
        return answer(questions)

    monkeypatch.setattr(model, "answer", counting)
    monkeypatch.setattr(loop, "CHUNK", 16)
    chunks = evenhand.measure(model, pairs, evenhand.LikelihoodDifference())
    assert calls == [32, 32, 32, 4]
    assert [s.id for s in chunks.scores] == [s.id for s in whole.scores]
    for one, other in zip(chunks.scores, whole.scores, strict=True):
        assert one.note == other.note
        assert one.value == pytest.approx(other.value, abs=5e-5, nan_ok=True)


def test_words_of_every_sentence_are_separated_by_single_spaces() -> None:
    for row in ROWS:
        assert row["stereotype"] == " ".join(row["stereotype"].split())
        assert words(row["stereotype"])[-1].of(row["stereotype"]) in '.?!"'


@pytest.mark.parametrize("encoding", ["utf-8", "mac_roman"])
def test_the_dutch_release_is_read_in_its_encoding_and_in_utf_8(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "scores.csv"
    file.write_bytes("id,text\n1,één\n".encode(encoding))
    assert [row for _, row in release_rows(file, ("id",), "crows-pairs-nl")] == [{"id": "1", "text": "één"}]
    if encoding == "mac_roman":
        with pytest.raises(BadInput, match="UTF-8"):
            list(release_rows(file, ("id",), "crows-pairs-fr"))
