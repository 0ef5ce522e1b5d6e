"""A machine without a package that one of our extras installs."""

from importlib.metadata import PackageNotFoundError, version

import pytest

from evenhand.core import foreign


def without(package: str, monkeypatch: pytest.MonkeyPatch, instead: str | None = None) -> None:
    """The package is not installed, or has the version `instead`."""

    def found(name: str) -> str:
        if name == package and instead is None:
            raise PackageNotFoundError(name)
        return instead if name == package and instead else version(name)

    monkeypatch.setattr(foreign, "version", found)
