"""Scripts and commands in this process: one of their own would first import torch, for seconds."""

import contextlib
import io
import os
import re
import runpy
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evenhand.cli.app import app
from evenhand.cli.terminal import run
from evenhand.datasets import BUILDERS
from evenhand.measures import MEASURES
from evenhand.mitigation import METHODS
from evenhand.models.engines import ENGINES


def script(path: Path, folder: Path) -> str:
    """What a script prints, run in a folder."""
    with _within(folder) as out:
        runpy.run_path(str(path), run_name="__main__")
    return out.getvalue()


def code(text: str, folder: Path) -> str:
    """What a block of code prints, run in a folder."""
    file = folder / "block.py"
    file.write_text(text, encoding="utf-8")
    return script(file, folder)


def command(line: str, folder: Path) -> str:
    """What a line of the docs, as `COLUMNS=100 evenhand audit`, prints; it must not fail."""
    words = shlex.split(line)
    with _within(folder) as out, pytest.MonkeyPatch.context() as patch:
        while given := re.fullmatch(r"([A-Z]+)=(.*)", words[0]):
            patch.setenv(given[1], given[2])
            words.pop(0)
        assert words.pop(0) == "evenhand", line
        assert run(app, words) == 0, line
    return out.getvalue()


@contextlib.contextmanager
def _within(folder: Path) -> Iterator[io.StringIO]:
    before, out = Path.cwd(), io.StringIO()
    registries: list[tuple[dict[str, Any], dict[str, Any]]] = [
        (known, dict(known)) for known in (MEASURES, BUILDERS, METHODS, ENGINES)
    ]
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out):
            yield out
    finally:
        os.chdir(before)
        for known, ours in registries:  # what a script adds is not there for other tests
            known.clear()
            known.update(ours)
