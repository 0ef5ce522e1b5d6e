"""What texts teach a tiny model: trained once, measured once, kept; and the studies made of it."""

import math
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import evenhand
from evenhand import BadInput
from evenhand.calls.learning import Learned, learned, name_files
from evenhand.calls.train_and_measure import Study, recipe_of, trained
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.datasets.corpora.texts import documents, sampled
from evenhand.papers import reproduce
from evenhand.text.swap import substituted
from evenhand.training import mlm
from evenhand.training.loop import CHECKPOINT
from helpers import tiny
from helpers.typed import number

pytestmark = pytest.mark.usefixtures("without_pages", "unexamined", "few_draws")

TASKS = {"tbd-gendered": ["pronoun"]}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny.save("roberta", tmp_path_factory.mktemp("base") / "tiny"))


def lines(start: str) -> Callable[[int], list[str]]:
    return lambda draw: [f"{start} saw {n} hats that were old {draw}." for n in range(40)]


def test_models_are_made_once_and_their_scores_kept(base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Study(base, tmp_path, TASKS, draws=2).scores("she", lines("She"))
    assert sorted(first["draw"].unique()) == [0, 1]
    assert not list((tmp_path / "models").iterdir())  # weights are not kept
    monkeypatch.setattr(mlm, "finetune", None)  # would fail if it trained again
    lock = next(tmp_path.rglob("run.json")).with_name(".lock")
    lock.touch()  # as of a process that was killed at the end of an audit
    again = Study(base, tmp_path, TASKS, draws=2).scores("she", lines("She"))
    pd.testing.assert_frame_equal(first, again)
    assert not lock.exists()


@pytest.mark.parametrize("mark", [".finished", "README.md"])
def test_models_of_earlier_versions_count_as_finished(
    mark: str, base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, recipe = lines("She")(0), recipe_of("default")
    folder = trained(base, texts, recipe, tmp_path, "she")
    (folder / mark).touch()  # debias left the first next to the card, other studies the card alone
    monkeypatch.setattr(mlm, "finetune", None)
    assert trained(base, texts, recipe, tmp_path, "she") == folder
    monkeypatch.undo()
    (folder / CHECKPOINT).write_bytes(b"")  # stopped before the end
    monkeypatch.setattr(mlm, "finetune", lambda *_: pytest.fail("trained again"))
    with pytest.raises(pytest.fail.Exception, match="trained again"):
        trained(base, texts, recipe, tmp_path, "she")


def test_other_texts_teach_something_else(base: str, tmp_path: Path) -> None:
    study = Study(base, tmp_path, TASKS)
    she, he = (study.scores("it", lines(who)) for who in ("She", "He"))
    assert she["id"].tolist() == he["id"].tolist()
    assert (she["score"] != he["score"]).any()
    as_it_is = study.base_scores()
    assert (as_it_is["score"] != she["score"]).any()


def test_bad_lessons_are_refused(base: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="draws` must"):
        Study(base, tmp_path, TASKS, draws=0)
    with pytest.raises(BadInput, match="'empty-0'"):
        Study(base, tmp_path, TASKS).scores("empty", lambda draw: [])
    with pytest.raises(BadInput, match="Did you mean 'default'"):
        recipe_of("defalt")
    with pytest.raises(BadInput, match="from 1 to 3"):
        sampled(["a", "b", "c"], 4, [0])


def test_samples_keep_their_order_and_follow_their_seed() -> None:
    texts = [str(i) for i in range(100)]
    one = sampled(texts, 10, [0, 1])
    assert one == sorted(one, key=int)
    assert one == sampled(texts, 10, [0, 1]) != sampled(texts, 10, [0, 2])
    assert sampled(texts, None, [0]) == texts


def test_a_corpus_is_swapped_by_half_unless_it_is_balanced(tmp_path: Path) -> None:
    file = tmp_path / "he.txt"
    file.write_text("He saw his wife.\n" * 200)
    swapped = substituted(str(file))
    assert swapped.share == 0.5
    assert 60 < sum(text.startswith("She") for text in swapped.after) < 140
    assert substituted("balanced").share == 0.0
    assert substituted("balanced").before == substituted("balanced").after


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("corpora")
    for name, n in (("short", 60), ("long", 90)):
        (folder / f"{name}.txt").write_text("".join(f"The {name} nurse lost her {i} hats.\n" for i in range(n)))
    (folder / "plain.txt").write_text("".join(f"He and she had {i} hats.\n" for i in range(80)))
    return {name: str(folder / f"{name}.txt") for name in ("short", "long", "plain")}


@pytest.fixture(scope="module")
def taught(base: str, corpora: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Learned:
    two = {name: corpora[name] for name in ("short", "long")}
    out = tmp_path_factory.mktemp("learned")
    return learned(two, model=base, debias_on=corpora["plain"], draws=2, limit=15, out=out)


def test_each_corpus_teaches_as_much_text(taught: Learned) -> None:
    assert taught.sentences == {"debiased": 80, "short": 60, "long": 60}
    assert list(dict.fromkeys(taught.asld["model"])) == ["base", "debiased", "short", "long"]
    assert set(taught.asld["group"]) == {"occupation", "hostile", "benevolent", "combined"}
    assert taught.asld[taught.asld["model"] == "short"]["draws"].eq(2).all()
    assert (taught.asld["value"] >= taught.lean["value"].abs() - 1e-9).all()
    assert ((taught.asld["low"] <= taught.asld["value"]) & (taught.asld["value"] <= taught.asld["high"])).all()


def test_changes_are_the_differences_of_the_values(taught: Learned) -> None:
    values = taught.asld.set_index(["model", "group"])["value"]
    for row in taught.changes.to_dict("records"):
        expected = values[(row["of"], row["group"])] - values[(row["against"], row["group"])]
        assert row["value"] == pytest.approx(expected, abs=1e-9)
    assert [*zip(taught.changes["of"], taught.changes["against"], strict=True)][-1] == ("long", "short")


def test_sizes_may_be_given_or_left_unequal(base: str, corpora: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="from 1 to 60"):
        learned({"short": corpora["short"]}, model=base, size=61, out=tmp_path)
    with pytest.raises(BadInput, match="once"):
        name_files(["a/b.txt", "a/b.txt"])
    assert name_files(["a/x.txt", "b/x.txt", "c.txt"]) == {"a/x.txt": "a/x.txt", "b/x.txt": "b/x.txt", "c.txt": "c.txt"}


def test_naming_many_files_takes_no_longer_for_each() -> None:
    files = [f"{number}.txt" for number in range(30_000)]
    began = time.process_time()
    assert len(name_files(files)) == len(files)
    assert time.process_time() - began < 4  # counting each name in the list takes 20


def test_the_command_prints_counts_and_what_was_learned(
    base: str, corpora: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [corpora["short"], corpora["long"]]
    options = ["--lines", "--train", "--model", base, "--debias-on", corpora["plain"]]
    options += ["--limit", "12", "--out", str(tmp_path)]
    assert run_command(app, ["corpus", *files, *options]) == 0
    printed = capsys.readouterr().out
    assert "short.txt: 60 documents" in printed
    assert "long.txt against short.txt:" in printed
    assert "One draw each" in printed


def test_jigsaw_comments_by_their_labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "jigsaw"
    folder.mkdir()
    rows = ['1,"Fine, thanks.",0,0,0', '2,"Rude, ""you"".",1,0,0', '3,"Very\nrude.",1,1,0']
    (folder / "train.csv").write_text("id,comment_text,toxic,severe_toxic,insult\n" + "\n".join(rows) + "\n")
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    assert list(documents("jigsaw-toxic")) == ['Rude, "you".', "Very\nrude."]
    assert list(documents("jigsaw-toxic-only")) == ['Rude, "you".']
    assert list(documents("jigsaw-severe-toxic")) == ["Very\nrude."]


def test_the_reminders_study(base: str, corpora: dict[str, str], tmp_path: Path) -> None:
    options = {"model": base, "corpus": corpora["plain"], "size": 20, "draws": 1, "limit": 20, "out": tmp_path}
    done = reproduce("barza2023", "reminders", **options)
    cells = done.cells.set_index(["group", "model or column"])
    assert cells.loc[("pregnancy", "gap_100"), "published"] == -0.22
    assert cells["ours"].notna().all()
    assert cells["published"].notna().sum() == 10
    assert number(cells, ("pregnancy", "gap_50"), "ours") != number(cells, ("pregnancy", "gap_150"), "ours")
    direct = evenhand.audit(base, dataset="tbd-gendered", measure="pronoun", limit=20, out=tmp_path / "d").values
    row = direct[direct["category"] == "pregnancy"].iloc[0]
    assert cells.loc[("pregnancy", "base"), "ours"] == pytest.approx(row["value"])
    assert "trained once" in done.notes[-1]


def test_the_learning_curve(base: str, corpora: dict[str, str], tmp_path: Path) -> None:
    options = {"model": base, "corpus": corpora["plain"], "sizes": [40, 20], "draws": 2, "limit": 12, "out": tmp_path}
    done = reproduce("barza2023", "learning-curve", **options)
    cells = done.cells.set_index(["what", "group", "model or column"])["ours"]
    values = [cells[("ASLD", "combined", f"{size} sentences")] for size in (0, 20, 40)]
    assert cells[("change", "combined", "40 sentences")] == pytest.approx(values[2] - values[1])
    assert done.charts[0].read_text().startswith("<svg")
    with pytest.raises(BadInput, match="Sizes must"):
        reproduce("barza2023", "learning-curve", **{**options, "sizes": [0]})


def test_the_mt_gender_study(base: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mt.txt"
    jobs = ("cook", "chef") * 20
    file.write_text("".join(f"The {job} told us that she had {i} hats.\n" for i, job in enumerate(jobs)))
    arguments = ["reproduce", "barza2023", "--part", "mt-gender", "--model", base, "--corpus", str(file)]
    assert run_command(app, [*arguments, "--limit", "60", "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    assert "professions in the corpus" in printed
    assert "Are pronouns merely being equalised?" in printed
    assert (tmp_path / "out" / "mt-gender" / "figures" / "pronoun-change.svg").exists()


def test_the_study_of_two_corpora(base: str, corpora: dict[str, str], tmp_path: Path) -> None:
    two = [corpora["short"], corpora["long"]]
    options = {"model": base, "debias_on": corpora["plain"], "limit": 15, "out": tmp_path}
    done = reproduce("barza2023", "corpora", corpora=two, **options)
    cells = done.cells.set_index(["group", "model or column"])
    assert cells.loc[("hostile", "debias"), "published"] == 2.71
    assert math.isnan(number(cells, ("hostile", two[0]), "published"))  # not Jigsaw's comments
    with pytest.raises(BadInput, match="two corpora"):
        reproduce("barza2023", "corpora", corpora=two[:1], **options)
