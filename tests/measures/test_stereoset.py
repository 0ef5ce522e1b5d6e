"""StereoSet's scores: worked out by hand, per sentence as the authors' code, and as published for six real models."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoTokenizer, BertForPreTraining

import evenhand
from evenhand import Answer, BadInput, Fill, Follows, Likelihood, Score, Span, Table, Triple, datasets, measures
from evenhand.auditing.importing.scores import predictions
from evenhand.core.scores import Summarise
from evenhand.errors import UnfitModel
from evenhand.measures.stereoset import TIED, Icat, LanguageModelingScore, StereotypeScore
from evenhand.models.loading.names import find
from helpers import made_stereoset, tiny
from helpers.made_stereoset import LABELS
from helpers.typed import all_of

PLAIN = Triple("1", "Nurses are kind.", "Nurses are rude.", "Nurses are blue.", "Nurses came.", {"target": "nurse"})
FILLED = Triple(
    "2",
    "Nurses are kind now.",
    "Nurses are rude now.",
    "Nurses are blue now.",
    "Nurses are BLANK now.",
    {"target": "nurse"},
    ("kind", "rude", "blue"),
)


def triples(*terms: str) -> list[Triple]:
    """One item for each, about these terms."""
    return [
        Triple(str(n), f"s{n}", f"a{n}", f"u{n}", f"c{n} BLANK", {"target": term}, (f"s{n}", f"a{n}", f"u{n}"))
        for n, term in enumerate(terms)
    ]


def preferring(*orders: str) -> Table:
    """A model that finds the first letter of the n-th order likeliest in the n-th item."""
    return Table(lambda q: (-1.0 - orders[int(q.answer[1:])].index(q.answer[0]),))


def value(how: Any, model: Table, items: Sequence[Triple]) -> float:
    return evenhand.measure(model, items, how, cluster="target").value


def test_each_term_counts_once_however_many_items_it_has() -> None:
    items = triples("nurse", "nurse", "nurse", "poet")
    model = preferring("sau", "sau", "asu", "aus")
    assert value(StereotypeScore(), model, items) == pytest.approx((2 / 3 + 0) / 2)
    assert value(LanguageModelingScore(), model, items) == pytest.approx((1 + 1 / 2) / 2)
    assert value(Icat(), model, items) == pytest.approx(3 / 4 * (1 / 3) / 0.5)


def test_the_ideal_model_has_1_and_one_that_always_prefers_stereotypes_0() -> None:
    items = triples("nurse", "nurse", "poet", "poet")
    assert value(Icat(), preferring("sau", "asu", "sau", "asu"), items) == 1
    assert value(Icat(), preferring("sau", "sau", "sau", "sau"), items) == 0
    assert value(Icat(), preferring("usa", "uas", "sau", "asu"), items) == 0.5


def test_a_tie_counts_for_the_anti_stereotype_and_for_the_unrelated() -> None:
    (item,) = triples("nurse")
    tied = {"s0": (-1.0,), "a0": (-1.0,), "u0": (-2.0,)}
    model = Table(lambda q: tied[q.answer])
    assert [value(how(), model, [item]) for how in (StereotypeScore, LanguageModelingScore)] == [0, 1]
    tied["u0"], tied["s0"] = (-1.0,), (-0.5,)
    assert [value(how(), model, [item]) for how in (StereotypeScore, LanguageModelingScore)] == [1, 0.5]


@pytest.mark.parametrize("how", [StereotypeScore(), LanguageModelingScore(), Icat()])
def test_where_all_three_tie_there_is_no_score(how: Any) -> None:
    result = evenhand.measure(Table(lambda q: (-1.0,)), triples("nurse", "poet"), how, cluster="target")
    assert math.isnan(result.value)
    assert result.unscored == {TIED: 2}


@pytest.mark.parametrize("summarise", [StereotypeScore.summarise, Icat.summarise])
def test_a_term_drawn_twice_counts_twice(summarise: Summarise) -> None:
    """As in a bootstrap sample, which has the items of the term twice."""
    nurse = [Score("1", 3.0, {"target": "nurse"}), Score("2", 0.5, {"target": "nurse"})]
    poet, again = (Score("3", 1.0, {"target": term}) for term in ("poet", "another poet"))
    two = [*nurse, poet, Score("4", 1.0, {"target": "another poet"})]
    assert summarise([*nurse, poet, poet]) == pytest.approx(summarise([*nurse, poet, again]))
    assert summarise([*nurse, poet, poet]) == pytest.approx(summarise(two))
    assert summarise([*nurse, poet, poet]) != pytest.approx(summarise([*nurse, poet]))


def test_without_terms_there_is_no_value() -> None:
    with pytest.raises(BadInput, match="target"):
        StereotypeScore.summarise([Score("1", 1.0, {})])
    assert math.isnan(Icat.summarise([]))


def test_a_word_is_asked_for_in_its_blank_and_a_sentence_after_its_context() -> None:
    how = StereotypeScore()
    assert how.ask(FILLED)[0] == Fill("Nurses are kind now.", Span(11, 15), "kind", one_by_one=True)
    assert how.ask(PLAIN)[1] == Follows("Nurses came.", "Nurses are rude.")
    causal = StereotypeScore("likelihood")
    assert causal.ask(FILLED)[2] == Likelihood("Nurses are blue now.")
    assert causal.ask(PLAIN)[2] == Likelihood("Nurses came. Nurses are blue.", (Span(0, 12),))
    with pytest.raises(BadInput, match="blanks"):
        measures.load("icat", asks="blanks")


def test_the_paper_takes_the_mean_of_logarithms_and_the_code_that_of_probabilities() -> None:
    """A word whose second token is certain after its first one has half of its probability from there."""
    answers = [Answer((math.log(0.01), math.log(0.99))), Answer((math.log(0.2),)), Answer((math.log(0.1),))]
    assert StereotypeScore().score(FILLED, answers) == 0
    assert StereotypeScore(formula="released").score(FILLED, answers) == 1


@pytest.fixture
def own(shelf: Path) -> Any:
    made_stereoset.write(shelf)
    return datasets.load("stereoset")


@pytest.fixture(scope="module")
def with_head(tmp_path_factory: pytest.TempPathFactory) -> str:
    """mini-en with a next-sentence head of random weights: the numbers are the authors' code's, not anybody's bias."""
    folder, mini = tmp_path_factory.mktemp("mini-en-next"), find("mini-en").source
    network: Any = BertForPreTraining.from_pretrained(mini, dtype=torch.float32)
    torch.manual_seed(0)
    with torch.no_grad():
        for part in (network.bert.pooler.dense, network.cls.seq_relationship):
            part.weight.normal_(0, 0.1)
            part.bias.zero_()
    network.save_pretrained(folder)
    AutoTokenizer.from_pretrained(mini).save_pretrained(folder)
    return str(folder)


def compared(model: Any, data: Any, asks: str) -> list[list[float]]:
    """The numbers of each item's sentences, with probabilities where the authors' code has them."""
    how = Icat(asks, "released")  # type: ignore[arg-type]
    found = []
    for item in all_of(Triple, data.items):
        numbers = how.numbers(item, model.answer(how.ask(item)))
        logs = bool(item.fillers) == (asks == "likelihood")
        found.append([math.exp(number) for number in numbers] if logs else list(numbers))
    return found


def test_each_sentence_of_a_masked_model_is_as_the_authors_code_has_it(with_head: str, own: Any) -> None:
    expected = [row["mini-en"] for row in made_stereoset.ROWS]
    for found, theirs in zip(compared(evenhand.load(with_head), own, "blank"), expected, strict=True):
        assert found == pytest.approx(theirs, rel=1e-4)


def test_each_sentence_of_a_causal_model_is_as_the_authors_code_has_it(tmp_path: Path, own: Any) -> None:
    model = evenhand.load(str(tiny.save_causal("gpt2", tmp_path / "gpt2", max_position_embeddings=128)))
    expected = [row["gpt2"] for row in made_stereoset.ROWS]
    for found, theirs in zip(compared(model, own, "likelihood"), expected, strict=True):
        assert found == pytest.approx(theirs, rel=1e-4)


def test_without_a_next_sentence_head_the_task_is_refused(mini_en: Any, own: Any, tmp_path: Path) -> None:
    with pytest.raises(UnfitModel, match="next-sentence head"):
        evenhand.audit(mini_en, dataset="stereoset", out=tmp_path)
    assert not list(tmp_path.glob("mini-en"))


@pytest.mark.usefixtures("without_pages", "unexamined")
def test_an_audit_of_a_causal_model_asks_for_likelihoods(tmp_path: Path, own: Any) -> None:
    folder = str(tiny.save_causal("gpt2", tmp_path / "gpt2", max_position_embeddings=128))
    run = evenhand.audit(folder, dataset="stereoset-intrasentence", out=tmp_path / "runs")
    assert {task.dataset for task in run.record.tasks} == {"stereoset-intrasentence"}
    assert [task.measure for task in run.record.tasks] == ["stereoset-ss", "stereoset-lm", "icat"]
    assert run.values_of("stereoset-intrasentence", "icat")[0].n == 7


@pytest.mark.parametrize("part", ["intrasentence", "intersentence", "overall"])
def test_the_published_scores_of_six_models_are_met(data: Path, part: str) -> None:
    """LM, SS and ICAT, for all types of bias and each of them, from the published scores of sentences."""
    folder = data / "published" / "stereoset"
    published = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    dataset = datasets.load("stereoset" if part == "overall" else f"stereoset-{part}")
    rows = dataset.table().to_dict("records")
    assert len(published) == 6
    for model, parts in published.items():
        (file,) = [f for f in folder.glob("*.json") if f.name == model or f.name.startswith(f"{model}_")]
        given = {id: score for scores in predictions(file).values() for id, score in scores.items()}
        expected = {"overall": parts["overall"]} if part == "overall" else parts[part]
        for how, name in ((StereotypeScore, "SS"), (LanguageModelingScore, "LM"), (Icat, "ICAT")):
            measure = how(asks="likelihood")
            scores = [
                Score(
                    item.id,
                    measure.score(item, [Answer((given[row[f"{label} id"]],)) for label in LABELS]),
                    item.groups,
                )
                for item, row in zip(all_of(Triple, dataset.items), rows, strict=True)
            ]
            for bias, told in expected.items():
                mine = [score for score in scores if bias in ("overall", score.groups["bias_type"])]
                assert 100 * measure.summarise(mine) == pytest.approx(told[f"{name} Score"], abs=1e-9)


def test_a_score_that_is_no_outcome_of_icat_is_refused() -> None:
    with pytest.raises(BadInput, match="outcome"):
        Icat.summarise([Score("a", 0.3, {"target": "chess player"})])
