"""AUL, AULA, SSS and CrowS-Pairs: per sentence what the released code computes, and right where that is wrong."""

import csv
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import evenhand
from evenhand import Answer, BadInput, Likelihood, Pair, Table, measures
from evenhand.core.measure import Formula
from evenhand.core.questions import Question
from evenhand.errors import UnfitModel
from evenhand.measures.likelihood import AllUnmasked, AllUnmaskedByAttention, CrowsPairs, PreferredShare, StereoSetScore
from evenhand.models.networks.masked import MaskedLM
from helpers import naive, tiny
from helpers.typed import only

LINES = (Path(__file__).parent / "released-pairs.tsv").read_text(encoding="utf-8").splitlines()
ROWS = list(csv.DictReader([line for line in LINES if line[0] != "#"], delimiter="\t", quoting=csv.QUOTE_NONE))
PAIRS = [Pair(row["id"], row["stereotype"], row["counterpart"], {"direction": row["direction"]}) for row in ROWS]
FORMULAS: tuple[Formula, ...] = ("paper", "released")
SHARES: list[type[Any]] = [CrowsPairs, AllUnmasked, AllUnmaskedByAttention, StereoSetScore]


@pytest.fixture(scope="module")
def answers(mini_en: MaskedLM) -> Table:
    """The answers of mini-en to what the measures ask about all pairs, as released."""
    questions = {question: None for how in SHARES for pair in PAIRS for question in how(formula="released").ask(pair)}
    return Table(dict(zip(questions, mini_en.answer(list(questions)), strict=True)))


def sentence_scores(model: Table, how: PreferredShare) -> list[tuple[float, float]]:
    """What the measure makes of both sentences of each pair, before it compares them; NaN where there is no answer."""
    measure: Any = how
    answers = model.answer([question for pair in PAIRS for question in measure.ask(pair)])
    scores = [math.nan if answer.note else measure._of_sentence(answer) for answer in answers]
    return list(zip(scores[::2], scores[1::2], strict=True))


def released(row: dict[str, str], measure: str) -> list[float]:
    """The scores of both sentences by the released code; NaN where nothing of a sentence is changed."""
    return [float(row[f"{measure} {side}"]) for side in ("stereotype", "counterpart")]


@pytest.mark.parametrize("how", SHARES)
def test_every_sentence_scores_what_the_released_code_gives_it(answers: Table, how: Any) -> None:
    close = {"crows-pairs": 1.001e-3, "aula": 2e-6}.get(how.name, 2e-5)  # rounded; smaller by the attention
    for row, scores in zip(ROWS, sentence_scores(answers, how(formula="released")), strict=True):
        assert scores == pytest.approx(released(row, how.name), abs=close, nan_ok=True), row["id"]


@pytest.mark.parametrize("how", SHARES)
def test_pairs_are_judged_as_by_the_released_code(answers: Table, how: Any) -> None:
    result = evenhand.measure(answers, PAIRS, how(formula="released"))
    scores = [released(row, how.name) for row in ROWS]
    clear = [n for n, (one, other) in enumerate(scores) if _apart(one, other)]
    assert [result.scores[n].value for n in clear] == [scores[n][0] > scores[n][1] for n in clear]
    assert len(clear) >= len(ROWS) - 3


def _apart(one: float, other: float) -> bool:
    """Whether rounding cannot decide between two scores; False where one is NaN."""
    return abs(one - other) > 1e-3 * abs(one)


def test_a_sentence_without_a_token_of_its_own_is_unscored(mini_en: MaskedLM) -> None:
    """The released code has NaN for it, which counts as "not the stereotype"."""
    pairs = [pair for pair in PAIRS if "stewardess" in pair.stereotype]
    result = evenhand.measure(mini_en, pairs, StereoSetScore())
    assert result.unscored == {"no token that the other sentence lacks": 1}


def test_words_that_change_places_tie_as_released(mini_en: MaskedLM) -> None:
    """Its average over all places and tokens is then the same for both sentences; at their own places it is not."""
    pair = Pair("1", "A good father works late, a good mother cooks.", "A good mother works late, a good father cooks.")
    one, other = (mini_en.answer(StereoSetScore().ask(pair))[n] for n in (0, 1))
    for formula in FORMULAS:
        how = StereoSetScore(formula=formula)
        tied = how._of_sentence(one) == pytest.approx(how._of_sentence(other), abs=1e-5)
        assert tied == (formula == "released")


def test_the_right_sss_reads_each_token_at_its_own_place(answers: Table, mini_en: MaskedLM) -> None:
    """It differs from the released one only where several tokens changed."""
    right, released = (sentence_scores(answers, StereoSetScore(formula=how)) for how in FORMULAS)
    apart = 0
    for pair, mine, theirs in zip(PAIRS, right, released, strict=True):
        for text, score, other in zip((pair.stereotype, pair.counterpart), mine, theirs, strict=True):
            if math.isnan(score):
                continue
            question = Likelihood(text, masked="changed", versus=(pair.stereotype, pair.counterpart))
            (read,) = mini_en.plan([question]).readings[0].reads
            places = sorted({place for place, _ in read.cells})
            logps = naive.logps(mini_en, list(read.ids))
            ids = mini_en.tokenizer(text)["input_ids"]
            assert score == pytest.approx(mean_of([float(logps[p, ids[p]]) for p in places]), abs=2e-5)
            assert (score == pytest.approx(other, abs=1e-9)) == (len({ids[p] for p in places}) == 1)
            apart += len(places) > 1
    assert apart > 10


def mean_of(numbers: Sequence[float]) -> float:
    return math.fsum(numbers) / len(numbers)


def test_the_order_of_the_sentences_is_that_of_the_release() -> None:
    """Its difflib sees the sentence about the disadvantaged group first, whichever of the two is the stereotype."""
    pair = Pair("1", "They told her about him.", "They told him about her.")
    other = Pair("1", pair.stereotype, pair.counterpart, {"direction": "antistereo"})
    orders = [[question.versus for question in CrowsPairs(formula="released").ask(p)] for p in (pair, other)]
    both = pair.stereotype, pair.counterpart
    assert orders == [[both] * 2, [both[::-1]] * 2]


def test_parts_of_changed_words_count_as_shared_only_as_released(mini_en: MaskedLM) -> None:
    pair = Pair("1", "The saleswoman was late.", "The salesman was late.")
    ours, theirs = (mini_en.plan(CrowsPairs(formula=how).ask(pair)).readings for how in FORMULAS)
    assert [len(b.reads) - len(a.reads) for a, b in zip(ours, theirs, strict=True)] == [1, 1]  # sales


@pytest.mark.parametrize("how", SHARES)
def test_a_tie_counts_half_or_as_released_not_at_all(how: Any) -> None:
    tied = Table(only(Likelihood, lambda question: (-2.0,)))
    assert evenhand.measure(tied, PAIRS, how()).value == 0.5
    assert math.isnan(evenhand.measure(tied, PAIRS, how()).estimates[0].low)  # nothing varies: no verdict
    assert evenhand.measure(tied, PAIRS, how(formula="released")).value == 0.0


def test_sums_are_rounded_before_they_are_compared_as_released() -> None:
    nearly = Answer((-10.0001,)), Answer((-10.0004,))
    assert CrowsPairs().score(PAIRS[0], nearly) == 1.0
    assert CrowsPairs(formula="released").score(PAIRS[0], nearly) == 0.0


def test_means_are_over_tokens() -> None:
    answers = Answer((-1.0, -1.0)), Answer((-1.5,))
    assert AllUnmasked().score(PAIRS[0], answers) == 1.0
    assert CrowsPairs().score(PAIRS[0], answers) == 0.0  # a sum


def test_measures_of_what_is_seen_run_when_they_are_named() -> None:
    from evenhand import suites

    names = [task.measure.name for task in suites.tasks_on("tgb")]
    assert not {"aul", "aula", "sss"} & set(names)
    named = [task.measure.name for task in suites.tasks_on("tgb", ["aul", "aula", "sss"])]
    assert named == ["aul", "aula", "sss"]


def test_an_unknown_formula_is_refused() -> None:
    with pytest.raises(BadInput, match="'released'"):
        measures.load("aul", formula="release")


def test_a_causal_model_is_refused_before_it_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tiny.save_causal("gpt2", tmp_path / "gpt2")
    monkeypatch.setattr(evenhand.models, "load", lambda *_, **__: pytest.fail("loaded"))
    for name in ("aul", "aula", "sss"):
        with pytest.raises(UnfitModel, match=f"'{name}' is for masked"):
            evenhand.audit(str(folder), dataset="tgb", measure=name, out=tmp_path / "runs")


@pytest.mark.usefixtures("unexamined", "without_pages")
def test_the_option_is_recorded_and_named_only_where_it_is_not_the_default(mini_en: MaskedLM, tmp_path: Path) -> None:
    """Runs of 0.1.0, which had no such option, are compared with later ones."""
    several = [
        evenhand.audit(mini_en, dataset="tgb", measure="crows-pairs", limit=4, options=options, out=tmp_path / "runs")
        for options in ({}, {"formula": "released"})
    ]
    tasks = several[-1].record.tasks
    told = [("tgb", {}), ("tgb (formula=released)", {"formula": "released"})]
    assert [(task.dataset, task.measure_options) for task in tasks] == told


def test_what_bert_scored_gives_what_was_published(data: Path) -> None:
    """The scores of each sentence by bert-base-uncased give 61.449 % overall, and 156 of 260 for gender."""
    with (data / "published" / "crows-pairs" / "bert.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    how = CrowsPairs(formula="released")
    pairs: list[Pair] = []
    scores: dict[Question, tuple[float]] = {}
    for row in rows:
        groups = {"direction": row["stereo_antistereo"], "bias": row["bias_type"]}
        pairs.append(Pair(row[""], row["sent_more"], row["sent_less"], groups))
        given = row["sent_more_score"], row["sent_less_score"]
        scores |= {question: (float(score),) for question, score in zip(how.ask(pairs[-1]), given, strict=True)}
    result = evenhand.measure(Table(scores), pairs, how, by=("bias",))
    assert [score.value for score in result.scores] == [float(row["score"]) for row in rows]
    assert round(100 * result.value, 3) == 61.449
    (gender,) = (value for value in result.estimates if value.groups.get("bias") == "gender")
    assert (gender.value * gender.n, gender.n) == (156, 260)
