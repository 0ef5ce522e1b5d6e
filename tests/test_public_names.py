"""The public names are few, sorted and all there."""

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
