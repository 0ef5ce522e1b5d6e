"""Hard debiasing: the geometry by hand, and every vector as the authors' code leaves it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand
from evenhand import BadInput, Embed
from evenhand.core.items import Target
from evenhand.errors import UnfitModel
from evenhand.mitigation.hard_debias import HardDebias
from evenhand.models.table import Table
from helpers.typed import all_of

WORDS = {
    "he": (1.0, 0.2, 0.1),
    "she": (-0.8, 0.2, 0.3),
    "nurse": (-1.0, 2.0, 0.0),
    "king": (2.0, 0.0, 1.0),
    "queen": (-1.0, 0.5, 1.0),
}
LISTS = ("definitional_pairs", "equalize_pairs", "gender_specific_seed")
COSINES = {
    ("nurse", "he"): 0.2411612570285797,
    ("nurse", "she"): 0.2411612570285797,
    ("programmer", "woman"): 0.10885455459356308,
    ("programmer", "man"): 0.10885455459356308,
    ("king", "queen"): 0.6306472420692444,
    ("actress", "she"): 0.4441518783569336,
    ("actress", "he"): 0.10843688994646072,
    ("nurse", "librarian"): 0.3866479992866516,
}


def debiased(folder: Path, **options: Any) -> dict[str, Any]:
    """The vectors of the words above."""
    np.savez(folder / "v.npz", words=np.array(list(WORDS)), vectors=np.array(list(WORDS.values())))
    how = HardDebias(**{"pairs": (("he", "she"),)} | options)
    model = how.apply(evenhand.load(str(folder / "v.npz")), (), folder)
    return {word: np.array(model.answer([Embed(word)])[0].numbers) for word in (*WORDS, "unknown")}


def test_words_lose_the_direction_and_partners_are_equally_near_to_all_others(tmp_path: Path) -> None:
    vectors = debiased(tmp_path, equalize=(("king", "queen"),), specific=("he", "she"))
    he, she = (np.array(WORDS[word]) / np.linalg.norm(WORDS[word]) for word in ("he", "she"))
    direction = (he - she) / np.linalg.norm(he - she)
    assert vectors["nurse"] @ direction == pytest.approx(0, abs=1e-7)
    assert np.linalg.norm(vectors["nurse"]) == pytest.approx(1)
    assert vectors["he"] == pytest.approx(he)  # says a gender itself, and is in no pair of `equalize`
    assert vectors["king"] @ vectors["nurse"] == pytest.approx(vectors["queen"] @ vectors["nurse"])
    assert vectors["king"] - vectors["queen"] == pytest.approx(2 * (vectors["king"] @ direction) * direction)
    assert np.isnan(vectors["unknown"]).all()


def test_each_vector_is_that_of_the_authors_code(data: Path, tmp_path: Path) -> None:
    """By debias.py of tolga-b/debiaswe: all 2,436 words agreed to 1.1e-7, of which these are some cosines."""
    read: Any = {name: json.loads((data / "debiaswe" / f"{name}.json").read_text()) for name in LISTS}
    definitional, equalize, specific = read.values()
    how = HardDebias(tuple((man, woman) for woman, man in definitional), tuple(map(tuple, equalize)), tuple(specific))
    model = how.apply(evenhand.load(str(data / "words" / "googlenews-subset.npz")), (), tmp_path)
    for (one, other), cosine in COSINES.items():
        a, b = (np.array(answer.numbers) for answer in model.answer([Embed(one), Embed(other)]))
        assert a @ b == pytest.approx(cosine, abs=2e-7), (one, other)


@pytest.mark.usefixtures("without_pages")
def test_a_file_is_measured_before_and_after(tmp_path: Path) -> None:
    rng, listed = np.random.default_rng(0), all_of(Target, evenhand.datasets.load("weat-professions-en").items)
    words = sorted({text for item in listed for text, _ in item.words_asked()})
    np.savez(tmp_path / "v.npz", words=np.array(words), vectors=rng.normal(size=(len(words), 20)))
    model = evenhand.load(str(tmp_path / "v.npz"))
    asked: dict[str, Any] = {"dataset": "weat-professions-en", "measure": "direct-bias"}
    after = HardDebias(pairs(listed[0]))
    before, done = (
        evenhand.audit(one, **asked, out=tmp_path / name)
        for one, name in ((model, "before"), (after.apply(model, (), tmp_path), "after"))
    )
    assert before.rows[0].value > 0.1
    assert done.rows[0].value < 1e-6
    assert before.record.fingerprint != done.record.fingerprint


def pairs(item: Target) -> tuple[tuple[str, str], ...]:
    """The pairs of words that define the gender direction of an item."""
    return tuple((man, woman) for (man, _), (woman, _) in zip(*item.attributes, strict=True))


def test_what_has_no_direction_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no pair of words such as he and she"):
        debiased(tmp_path, pairs=(("lord", "lady"),))
    with pytest.raises(UnfitModel, match="for files of word vectors"):
        HardDebias().check(Table({}))


@pytest.mark.parametrize("seed", range(8))
def test_capitalised_partners_stay_on_the_side_where_they_were(seed: int, tmp_path: Path) -> None:
    """They are not among the gendered words, so after neutralising only rounding would tell the sides apart."""
    rng = np.random.default_rng(seed)
    words = {**WORDS, "He": tuple(rng.normal(size=3)), "She": tuple(rng.normal(size=3))}
    np.savez(tmp_path / "v.npz", words=np.array(list(words)), vectors=np.array(list(words.values())))
    model = HardDebias((("he", "she"),)).apply(evenhand.load(str(tmp_path / "v.npz")), (), tmp_path)
    he, she, upper, other = (np.array(model.answer([Embed(word)])[0].numbers) for word in ("he", "she", "He", "She"))
    before, after = (np.array(words[word]) / np.linalg.norm(words[word]) for word in ("He", "She"))
    assert ((before - after) @ (he - she) > 0) == ((upper - other) @ (he - she) > 0)
