"""The runs of tests/stored, by what was asked of which model, so that tests that only read a run audit nothing."""

import json
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas as pd

import evenhand
from evenhand import Answer, Fill, Run, Table
from evenhand.core.questions import BuiltIn
from helpers import served
from helpers.audited_runs import audited

STORED = Path(__file__).parents[1] / "stored"
COMMAND = "PYTHONPATH=tests .venv/bin/python -m tools.store_runs"
VARIES = ("evenhand", "started", "seconds", "versions")
"""What the record says of the machine and the day."""

HOSTILE = "<b onclick=alert(1)>\"'&{{7*7}}<!--"
"""The name of the model of `before`: a page must show it, and do nothing that it says."""


def favouring_he(name: str = "table", pull: float = 1.0, unknown: str = "") -> Table:
    """A model whose answers follow from the text, he likelier than she; a text with `unknown` has none."""

    def rule(q: BuiltIn) -> Answer | tuple[float, ...]:
        text = getattr(q, "text", "")
        if unknown and unknown in text:
            return Answer.none("unknown word")
        noise = zlib.crc32(repr(q).encode()) % 100 / 100
        if isinstance(q, Fill):
            return (-1.0 - noise - pull * (q.answer.lower() not in ("he", "his")),)
        return (-noise * pull,)

    return Table(rule, name=name, fingerprint=f"{name} {pull} {unknown}")


def _pairs(more: float) -> Callable[[Path, str], Run]:
    return lambda out, name: audited(out, name, more)


def _asked(make_model: Callable[[], Any], **asked: Any) -> Callable[[Path, str], Run]:
    return lambda out, _: evenhand.audit(make_model(), out=out, **asked)


RECIPES: dict[str, Callable[[Path, str], Run]] = {
    # 60 pairs by all measures: the lean is about 2, about 0.5, and none; the last is the first once more
    "base": _pairs(2.0),
    "better": _pairs(0.5),
    "level": _pairs(0.0),
    "twin": _pairs(2.0),
    # all suites, before and after a debiasing
    "before": _asked(lambda: favouring_he(HOSTILE), limit=40),
    "after": _asked(lambda: favouring_he("after", 0.1), limit=40),
    "emotions": _asked(favouring_he, suite="emotions", limit=60),
    "nothing-known": _asked(lambda: favouring_he(unknown=" "), suite="becpro", limit=30),
    "nurses-unknown": _asked(lambda: favouring_he("some", unknown="nurse"), dataset="tbd", limit=300),
    # what the server lists
    "plain": lambda out, name: Run.load(served.audit(out, name, 1.0)),
    "debiased": lambda out, name: Run.load(served.audit(out, name, 0.5)),
    # the bundled model
    "mini-en-pairs": _asked(evenhand.load, dataset="tgb", limit=16),
    "mini-en-emotions": _asked(evenhand.load, dataset="emotions-en", limit=16),
}
WITH_ANSWERS = ("emotions",)
"""Runs that a test scores again, from the model's answers."""


def make(name: str, out: Path) -> Run:
    """The run, by an audit; it has no page, which takes longer than the audit."""
    out.mkdir(exist_ok=True)
    with patch("evenhand.show.page.runs.write"):
        return RECIPES[name](out, name)


def store(name: str) -> Path:
    """The file of the run, written."""
    file = STORED / f"{name}.zip"
    with tempfile.TemporaryDirectory() as out, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for part in sorted(make(name, Path(out)).path.iterdir()):
            if not part.name.startswith(".") and (part.suffix != ".sqlite" or name in WITH_ANSWERS):
                packed.writestr(zipfile.ZipInfo(part.name), part.read_bytes(), zipfile.ZIP_DEFLATED)
    return file


def unpack(name: str, out: Path) -> Path:
    """The folder of a stored run, as if this version had made it."""
    shutil.unpack_archive(STORED / f"{name}.zip", out / name)
    return served.changed(out / name, evenhand=evenhand.__version__)


def before_and_after(folder: Path) -> Path:
    """A folder with two runs that can be compared, before/plain and after/debiased, with files for their answers."""
    for place, name in (("before", "plain"), ("after", "debiased")):
        (unpack(name, folder / place) / "answers.sqlite").touch()
    return folder


def record_of(run: Run) -> dict[str, Any]:
    """What run.json says but for the machine, the day, and the hashes of files that are compared by themselves."""
    record: dict[str, Any] = json.loads((run.path / "run.json").read_text(encoding="utf-8"))
    record["audits"] = [{k: v for k, v in one.items() if k not in VARIES} for one in record["audits"]]
    return record | {"sha256": sorted(record["sha256"])}


def numbers_of(run: Run) -> dict[str, pd.DataFrame]:
    """Its values, scores and items as tables."""
    return {"values": pd.DataFrame(run.results), "scores": run.scores, "items": run.items}
