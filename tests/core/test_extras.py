import tomllib
from pathlib import Path

import pytest

from evenhand import BadInput
from evenhand.core import foreign
from helpers.packages import without

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def test_the_versions_are_those_of_the_project() -> None:
    stated = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for extra, listed in foreign.PACKAGES.items():
        known = [f"{package}>={oldest}" for package, oldest in zip(listed[::2], listed[1::2], strict=True)]
        assert [line.replace("[data]", "") for line in stated[extra][: len(known)]] == known


@pytest.mark.parametrize(
    ("extra", "instead", "got"),
    [("ray", None, "it is not installed"), ("lm-eval", "0.4.9", "version 0.4.9 is installed")],
)
def test_a_missing_or_old_package_is_named_with_its_extra(
    extra: str, instead: str | None, got: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(extra, monkeypatch, instead)
    with pytest.raises(BadInput, match=rf"This needs {extra} .* or newer; {got}\. .*pip install 'evenhand\[{extra}\]'"):
        foreign.need(extra, "This")


def test_the_oldest_version_suffices(monkeypatch: pytest.MonkeyPatch) -> None:
    without("lm-eval", monkeypatch, "0.4.13.dev1")
    foreign.need("lm-eval", "This")
    without("lm-eval", monkeypatch, "0.10")
    foreign.need("lm-eval", "This")
