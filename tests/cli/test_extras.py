"""A clean install has what an audit and its page need; whoever needs more is told what to install."""

import tomllib
from pathlib import Path

import pytest

from evenhand.cli.app import app
from evenhand.cli.terminal import run
from helpers.packages import without


@pytest.mark.parametrize("package", ["starlette", "uvicorn"])
def test_serving_without_its_extra_says_so(
    package: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without(package, monkeypatch)
    assert run(app, ["serve"]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert f"The server needs {package} " in told
    assert "pip install 'evenhand[server]'" in told


def test_the_tests_have_every_extra_that_is_ours() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    tools = {"bench", "check", "docs", "test", "inspect", "lm-eval"}  # the last two: make hosts
    ours = {f"evenhand[{extra}]" for extra in project["optional-dependencies"] if extra not in tools}
    assert ours <= set(project["optional-dependencies"]["test"])
