"""Examples to train models of inference on: every format, the releases, and what is wrong with a file."""

import json
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from evenhand import BadInput
from evenhand.datasets.corpora.nli_examples import RELEASED, Example, examples
from helpers import tables

ROWS = [("A man sleeps.", "He is awake.", "contradiction"), ("A man sleeps.", "He rests.", "entailment")]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet", ".json"])
@pytest.mark.parametrize(
    ("columns", "labels"),
    [
        (("premise", "hypothesis", "label"), ("contradiction", "Entailment")),
        (("premise", "hypothesis", "label"), (2, 0)),
        (("sentence1", "sentence2", "gold_label"), ("CONTRADICTION", "entailment")),
        (("sentence1", "sentence2", "label"), ("contradiction", "entailment")),
    ],
)
def test_every_format_and_spelling_gives_the_same(
    tmp_path: Path, suffix: str, columns: tuple[str, str, str], labels: tuple[object, object]
) -> None:
    rows = [(premise, hypothesis, label) for (premise, hypothesis, _), label in zip(ROWS, labels, strict=True)]
    listed = examples(str(tables.write(pd.DataFrame(rows, columns=list(columns)), tmp_path / f"a{suffix}")))
    assert listed.rows == [Example(*row) for row in ROWS]
    assert str(listed) == "2 examples"


def test_rows_without_a_label_or_a_text_are_excluded_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    made = [{"sentence1": "a", "sentence2": "b", "gold_label": label} for label in ("neutral", "-", "", None, "-1")]
    made += [{"sentence1": "a", "sentence2": "b"}, {"sentence1": "a", "sentence2": " ", "gold_label": "neutral"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in made))
    assert str(examples(str(path))) == (
        "1 examples (excluded: 5 without a label, 1 with an empty premise or hypothesis)"
    )


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.csv", "premise,hypothesis,label\na,b,not_entailment\n", "line 2: .*'not_entailment'"),
        ("a.csv", "premise,hypothesis,label\na,b,3\n", "0, 1, 2"),
        ("a.csv", "text,label\na,1\n", "'premise'.*sentence1, sentence2"),
        ("a.csv", "premise,hypothesis\na,b\n", "0 examples .*1 without a label.*Columns"),
        ("a.jsonl", "", "nothing"),
        ("a.txt", "a", ".jsonl"),
    ],
)
def test_a_bad_file_is_refused(tmp_path: Path, name: str, text: str, says: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(BadInput, match=says):
        examples(str(tmp_path / name))


def test_a_wrong_encoding_and_a_wrong_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("premise,hypothesis,label\nÄ,b,0\n".encode("latin-1"))
    with pytest.raises(BadInput, match="UTF-8"):
        examples(str(tmp_path / "a.csv"))
    with pytest.raises(BadInput, match="snli, jsnli, ocnli"):
        examples("mnli")


def test_releases_are_found_wherever_they_were_unpacked(shelf: Path) -> None:
    for name, files in RELEASED.items():
        with pytest.raises(BadInput, match=f"{files['dev']} .*EVENHAND_DATA/{name}/"):
            examples(name, "dev")
    (shelf / "snli" / "snli_1.0").mkdir(parents=True)
    row = {"annotator_labels": ["neutral"], "gold_label": "neutral", "sentence1": "a", "sentence2": "b"}
    (shelf / "snli" / "snli_1.0" / "snli_1.0_train.jsonl").write_text(json.dumps(row))
    (shelf / "jsnli").mkdir()
    (shelf / "jsnli" / "dev.tsv").write_text("entailment\t人 が 走る\t人 が いる\n")
    (shelf / "ocnli").mkdir()
    (shelf / "ocnli" / "dev.json").write_text(json.dumps({"sentence1": "甲", "sentence2": "乙", "label": "neutral"}))
    assert examples("snli").rows == [Example("a", "b", "neutral")]
    assert examples("jsnli", "dev").rows == [Example("人 が 走る", "人 が いる", "entailment")]
    assert examples("ocnli", "dev").rows == [Example("甲", "乙", "neutral")]
    (shelf / "jsnli" / "dev.tsv").write_text("entailment\t人\n")
    with pytest.raises(BadInput, match="line 1: .*2 fields"):
        examples("jsnli", "dev")


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_real_pairs_have_all_three_labels(data: Path, language: str) -> None:
    counts = Counter(e.label for e in examples(str(data / "nli" / f"{language}_dev.jsonl")).rows)
    assert len(counts) == 3
    assert sum(counts.values()) > 2000
