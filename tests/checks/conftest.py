from pathlib import Path
from typing import Any

import pytest

import evenhand
from evenhand import datasets
from evenhand.core.dataset import Dataset
from evenhand.models.networks.nli import NliModel
from helpers import tiny
from helpers.checked import Make
from helpers.typed import load


@pytest.fixture(scope="session")
def becpro() -> Dataset:
    return datasets.load("becpro-en")


@pytest.fixture(scope="session")
def mini_en_nli() -> NliModel:
    return load(NliModel, "mini-en-nli")


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Makes tiny random models of a family."""

    def made(family: str = "bert-uncased", **more: Any) -> Any:
        return evenhand.load(str(tiny.save(family, tmp_path / family, **more)))

    return made
