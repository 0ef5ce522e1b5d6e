"""Reading the data files of the package, users' files, and downloaded releases."""

import csv
import tomllib
from importlib.resources import files
from typing import Any


def read_text(name: str, package: str = "evenhand.datasets") -> str:
    """The text of a file in the package's data folder."""
    return (files(package) / "data" / name).read_text(encoding="utf-8")


def read_toml(name: str, package: str = "evenhand.datasets") -> dict[str, Any]:
    """The parsed contents of a TOML file."""
    return tomllib.loads(read_text(name, package))


def read_tsv(name: str, package: str = "evenhand.datasets") -> list[dict[str, str]]:
    """The rows of a tsv file; quotation marks are part of the text, lines that begin with # are remarks."""
    lines = [line for line in read_text(name, package).splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
