"""What others have published for each item becomes a run as it comes, whichever file of theirs it is."""

import csv
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand import Run, from_scores

pytestmark = pytest.mark.usefixtures("without_pages")

FOLDER = Path(os.environ.get("EVENHAND_DATA", "none")) / "published"
SUMMARY = "scores.json"
FILES = sorted(
    (path for path in FOLDER.rglob("*.*") if path.name != SUMMARY and path.suffix != ".npz"),  # encodings are no scores
    key=lambda path: (path.parent, path.stat().st_size),
)
FIRST = {path.parent: path for path in reversed(FILES)}
"""The smallest file of each folder. The others take minutes together."""
MASKED = ("bert", "electra", "roberta", "xlm")


def taken(file: Path, out: Path, **options: str) -> Run:
    """The run of a file, with the dataset that its folder names and the options that its authors' code has."""
    dataset: dict[str, Any] = {
        "becpro": {"dataset": "becpro-en"},
        "crows-pairs": {"dataset": "crows-pairs"},
        "gest": {"dataset": "gest" if any(name in file.name for name in MASKED) else "gest-causal", "measure": "gest"},
        "stereoset": {"dataset": "stereoset-intrasentence"},
    }
    return from_scores(file, **dataset[file.parent.name], options=options, out=out)


def rate_of_gest(file: Path, data: Path) -> float:
    """g_s by the scores alone."""
    with (data / "gest" / "gest.csv").open(encoding="utf-8", newline="") as table:
        stereotypes = np.array([int(row["stereotype"]) for row in csv.DictReader(table)])
    scores = np.array(file.read_text(encoding="utf-8").split(), dtype=float)
    means = [scores[stereotypes == number].mean() for number in range(1, 17)]
    return float(np.exp(np.mean(means[7:]) - np.mean(means[:7])))


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(
            path, marks=() if path in FIRST.values() else pytest.mark.proof, id=f"{path.parent.name}/{path.name}"
        )
        for path in FILES or [FOLDER / "none"]
    ],
)
def test_a_published_file_is_imported_as_it_comes(file: Path, data: Path, tmp_path: Path) -> None:
    if file.parent.name == "gest":
        template = int(file.stem[-1]) + 1
        causal = not any(name in file.name for name in MASKED)  # its templates are the paper's third and fourth
        run = taken(file, tmp_path, version="1.0", formula="released", template=str(template + 2 * causal))
        assert run.values_of(run.datasets[0], "gest")[0].value == pytest.approx(rate_of_gest(file, data))
    elif file.parent.name == "stereoset":
        run = taken(file, tmp_path)
        summary = json.loads((file.parent / SUMMARY).read_text(encoding="utf-8"))
        published = next(
            told for name, told in summary.items() if file.name.startswith(f"{name}_") or file.name == name
        )
        by_type = {v.groups.get("bias_type", "overall"): v.value for v in run.values_of(run.datasets[0], "icat")}
        for bias, value in by_type.items():
            assert 100 * (value or 0.0) == pytest.approx(published["intrasentence"][bias]["ICAT Score"])
    else:
        run = taken(file, tmp_path, **{"masks": "words"} if file.parent.name == "becpro" else {"formula": "released"})
    (imported,) = {audit.imported for audit in run.record.audits}
    assert imported is not None
    measures = {task.measure for task in run.record.tasks}
    if file.parent.name == "crows-pairs":  # a corrected text: of 262 pairs about gender, 235 are the released ones
        assert (imported.matched, measures) == (235, {"crows-pairs"})
    else:
        assert imported.matched == imported.rows
        assert all(value.n > 0 and value.unscored == 0 for value in run.values_of(run.datasets[0]))
