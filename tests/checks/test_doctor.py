"""The doctor as a whole: every check in its order, refusals as findings, the command, and what an audit carries."""

import json
import re
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Group

import evenhand
from evenhand import Answer, BadInput, Sentence, Table, datasets
from evenhand.checks.doctor import doctor, examine, preflight
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.core.dataset import Dataset
from evenhand.datasets.blanks import tbd
from evenhand.models.loading.labels import LABELS
from evenhand.models.networks.masked import MaskedLM
from evenhand.models.networks.nli import NliModel
from evenhand.show.terminal import scorecard
from helpers import tiny
from helpers.checked import Leaky, Make
from helpers.typed import all_of

pytestmark = pytest.mark.usefixtures("without_pages")

MASKED = ["mask token", "word beginnings", "casing", "vocabulary", "target words", "attribute words", "length"]
ASKED = ["head", "language", "right context", "numbers", "batching", "half precision"]


def test_the_bundled_model_is_fine(mini_en: MaskedLM, becpro: Dataset) -> None:
    found = examine(mini_en, [becpro], "en")
    assert [finding.check for finding in found] == [*MASKED, *ASKED]
    assert {finding.verdict for finding in found} == {"fine"}
    assert not any(finding.do for finding in found)


def test_the_bundled_model_of_inference_is_fine(mini_en_nli: NliModel) -> None:
    found = doctor(mini_en_nli)
    assert [finding.check for finding in found] == [
        *MASKED[2:],
        "labels",
        *(check for check in ASKED if check != "right context"),
    ]
    assert {finding.verdict for finding in found} == {"fine"}


@pytest.mark.parametrize("language", ["ja", "zh"])
def test_models_in_their_own_language_are_fine(language: str, models: Path) -> None:
    found = doctor(models / f"mini-{language}", lang=language)
    assert {f.verdict for f in found[:-1]} == {"fine"}
    assert f"words and length (no suite of '{language}' for its kind)" in found[-1].says


def test_a_tokenizer_without_a_mask_is_unfit(tmp_path: Path) -> None:
    folder = tiny.save("bert-uncased", tmp_path / "model")
    tokenizer = tiny.wordpiece(lower=True)
    tokenizer.mask_token = None
    tokenizer.save_pretrained(folder)
    (finding,) = doctor(folder)
    assert (finding.check, finding.verdict) == ("mask token", "unfit")
    assert finding.says.endswith("has no mask token.")
    assert finding.do == "Use the tokenizer of a masked language model."


@pytest.mark.parametrize(
    ("how", "check", "says", "do"),
    [
        ({"is_decoder": True}, "right context", "reads both sides", 'Set "is_decoder" to false in its config.json'),
        ({"head": "BertModel"}, "head", "has no trained masked-language-model head", "Use a checkpoint"),
    ],
    ids=["causal mask", "no head"],
)
def test_a_checkpoint_that_is_no_masked_model_is_unfit_not_an_error(
    tmp_path: Path, how: dict[str, Any], check: str, says: str, do: str
) -> None:
    (finding,) = doctor(tiny.save("bert-uncased", tmp_path / "model", **how))
    assert (finding.check, finding.verdict) == (check, "unfit")
    assert says in finding.says
    assert finding.do.startswith(do)


def test_unnamed_labels_are_unfit_and_can_be_given(tmp_path: Path) -> None:
    folder = tiny.save_classifier("bert-uncased", tmp_path / "unnamed", ("LABEL_0", "LABEL_1", "LABEL_2"))
    (finding,) = doctor(folder)
    assert (finding.check, finding.verdict) == ("labels", "unfit")
    assert "`labels=" in finding.do
    assert len(doctor(folder, labels=",".join(LABELS))) > 1


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


def test_an_audit_carries_the_findings_and_keeps_its_answers_clean(make: Make, tmp_path: Path) -> None:
    model = make("roberta")
    run = evenhand.audit(model, suite="becpro", limit=40, out=tmp_path / "runs")
    found = {f.check: f.verdict for f in run.record.doctor}
    assert (found["head"], found["batching"], found["length"]) == ("unfit", "fine", "fine")
    assert "half precision" not in found
    with sqlite3.connect(run.path / "answers.sqlite") as store:
        (kept,) = store.execute("SELECT count(*) FROM answers").fetchone()
    store.close()
    assert kept == run.record.audits[-1].work.questions
    card = scorecard(run)
    assert isinstance(card, Group)
    printed = [str(part) for part in card.renderables]
    assert "could not be measured. Plain sentences of 'en'" in printed[0]


def test_a_second_audit_keeps_what_was_found(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = make("roberta")
    first = evenhand.audit(model, suite="becpro", limit=10, out=tmp_path / "runs")
    monkeypatch.setattr("evenhand.checks.doctor.examine", lambda *_, **__: pytest.fail("examined again"))
    again = evenhand.audit(model, suite="becpro", limit=10, out=tmp_path / "runs")
    assert again.record.doctor == first.record.doctor != ()


def test_an_audit_counts_the_tokens_of_a_dataset_once_and_warns_once(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("evenhand.checks.tokens.fit", lambda *_: pytest.fail("counted again"))
    file = tmp_path / "mine.csv"
    file.write_text("stereotype,counterpart\n" + "Онъ тутъ былъ.,Она тутъ былъ.\n")
    run = evenhand.audit(make("roberta"), pairs=file, lang="en", out=tmp_path / "runs")
    vocabulary = next(finding for finding in run.record.doctor if finding.check == "vocabulary")
    assert vocabulary.verdict == "careful"
    assert run.record.warnings[0] in vocabulary.says
    assert vocabulary not in run.record.concerns
    assert caplog.text.count(run.record.warnings[0]) == 1


def test_an_audit_looks_at_a_model_in_every_language_it_measures_in(make: Make, becpro: Dataset) -> None:
    german = replace(datasets.load("becpro-de"), items=datasets.load("becpro-de").items[:20])
    english = replace(becpro, items=becpro.items[:20])
    found = preflight(make("bert-uncased"), [english, german])
    casing = {finding.verdict: finding.says for finding in found if finding.check == "casing"}
    assert "'She' and 'she' are one" in casing["fine"]
    assert "'Sie' and 'sie' are one" in casing["careful"]


def test_what_could_not_be_checked_is_the_doctors_to_say_and_not_an_audits(make: Make) -> None:
    model, french = make(), [replace(tbd(), items=tbd().items[:20], language="fr")]  # blanks are no sentences
    (unchecked,) = (finding for finding in examine(model, french, "fr") if finding.check == "not checked")
    assert "we have no plain texts of 'fr'" in unchecked.says
    assert "not checked" not in {finding.check for finding in preflight(model, french)}


def test_an_audit_of_a_plain_object_asks_nothing_more(tmp_path: Path) -> None:
    table = Table(lambda q: (-1.0,))
    run = evenhand.audit(table, suite="becpro", limit=10, out=tmp_path)
    assert run.record.doctor == ()
    assert len(table.asked) == run.record.audits[-1].work.questions


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
    assert "tiny: 9 fine, 2 careful, 1 unfit." in printed
    assert "[31m" not in printed
    assert run_command(app, ["doctor", folder, "--suite", "becpro", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert {tuple(each) for each in found} == {("check", "verdict", "says", "do", "datasets")}


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["mini-em"], "Did you mean 'mini-en'?"),
        (["--lang", "eo"], "'eo'"),
        (["--suite", "becpto"], "Did you mean 'becpro'?"),
        (["--suite", "becpro", "--lang", "ja"], "language of the suites becpro: 'ja'. Available: de, en."),
        (["--suite", "nli"], "kind 'masked'"),
        (["--dtype", "int8"], "`dtype`"),
        (["--labels", "a,b,c"], "`labels`"),
        (["--revision", "main"], "leave it out"),
        (["--device", "abacus"], "cannot be used here"),
    ],
)
def test_bad_input_ends_with_2_and_a_sentence(
    arguments: list[str], word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(app, ["doctor", *arguments]) == 2
    assert word in capsys.readouterr().err


def test_misspelt_arguments_are_not_swallowed() -> None:
    with pytest.raises(TypeError, match="dtyp"):
        doctor(Leaky(), dtyp="float16")  # type: ignore[call-arg]


def test_a_suite_for_models_of_another_kind_is_refused_for_an_object_too() -> None:
    with pytest.raises(BadInput, match="kind .masked"):
        doctor(Leaky(), suite="nli")


def test_a_causal_model_is_looked_at_too(tmp_path: Path) -> None:
    found = {f.check: f for f in evenhand.doctor(str(tiny.save_causal("gpt2", tmp_path / "gpt2")))}
    assert found["head"].verdict == "unfit"  # it is random
    assert found["batching"].verdict == found["numbers"].verdict == "fine"
    assert "float16 is " in found["half precision"].says
    assert "mask token" not in found


def test_of_a_causal_model_capitals_and_lengths_are_looked_at(tmp_path: Path, becpro: Dataset) -> None:
    model = evenhand.load(str(tiny.save_causal("gpt2", tmp_path / "gpt2", max_position_embeddings=512)))
    found = {finding.check: finding for finding in doctor(model, suite="becpro")}
    assert "kind of model" not in found  # every question was one that it can answer
    assert found["casing"].says.startswith("Capitals are seen")
    longest = max(len(model.tokenizer(item.text).input_ids) for item in all_of(Sentence, becpro.items))
    assert found["length"].verdict == "fine"
    assert f"has {longest + 1} tokens" in found["length"].says  # the start of the text is one


def test_a_causal_model_with_words_for_labels_is_looked_at_with_pairs_for_inference(tmp_path: Path) -> None:
    folder = tiny.save_causal("gpt2", tmp_path / "gpt2", max_position_embeddings=512)
    found = {finding.check: finding for finding in doctor(folder, suite="nli", labels="True,Neither,False")}
    assert {"casing", "numbers"} <= set(found)
    assert found["length"].says.startswith("100 of the 100 longest texts")  # premise and hypothesis in a row
