"""Debiasing from text to tables, on tiny models; and the corpora it uses."""

import io
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from rich.console import Console

import evenhand
from evenhand import BadInput
from evenhand.analysis.change import Change
from evenhand.calls.debias import Debiased, debias
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.datasets.corpora.texts import generate, reminders, sentences
from evenhand.datasets.gendered import gender
from evenhand.mitigation.cds import Cds, balance_table
from evenhand.show.page.provenance import debiasing
from evenhand.show.tables import debiasing_results
from evenhand.text.swap import Swapper, substituted
from evenhand.training.loop import CHECKPOINT
from helpers import tiny
from helpers.made_scores import change_table
from helpers.typed import numbers
from helpers.written_runs import task

pytestmark = pytest.mark.usefixtures("without_pages", "unexamined", "few_draws")


def test_the_bundled_corpus_is_balanced_varied_and_seeded() -> None:
    made = generate(2000)
    assert len(set(made)) == 2000
    assert made == generate(2000)
    assert made != generate(2000, seed=1)
    words = Counter(gender(w) for s in made for w in re.findall(r"\w+", s))
    assert words["female"] / (words["female"] + words["male"]) == pytest.approx(0.5, abs=0.02)
    assert not any("{" in s for s in made)
    assert not [s for s in made if re.search(r"\ba [aeio]\w+", s)]
    swap = Swapper()
    partners = sum(swap(s) in set(made) for s in made)
    assert partners > 0.8 * len(made)  # what is said of her is said of him


def test_there_are_fifty_reminders_of_each_word_about_her() -> None:
    for word, stem in (("pregnant", "pregnan"), ("breastfeed", "breastf")):
        about_her = reminders(word)
        assert len(set(about_her)) == 50
        for sentence in about_her:
            assert stem in sentence.lower()
            assert re.search(r"\b(she|her|herself)\b", sentence, re.I)
            assert not re.search(r"\b(he|him|his|himself)\b", sentence, re.I)
    with pytest.raises(BadInput, match="Did you mean 'pregnant'"):
        reminders("pregnat")


def test_reminders_may_be_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("She is an actress.\n\nHe is a monk.\n")
    assert reminders(str(file)) == ["She is an actress.", "He is a monk."]


def test_a_corpus_that_is_not_at_hand_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVENHAND_DATA", raising=False)
    with pytest.raises(BadInput, match="'balanced'"):
        sentences("gap")


def test_the_balance_of_a_corpus_is_counted() -> None:
    table = balance_table(["He saw his wife."], ["She saw her husband."]).set_index("corpus")
    assert numbers(table, "before", ["female", "male"]) == [1, 2]
    assert numbers(table, "after", ["female", "male"]) == [2, 1]


def test_a_corpus_without_gendered_words_has_no_share(done: Debiased) -> None:
    table = balance_table(["It rains."], ["It rains."])
    assert table["share"].isna().all()
    assert "no gendered words" in replace(done, balance=table).alarms[0]
    console = Console(file=io.StringIO(), width=120, record=True)
    console.print(debiasing_results(table, done.changes, {}, []))
    assert re.search(r"before +0 +0 +–", console.export_text())


def test_a_corpus_that_cannot_be_swapped_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "de.txt"
    file.write_text("Die Ärztin sagt, dass sie müde ist.\n", encoding="utf-8")
    with pytest.raises(BadInput, match="German.*`share=0`"):
        debias("mini-en", corpus=str(file), out=tmp_path / "out")
    assert substituted(str(file), share=0.0).after == ["Die Ärztin sagt, dass sie müde ist.\n"]


def test_the_seed_of_a_debiasing_seeds_its_training(tmp_path: Path) -> None:
    base = str(tiny.save("roberta", tmp_path / "base"))
    texts = [f"He told her that {i} hats were old." for i in range(40)]
    made = {}
    for name, seed in {"zero": 0, "again": 0, "one": 1}.items():
        method = Cds(share=0.0, seed=seed)
        made[name] = evenhand.load(str(method.apply(base, texts, tmp_path / name))).fingerprint
    assert made["zero"] == made["again"] != made["one"]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Debiased:
    folder = tmp_path_factory.mktemp("debias")
    base = tiny.save("roberta", folder / "base")
    corpus = folder / "corpus.txt"
    corpus.write_text("".join(f"He told her that his {i} hats were old. She knew.\n" for i in range(60)))
    how: dict[str, Any] = {"remind": ["pregnant"], "repeat": 2, "suite": "gbef", "limit": 25}
    return debias(str(base), corpus=str(corpus), out=folder / "out", **how)


def again(done: Debiased, **other: Any) -> Debiased:
    """The same command once more, or with other options."""
    folder = done.model.parent.parent
    asked: dict[str, Any] = {"remind": ["pregnant"], "repeat": 2, "suite": "gbef", "limit": 25, "out": folder / "out"}
    return debias(str(folder / "base"), corpus=str(folder / "corpus.txt"), **asked | other)


def test_it_leaves_a_model_two_runs_and_a_card(done: Debiased) -> None:
    assert evenhand.load(str(done.model)).fingerprint == done.after.record.fingerprint
    assert done.before.record.fingerprint != done.after.record.fingerprint
    card = (done.model / "README.md").read_text()
    assert "## Debiased" in card
    assert "100 reminders" in card
    assert "likelihood-difference" in card
    assert not (done.model / CHECKPOINT).exists()


def test_changes_are_the_differences_of_the_runs(done: Debiased) -> None:
    for estimand in ("stereotype", "default", ""):
        row = done.changes.query(f"measure == 'likelihood-lean' and group == '{estimand or 'all'}'").iloc[0]
        same = f"measure == 'likelihood-lean' and category.isna() and estimand == '{estimand}'"
        values = [run.values.query(same)["value"].item() for run in (done.before, done.after)]
        assert [row["before"], row["after"]] == pytest.approx(values)
        assert row["change"] == pytest.approx(values[1] - values[0])
        assert row["low"] <= row["change"] <= row["high"]
        assert (row["needed"] > 0) == bool(estimand)  # the pooled value gets no verdict
    assert {"pronoun", "gender-agreement", "crows-pairs"} <= set(done.changes["measure"])
    tested = done.changes.dropna(subset="p")
    assert (tested["p_holm"] >= tested["p"] - 1e-12).all()


def test_what_was_lost_is_there_too(done: Debiased) -> None:
    assert 25 <= done.language["sentences"] <= 50  # of as many pairs as `limit` allows
    assert done.language["before"] > 1
    lost: dict[str, Any] = {"n": 9, "left_out": 0, "clusters": 9, "needed": 3, "neutral": 0.0, "goal": "what is right"}
    lost |= {"change": -0.3, "low": -0.4, "high": -0.2, "worse_low": 0.2, "worse_high": 0.4}
    lost |= {"family": "f", "groups": {}}
    language = {"before": 10.0, "after": 12.0, "change": 0.2, "low": 0.1, "high": 0.3, "sentences": 100.0}

    def alarms(p: float, *names: tuple[str, str]) -> list[str]:
        rows = tuple(Change(**lost, task=task(*name), worse_p_holm=p) for name in names)
        debiased = Debiased(done.model, done.before, done.after, done.balance, rows, {**language, "p": p})
        return [alarm.split(":")[0] for alarm in debiased.alarms]

    agreement = ("tbd-gendered", "gender-agreement")
    assert alarms(0.01, agreement) == ["Over-debiased", "Its language got worse"]
    assert alarms(0.06, agreement) == []  # an interval alone is not enough
    more_biased, _ = alarms(0.01, agreement, ("tbd", "pronoun"))
    assert more_biased.startswith("It got more biased, and words of one gender (actress, pregnant) lost 0.30")
    lost["groups"] = {"category": "occupation", "calls_for": "he"}  # shown for a group alone
    assert alarms(0.01, agreement, ("tbd", "pronoun")) == ["Knowledge was lost", "Its language got worse"]
    group = Change(**lost, task=task(*agreement), worse_p_holm=0.01)
    several = replace(done, rows=(group, replace(group, change=-0.4)), language={}).alarms
    assert several == [
        "Knowledge was lost: words of one gender (occupation, he) lost 0.30 [0.20, 0.40] of P(right pronoun) - P(wrong "
        "one); words of one gender (occupation, he) lost 0.40 [0.20, 0.40] of P(right pronoun) - P(wrong one)."
    ]
    of_all = replace(done, rows=(group, replace(group, groups={})), language={}).alarms
    assert [alarm.count("lost") for alarm in of_all] == [1]


def test_a_notebook_shows_what_was_lost_before_what_moved(done: Debiased) -> None:
    shown = replace(done, balance=done.balance.assign(share=float("nan")))._repr_html_()
    assert "no gendered words" in shown.partition("rows moved towards neutral")[0]
    judged = int((done.changes["needed"] > 0).sum())
    assert 0 < judged < len(done.changes)
    assert f"of {judged} rows moved" in shown


def test_what_the_page_needs_is_kept(done: Debiased) -> None:
    kept = debiasing([done.before, done.after])
    assert kept is not None
    assert kept["language"] == done.language
    assert kept["alarms"] == done.alarms
    assert [row["corpus"] for row in kept["balance"]] == ["before", "after"]
    assert debiasing([done.after, done.before]) is None


def test_the_same_call_trains_nothing_again(done: Debiased, monkeypatch: pytest.MonkeyPatch) -> None:
    from evenhand.training import mlm

    monkeypatch.setattr(mlm, "finetune", lambda *args, **kwargs: pytest.fail("trained again"))
    pd.testing.assert_frame_equal(again(done).changes, done.changes)


def test_a_process_that_helps_trains_and_ends(done: Debiased, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from evenhand.training import mlm

    trained = []
    monkeypatch.setattr(mlm, "finetune", lambda *args: trained.append(args[3]))
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    with pytest.raises(SystemExit, match="0"):
        again(done, out=tmp_path)
    assert trained == [tmp_path / "model"]
    assert not list(tmp_path.iterdir())
    assert run_command(app, ["audit", "--out", str(tmp_path)]) == 2  # which would be done twice


def test_runs_of_other_items_are_not_compared(done: Debiased, tmp_path: Path) -> None:
    other = evenhand.audit(str(done.model), suite="gbef", limit=20, seed=9, out=tmp_path)
    with pytest.raises(BadInput, match="same way"):
        change_table(done.before, other)


def test_the_command_prints_what_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = tiny.save("roberta", tmp_path / "base")
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("He told her that his hat was old.\n" * 30)
    command = ["debias", str(base), "--out", str(tmp_path / "o")]
    assert run_command(app, [*command, "--corpus", str(corpus), "--suite", "gbef", "--limit", "12"]) == 0
    printed = capsys.readouterr().out
    assert "substitution" in printed
    assert "gender-agreement" in printed
    assert re.search(r"p_holm +moved", printed)
    assert "Pseudo-perplexity" in printed
    assert run_command(app, [*command, "--recipe", "none"]) == 2
    assert run_command(app, [*command, "--repeat", "0"]) == 2


def test_a_model_is_never_lost(done: Debiased, tmp_path: Path) -> None:
    folder = done.model.parent.parent
    with pytest.raises(BadInput, match="is in"):
        debias(str(done.model), corpus=str(folder / "corpus.txt"), out=folder / "out")
    before = evenhand.load(str(done.model)).fingerprint
    with pytest.raises(BadInput, match="another model"):
        again(done, remind=[])
    assert evenhand.load(str(done.model)).fingerprint == before


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("mini-en/run.json", "other runs: mini-en"),
        ("report.html", "report.html'"),
        ("changes.json", "changes.json'"),
        ("model/config.json", "model/config.json'"),
    ],
)
def test_a_folder_with_runs_or_files_of_others_is_refused(done: Debiased, tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    with pytest.raises(BadInput, match=says):
        again(done, out=tmp_path)
    assert (tmp_path / name).read_text() == "mine"
    assert not (tmp_path / "debias.json").exists()


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [("a.html", "<html><p>He</p>", "HTML"), ("a.jsonl", '{"id": 1}\n', "'text'"), ("a.txt", "\n", "no sentences")],
)
def test_a_bad_corpus_is_refused_before_anything_is_done(tmp_path: Path, name: str, content: str, word: str) -> None:
    file = tmp_path / name
    file.write_text(content)
    with pytest.raises(BadInput, match=word):
        debias("mini-en", corpus=str(file), out=tmp_path / "out")
