"""The public names are few, sorted and all there."""

import subprocess
import sys
from pathlib import Path

import evenhand


def test_names_are_sorted_and_lead_somewhere() -> None:
    assert evenhand.__all__ == sorted(evenhand.__all__)
    assert set(evenhand.__all__) == set(evenhand._HOME)
    for name in evenhand.__all__:
        assert getattr(evenhand, name).__name__ == name


def test_no_module_has_the_name_of_a_public_function() -> None:
    """Importing `evenhand.x` anywhere would put the module in the function's place."""
    modules = {path.stem for path in Path(evenhand.__file__).parent.iterdir()}
    assert not modules & set(evenhand.__all__)


def test_there_are_not_many() -> None:
    assert len(evenhand.__all__) < 40


def test_packages_are_there_after_the_import_of_the_whole_alone() -> None:
    code = (
        "import evenhand; told = dir(evenhand); "
        "print('audit' in told, 'datasets' in told, evenhand.datasets.__name__, evenhand.measures.__name__, "
        "evenhand.models.__name__, evenhand.mitigation.__name__, evenhand.errors.__name__)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    names = ("datasets", "measures", "models", "mitigation", "errors")
    assert told.split() == ["True", "True", *(f"evenhand.{name}" for name in names)]
