"""Figures: files that open, with what they should show in them."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

import evenhand
from evenhand import BadInput, Table
from evenhand.cli import app
from evenhand.report.plots import profession_bars, save, workforce_scatter
from evenhand.terminal import run as run_command


def means(shift: float = 0.0) -> pd.DataFrame:
    frame = pd.DataFrame(
        {"prof_gender": "male", "profession": ["a", "b", "c"], "female": [0.0, -1.0, 0.2], "male": [0.1, 0.5, 0.2]}
    )
    frame.loc[2, "female"] += shift
    return frame.assign(difference=frame["female"] - frame["male"])


def test_professions_are_ordered_by_change_or_by_difference() -> None:
    alone = profession_bars(means()).to_dict()
    assert alone["encoding"]["y"]["sort"] == ["b", "a", "c"]
    both = profession_bars(means(), means(shift=-3.0)).to_dict()
    assert both["spec"]["encoding"]["y"]["sort"][0] == "c"
    assert both["resolve"]["scale"] == {"x": "shared", "y": "shared"}  # one scale in both panels


def test_the_scatter_leaves_out_what_has_no_share() -> None:
    chart = workforce_scatter(means(), {"a": 10.0, "b": 90.0}).to_dict()
    assert max(len(rows) for rows in chart["datasets"].values()) == 2


@pytest.mark.parametrize("suffix", ["svg", "png", "html"])
def test_a_run_is_drawn_in_every_format(tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    table = Table(lambda q: (-float(len(q.text) % 7) - len(q.hidden),))
    run = evenhand.audit(table, suite="becpro", out=tmp_path)
    assert (
        run_command(app, ["figures", str(run.path), str(run.path), "--out", str(tmp_path / "f"), "--format", suffix])
        == 0
    )
    drawn = sorted((tmp_path / "f").iterdir())
    assert [p.name for p in drawn] == [
        *(f"professions-{group}.{suffix}" for group in ("balanced", "female", "male")),
        f"workforce.{suffix}",
    ]
    assert capsys.readouterr().out.split() == [str(tmp_path / "f" / p.name) for p in drawn]
    male = (tmp_path / "f" / f"professions-male.{suffix}").read_bytes()
    if suffix == "png":
        assert male.startswith(b"\x89PNG")
    else:
        text = male.decode()
        assert "mining machine operator" in text
        assert "before" in text
        if suffix == "html":
            assert not re.search(r"<script[^>]+src=", text)  # nothing is fetched


def test_what_cannot_be_drawn_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = evenhand.audit(Table(lambda q: (-1.0,)), suite="emotions", limit=40, out=tmp_path)
    assert run_command(app, ["figures", str(run.path), "--out", str(tmp_path / "f")]) == 2
    assert "no BEC-Pro scores" in capsys.readouterr().err
    with pytest.raises(BadInput, match="A figure is one of"):
        save(profession_bars(means()), tmp_path / "x.gif")
    with pytest.raises(BadInput, match="cannot be written"):
        save(profession_bars(means()), Path("/proc/x.svg"))


def test_charts_are_valid_vega_lite() -> None:
    assert "$schema" in json.loads(profession_bars(means()).to_json())
