"""A model that has learnt nothing is told from one of another language, and from one whose labels are in disorder."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import evenhand
from evenhand import Answer, Dataset, Embed, Entail, Likelihood, Span, Table, Target, datasets
from evenhand.checks.base import Case, NotChecked, plain_inferences, plain_sentences
from evenhand.checks.doctor import examine
from evenhand.checks.head_and_language import _context, head_and_language, labels, meaning
from evenhand.core.model import UNCHECKED
from evenhand.core.words import words
from evenhand.models.loading.labels import LABELS
from evenhand.models.networks.masked import MaskedLM
from evenhand.models.networks.nli import NliModel
from helpers import tiny
from helpers.checked import Make, one
from helpers.typed import only


class Classifier(Table):
    """A table that gives labels."""

    kind = "nli"

    def __init__(self, rule: Callable[[Entail], Answer]) -> None:
        super().__init__(only(Entail, rule))


def saying(label: str) -> Answer:
    return Answer(tuple(-0.1 if name == label else -3.0 for name in LABELS))


def reader(gain: float) -> Table:
    """Finds plain sentences of English likelier than shuffled ones, by so many nats a word."""
    plain = plain_sentences("en")
    return Table(only(Likelihood, lambda q: (len(words(q.text)) * (-3.0 if q.text in plain else -3.0 - gain),)))


def pupil(right: int) -> Classifier:
    """Gets so many of ten plain inferences of English right, of each label; the others are wrong in both ways alike."""
    said: dict[tuple[str, str], str] = {}
    for number, label in enumerate(LABELS):
        alike = [example for example in plain_inferences("en") if example.label == label]
        for n, example in enumerate(alike):
            wrong = LABELS[(number + 1 + n % 2) % 3]
            said[example.premise, example.hypothesis] = label if n < right else wrong

    def rule(question: Entail) -> Answer:
        known = said.get((question.premise, question.hypothesis))
        return saying(known) if known else Answer.none("unknown word")

    return Classifier(rule)


@pytest.mark.parametrize("family", ["bert-uncased", "roberta", "albert"])
def test_a_random_head_is_unfit(family: str, make: Make) -> None:
    model = make(family)
    finding = one(head_and_language, model)
    assert (finding.check, finding.verdict) == ("head", "unfit")
    assert "It is not better in" in finding.says
    assert finding.do.startswith("Use a checkpoint with a trained head")
    (quick,) = head_and_language(Case(model, "en", thorough=False))
    assert quick.verdict == "unfit"
    assert quick.do == finding.do


def test_a_fresh_head_on_a_trained_body_is_unfit() -> None:
    model = evenhand.load()
    with torch.no_grad():
        model.network.cls.predictions.transform.dense.weight.normal_(0, 0.02)
    (finding,) = head_and_language(Case(model, "en", thorough=False))
    assert (finding.check, finding.verdict) == ("head", "unfit")


@pytest.mark.parametrize(("gain", "verdict"), [(1.4, "unfit"), (1.6, "careful"), (1.9, "careful"), (2.1, "fine")])
def test_a_model_has_learnt_if_order_matters_to_it(gain: float, verdict: str) -> None:
    head = next(head_and_language(Case(reader(gain), "en", thorough=False)))
    assert (head.check, head.verdict) == ("head", verdict)
    assert f"by {gain:+.1f} nats a word" in head.says


@pytest.mark.parametrize(("right", "verdict"), [(4, "unfit"), (6, "careful"), (7, "careful"), (8, "fine")])
def test_a_classifier_has_learnt_if_it_does_better_than_guessing(right: int, verdict: str) -> None:
    head = next(head_and_language(Case(pupil(right), "en", thorough=False)))
    assert (head.check, head.verdict) == ("head", verdict)
    assert head.says.startswith(f"{3 * right} of 30 plain inferences of 'en' are right; guessing gives 10.")


def test_unknown_characters_are_a_matter_of_language(mini_en: MaskedLM) -> None:
    head, finding = head_and_language(Case(mini_en, "zh", thorough=False))
    assert (head.check, head.verdict) == ("head", "fine")
    assert (finding.check, finding.verdict) == ("language", "unfit")
    assert finding.says.startswith("4 of 4 plain sentences of 'zh'")
    assert finding.do == "Measure it in that language: `lang='en'`"


def test_a_language_without_sentences_of_ours_is_left_out(mini_en: MaskedLM) -> None:
    check = head_and_language(Case(mini_en, "fr", thorough=False))
    assert next(check).verdict == "fine"  # it knows English, so its head is trained
    with pytest.raises(NotChecked, match="'fr'"):
        next(check)


def test_answers_that_are_no_numbers_are_left_to_another_check(make: Make) -> None:
    model = make()
    with torch.no_grad():
        model.network.bert.embeddings.LayerNorm.weight.fill_(math.nan)
    with pytest.raises(NotChecked, match="not a finite number"):
        list(head_and_language(Case(model, "en")))


@pytest.mark.parametrize(("name", "asked", "home"), [("mini-de", "en", "de"), ("mini-zh-nli", "en", "zh")])
def test_a_model_of_another_language_is_told_from_an_untrained_one(
    name: str, asked: str, home: str, models: Path
) -> None:
    model = evenhand.load(str(models / name))
    head, language = head_and_language(Case(model, asked))
    assert (head.verdict, language.verdict) == ("fine", "unfit")
    assert f"seems to be a model of '{home}'" in language.says
    assert {finding.verdict for finding in head_and_language(Case(model, home))} == {"fine"}


def test_a_random_classifier_is_unfit(tmp_path: Path) -> None:
    model = evenhand.load(str(tiny.save_classifier("bert-uncased", tmp_path / "random")))
    finding = one(head_and_language, model)
    assert (finding.check, finding.verdict) == ("head", "unfit")
    assert finding.do.endswith("evenhand nli train")


def test_a_model_that_says_one_thing_only_asks_for_care() -> None:
    finding = one(labels, Classifier(lambda question: saying("neutral")))
    assert finding.verdict == "careful"
    assert finding.says == "It calls none of 30 plain inferences contradiction or entailment."


def test_labels_in_the_wrong_order_are_unfit(mini_en_nli: NliModel) -> None:
    swapped = Classifier(lambda question: Answer(mini_en_nli.answer([question])[0].logps[::-1]))
    finding = one(labels, swapped)
    assert finding.verdict == "unfit"
    assert "'entailment' is contradiction, 'contradiction' is entailment" in finding.says
    head, language = head_and_language(Case(swapped, "en"))
    assert (head.verdict, language.verdict) == ("fine", "fine")  # it has learnt
    assert "30 of 30 plain inferences of 'en' are right, its labels taken in another order" in head.says


def test_labels_are_left_out_where_there_are_no_inferences_to_try_them_on() -> None:
    with pytest.raises(NotChecked, match="no pairs"):
        list(labels(Case(pupil(10), "de")))
    with pytest.raises(NotChecked, match="'zh'"):
        list(labels(Case(pupil(10), "zh")))


def test_a_model_that_finds_everything_impossible_is_unfit_in_words() -> None:
    """A damaged weight makes log-probabilities of thousands of nats a word: e to that is no number."""
    model = Table(only(Likelihood, lambda q: (-5_000.0 * len(words(q.text)),)))
    assert next(head_and_language(Case(model, "en", thorough=False))).verdict == "unfit"
    evidence = _context(Case(model, "en", thorough=False), "en")
    assert evidence is not None
    assert "perplexity 2e+130 a word" in evidence.reads


WORD_PAIRS = [("he", "she"), ("man", "woman"), ("boy", "girl"), ("father", "mother"), ("son", "daughter")]
JOBS = ["mechanic", "logger", "miner", "mason", "nurse", "nanny", "secretary", "assistant", "roofer", "plumber"]


def embedding(pairs: Sequence[tuple[str, str]] = WORD_PAIRS, near: float = 0.9, **rows: Any) -> Table:
    """Vectors of the pairs, whose cosines are about `near`, and random ones of jobs."""
    rng, vectors = np.random.default_rng(1), dict[str, Any]()
    for man, woman in pairs:
        shared, other = rng.normal(size=(2, 60))
        vectors |= {man: shared, woman: near * shared + (1 - near**2) ** 0.5 * other}
    vectors |= {word: rng.normal(size=60) for word in JOBS} | rows
    rule = only(Embed, lambda q: Answer(tuple(vectors[q.text])) if q.text in vectors else Answer.none("no vector"))
    return Table(rule, kind="vectors")


def test_vectors_are_fit_if_words_of_one_meaning_are_near() -> None:
    data = datasets.load("weat-professions-en")
    finding = one(meaning, embedding(), data)
    assert (finding.check, finding.verdict) == ("meaning", "fine")
    assert "5 pairs such as 'he' and 'she' have a mean cosine of 0.9" in finding.says


ALIKE = Table(only(Embed, lambda q: Answer((1.0, 2.0, 3.0))), kind="vectors")


@pytest.mark.parametrize(
    "vectors", [embedding(near=0.0), embedding(near=-0.9), ALIKE], ids=["random", "apart", "alike"]
)
def test_vectors_that_know_no_meaning_are_unfit(vectors: Table) -> None:
    finding = one(meaning, vectors, datasets.load("weat-professions-en"))
    assert (finding.check, finding.verdict) == ("meaning", "unfit")


def test_with_fewer_than_five_pairs_nothing_is_said_of_the_meaning() -> None:
    with pytest.raises(NotChecked, match="that it has: 4, of 5"):
        one(meaning, embedding(WORD_PAIRS[:4]), datasets.load("weat-professions-en"))
    found = examine(embedding(WORD_PAIRS[:4]), [datasets.load("weat-professions-en")], "en", thorough=False)
    assert [finding.check for finding in found] == [UNCHECKED]


def test_a_vector_of_the_words_to_be_measured_that_is_none_is_unfit() -> None:
    table = embedding(nurse=np.zeros(60), roofer=np.full(60, np.nan))
    numbers, word_pairs = meaning(Case(table, "en", [datasets.load("weat-professions-en")]))
    assert (numbers.check, numbers.verdict, word_pairs.verdict) == ("numbers", "unfit", "fine")
    assert numbers.says.startswith("2 of 20 vectors cannot be used:")
    assert "nurse" in numbers.says


def test_paired_attributes_of_a_dataset_are_pairs_in_any_language() -> None:
    spanish = [("él", "ella"), ("hombre", "mujer"), ("padre", "madre"), ("hijo", "hija"), ("hermano", "hermana")]
    men, women = ([(word, Span(0, len(word))) for word in side] for side in zip(*spanish, strict=True))
    items = [Target(job, (job, Span(0, len(job))), (tuple(men), tuple(women)), {"side": "X"}, True) for job in JOBS]
    data = Dataset(name="mine", language="es", items=items, cluster="word", source="mine", licence="mine")
    assert one(meaning, embedding(spanish), data, language="es").verdict == "fine"
    assert one(meaning, embedding(spanish, near=0.0), data, language="es").verdict == "unfit"
