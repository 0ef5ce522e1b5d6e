"""Tables for the terminal: words to the left, numbers to the right, and every cell as it is written."""

import io
from pathlib import Path

import pandas as pd
from rich.console import Console, RenderableType

from evenhand.papers.sections import reproduction
from evenhand.runs.record import Deviation, Precision
from evenhand.show.tables import RANKS, cell, estimate, table
from evenhand.show.terminal import scorecard
from helpers.written_runs import make

NAN = float("nan")


def printed(shown: RenderableType, width: int = 80) -> list[str]:
    console = Console(width=width, file=io.StringIO(), record=True)
    console.print(shown)
    return console.export_text().splitlines()


def test_names_that_look_like_markup_are_shown_as_they_are() -> None:
    lines = "\n".join(printed(table(["[red]model", "n"], [["[/bold] :smile:", "[1, 2]"]], left=["[red]model"])))
    for text in ("[red]model", "[/bold] :smile:", "[1, 2]"):
        assert text in lines


def test_words_are_to_the_left_and_numbers_to_the_right() -> None:
    row = printed(table(["a long head", "another head"], [["word", "1"]], left=["a long head"]))[3]
    assert row.startswith(" word ")
    assert row.rstrip().endswith(" 1")
    assert len(row.rstrip()) > len("a long head  another hea")


def test_the_estimate_of_a_row_has_the_interval_next_to_its_value() -> None:
    row = {"slope": 1.0, "slope_low": 0.5, "slope_high": NAN, "value": 2.0, "low": 1.0, "high": 3.0}
    assert estimate(row).brief(".1f") == "2.0 [1.0, 3.0]"
    assert estimate(row, "slope", "slope_").brief(".1f") == "1.0"


def test_what_was_not_compared_is_not_called_close(tmp_path: Path) -> None:
    loaded = {"dtype": "bfloat16", "transformers": "5.0", "revision": None}
    near = Deviation("tgb", "likelihood-lean", 9, 0.1, 0.0, 0.2, 0.25, ())
    told = []
    for name, found in (("none", ()), ("some", (near,))):
        run = make(tmp_path / name, loaded=loaded, precision=Precision("auto", 0, found))
        told.append("\n".join(printed(scorecard(run), 200)))
    assert "bfloat16: not compared with float32, since no item of the sample has a score in both." in told[0]
    assert "no score of a sample of each dataset is more than 0.250 away from float32." in told[1]


def test_a_sum_of_ranks_has_the_digits_that_do_not_depend_on_the_machine() -> None:
    """mini-en's W among professions that women hold: from another machine, from here, from here in batches of 7."""
    assert [cell(w, RANKS) for w in (195_985.0, 195_986.5, 195_987.0)] == ["196,000"] * 3
    assert [cell(w, RANKS) for w in (27.5, 49_752.0, 12_345_678.0)] == ["27.5", "49,750", "12,350,000"]
    assert cell(NAN, RANKS) == "–"


def test_a_papers_table_has_its_own_rows_and_columns() -> None:
    cells = pd.DataFrame(
        {"table": "3", "model": model, "data": data, "what": "share", "published": told, "ours": ours}
        | {"difference": ours - told, "low": ours - 0.1, "high": ours + 0.1}
        for model, data, told, ours in (("one", "pro", 0.25, 0.5), ("one", "anti", 0.5, 0.5), ("two", "pro", 1.0, 0.75))
    )
    lines = [
        line.split() for line in printed(reproduction(cells, [], [], across=("data", "what")), 120) if line.strip()
    ]
    assert lines[0] == ["Table", "3,", "share"]  # what all columns share is not said in each
    assert lines[1] == ["model", "pro", "anti"]
    assert lines[3] == ["one", "published", "+0.25", "+0.50"]
    assert lines[4] == ["ours", "+0.50", "+0.50"]
    assert lines[6] == ["difference", "+0.25", "+0.00"]
    assert lines[7] == ["two", "published", "+1.00"]
