"""Each dataset of `evenhand datasets list`; a test of one that was not fetched is skipped."""

from pathlib import Path
from typing import Any

import pytest

from evenhand import datasets
from evenhand.core.dataset import Dataset
from evenhand.errors import DataNotFound
from helpers.template_files import TEMPLATES

NAMES = sorted(datasets.OURS)
EEC = """ID,Sentence,Template,Person,Gender,Race,Emotion,Emotion word
1,Alonzo feels angry.,<person subject> feels <emotion word>.,Alonzo,male,African-American,anger,angry
2,Ebony feels angry.,<person subject> feels <emotion word>.,Ebony,female,African-American,anger,angry
"""
FILES = {
    "eec": ("eec.csv", EEC),
    "pairs": ("mine.csv", 'id,stereotype,counterpart\n1,"He said:\n“Stop.”",She said: “Stop.”\n'),
    "templates": ("mine.toml", TEMPLATES),
}
"""A user's file for each dataset that reads one."""


def options(name: str, folder: Path) -> dict[str, Any]:
    """The options that the dataset needs: a file, which is written into the folder."""
    if name not in FILES:
        return {}
    file, text = FILES[name]
    (folder / file).write_text(text, encoding="utf-8")
    return {"file": str(folder / file)}


def loaded(name: str, folder: Path) -> Dataset:
    try:
        return datasets.load(name, **options(name, folder))
    except DataNotFound as error:
        pytest.skip(str(error))
