"""The public names are few, sorted and all there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import evenhand

ROOT = Path(__file__).parent.parent
SHOWN = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.py")]


def test_names_are_sorted_and_lead_somewhere() -> None:
    assert evenhand.__all__ == sorted(evenhand.__all__)
    assert set(evenhand.__all__) == set(evenhand._HOME)
    for name in evenhand.__all__:
        assert getattr(getattr(evenhand, name), "__name__", "mean") == name  # which is an object that can be called


def test_no_module_has_the_name_of_a_public_function() -> None:
    """Importing `evenhand.x` anywhere would put the module in the function's place."""
    modules = {path.stem for path in Path(evenhand.__file__).parent.iterdir()}
    assert not modules & set(evenhand.__all__)


@pytest.mark.parametrize("page", SHOWN, ids=lambda page: page.name)
def test_what_docs_and_examples_use_is_public(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    imported = re.findall(r"from evenhand import (\w+(?:, \w+)*)", text)
    called = re.findall(r"\bevenhand\.([a-z]\w*)(?=[\w.]*\()", text)
    used = {*called, *", ".join(imported).split(", ")} - {""}
    assert used <= {*evenhand.__all__, *evenhand._WITHIN}


@pytest.mark.parametrize("name", evenhand.__all__)
def test_the_table_of_public_names_has_every_name_as_code(name: str) -> None:
    section = (ROOT / "docs" / "extend.md").read_text(encoding="utf-8").partition("\n## Public names\n")[2]
    assert f"`{name}`" in section.partition("\n## ")[0]


def test_packages_are_there_after_the_import_of_the_whole_alone() -> None:
    code = (
        "import evenhand; names = dir(evenhand); "
        "print('audit' in names, 'datasets' in names, evenhand.datasets.__name__, evenhand.measures.__name__, "
        "evenhand.models.__name__, evenhand.text.__name__, evenhand.errors.__name__)"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    names = ("datasets", "measures", "models", "text", "errors")
    assert printed.split() == ["True", "True", *(f"evenhand.{name}" for name in names)]
