"""An audit of a causal model: the suites that suit it, with candidates to compare, and what is said of the rest."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

import evenhand
from evenhand import Likelihood, Run, datasets, measures, suites
from evenhand.auditing.spec import CAUSAL
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.core.items import Sentence
from evenhand.core.questions import Answer, Fill, Question, Span
from evenhand.datasets import blanks
from evenhand.errors import BadInput
from evenhand.models import ModelSource
from evenhand.models.table import Table
from helpers import tiny
from helpers.typed import all_of

pytestmark = pytest.mark.usefixtures("without_pages", "unexamined")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tokenizer = tiny.continuing_bytes()
    tokenizer.model_max_length = 512
    place = tmp_path_factory.mktemp("models") / "tiny-gpt2"
    return tiny.save_causal("gpt2", place, tokenizer=tokenizer, max_position_embeddings=512)


def values(run: Run) -> dict[tuple[str, str], float]:
    return {
        (row["dataset"], row["measure"]): row["value"] for row in run.results if not (row["groups"] or row["estimand"])
    }


def test_the_command_runs_what_suits_goes_on_and_scores_again(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["audit", str(folder), "--limit", "6", "--out", str(tmp_path)]
    assert run_command(app, asked) == 0
    shown = capsys.readouterr().out
    assert "follows bias" not in shown  # that is known of masked models
    assert run_command(app, ["show", str(tmp_path / "tiny-gpt2"), "--full"]) == 0
    shown = capsys.readouterr().out
    assert "log-probability-bias where the attribute precedes" in shown
    assert "follows bias" not in shown
    run = Run.load(tmp_path / "tiny-gpt2")
    tasks = {task.name: task.measure_options for task in run.record.tasks}
    wanted = [pair for suite in ("becpro", "emotions", "gbef") for pair in suites.SUITES[suite]["en"]]
    assert list(tasks) == wanted
    for (_, measure), options in tasks.items():
        assert options.get("among") == ("candidates" if "among" in measures.options_of(measure) else None)
    assert run.record.loaded["start"] == "<|endoftext|>"
    assert run.record.caveats == tuple(CAUSAL)
    assert all(math.isfinite(value) for value in values(run).values())
    assert not any(reasons for reasons in run.record.unscored.values())

    assert run_command(app, asked) == 0  # again: all is kept
    assert Run.load(tmp_path / "tiny-gpt2").record.audits[-1].work.batches == 0
    assert run_command(app, ["rescore", str(tmp_path / "tiny-gpt2")]) == 0
    assert values(Run.load(tmp_path / "tiny-gpt2")) == values(run)


def test_a_dataset_by_name_gets_candidates_too(folder: Path, tmp_path: Path) -> None:
    run = evenhand.audit(str(folder), dataset="tbd", measure="pronoun", limit=3, out=tmp_path)
    assert run.record.tasks[0].measure_options == {"among": "candidates"}


def test_german_sentences_are_compared_with_their_determiners(folder: Path, tmp_path: Path) -> None:
    run = evenhand.audit(str(folder), suite="becpro", lang="de", limit=4, out=tmp_path)
    assert math.isfinite(values(run)["becpro-de (forms=crossed)", "association"])


def test_an_attribute_before_the_blank_has_no_prior_and_the_run_says_so(folder: Path, tmp_path: Path) -> None:
    run = evenhand.audit(str(folder), dataset="tbd", measure="log-probability-bias", limit=40, out=tmp_path)
    before = sum(bool(item.attribute and item.attribute < item.blank) for item in sampled("tbd", run))
    assert 0 < before == run.record.unscored["tbd/log-probability-bias"]["attribute before the blank"]


def sampled(dataset: str, run: Run) -> list[evenhand.Blank]:
    ids = set(run.scores["id"])
    return [item for item in all_of(evenhand.Blank, datasets.load(dataset).items) if item.id in ids]


def test_inference_needs_words_for_its_labels(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["audit", str(folder), "--suite", "nli", "--limit", "12", "--out", str(tmp_path)]
    assert run_command(app, asked) == 2
    printed = capsys.readouterr().err
    assert "labels='True,Neither,False'" in printed
    assert "unfit" not in printed  # refused before anything else was looked at,
    assert list(tmp_path.iterdir()) == []  # and nothing is left
    assert run_command(app, [*asked, "--labels", "True,Neither,False"]) == 0
    shown = capsys.readouterr().out
    assert "nli-en" in shown
    assert "Not measured: log" not in shown


def test_nobody_is_best_among_models_of_two_kinds(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    how = ["--dataset", "tgb", "--measure", "likelihood-difference", "--limit", "10", "--out", str(tmp_path)]
    assert run_command(app, ["audit", "mini-en", str(folder), *how]) == 0
    shown = capsys.readouterr().out
    table = shown[shown.index("models side by side") : shown.index("Careful: values of causal and other models")]
    table = table.replace("best or worst", "")  # the line below says that a model is shown to be neither
    assert "best" not in table
    assert "worst" not in table
    compared = evenhand.compare(tmp_path / "mini-en", tmp_path / folder.name)
    assert compared.of_another_kind == [folder.name]
    assert set(compared.frame["moved"]) == {""}


def test_over_the_vocabulary_is_refused_with_what_to_do(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["audit", str(folder), "--dataset", "tbd", "--option", "among=vocabulary", "--out", str(tmp_path)]
    assert run_command(app, asked) == 2
    assert "among='candidates'" in capsys.readouterr().err
    assert run_command(app, [*asked[:-4], "--option", "among=everything", "--out", str(tmp_path)]) == 2
    assert "value of among" in capsys.readouterr().err


def test_sentences_know_who_else_could_stand_there() -> None:
    for name in ("becpro-en", "becpro-de", "emotions-en"):
        for item in all_of(Sentence, datasets.load(name).items[::97]):
            assert item.phrase
            assert item.phrase.of(item.text) in item.candidates
            assert item.phrase.stop == item.target.stop
            assert len(set(item.candidates)) == 18
    bare = Sentence("1", "She is a nurse.", Span(0, 3), Span(9, 14))
    with pytest.raises(BadInput, match="candidates"):
        measures.load("association", among="candidates").ask(bare)


def test_the_difference_of_women_and_men_does_not_hang_on_the_candidates() -> None:
    """Their norm is the same for both: association compares, whoever else is in the list."""
    rule = {"She": -1.0, "He": -2.5, "My aunt": -4.0}

    def answer(question: Question) -> Answer:
        assert isinstance(question, Fill)
        raw = {word: rule[word] * (1 if question.hidden else 2) for word in question.among}
        norm = math.log(sum(map(math.exp, raw.values())))
        return Answer((raw[question.answer] - norm,))

    def difference(candidates: tuple[str, ...]) -> float:
        she, he = Span(0, 3), Span(0, 2)
        items = [
            Sentence("she", "She is a nurse.", she, Span(9, 14), phrase=she, candidates=candidates),
            Sentence("he", "He is a nurse.", he, Span(8, 13), phrase=he, candidates=candidates),
        ]
        result = evenhand.measure(Table(answer), items, measures.load("association", among="candidates"))
        women, men = (score.value for score in result.scores)
        return women - men

    assert difference(("She", "He")) == pytest.approx(difference(("She", "He", "My aunt"))) == pytest.approx(1.5)


def test_pronouns_of_one_blank_sum_to_one(folder: Path) -> None:
    model = evenhand.load(str(folder))
    item = blanks.tbd().items[0]
    assert isinstance(item, evenhand.Blank)
    asked = [q for name in ("pronoun", "singular-they") for q in measures.load(name, among="candidates").ask(item)]
    assert sum(math.exp(answer.logp) for answer in model.answer(asked)) == pytest.approx(1)
    assert model.answer([Likelihood(item.text)])[0].logp < 0


def test_of_a_model_of_unknown_kind_the_missing_datasets_are_those_of_its_kind(
    data: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "crows-pairs").symlink_to(data / "crows-pairs")
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    caplog.set_level("INFO")
    source = replace(ModelSource.of(folder), kind="")  # as of a Hub model
    evenhand.audit(source, suite="known", limit=2, out=tmp_path)  # type: ignore[arg-type]
    assert caplog.text.count("not fetched") == 1
    assert "gest-causal" in caplog.text
