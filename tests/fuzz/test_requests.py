"""Requests to the server, and runs that it shows: whatever comes, no page fails."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import ASGIApp

from evenhand.core.questions import Answer, Question
from evenhand.web import probing
from evenhand.web.listing import Runs
from evenhand.web.server import application
from helpers.fuzzing import Json, Text, fuzzed, places, replaced
from helpers.served import FORM, HOST, send
from helpers.stored_runs import before_and_after

pytestmark = pytest.mark.usefixtures("without_pages")

PATHS = st.sampled_from(["/", "/runs/", "/compare", "/probe", "/swap", "/static/style.css"])
FIELDS = st.sampled_from(["text", "words", "model", "other", "names", "run", "q", "from", "token"])
BROKEN = 500


@pytest.fixture(autouse=True)
def model(monkeypatch: pytest.MonkeyPatch) -> None:
    class Same:
        name = fingerprint = "same"

        def answer(self, questions: list[Question]) -> list[Answer]:
            return [Answer((-1.0,)) for _ in questions]

    monkeypatch.setattr(probing, "load_masked", lambda name: Same())


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return before_and_after(tmp_path_factory.mktemp("made"))


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "runs"))


@pytest.fixture
def app(root: Path) -> ASGIApp:
    return application(root)


@fuzzed
@given(
    method=st.sampled_from(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "X"]),
    path=PATHS | st.builds("{}{}".format, PATHS, Text),
    fields=st.lists(st.tuples(FIELDS | Text, Text | st.just("He ___ her.")), max_size=5),
    headers=st.dictionaries(
        st.sampled_from(["host", "origin", "content-type", "content-length", "cookie", "authorization", "x"]), Text
    ),
    raw=st.none() | st.binary(max_size=200),
)
def test_any_request(
    app: ASGIApp, method: str, path: str, fields: list[tuple[str, str]], headers: dict[str, str], raw: bytes | None
) -> None:
    query = "&".join(f"{quote(name)}={quote(value)}" for name, value in fields)
    for head in (FORM, FORM | headers, {"host": HOST} | headers):
        body = query.encode() if raw is None else raw
        assert send(app, path, method=method, query=query, headers=head, body=[body]).status < BROKEN


@fuzzed
@given(data=st.data(), name=st.sampled_from(["run.json", "results.json"]), value=Json)
def test_an_altered_run(made: Path, root: Path, app: ASGIApp, data: st.DataObject, name: str, value: Any) -> None:
    run = root / "before" / "plain"
    for file in ("run.json", "results.json"):
        shutil.copyfile(made / "before" / "plain" / file, run / file)
    content = json.loads((run / name).read_text())
    place = data.draw(st.sampled_from(sorted(places(content), key=repr)))
    (run / name).write_text(json.dumps(replaced(content, place, value)))
    if name == "results.json":
        record = json.loads((run / "run.json").read_text())
        record["sha256"][name] = hashlib.sha256((run / name).read_bytes()).hexdigest()
        (run / "run.json").write_text(json.dumps(record))
    found = [one.id for one in Runs(root).all()]
    assert send(app, "/").status == 200
    assert send(app, f"/runs/{Runs(root).id(run.resolve())}").status < BROKEN
    assert send(app, "/compare", query="&".join(f"run={one}" for one in found)).status < BROKEN
