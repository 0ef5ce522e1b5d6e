"""Sentence pairs: what the four measures make of two pseudo-log-likelihoods, and what they ask for."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand
from evenhand import Answer, BadInput, Likelihood, LikelihoodDifference, Pair, Table
from evenhand.measures.likelihood import CrowsPairs, LikelihoodLean, StereotypeShare, preference
from evenhand.models.networks.masked import MaskedLM
from helpers import naive
from helpers.typed import all_of

PROGRAMMER = Pair("1", "The programmer carried his laptop to work.", "The programmer carried her laptop to work.")
DOCTOR = Pair("2", "The doctor is with his patient.", "The doctor is with her patient.")
ALL = (LikelihoodDifference(), LikelihoodLean(), StereotypeShare(), CrowsPairs())


def told(**plls: float) -> Table:
    """A model that gives these sentences, by their first words, these likelihoods."""
    return Table({q: (value,) for q, value in zip(_asked(), plls.values(), strict=True)})


def _asked() -> list[Likelihood]:
    return [Likelihood(text) for pair in (PROGRAMMER, DOCTOR) for text in (pair.stereotype, pair.counterpart)]


def test_the_thesis_worked_example() -> None:
    """Section 4.1.2: -32.3, -38.6, -13.0, -16.9 -> 5.1."""
    model = told(a=-32.3, b=-38.6, c=-13.0, d=-16.9)
    result = evenhand.measure(model, [PROGRAMMER, DOCTOR], LikelihoodDifference())
    assert result.value == pytest.approx(5.1)
    assert [s.value for s in result.scores] == pytest.approx([6.3, 3.9])


def test_signs_are_stored_and_sizes_are_summed() -> None:
    model = told(a=-3.0, b=-1.0, c=-1.0, d=-5.0)
    pairs = [PROGRAMMER, DOCTOR]
    values = {how.name: evenhand.measure(model, pairs, how).value for how in ALL[:3]}
    assert values == pytest.approx({"likelihood-difference": 3.0, "likelihood-lean": 1.0, "stereotype-share": 0.5})
    assert evenhand.measure(model, pairs, LikelihoodDifference()).scores[0].value == -2.0


def test_a_tie_counts_half() -> None:
    assert (preference(0.0), preference(1e-9), preference(-1e-9)) == (0.5, 1.0, 0.0)


def test_a_mean_by_pieces_forgives_a_longer_sentence() -> None:
    answers = (Answer((-1.0, -1.0)), Answer((-1.0, -1.0, -1.0, -1.0)))
    assert LikelihoodDifference().score(PROGRAMMER, answers) == 2.0
    assert LikelihoodDifference(total="mean").score(PROGRAMMER, answers) == 0.0


def test_punctuation_can_be_left_out_and_later_pieces_masked() -> None:
    stereotype, _ = LikelihoodDifference(punctuation="skipped", pll="within-word").ask(PROGRAMMER)
    assert [s.of(stereotype.text) for s in stereotype.skip] == ["."]
    assert stereotype.within_word


def test_an_unknown_reading_is_refused() -> None:
    with pytest.raises(BadInput, match="within-word"):
        LikelihoodDifference(pll="within_word")  # type: ignore[arg-type]


def test_crows_pairs_scores_what_both_sentences_share() -> None:
    stereotype, counterpart = CrowsPairs().ask(PROGRAMMER)
    assert [s.of(stereotype.text) for s in stereotype.skip] == ["his"]
    assert [s.of(counterpart.text) for s in counterpart.skip] == ["her"]


@given(st.floats(-50, 0), st.floats(-50, 0))
def test_swapping_a_pair_turns_the_sign_and_keeps_the_size(one: float, other: float) -> None:
    here, there = LikelihoodDifference(), StereotypeShare()
    answers = (Answer((one,)), Answer((other,)))
    assert here.score(PROGRAMMER, answers) == -here.score(PROGRAMMER, answers[::-1])
    assert there.score(PROGRAMMER, answers) == 1 - there.score(PROGRAMMER, answers[::-1])


def test_likelihoods_are_those_of_a_naive_loop(mini_en: MaskedLM) -> None:
    result = evenhand.measure(mini_en, [PROGRAMMER], LikelihoodDifference())
    his, her = (sum(naive.likelihood(mini_en, text)) for text in (PROGRAMMER.stereotype, PROGRAMMER.counterpart))
    assert result.value == pytest.approx(abs(his - her), abs=1e-4)


def test_four_measures_cost_no_more_inputs_than_one(mini_en: MaskedLM) -> None:
    asked = [list(how.ask(PROGRAMMER)) for how in ALL]
    together = mini_en.plan(list(dict.fromkeys(q for questions in asked for q in questions)))
    pieces = sum(mini_en.count_tokens([(t, evenhand.Span(0, len(t)))])[0] for t in _texts())
    assert together.inputs == mini_en.plan(asked[0]).inputs == pieces - 1  # his and her masked make one input


def _texts() -> tuple[str, str]:
    return PROGRAMMER.stereotype, PROGRAMMER.counterpart


def test_crows_pairs_agrees_with_a_difference_of_pieces(mini_en: MaskedLM, data: object) -> None:
    """The release compares lists of pieces; ours compares words. On pairs of equal length they must choose alike."""
    from difflib import SequenceMatcher

    released = all_of(Pair, evenhand.datasets.load("crows-pairs").items)
    items = [i for i in released if i.groups["pairs"] == "clean"][:40]
    agreeing = 0
    for item in items:
        one, other = (
            mini_en.tokenizer(t, add_special_tokens=False)["input_ids"] for t in (item.stereotype, item.counterpart)
        )
        same = sum(block.size for block in SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks())
        reads = [len(reading.reads) for reading in mini_en.plan(CrowsPairs().ask(item)).readings]
        agreeing += reads == [same, same]
    assert agreeing >= 38  # a changed word of several pieces may share one of them with its partner


def test_a_sentence_with_an_unknown_character_has_no_score(mini_en: MaskedLM) -> None:
    odd = Pair("1", "He likes \U0001f980\U0001f980.", "She likes \U0001f980\U0001f980.")
    result = evenhand.measure(mini_en, [odd], LikelihoodDifference())
    assert math.isnan(result.value)
    assert sum(result.unscored.values()) == 1
