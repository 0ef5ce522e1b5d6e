"""Scores from elsewhere become runs: values as if they had been measured, and errors for what is no score."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import evenhand
from evenhand import BadInput, Run, RunError, from_scores
from evenhand.cli.app import app, main
from evenhand.cli.terminal import run as run_command
from evenhand.formats import FORMATS
from evenhand.runs import files
from evenhand.runs.record import RunRecord
from helpers import made_stereoset
from helpers.audited_runs import audited, leaning, pairs

pytestmark = pytest.mark.usefixtures("without_pages")

LEAN = "likelihood-lean"


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run of 60 pairs, two of which have no answer."""
    return audited(tmp_path_factory.mktemp("measured"), "measured", 1.0, lost=lambda i: i in (3, 8))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The same model, whose answers to all 60 pairs are there."""
    return audited(tmp_path_factory.mktemp("whole"), "whole", 1.0)


@pytest.fixture(scope="module")
def scores(measured: Run) -> pd.DataFrame:
    """Its scores, without those that are missing."""
    return measured.scores_of("pairs", LEAN)[["id", "score"]].dropna()


def taken(scores: Any, folder: Path, measure: str | None = LEAN, **more: Any) -> Run:
    """The run of scores of those pairs."""
    file = folder / "pairs.csv"
    given: dict[str, Any] = {"name": "mine", "out": folder / "runs"}
    given["options"] = {"file": file if file.exists() else pairs(folder)}
    return from_scores(scores, dataset="pairs", measure=measure, **given | more)


def numbers(run: Run, measure: str) -> list[tuple[Any, ...]]:
    return [(v.groups, v.value, v.low, v.high, v.p_holm, v.n, v.unscored) for v in run.values_of("pairs", measure)]


def saved(frame: pd.DataFrame, path: Path) -> Path:
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True, double_precision=15)
    else:
        frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path


@pytest.mark.parametrize("suffix", ["", ".csv", ".tsv", ".jsonl", ".parquet"])
def test_the_values_are_those_of_the_run_that_the_scores_are_from(
    tmp_path: Path, measured: Run, scores: pd.DataFrame, suffix: str
) -> None:
    scores = scores.assign(score=scores["score"].round(9))  # jsonl has 15 digits
    run = taken(saved(scores, tmp_path / f"scores{suffix}") if suffix else scores, tmp_path)
    assert numbers(run, LEAN) == [
        (*groups, *(pytest.approx(n, abs=1e-8) for n in rest), n, lost)
        for *groups, value, low, high, p, n, lost in numbers(measured, LEAN)
        for rest in [(value, low, high, p)]
    ]
    assert run.record.unscored == {f"pairs/{LEAN}": {f"not in {'scores' + suffix if suffix else 'a data frame'}": 2}}
    (audit,) = run.record.audits
    assert audit.imported is not None
    assert (audit.imported.rows, audit.imported.matched, audit.imported.numbers) == (58, 58, ("score",))


def test_the_two_likelihoods_of_a_pair_give_every_measure_that_asks_for_them(tmp_path: Path, measured: Run) -> None:
    rule = leaning(1.0)
    items = measured.items
    frame = pd.DataFrame({"id": items["id"]})
    for column, texts in (("stereotype", items["text"]), ("counterpart", items["other"])):
        frame[column] = [rule(evenhand.Likelihood(text)).logp for text in texts]
    frame = frame[~frame["id"].isin(["5", "10"])]  # lines 5 and 10 are pairs 3 and 8
    run = taken(frame, tmp_path, None)
    names = ["likelihood-difference", LEAN, "stereotype-share"]
    assert [task.measure for task in run.record.tasks] == names
    for name in names:
        assert numbers(run, name) == numbers(measured, name)


def samples(measured: Run, text: bool) -> list[dict[str, Any]]:
    """Those pairs as lm-evaluation-harness writes them: numbers as text since 0.4, as numbers before."""
    rule = leaning(1.0)
    found = []
    for n, (one, other) in enumerate(zip(measured.items["text"], measured.items["other"], strict=True)):
        logps = [rule(evenhand.Likelihood(t)).logp for t in (one, other)]
        arguments: Any = [["", one], ["", other]]
        resps: Any = [[[logp, False]] for logp in logps]
        if text:
            arguments = {f"gen_args_{i}": {"arg_0": "", "arg_1": t} for i, t in enumerate((one, other))}
            resps = [[[str(logp), "False"]] for logp in logps]
        found.append(
            {"doc_id": n, "doc": {"sent_more": one, "sent_less": other}, "arguments": arguments, "resps": resps}
        )
    return found


@pytest.mark.parametrize("text", [True, False])
def test_samples_of_lm_evaluation_harness_are_matched_by_their_sentences(
    tmp_path: Path, whole: Run, text: bool
) -> None:
    file = tmp_path / "samples_crows.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in samples(whole, text)))
    run = taken(file, tmp_path, "stereotype-share")
    assert [n[:4] for n in numbers(run, "stereotype-share")] == [n[:4] for n in numbers(whole, "stereotype-share")]
    (audit,) = run.record.audits
    assert audit.kind == "causal"
    assert "lm-evaluation-harness" in audit.diagnosis


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"resps": [[["-3.0", "False"]]]}, "Got 1 for 2."),
        ({"arguments": [["Once upon", {"until": []}], ["a", "b"]]}, "generated text"),
        ({"resps": [[["nan", "False"]], [["-3", "False"]]]}, "Got 'nan'"),
        ({"resps": [[["He is.", "False"]], [["-3", "False"]]]}, "Got 'He is.'"),
        ({"filter": "strict"}, "none, strict"),
        ({"doc": None, "resps": {}}, "Got 0 for 2"),
    ],
)
def test_samples_of_another_shape_are_an_error_with_their_line(
    tmp_path: Path, measured: Run, change: dict[str, Any], says: str
) -> None:
    rows = samples(measured, True)
    rows[2] |= change
    file = tmp_path / "samples.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    with pytest.raises(BadInput, match="line 3") as error:
        taken(file, tmp_path, None)
    assert says in str(error.value)
    file.write_text(file.read_text().replace('"arguments"', '"asked"'))
    with pytest.raises(BadInput, match="'id' or 'text'"):
        taken(file, tmp_path, None)


def test_a_text_file_has_a_number_for_each_item_in_order(tmp_path: Path, whole: Run) -> None:
    file = tmp_path / "scores.txt"
    file.write_text("".join(f"{score!r}\n" for score in whole.scores_of("pairs", LEAN)["score"]))
    assert numbers(taken(file, tmp_path), LEAN) == numbers(whole, LEAN)
    file.write_text("0.5\n" * 59)
    with pytest.raises(BadInput, match="59 numbers"):
        taken(file, tmp_path)
    file.write_text("0.5\n" * 9 + "\n" + "0.5\n" * 50)
    with pytest.raises(BadInput, match="line 10 is empty"):
        taken(file, tmp_path)
    file.write_bytes(b"\xff\xfe0\x00")
    with pytest.raises(BadInput, match="cannot be read"):
        taken(file, tmp_path)


def test_a_row_is_known_by_its_texts_whatever_its_id(tmp_path: Path, measured: Run, scores: pd.DataFrame) -> None:
    known = scores.merge(measured.items[["id", "text", "other"]], on="id")
    foreign = known.assign(id=known["id"].tolist()[::-1])
    named = foreign.rename(columns={"id": "number", "text": "more", "other": "less", "score": "d"})
    columns = {"id": "number", "text": "more", "other": "less", "score": "d"}
    assert numbers(taken(named, tmp_path, columns=columns), LEAN) == numbers(measured, LEAN)
    by_first = taken(known[["text", "score"]], tmp_path, name="first")
    assert numbers(by_first, LEAN) == numbers(measured, LEAN)


def test_rows_and_items_without_a_partner_are_counted_and_named(tmp_path: Path, scores: pd.DataFrame) -> None:
    more = pd.DataFrame({"id": ["a", "b", "c", "d"], "score": [1.0] * 4})
    run = taken(pd.concat([scores[10:], more]), tmp_path)
    assert run.record.warnings[1:3] == (
        "4 of 52 rows of a data frame are no items of pairs: row 49: 'a'; row 50: 'b'; row 51: 'c'; and others.",
        "12 of 60 items of pairs are not in a data frame: '2', '3', '4' and others.",
    )
    assert run.values_of("pairs", LEAN)[0].n == 48


def test_an_empty_cell_is_an_item_without_a_score(tmp_path: Path, scores: pd.DataFrame) -> None:
    file = saved(scores, tmp_path / "scores.csv")
    lines = file.read_text().splitlines()
    lines[1] = f"{lines[1].split(',')[0]},"
    file.write_text("\n".join(lines))
    run = taken(file, tmp_path)
    assert run.record.unscored[f"pairs/{LEAN}"] == {"no number in scores.csv": 1, "not in scores.csv": 2}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("2,nan", "line 60: score must be a finite number. Got 'nan'"),
        ("2,-inf", "Got '-inf'"),
        ("2,1e999", "Got '1e999'"),
        ("2,high", "Got 'high'"),
        ("2,1_000", "Got '1_000'"),
        ('2,"0,5"', "Got '0,5'"),
        ("2,0.5", "line 60: item '2' has a score already"),
        ("2", "line 60: 2 fields are needed"),
    ],
)
def test_what_is_no_score_is_an_error_with_its_line(tmp_path: Path, scores: pd.DataFrame, line: str, says: str) -> None:
    file = saved(scores, tmp_path / "scores.csv")
    with file.open("a") as opened:
        opened.write(f"{line}\n")
    with pytest.raises(BadInput) as error:
        taken(file, tmp_path)
    assert says in str(error.value)
    assert not (tmp_path / "runs" / "mine").exists()


Change = Callable[[pd.DataFrame], pd.DataFrame]


@pytest.mark.parametrize(
    ("change", "given", "says"),
    [
        (lambda f: f.assign(id="x" + f["id"]), {}, "The first row is 'x2'"),
        (lambda f: f.assign(text="Another."), {}, "the first item is 'He has 0 hats.'"),
        (lambda f: f.assign(dataset="tgb"), {}, "row 1 is of dataset 'tgb'"),
        (lambda f: f.assign(measure="stereotype-share"), {}, "row 1 is of measure 'stereotype-share'"),
        (lambda f: f.rename(columns={"id": "ID"}), {}, "a column 'id' or 'text'"),
        (lambda f: f.rename(columns={"score": "d"}), {}, "columns are: id, d."),
        (lambda f: f.head(0), {}, "has no rows"),
        (lambda f: f.assign(score=True), {}, "Got True"),
        (lambda f: f.assign(score=None), {}, "no number"),
        (lambda f: f.assign(score=float("nan")), {}, "Got nan"),
        (lambda f: f, {"columns": {"scores": "d"}}, "Did you mean 'score'?"),
        (lambda f: f, {"measure": None}, "Give one of likelihood-difference"),
        (lambda f: f.assign(score=-3.0), {"measure": "stereotype-share"}, "from 0 to 1. Got -3"),
        (lambda f: f.assign(score=-3.0), {"measure": "association"}, "'association' cannot"),
        (lambda f: f.assign(stereotype=-1, counterpart=2.0).drop(columns="score"), {}, "above 0"),
        (lambda f: f.assign(stereotype=-1).drop(columns="score"), {}, "columns are: id, stereotype"),
        (
            lambda f: f.assign(stereotype=-1, counterpart=-2).drop(columns="score"),
            {"measure": [LEAN, "crows-pairs"]},
            "crows-pairs asks",
        ),
        (lambda f: f, {"name": None}, "`name` is needed"),
        (lambda f: f, {"name": ".."}, "folder"),
        (lambda f: f, {"kind": "mask"}, "'mask'"),
    ],
)
def test_a_frame_that_cannot_be_used_is_a_sentence(
    tmp_path: Path, scores: pd.DataFrame, change: Change, given: dict[str, Any], says: str
) -> None:
    with pytest.raises(BadInput) as error:
        taken(change(scores), tmp_path, **given)
    assert says in str(error.value)


@pytest.fixture
def stereoset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[dict[str, Any]]]:
    """Predictions for a small StereoSet: the stereotype is likelier than the anti-stereotype, both than the rest."""
    made_stereoset.write(tmp_path / "data")
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path / "data"))
    found: dict[str, list[dict[str, Any]]] = {"intrasentence": [], "intersentence": []}
    for number, row in enumerate(made_stereoset.ROWS):
        scored = zip(made_stereoset.LABELS, (3.0, 2.0, 1.0), strict=True)
        found[row["task"]] += [{"id": f"{number} {label}", "score": score} for label, score in scored]
    return found


def test_predictions_of_stereoset_are_matched_by_their_sentences(
    tmp_path: Path, stereoset: dict[str, list[dict[str, Any]]]
) -> None:
    sentences = stereoset["intrasentence"]
    sentences[0]["score"] = -5.0  # any scale will do
    sentences[3:6] = [dict(row, score=7) for row in sentences[3:6]]
    del sentences[8]
    sentences.append({"id": "unknown", "score": 1.0})
    file = tmp_path / "gpt2.json"
    file.write_text(json.dumps(stereoset))
    run = from_scores(file, dataset="stereoset-intrasentence", out=tmp_path)
    assert [task.measure for task in run.record.tasks] == ["stereoset-ss", "stereoset-lm", "icat"]
    scores = run.scores_of("stereoset-intrasentence", "stereoset-ss")["score"]
    assert scores.tolist()[:1] + scores.tolist()[3:] == [0.0] + [1.0] * (len(scores) - 3)
    assert run.scores_of("stereoset-intrasentence", "stereoset-lm")["score"].tolist()[0] == 0.5
    reasons = {"all three are equally likely": 1, "no number in gpt2.json": 1}
    assert run.record.unscored["stereoset-intrasentence/icat"] == reasons
    assert any("intrasentence: 'unknown'" in line for line in run.record.warnings)
    both = from_scores(file, dataset="stereoset", out=tmp_path / "both")
    assert len(both.scores_of("stereoset", "icat")) == len(made_stereoset.ROWS)


def test_predictions_of_another_dataset_or_shape_are_a_sentence(
    tmp_path: Path, stereoset: dict[str, list[dict[str, Any]]]
) -> None:
    file = tmp_path / "gpt2.json"
    file.write_text(json.dumps(stereoset))
    with pytest.raises(BadInput, match="StereoSet.* 'tgb'"):
        from_scores(file, dataset="tgb", out=tmp_path)
    file.write_text(json.dumps({"intersentence": stereoset["intersentence"]}))
    with pytest.raises(BadInput, match="has no rows"):
        from_scores(file, dataset="stereoset-intrasentence", out=tmp_path)
    file.write_text("{}")
    with pytest.raises(BadInput, match="not a file of StereoSet"):
        from_scores(file, dataset="stereoset", out=tmp_path)


def test_a_published_model_gives_its_published_figures(data: Path, tmp_path: Path) -> None:
    folder = data / "published" / "stereoset"
    told = json.loads((folder / "scores.json").read_text())["xlnet-base-cased"]["intersentence"]
    (file,) = folder.glob("xlnet-base-cased_*.json")
    run = from_scores(file, dataset="stereoset-intersentence", out=tmp_path)
    for measure, name in (("stereoset-ss", "SS"), ("stereoset-lm", "LM"), ("icat", "ICAT")):
        for value in run.values_of("stereoset-intersentence", measure):
            published = told[value.groups.get("bias_type", "overall")][f"{name} Score"]
            assert 100 * (value.value or 0.0) == pytest.approx(published, abs=1e-9)


@pytest.mark.parametrize(("template", "told"), list(enumerate((1.176, 1.210, 1.093, 1.183))))
def test_a_column_of_gest_gives_its_published_rate(data: Path, tmp_path: Path, template: int, told: float) -> None:
    file = data / "published" / "gest" / f"bert-base-uncased_template-{template}.txt"
    options = {"version": "1.0", "template": str(template + 1), "formula": "released"}
    run = from_scores(file, dataset="gest", measure="gest", options=options, out=tmp_path)
    assert run.values_of(run.datasets[0], "gest")[0].value == pytest.approx(told, abs=5e-4)


def test_items_of_one_text_are_told_apart_by_ids_or_else_by_their_order(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text("stereotype,counterpart\nHe sings.,She sings.\nHe sings.,It sings.\n")
    frame = pd.DataFrame({"text": ["He  sings. "] * 2, "score": [0.5, 0.75]})  # white space does not count
    run = taken(frame.assign(id=["3", "2"]), tmp_path, name="ids")
    assert run.scores["score"].tolist() == [0.75, 0.5]
    assert not any("in the order" in warning for warning in run.record.warnings)
    for name, ids in {"none": {}, "other": {"id": ["a", "2"]}}.items():
        run = taken(frame.assign(**ids), tmp_path, name=name)
        assert run.scores["score"].tolist() == [0.5, 0.75][:: -1 if ids else 1]
        assert any("in the order of the file" in warning for warning in run.record.warnings)
    with pytest.raises(BadInput, match="has a score already"):
        taken(pd.concat([frame, frame]), tmp_path, name="too many")


def test_everything_that_shows_the_run_says_that_it_was_imported(
    tmp_path: Path, scores: pd.DataFrame, pages: None, capsys: pytest.CaptureFixture[str]
) -> None:
    file = saved(scores, tmp_path / "theirs.csv")
    run = taken(file, tmp_path)
    told = "imported from theirs.csv (csv, score, SHA-256"
    for more in ([], ["--full"]):
        assert run_command(app, ["show", str(run.path), *more]) == 0
        shown = capsys.readouterr().out
        assert told in " ".join(shown.split())
        assert "questions" not in shown
    page = (run.path / "report.html").read_text()
    assert told in page
    assert "the model was not checked" in page
    assert "evenhand rescore" not in page
    for name in FORMATS:
        options: Any = {"organization": "us", "relationship": "third_party"} if name == "every-eval-ever" else {}
        text = evenhand.export(run, name, **options)
        assert name == "bibtex" or "theirs.csv" in text, name
    with pytest.raises(RunError, match="Import the file again"):
        evenhand.rescore(run.path)


def test_an_imported_run_is_compared_and_judged_like_any_other(
    tmp_path: Path, measured: Run, scores: pd.DataFrame
) -> None:
    run = taken(scores.assign(score=scores["score"] + 1), tmp_path)
    row = evenhand.compare(measured, run).frame.iloc[0]
    assert row["change"] == pytest.approx(1.0)
    assert row["moved"] == "away from neutral"
    rule = evenhand.Rule(measure=LEAN, within=0.5)
    assert evenhand.Gate([rule]).judge(run).verdict == "fail"


def test_a_folder_keeps_what_stays_and_refuses_another_file(
    tmp_path: Path, measured: Run, scores: pd.DataFrame
) -> None:
    first = numbers(taken(scores, tmp_path, "likelihood-difference"), "likelihood-difference")
    both = taken(scores, tmp_path)
    assert [task.measure for task in both.record.tasks] == ["likelihood-difference", LEAN]
    assert numbers(both, "likelihood-difference") == first
    with pytest.raises(RunError, match="run of 'mine'"):
        taken(scores[1:], tmp_path)
    shutil.copytree(measured.path, tmp_path / "runs" / "measured")
    with pytest.raises(RunError, match="'measured'"):
        taken(scores, tmp_path, name="measured")
    again = taken(scores, tmp_path, name="measured", fresh=True)
    assert [task.measure for task in again.record.tasks] == [LEAN]
    assert sorted(path.name for path in again.path.iterdir()) == sorted(
        ["results.json", "scores.parquet", "items.parquet", "run.json"]
    )


class Killed(BaseException):
    """The process ends, and cleans nothing up."""


@pytest.mark.parametrize(
    ("at", "measures"), [("write", ["likelihood-difference"]), ("move", ["likelihood-difference", LEAN])]
)
def test_a_killed_import_leaves_the_old_run_or_the_new_one(
    tmp_path: Path, scores: pd.DataFrame, monkeypatch: pytest.MonkeyPatch, at: str, measures: list[str]
) -> None:
    """Every moment of writing is tried in tests/runs/test_staging.py."""

    def die(*_: Any) -> None:
        raise Killed

    taken(scores, tmp_path, "likelihood-difference")
    with monkeypatch.context() as patch:
        patch.setattr("evenhand.runs.files.shutil.rmtree", lambda *_, **__: None)
        patch.setattr(*{"write": (RunRecord, "write"), "move": (files, "_move_into_place")}[at], die)
        with pytest.raises(Killed):
            taken(scores, tmp_path)
    path = tmp_path / "runs" / "mine"
    assert [task.measure for task in Run.load(path).record.tasks] == measures
    assert [task.measure for task in taken(scores, tmp_path).record.tasks] == ["likelihood-difference", LEAN]
    assert not [file for file in path.iterdir() if file.name.startswith(".")]


def test_the_command_line_imports_and_says_what_to_do(
    tmp_path: Path, scores: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    file = saved(scores.rename(columns={"score": "d"}), tmp_path / "theirs.csv")
    pairs(tmp_path)
    asked = ["import", str(file), "--dataset", "pairs", "--option", f"file={tmp_path / 'pairs.csv'}"]
    asked += ["--measure", LEAN, "--out", str(tmp_path / "out")]
    ran = [run_main(asked)]
    assert "Name yours with --column, as in" in _flat(capsys.readouterr().err)
    ran.append(run_main([*asked, "--column", "score=d", "--json"]))
    assert json.loads(capsys.readouterr().out)[0]["model"] == "theirs"
    file.write_text(file.read_text() + "a,1\n")
    ran.append(run_main([*asked, "--column", "score=d"]))
    assert "with --fresh" in _flat(capsys.readouterr().err)
    ran.append(run_main([*asked, "--column", "score=d", "--fresh"]))
    assert "Add --yes" in capsys.readouterr().err
    ran.append(run_main([*asked, "--column", "score=d", "--fresh", "--yes"]))
    assert "1 of 59 rows of theirs.csv are no items of pairs" in _flat(capsys.readouterr().out)
    assert ran == [2, 0, 2, 2, 0]


def test_several_files_are_several_runs(
    tmp_path: Path, scores: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs(tmp_path)
    files = [str(saved(scores, tmp_path / name)) for name in ("one.csv", "two.csv")]
    asked = ["import", *files, "--dataset", "pairs", "--option", f"file={tmp_path / 'pairs.csv'}", "--measure", LEAN]
    assert run_main([*asked, "--out", str(tmp_path / "out"), "--json"]) == 0
    assert {row["model"] for row in json.loads(capsys.readouterr().out)} == {"one", "two"}


def run_main(arguments: list[str]) -> Any:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    return end.value.code


def _flat(text: str) -> str:
    return " ".join(text.split())


def test_a_file_that_is_none_of_these_is_a_sentence(tmp_path: Path) -> None:
    pairs(tmp_path)
    for name, content, says in (
        ("scores.xlsx", b"PK", "Scores come in .csv, .tsv, .jsonl, .parquet, .txt, .json, .eval files"),
        ("scores.parquet", b"PAR1", "cannot be read"),
        ("scores.csv", b"", "has no rows"),
        ("scores.jsonl", b"[1]", "a JSON object is needed"),
        ("scores.jsonl", b"\xff\xfe", "cannot be read"),
        ("scores.txt", b"", "has no rows"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(BadInput) as error:
            taken(tmp_path / name, tmp_path)
        assert says in str(error.value)
    with pytest.raises(BadInput, match="no file"):
        taken(tmp_path / "none.csv", tmp_path)


def test_the_published_associations_give_table_4_of_the_paper(data: Path, tmp_path: Path) -> None:
    """Bartl, Nissim and Gatt 2020, before fine-tuning."""
    run = from_scores(
        data / "published" / "becpro" / "bert-base-uncased.tsv",
        dataset="becpro-en",
        columns={"text": "Sentence", "score": "Pre_Assoc"},
        options={"masks": "words"},
        out=tmp_path,
    )
    found = {
        tuple(v.groups.values()): round(v.value or 0.0, 2) for v in run.values_of(run.datasets[0]) if len(v.groups) == 2
    }
    assert found == {
        ("balanced", "female"): -0.35,
        ("balanced", "male"): 0.05,
        ("female", "female"): 0.50,
        ("female", "male"): -0.68,
        ("male", "female"): -0.83,
        ("male", "male"): 0.15,
    }
    assert run.record.warnings[0].startswith("The scores were imported from bert-base-uncased.tsv (tsv, score, SHA-256")
