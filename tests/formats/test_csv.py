"""csv: what is read back is what was measured."""

import csv
import io
import math
from typing import Any

import evenhand
from evenhand import Run
from helpers.written_runs import HOSTILE, Made


def rows(run: Run, *more: Run, **options: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(evenhand.export([run, *more], "csv", **options), newline="")))


def test_numbers_come_back_to_the_last_bit_and_none_is_empty(made: Made) -> None:
    whole, group, none, alone, part = rows(made())
    assert (float(whole["value"]), float(whole["low"]), float(whole["high"])) == (-1 / 3, -0.5, 1e-17)
    assert (whole["n"], whole["unscored"], whole["neutral"], whole["partial"]) == ("7", "1", "0.0", "no")
    assert (whole["measure_version"], whole["dataset_version"], whole["fingerprint"]) == ("2", "3", "f" * 32)
    assert (group["group_gender"], part["group_profession"], whole["group_gender"]) == ("female", "nurse", "")
    assert (none["value"], none["low"], none["note"]) == ("", "", "no item was scored")
    assert (alone["value"], alone["note"]) == ("", "too few clusters for an interval")


def test_scores_have_a_row_each(made: Made) -> None:
    scored, unscored = rows(made(), scores=True)
    assert float(scored["score"]) == 0.1 + 0.2
    assert (unscored["id"], unscored["score"], unscored["group_gender"]) == ("b", "", "female")
    assert scored["fingerprint"] == "f" * 32


def test_several_runs_and_any_name_share_a_table(made: Made) -> None:
    found = rows(made(model=HOSTILE, label='x,\n"y"'), made())
    assert {row["model"] for row in found} == {HOSTILE, "mini"}
    assert found[1]["group_gender"] == 'x,\n"y"'


def test_a_level_has_no_neutral_value(made: Made) -> None:
    run = made()
    text = (run.path / "results.json").read_text().replace('"neutral": 0.0', '"neutral": null')
    (run.path / "results.json").write_text(text)
    assert {row["neutral"] for row in rows(Run.load(run.path, checked=False))} == {""}
    assert not math.isnan(float(rows(made())[0]["value"]))
