"""GEST: g_s and r_i by hand, the authors' scores of each sentence, and the rates that they published."""

import csv
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import evenhand
from evenhand import BadInput, Blank, Fill, Score, Span, Table, datasets, measures
from evenhand.core.dataset import Design
from evenhand.core.scores import group_values
from evenhand.errors import UnknownName
from evenhand.measures.gest import MEN, WOMEN, Gest
from evenhand.models.networks.causal import CausalLM
from evenhand.models.networks.masked import MaskedLM
from helpers import naive, tiny
from helpers.typed import all_of, load, only

OWN = list(csv.DictReader((Path(__file__).parent / "gest-mini-en.tsv").read_text().splitlines(), delimiter="\t"))
"""Sentences of our own, and the scores that the authors' code gives mini-en on them (kinit-sk/gest 7dd908c)."""
OF_BERT = {
    "1": "1.24 1.31 1.24 1.18 1.15 1.29 1.08 1.46 1.48 1.56 1.49 1.31 1.71 1.26 1.13 1.48",
    "2": "0.92 0.97 0.83 0.87 0.88 0.94 0.80 1.15 1.14 1.12 1.10 0.92 1.17 1.01 0.96 1.12",
    "3": "1.01 1.02 1.00 1.00 0.97 1.04 0.95 1.10 1.10 1.15 1.11 1.07 1.18 1.03 1.00 1.11",
    "4": "1.15 1.18 1.02 1.03 1.09 1.17 0.96 1.36 1.34 1.32 1.30 1.21 1.37 1.21 1.12 1.34",
}
"""r_i of bert-base-uncased by template, as the authors print them (_english_mlm.ipynb)."""


@pytest.fixture
def own(shelf: Path) -> None:
    """A release with our own sentences."""
    folder = shelf / "gest"
    folder.mkdir()
    text = "sentence,stereotype\n" + "".join(f'"{row["sentence"]}",{row["stereotype"]}\n' for row in OWN)
    for name in ("gest.csv", "gest_1.1.csv"):
        (folder / name).write_text(text)


def quotations() -> Iterator[Blank]:
    """One quotation of each stereotype."""
    for label in (*WOMEN, *MEN):
        groups = {"stereotype": label, "quotation": label, "template": "1"}
        yield Blank(label, f'___ said: "{label}"', Span(0, 3), ("He", "She"), groups)


def rule(question: Fill) -> tuple[float]:
    """The number of a stereotype makes "he" that much likelier."""
    return (-20 + (int(question.text.split('"')[1][:2]) / 10 if question.answer == "He" else 0),)


def test_the_rate_is_a_ratio_of_geometric_means() -> None:
    result = evenhand.measure(Table(only(Fill, rule)), list(quotations()), Gest(), by=("stereotype",))
    rates = [math.exp(number / 10) for number in range(1, 17)]
    about_women, about_men = (math.prod(part) ** (1 / len(part)) for part in (rates[:7], rates[7:]))
    assert result.value == pytest.approx(about_men / about_women)
    assert [value.value for value in result.estimates[1:]] == pytest.approx(rates)
    assert result.neutral == 1.0


def test_without_one_of_the_stereotypes_there_is_no_rate() -> None:
    result = evenhand.measure(Table(only(Fill, rule)), list(quotations())[1:], Gest())
    assert math.isnan(result.value)
    assert result.estimates[0].note == "no scored items of stereotype 01 emotional"
    assert math.isnan(Gest.summarise([]))


def test_ties_everywhere_are_neutral() -> None:
    result = evenhand.measure(Table(lambda q: (-3.0,)), list(quotations()), Gest())
    assert result.value == 1.0


def test_the_authors_scores_of_each_sentence(own: None, mini_en: MaskedLM) -> None:
    data = datasets.load("gest")
    result = evenhand.measure(mini_en, all_of(Blank, data.items), Gest(formula="released"), by=("template",))
    expected = [float(row[f"template_{number}"]) for number in "1234" for row in OWN]
    assert [score.value for score in result.scores] == pytest.approx(expected, abs=2e-5)
    by_template = {value.groups["template"]: value.value for value in result.estimates[1:]}
    assert by_template == pytest.approx({"1": 1.12761, "2": 1.21368, "3": 1.09504, "4": 1.11137}, abs=1e-4)


def test_the_released_rate_is_the_right_one_to_the_power_of_log10_e(own: None, mini_en: MaskedLM) -> None:
    items = all_of(Blank, datasets.load("gest", template="3").items)
    right, as_released = (evenhand.measure(mini_en, items, how).value for how in (Gest(), Gest(formula="released")))
    assert as_released == pytest.approx(right ** math.log10(math.e))
    assert abs(right - as_released) > 0.05


def test_as_released_a_word_of_several_tokens_counts_as_their_mean() -> None:
    model = Table(lambda q: (-1.0,) if q.answer == "He" else (-2.0, -4.0))
    (item,) = list(quotations())[:1]
    (right,), (as_released,) = (
        evenhand.measure(model, [item], how).scores for how in (Gest(), Gest(formula="released"))
    )
    assert right.value == pytest.approx(5.0)
    assert as_released.value == pytest.approx(2.0 / math.log(10))


def test_a_causal_model_says_which_word_comes_next(own: None, tmp_path: Path) -> None:
    """As the authors ask: the probabilities of " he" and " she" after the quotation."""
    model = load(CausalLM, str(tiny.save_causal("gpt2", tmp_path / "gpt2", max_position_embeddings=128)))
    data = datasets.load("gest-causal", template="3")
    how = measures.load("gest", among="candidates", formula="released")
    for item, score in zip(all_of(Blank, data.items), evenhand.measure(model, data.items, how).scores, strict=True):
        he, she = (naive.following(model, item.text.replace("___", word)) for word in ("he", "she"))
        after = len(item.text.removesuffix(" ___"))
        next_word = [sum(p for p, (start, _) in zip(*found, strict=True) if start >= after) for found in (he, she)]
        assert score.value == pytest.approx((next_word[0] - next_word[1]) / math.log(10), abs=1e-5)


@pytest.mark.parametrize("number", list(OF_BERT))
def test_the_published_rates_of_bert(number: str, data: Path) -> None:
    items = datasets.load("gest", version="1.0", template=number).items
    file = data / "published" / "gest" / f"bert-base-uncased_template-{int(number) - 1}.txt"
    scores = [Score(i.id, float(s), i.groups) for i, s in zip(items, file.read_text().splitlines(), strict=True)]
    overall = {"1": 1.176, "2": 1.210, "3": 1.093, "4": 1.183}[number]
    assert Gest.summarise(scores) == pytest.approx(overall, abs=5e-4)
    of_each = [v.value for v in group_values(scores, Gest.summarise, Design(("stereotype",)))][1:]
    assert np.round(of_each, 2) == pytest.approx([float(r) for r in OF_BERT[number].split()], abs=1e-9)


def test_options_and_groups_are_checked() -> None:
    with pytest.raises(UnknownName, match="paper"):
        Gest(formula="rigth")  # type: ignore[arg-type]
    item = Blank("1", "___ left.", Span(0, 3), ("He", "She"), {"stereotype": "female"})
    with pytest.raises(BadInput, match="stereotype"):
        evenhand.measure(Table(lambda q: (0.0,)), [item], Gest())
