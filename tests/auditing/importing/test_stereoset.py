"""Predictions of StereoSet's code: read as they are, or a sentence that says what is wrong."""

import json
from pathlib import Path
from typing import Any

import pytest

from evenhand import BadInput
from evenhand.auditing.importing.scores import predictions


def written(folder: Path, content: Any) -> Path:
    file = folder / "predictions.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return file


def test_scores_are_by_task_and_sentence(tmp_path: Path) -> None:
    rows = [{"id": "a", "score": 0.5}, {"id": "b", "score": -3}]
    assert predictions(written(tmp_path, {"intrasentence": rows})) == {"intrasentence": {"a": 0.5, "b": -3.0}}
    assert predictions(written(tmp_path, {"intersentence": [], "more": 1})) == {"intersentence": {}}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "cannot be read"),
        ("[" * 99_999, "nested too deeply"),
        ([], "is not a file of StereoSet's predictions.*Got a list"),
        ({"results": {}}, "is not a file of StereoSet's predictions.*Got the keys results"),
        ({"intrasentence": {}}, "intrasentence must be a list.*Got dict"),
        ({"intrasentence": [3]}, "sentence 1 of intrasentence: a sentence must have an id and a score. Got '3'"),
        ({"intrasentence": [{"id": 3, "score": 1}]}, "must have an id"),
        ({"intrasentence": [{"id": "a"}]}, "the score of 'a' must be a number. Got None"),
        ({"intrasentence": [{"id": "a", "score": True}]}, "must be a number. Got True"),
        ('{"intrasentence": [{"id": "a", "score": NaN}]}', "must be a number. Got nan"),
        ({"intrasentence": [{"id": "a", "score": 1}] * 2}, "sentence 2 of intrasentence: the id 'a' occurred before"),
    ],
)
def test_another_shape_is_refused_with_what_is_wrong(tmp_path: Path, content: Any, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        predictions(written(tmp_path, content))


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        predictions(tmp_path / "none.json")
