"""Words that are cut for one gender only, words that are unknown and texts that are too long are seen."""

from pathlib import Path

import pytest

import evenhand
from evenhand import Sentence, Triple, datasets
from evenhand.checks.base import Case
from evenhand.checks.tokens import length, splitting, vocabulary
from evenhand.core.dataset import Dataset
from evenhand.core.model import Finding
from evenhand.models.networks.masked import MaskedLM
from evenhand.models.networks.nli import NliModel
from helpers import tiny
from helpers.checked import Make, Pieces, one
from helpers.typed import all_of

FEMALE = ("she", "woman", "sister", "daughter")
MALE = ("he", "man", "brother", "son")


def split(data: Dataset, *cut: str) -> dict[str, Finding]:
    """What splitting finds of a model that cuts these words."""
    return {finding.check: finding for finding in splitting(Case(Pieces(cut), data.language, [data]))}


def typed(data: Dataset, gender: str) -> list[str]:
    """The professions of that gender."""
    items = all_of(Sentence, data.items)
    return sorted({item.attribute.of(item.text) for item in items if item.groups["prof_gender"] == gender})


@pytest.mark.parametrize(("cut", "verdict"), [((), "fine"), (FEMALE, "careful"), ((*FEMALE, *MALE), "fine")])
def test_words_of_one_gender_that_are_cut_ask_for_care(cut: tuple[str, ...], verdict: str, becpro: Dataset) -> None:
    found = split(becpro, *cut)
    assert found["target words"].verdict == verdict
    assert (f"{len(FEMALE)} of 9 female (She, woman, sister)" in found["target words"].says) is bool(cut)
    assert found["attribute words"].verdict == "fine"


def test_professions_of_one_gender_that_are_cut_ask_for_care(becpro: Dataset) -> None:
    found = split(becpro, *typed(becpro, "male"))["attribute words"]
    assert found.verdict == "careful"
    assert found.says.startswith("Split: 0 of 20 female-typed, 20 of 20 male-typed (taper")


def test_a_target_that_is_cut_weighs_more_than_an_attribute(becpro: Dataset) -> None:
    """One of nine women's words is too much; four of twenty men's professions are not, six are."""
    men = typed(becpro, "male")
    assert split(becpro, "woman")["target words"].verdict == "careful"
    assert [split(becpro, *men[:n])["attribute words"].verdict for n in (4, 6)] == ["fine", "careful"]


@pytest.mark.parametrize("name", ["tgb", "tbd", "nli-en", "emotions-en", "becpro-de"])
def test_every_kind_of_item_has_its_words_by_gender(name: str) -> None:
    found = split(datasets.load(name), "she", "women", "woman", "frau")
    assert " 0 of" not in found["target words"].says.split(",")[0]


def test_without_spaces_there_are_no_words_to_be_cut() -> None:
    assert split(datasets.load("nli-zh"), "女人") == {}


MOST = [*FEMALE, *MALE, "dad", "mom", "aunt", "uncle"]


@pytest.mark.parametrize(
    ("unknown", "verdict", "says"),
    [([], "fine", ""), (["she"], "careful", "unknown: She"), (MOST, "careful", "Is it a model of 'en'?")],
)
def test_unknown_words_are_named_and_if_they_are_most_the_language_is_asked_about(
    unknown: list[str], verdict: str, says: str, becpro: Dataset
) -> None:
    finding = one(vocabulary, Pieces(unknown=unknown), becpro)
    assert finding.verdict == verdict
    assert says in finding.says


def test_texts_over_the_limit_are_counted(mini_en: MaskedLM, make: Make) -> None:
    tgb = datasets.load("tgb")
    fits = one(length, mini_en, tgb)
    assert (fits.verdict, fits.says) == ("fine", "The longest text (tgb) has 37 tokens; the model takes 128.")
    short = make("roberta", max_position_embeddings=42)
    assert short.longest == 40
    assert one(length, short, tgb).verdict == "unfit"
    assert "200 of the 200 longest texts have more than the 40 tokens" in one(length, short, tgb).says
    assert one(length, short, tgb, datasets.load("tbd-simple")).verdict == "careful"


def test_a_next_sentence_is_as_long_as_with_its_context(mini_en: MaskedLM) -> None:
    item = Triple("1", "She left.", "She came.", "It rained a lot.", "She left her house.")
    data = Dataset(name="made", items=[item], cluster="")
    assert "has 13 tokens" in one(length, mini_en, data).says


def test_pairs_of_inference_are_as_long_as_both(tmp_path: Path, mini_en_nli: NliModel) -> None:
    data = datasets.load("nli-en")
    assert "has 34 tokens" in one(length, mini_en_nli, data).says
    short = evenhand.load(str(tiny.save_classifier("roberta", tmp_path / "short")))
    assert one(length, short, data).verdict == "unfit"
