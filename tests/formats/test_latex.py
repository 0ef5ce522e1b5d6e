"""LaTeX tables that compile: balanced, escaped, with as many cells as columns."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import evenhand
from evenhand import BadInput
from evenhand.formats.cells import latex
from evenhand.show.comparison import latex as latex_comparison
from helpers.written_runs import HOSTILE, Made, task


def tables(text: str) -> list[tuple[list[str], list[list[str]]]]:
    """The columns and rows of each table; environments and braces must be balanced, in each row too."""
    open_: list[str] = []
    for word, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        if word == "begin":
            open_.append(name)
        else:
            assert open_.pop() == name
    assert not open_
    found = []
    for spec, body in re.findall(r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", text, re.S):
        lines = [line for line in body.strip().splitlines() if not re.fullmatch(r"\\(top|mid|bottom)rule", line)]
        assert all(line.endswith(r" \\") for line in lines)
        rows = [re.split(r"(?<!\\) & ", line.removesuffix(r" \\")) for line in lines]
        for row in rows:
            assert len(row) == len(spec)
            for cell in row:
                bare = re.sub(r"\\.", "", cell)
                assert bare.count("{") == bare.count("}")
                assert bare.count("$") % 2 == 0
        found.append((list(spec), rows))
    return found


def test_a_table_has_values_with_intervals_and_no_parts(made: Made) -> None:
    text = evenhand.export(made(), "latex")
    ((_, rows),) = tables(text)
    assert rows[0] == ["gender", "mini", "$n$", "unscored"]
    assert rows[1:] == [
        ["all", "$-0.333$ $[-0.500, 0.000]$", "7", "1"],
        ["female", "$0.250$ $[0.125, 0.500]$", "3", "0"],
        ["male", "--", "0", "4"],
        ["single", "--", "1", "0"],
    ]
    assert r"\label{tab:tgb-likelihood-lean}" in text
    assert "mini, gender male: no item was scored" in text


def test_models_are_columns_with_distinct_names(made: Made) -> None:
    ((spec, rows),) = tables(evenhand.export([made(), made(), made(model="other")], "latex"))
    assert spec == list("lrrrrr")
    assert rows[0][1:4] == ["mini (ffffffff) (1)", "mini (ffffffff) (2)", "other"]


def test_runs_that_were_measured_otherwise_get_no_table_together(made: Made) -> None:
    other = made(tasks=(task("tgb", "likelihood-lean", dataset_version=4),))
    with pytest.raises(BadInput, match="version of the dataset 3 and 4"):
        evenhand.export([made(), other], "latex")


def test_a_dataset_that_one_run_lacks_is_a_dash(made: Made) -> None:
    ((_, first), (_, second)) = tables(evenhand.export([made(), made(dataset="pairs")], "latex"))
    assert first[1][1:3] == ["$-0.333$ $[-0.500, 0.000]$", "--"]
    assert second[1][1:3] == ["--", "$-0.333$ $[-0.500, 0.000]$"]


def test_hostile_names_are_printed(made: Made) -> None:
    text = evenhand.export(made(model=HOSTILE, dataset=HOSTILE, label=HOSTILE), "latex")
    ((_, rows),) = tables(text)
    assert rows[0][1] == rows[2][0] == latex(HOSTILE)
    assert re.search(r"\\label\{tab:[\w.-]+\}", text)


@pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="there is no TeX: apt-get install texlive-latex-recommended"
)
def test_tables_compile_whatever_their_names_are(made: Made, tmp_path: Path) -> None:
    runs = [made(), made(model=HOSTILE)]
    text = evenhand.export(runs, "latex") + latex_comparison(evenhand.compare(*runs))
    whole = (
        r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{booktabs}\begin{document}"
        f"\n{text}\n\\end{{document}}\n"
    )
    (tmp_path / "tables.tex").write_text(whole, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "tables.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "tables.pdf").read_bytes().startswith(b"%PDF")
