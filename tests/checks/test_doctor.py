"""Every check is seen passing, and failing on a model that has that one defect."""

import contextlib
import json
import math
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer, models, trainers

import evenhand
from evenhand import Answer, BadInput, Span, Table, datasets
from evenhand.checks import plain_texts
from evenhand.checks.base import Case, Finding, LeftOut
from evenhand.checks.doctor import doctor, examine
from evenhand.checks.head_and_language import head_and_language, labels
from evenhand.checks.stability import batching, half_precision, numbers
from evenhand.checks.tokenizer import casing, mask_token, word_beginnings
from evenhand.checks.words_and_length import length, splitting, vocabulary
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.core.questions import Question
from evenhand.core.words import words
from evenhand.models.loading.labels import LABELS
from evenhand.models.networks.masked import MaskedLM
from evenhand.models.networks.nli import NliModel
from evenhand.report.scorecard import scorecard
from helpers import tiny

pytestmark = pytest.mark.usefixtures("without_pages")

MASKED = ["mask token", "word beginnings", "casing", "vocabulary", "target words", "attribute words", "length"]
ASKED = ["head", "language", "numbers", "batching", "half precision"]


@pytest.fixture(scope="session")
def becpro() -> datasets.Dataset:
    return datasets.load("becpro-en")


@pytest.fixture(scope="session")
def mini_en_nli() -> NliModel:
    return evenhand.load("mini-en-nli")


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Any]:
    def made(family: str = "bert-uncased", **more: Any) -> Any:
        return evenhand.load(str(tiny.save(family, tmp_path / family, **more)))

    return made


def one(check: Callable[[Case], Iterator[Finding]], model: Any, *data: Any, language: str = "en") -> Finding:
    (finding,) = check(Case(model, language, data))
    return finding


# The bundled models are fine, and every check says so.


def test_the_bundled_model_is_fine(mini_en: MaskedLM, becpro: datasets.Dataset) -> None:
    found = examine(mini_en, [becpro], "en")
    assert [finding.check for finding in found] == [*MASKED, *ASKED]
    assert {finding.verdict for finding in found} == {"fine"}
    assert not any(finding.do for finding in found)


def test_the_bundled_model_of_inference_is_fine(mini_en_nli: NliModel) -> None:
    found = doctor(mini_en_nli)
    assert [finding.check for finding in found] == [*MASKED[2:], "labels", *ASKED]
    assert {finding.verdict for finding in found} == {"fine"}


# Loading refuses these; the doctor says so as a finding.


def test_a_tokenizer_without_a_mask_is_unfit(tmp_path: Path) -> None:
    folder = tiny.save("bert-uncased", tmp_path / "model")
    tokenizer = tiny.wordpiece(lower=True)
    tokenizer.mask_token = None
    tokenizer.save_pretrained(folder)
    (finding,) = doctor(folder)
    assert (finding.check, finding.verdict) == ("mask token", "unfit")
    assert finding.says.endswith("has no mask token.")
    assert finding.do == "Use a masked language model's own."


def test_a_missing_head_is_unfit_not_an_error(tmp_path: Path) -> None:
    (finding,) = doctor(tiny.save("bert-uncased", tmp_path / "headless", head="BertModel"))
    assert (finding.check, finding.verdict) == ("head", "unfit")
    assert "has no trained masked-language-model head" in finding.says
    assert finding.do.startswith("Use a checkpoint")


def test_unnamed_labels_are_unfit_and_can_be_given(tmp_path: Path) -> None:
    folder = tiny.save_classifier("bert-uncased", tmp_path / "unnamed", ("LABEL_0", "LABEL_1", "LABEL_2"))
    (finding,) = doctor(folder)
    assert (finding.check, finding.verdict) == ("labels", "unfit")
    assert "--labels" in finding.do
    assert len(doctor(folder, labels=",".join(LABELS))) > 1


# Tokenizers.


def test_a_mask_is_named(make: Callable[..., Any]) -> None:
    assert one(mask_token, make("roberta")).says == "A hidden word is <mask>."


def test_a_prefix_space_is_noticed_and_no_fault(make: Callable[..., Any], becpro: datasets.Dataset) -> None:
    roberta = one(word_beginnings, make("roberta"), becpro)
    assert roberta.says.startswith("Marked by the space before: ") or roberta.verdict == "careful"
    assert "the same pieces" in one(word_beginnings, make("bert-uncased"), becpro).says
    assert "the same pieces" in one(word_beginnings, make("xlm-roberta"), becpro).says


def test_a_word_cut_at_the_start_alone_asks_for_care(make: Callable[..., Any], becpro: datasets.Dataset) -> None:
    """As with byte-level pieces that were learnt within sentences: ' she' is one, 'she' is not."""
    model = make("roberta")
    item = replace(becpro.items[0], text="nurse is what he is.", target=Span(0, 5))
    finding = one(word_beginnings, model, replace(becpro, items=[item]))
    assert finding.verdict == "careful"
    assert "more pieces at the start" in finding.says
    assert "'nurse'" in finding.says


def test_pieces_across_words_are_unfit(make: Callable[..., Any], becpro: datasets.Dataset) -> None:
    model = make("modernbert")
    across = Tokenizer(models.BPE())
    across.train_from_iterator(
        [item.text for item in becpro.items[:50]] * 5,
        trainers.BpeTrainer(vocab_size=320, special_tokens=tiny.BERT_SPECIAL, show_progress=False),
    )
    model.tokenizer = tiny.PreTrainedTokenizerFast(tokenizer_object=across, **tiny.BERT_NAMES)
    finding = one(word_beginnings, model, replace(becpro, items=becpro.items[:50]))
    assert finding.verdict == "unfit"
    assert "share a piece with what is beside them" in finding.says


def test_lost_capitals_matter_in_german(make: Callable[..., Any]) -> None:
    uncased, cased = make("bert-uncased"), make("bert-cased")
    assert one(casing, uncased).says.startswith("Capitals are not seen")
    assert one(casing, uncased).verdict == "fine"
    assert one(casing, uncased, language="de").verdict == "careful"
    assert one(casing, cased, language="en").says.startswith("Capitals are seen")
    assert list(casing(Case(uncased, "zh"))) == []


def test_words_cut_for_their_capital_ask_for_care(make: Callable[..., Any], becpro: datasets.Dataset) -> None:
    item = next(item for item in becpro.items if item.text.startswith("He "))
    capital = replace(item, text=f"Man{item.text[2:]}", target=Span(0, 3))
    finding = one(casing, make("bert-cased"), replace(becpro, items=[capital]))
    assert finding.verdict == "careful"
    assert "cut for theirs: 'Man'" in finding.says


# Words by gender, and lengths.


class Pieces:
    """Cuts some words, knows all but some."""

    name = "pieces"

    def __init__(self, cut: Sequence[str], unknown: Sequence[str] = ()) -> None:
        self.cut, self.unknown = cut, unknown

    def count_pieces(self, places: Sequence[tuple[str, Span]]) -> list[int]:
        said = [span.of(text).lower() for text, span in places]
        return [0 if w in self.unknown else len(words(w)) + (w in self.cut) for w in said]


FEMALE = ("she", "woman", "sister", "daughter")


@pytest.mark.parametrize(
    ("cut", "verdict"), [((), "fine"), (FEMALE, "careful"), ((*FEMALE, "he", "man", "brother", "son"), "fine")]
)
def test_words_of_one_gender_that_are_cut_ask_for_care(
    cut: tuple[str, ...], verdict: str, becpro: datasets.Dataset
) -> None:
    found = {f.check: f for f in splitting(Case(Pieces(cut), "en", [becpro]))}
    assert found["target words"].verdict == verdict
    assert (f"{len(FEMALE)} of 9 female (She, woman, sister)" in found["target words"].says) is bool(cut)
    assert found["attribute words"].verdict == "fine"


def test_professions_of_one_gender_that_are_cut_ask_for_care(becpro: datasets.Dataset) -> None:
    typed = [i.attribute.of(i.text) for i in becpro.items if i.groups["prof_gender"] == "male"]
    found = {f.check: f for f in splitting(Case(Pieces(typed), "en", [becpro]))}
    assert found["attribute words"].verdict == "careful"
    assert found["attribute words"].says.startswith("Cut into pieces: 0 of 20 female-typed, 20 of 20 male-typed (taper")


@pytest.mark.parametrize("name", ["tgb", "tbd", "nli-en", "emotions-en", "becpro-de"])
def test_every_kind_of_item_has_its_words_by_gender(name: str) -> None:
    found = {
        f.check: f.says for f in splitting(Case(Pieces(("she", "women", "woman", "frau")), "en", [datasets.load(name)]))
    }
    assert " 0 of" not in found["target words"].split(",")[0]


def test_unknown_words_are_named(becpro: datasets.Dataset) -> None:
    assert one(vocabulary, Pieces(()), becpro).verdict == "fine"
    finding = one(vocabulary, Pieces((), ("she",)), becpro)
    assert finding.verdict == "careful"
    assert "unknown: She" in finding.says
    assert (
        "Is it a model of 'en'?"
        in one(vocabulary, Pieces((), [*FEMALE, "he", "man", "son", "dad", "mom", "aunt", "uncle"]), becpro).says
    )


def test_texts_over_the_limit_are_counted(mini_en: MaskedLM, make: Callable[..., Any]) -> None:
    tgb = datasets.load("tgb")
    fits = one(length, mini_en, tgb)
    assert (fits.verdict, fits.says) == ("fine", "The longest text (tgb) has 37 pieces; the model takes 128.")
    short = make("roberta", max_position_embeddings=42)
    assert short.longest == 40
    assert one(length, short, tgb).verdict == "unfit"
    assert "200 of the 200 longest texts have more than the 40 pieces" in one(length, short, tgb).says
    assert one(length, short, tgb, datasets.load("tbd-simple")).verdict == "careful"


def test_pairs_of_inference_are_as_long_as_both(tmp_path: Path, mini_en_nli: NliModel) -> None:
    data = datasets.load("nli-en")
    assert "has 34 pieces" in one(length, mini_en_nli, data).says
    short = evenhand.load(str(tiny.save_classifier("roberta", tmp_path / "short")))
    assert one(length, short, data).verdict == "unfit"


# What it has learnt.


@pytest.mark.parametrize("family", ["bert-uncased", "roberta", "albert"])
def test_a_random_head_is_unfit(family: str, make: Callable[..., Any]) -> None:
    model = make(family)
    finding = one(head_and_language, model)
    assert (finding.check, finding.verdict) == ("head", "unfit")
    assert "Nor is it any better in" in finding.says
    assert finding.do.startswith("Use a checkpoint with a trained head")
    (quick,) = head_and_language(Case(model, "en", thorough=False))
    assert quick.verdict == "unfit"
    assert quick.do.endswith("evenhand doctor")


def test_a_fresh_head_on_a_trained_body_is_unfit() -> None:
    model = evenhand.load()
    with torch.no_grad():
        model.network.cls.predictions.transform.dense.weight.normal_(0, 0.02)
    (finding,) = head_and_language(Case(model, "en", thorough=False))
    assert (finding.check, finding.verdict) == ("head", "unfit")


def test_unknown_characters_are_a_matter_of_language(mini_en: MaskedLM) -> None:
    (finding,) = head_and_language(Case(mini_en, "zh", thorough=False))
    assert (finding.check, finding.verdict) == ("language", "unfit")
    assert finding.says == "4 of 4 plain sentences of 'zh' have characters it does not know."


def test_a_language_without_sentences_of_ours_is_left_out(mini_en: MaskedLM) -> None:
    check = head_and_language(Case(mini_en, "fr", thorough=False))
    assert next(check).verdict == "fine"  # it knows English, so its head is trained
    with pytest.raises(LeftOut, match="language .we have no plain texts of 'fr'"):
        next(check)


@pytest.mark.parametrize(("name", "asked", "home"), [("mini-de", "en", "de"), ("mini-zh-nli", "en", "zh")])
def test_a_model_of_another_language_is_told_from_an_untrained_one(
    name: str, asked: str, home: str, models: Path
) -> None:
    model = evenhand.load(str(models / name))
    head, language = head_and_language(Case(model, asked))
    assert (head.verdict, language.verdict) == ("fine", "unfit")
    assert f"seems to be a model of '{home}'" in language.says
    assert {finding.verdict for finding in head_and_language(Case(model, home))} == {"fine"}


@pytest.mark.parametrize("language", ["ja", "zh"])
def test_models_in_their_own_language_are_fine(language: str, models: Path) -> None:
    found = doctor(models / f"mini-{language}", lang=language)
    assert {f.verdict for f in found[:-1]} == {"fine"}
    assert f"words and length (no suite of '{language}' for its kind)" in found[-1].says


def test_a_random_classifier_is_unfit(tmp_path: Path) -> None:
    model = evenhand.load(str(tiny.save_classifier("bert-uncased", tmp_path / "random")))
    finding = one(head_and_language, model)
    assert (finding.check, finding.verdict) == ("head", "unfit")
    assert finding.do.endswith("evenhand nli train")
    with torch.no_grad():
        model.network.classifier.bias[0] += 1_000
    assert one(labels, model).verdict == "careful"  # it says one thing only


def test_labels_in_the_wrong_order_are_unfit(mini_en_nli: NliModel) -> None:
    def wrong(questions: Sequence[Question]) -> list[Answer]:
        return [Answer(answer.logps[::-1]) for answer in mini_en_nli.answer(questions)]

    swapped = Table(lambda q: wrong([q])[0])
    swapped.kind = "nli"
    finding = one(labels, swapped)
    assert finding.verdict == "unfit"
    assert "'entailment' is contradiction, 'contradiction' is entailment" in finding.says
    head, language = head_and_language(Case(swapped, "en"))
    assert (head.verdict, language.verdict) == ("fine", "fine")  # it has learnt
    assert "30 of 30 plain inferences of 'en' are right, its labels taken in another order" in head.says


# Steadiness.


def test_leaky_padding_is_unfit_where_it_reaches_answers(make: Callable[..., Any]) -> None:
    model = make("convbert")
    assert model.limit.enough == 0  # loading has noticed, so
    assert one(batching, model).verdict == "fine"
    model.limit = replace(model.limit, enough=10**9)
    finding = one(batching, model)
    assert finding.verdict == "unfit"
    assert "--batch-size 1" in finding.do


def test_half_precision_that_overflows_asks_for_care(make: Callable[..., Any]) -> None:
    model = make()
    assert one(half_precision, model).verdict == "fine"
    with torch.no_grad():
        model.network.bert.embeddings.LayerNorm.weight.mul_(1e6)
    finding = one(half_precision, model)
    assert finding.verdict == "careful"
    assert "float16 gives answers that are no numbers" in finding.says
    assert list(half_precision(Case(model, "en", thorough=False))) == []
    assert one(numbers, model).verdict == "fine"


def test_answers_that_are_no_numbers_are_unfit(tmp_path: Path) -> None:
    folder = tiny.save("bert-uncased", tmp_path / "model")
    half = evenhand.load(str(folder), dtype="float16")
    assert one(numbers, half).verdict == "fine"
    assert one(half_precision, half).says.startswith("float16 is ")
    with torch.no_grad():
        half.network.bert.embeddings.LayerNorm.weight.fill_(6e4)
    assert "overflowed in float16, and were redone in float32" in one(numbers, half).says
    assert one(numbers, half).do == "Measure in float32, or bfloat16."
    whole = evenhand.load(str(folder))
    with torch.no_grad():
        whole.network.bert.embeddings.LayerNorm.weight.fill_(math.nan)
    assert one(numbers, whole).verdict == "unfit"
    with pytest.raises(LeftOut, match="plain sentences have no answer: not a finite number"):
        list(head_and_language(Case(whole, "en")))


def test_casting_leaves_the_model_as_it_is(make: Callable[..., Any]) -> None:
    model = make()
    questions, before = Case(model, "en").ordinary
    cast = model.cast("float16")
    with contextlib.suppress(evenhand.ModelError):  # a processor without it
        model.cast("bfloat16")
    assert torch.backends.mkldnn.enabled
    assert cast.network.dtype == torch.float16
    assert cast.fingerprint != model.fingerprint
    assert model.network.dtype == torch.float32
    assert model.answer(questions) == before


# Plain objects.


class Leaky:
    """Answers by how many were asked with it."""

    name = fingerprint = "leaky"

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        return [Answer((-1.0 - len(questions) / 10,)) for _ in questions]


def test_an_object_that_only_answers_gets_the_checks_that_ask() -> None:
    found = {f.check: f for f in doctor(Leaky())}
    assert found["batching"].verdict == "unfit"
    assert found["head"].verdict == "unfit"
    assert "mask token, word beginnings" in found["not checked"].says
    assert "half precision" in found["not checked"].says


def test_an_object_that_cannot_answer_us_is_said_to_be_unchecked() -> None:
    found = doctor(Table({}))
    assert [f.check for f in found] == ["not checked"]
    assert "BadInput: The table has no answer" in found[0].says
    mute = doctor(Table(lambda q: Answer.none("unknown word")))
    assert "it answers none of our plain questions" in mute[-1].says


# The plain texts.


@pytest.mark.parametrize("language", plain_texts.LANGUAGES)
def test_shuffling_keeps_the_words_and_loses_the_order(language: str) -> None:
    for text in plain_texts.sentences(language):
        mixed = plain_texts.shuffled(text, language)
        assert mixed != text
        assert sorted(s.of(mixed) for s in words(mixed)) == sorted(s.of(text) for s in words(text))


def test_plain_inferences_are_balanced() -> None:
    for language in ("en", "ja", "zh"):
        found = [example.label for example in plain_texts.inferences(language)]
        assert {found.count(label) for label in LABELS} == {len(found) // 3}
        assert len(found) >= 24
    assert plain_texts.inferences("de") == ()


# The audit.


def test_an_audit_carries_the_findings_and_keeps_its_answers_clean(make: Callable[..., Any], tmp_path: Path) -> None:
    model = make("roberta")
    run = evenhand.audit(model, suite="becpro", limit=40, out=tmp_path / "runs")
    found = {f["check"]: f["verdict"] for f in run.about["doctor"]}
    assert (found["head"], found["batching"], found["length"]) == ("unfit", "fine", "fine")
    assert "half precision" not in found
    with sqlite3.connect(run.path / "answers.sqlite") as store:
        (kept,) = store.execute("SELECT count(*) FROM answers").fetchone()
    store.close()
    assert kept == run.about["work"]["questions"]
    printed = [str(part) for part in scorecard(run).renderables]
    assert any(line.startswith("Unfit, head: Plain sentences of 'en'") for line in printed)


def test_a_second_audit_keeps_what_was_found(
    make: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make("roberta")
    first = evenhand.audit(model, suite="becpro", limit=10, out=tmp_path / "runs")
    monkeypatch.setattr("evenhand.checks.doctor.examine", lambda *_, **__: pytest.fail("examined again"))
    again = evenhand.audit(model, suite="becpro", limit=10, out=tmp_path / "runs")
    assert again.about["doctor"] == first.about["doctor"] != []


def test_an_audit_of_a_plain_object_asks_nothing_more(tmp_path: Path) -> None:
    table = Table(lambda q: (-1.0,))
    run = evenhand.audit(table, suite="becpro", limit=10, out=tmp_path)
    assert run.about["doctor"] == []
    assert len(table.asked) == run.about["work"]["questions"]


# The command.


def test_the_command_prints_a_table_and_ends_with_1_where_something_is_unfit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(tiny.save("roberta", tmp_path / "tiny"))
    for name, value in (("COLUMNS", "80"), ("FORCE_COLOR", "1"), ("NO_COLOR", "1")):
        monkeypatch.setenv(name, value)
    assert run_command(app, ["doctor", folder, "--suite", "becpro"]) == 1
    printed = capsys.readouterr().out
    assert max(len(re.sub(r"\x1b\[\d*m", "", line)) for line in printed.splitlines()) <= 80
    assert "→ Use a checkpoint with a trained" in printed
    assert "tiny: 8 fine, 2 careful, 1 unfit." in printed
    assert "[31m" not in printed
    assert run_command(app, ["doctor", folder, "--suite", "becpro", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert {tuple(each) for each in found} == {("check", "verdict", "says", "do")}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mini-em"], "Did you mean 'mini-en'?"),
        (["--lang", "eo"], "Unknown language 'eo'"),
        (["--suite", "becpto"], "Did you mean 'becpro'?"),
        (["--suite", "becpro", "--lang", "ja"], "Unknown language 'ja'. Available: de, en."),
        (["--suite", "nli"], "Suite 'nli' is for models of another kind. Got a model of kind 'masked'"),
        (["--dtype", "int8"], "dtype must be one of"),
        (["--labels", "a,b,c"], "labels are those of a classifier"),
        (["--revision", "main"], "leave it out"),
        (["--device", "abacus"], "cannot be used here"),
    ],
)
def test_bad_input_ends_with_2_and_a_sentence(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(app, ["doctor", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_misspelt_arguments_are_not_swallowed() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'dtyp'"):
        doctor(Leaky(), dtyp="float16")
    with pytest.raises(BadInput, match="another kind"):
        doctor(Leaky(), suite="nli")
    with pytest.raises(LeftOut, match="batching and precision"):
        list(batching(Case(Table(lambda q: Answer.none("no")), "en")))


def test_a_causal_model_is_looked_at_too(tmp_path: Path) -> None:
    found = {f.check: f for f in evenhand.doctor(str(tiny.save_causal("gpt2", tmp_path / "gpt2")))}
    assert found["head"].verdict == "unfit"  # it is random
    assert found["batching"].verdict == found["numbers"].verdict == "fine"
    assert "float16 is " in found["half precision"].says
    assert "mask token" not in found


def test_of_a_causal_model_capitals_and_lengths_are_looked_at(tmp_path: Path) -> None:
    model = evenhand.load(str(tiny.save_causal("gpt2", tmp_path / "gpt2", max_position_embeddings=512)))
    found = {finding.check: finding for finding in evenhand.doctor(model, suite="becpro")}
    assert "kind of model" not in found  # every question was one that it can answer
    assert found["casing"].says.startswith("Capitals are seen")
    data = evenhand.datasets.load("becpro-en")
    longest = max(len(model.tokenizer(item.text).input_ids) for item in data.items)
    assert found["length"].verdict in ("fine", "careful")
    assert model.longest < longest or f"has {longest + 1} pieces" in found["length"].says
    inference = evenhand.doctor(str(tmp_path / "gpt2"), suite="nli", labels="True,Neither,False")
    assert {"casing", "length", "numbers"} <= {finding.check for finding in inference}
