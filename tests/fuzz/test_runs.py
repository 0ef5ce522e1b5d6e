"""Run folders that somebody altered or that lost a part: read with finite numbers, or refused with a sentence."""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.runs.files import VOUCHED
from evenhand.runs.folder import ANSWERS
from helpers.fuzzing import Json, command, contents, fuzzed, places, replaced
from helpers.stored_runs import before_and_after

pytestmark = pytest.mark.usefixtures("without_pages")

READERS = [
    ("show", "before/plain"),
    ("export", "before/plain", "--as", "csv"),
    ("export", "before/plain", "--as", "latex"),
    ("export", "before/plain", "--as", "model-card"),
    ("export", "before/plain", "--as", "every-eval-ever", "--organization", "me"),
    ("compare", "before/plain", "after/debiased", "--json"),
    ("gate", "before/plain", "--policy", "policy.toml", "--json"),
    ("runs", "."),
]
POLICY = '[[rule]]\nmeasure = "likelihood-lean"\nwithin = 0.5\n'


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = before_and_after(tmp_path_factory.mktemp("made"))
    (folder / "policy.toml").write_text(POLICY)
    return folder


@pytest.fixture
def folder(made: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        monkeypatch.chdir(name)
        yield Path(name)


def copied(made: Path, folder: Path) -> Path:
    """The runs as they were made; the one that is to be altered."""
    shutil.copytree(made, folder, dirs_exist_ok=True)
    return folder / "before" / "plain"


def vouch(run: Path) -> None:
    """Write the hashes of the altered results to run.json, as an adversary would."""
    record = json.loads((run / "run.json").read_text())
    record["sha256"] = {name: hashlib.sha256((run / name).read_bytes()).hexdigest() for name in VOUCHED}
    (run / "run.json").write_text(json.dumps(record))


def read(reader: tuple[str, ...], folder: Path) -> None:
    """Run a command that reads; what is not scored again stays as it was."""
    before = contents(folder)
    command(*reader, watched=folder)
    assert reader[0] == "rescore" or contents(folder) == before


def altered(data: st.DataObject, file: Path, value: Any) -> None:
    content = json.loads(file.read_text())
    place = data.draw(st.sampled_from(sorted(places(content), key=repr)))
    file.write_text(json.dumps(replaced(content, place, value)))


@fuzzed
@given(data=st.data(), value=Json, reader=st.sampled_from(READERS))
def test_an_altered_record(made: Path, folder: Path, data: st.DataObject, value: Any, reader: tuple[str, ...]) -> None:
    altered(data, copied(made, folder) / "run.json", value)
    read(reader, folder)


@fuzzed
@given(data=st.data(), value=Json, reader=st.sampled_from(READERS))
def test_altered_values(made: Path, folder: Path, data: st.DataObject, value: Any, reader: tuple[str, ...]) -> None:
    run = copied(made, folder)
    altered(data, run / "results.json", value)
    vouch(run)
    read(reader, folder)


@fuzzed
@given(
    name=st.sampled_from([*VOUCHED, "run.json", ANSWERS]),
    at=st.floats(0, 1, exclude_max=True),
    byte=st.integers(0, 255),
    cut=st.booleans(),
    vouched=st.booleans(),
    reader=st.sampled_from([*READERS, ("rescore", "before/plain", "--json")]),
)
def test_a_damaged_file(
    made: Path, folder: Path, name: str, at: float, byte: int, cut: bool, vouched: bool, reader: tuple[str, ...]
) -> None:
    run = copied(made, folder)
    content = bytearray((run / name).read_bytes())
    place = int(at * len(content))
    content[place:] = b"" if cut else bytes([byte]) + content[place + 1 :]
    (run / name).write_bytes(content)
    if vouched and name in VOUCHED:
        vouch(run)
    read(reader, folder)
