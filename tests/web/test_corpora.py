"""Corpora in the server: listed with their shares, opened with the page that they have, and nothing else."""

import json
import math
from pathlib import Path

import pytest
from starlette.types import ASGIApp

from evenhand.cli.app import app as command
from evenhand.cli.terminal import run as run_command
from evenhand.web.listing import Runs
from evenhand.web.server import application
from helpers.document import parsed
from helpers.served import copied, send


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    (folder / "news.txt").write_text("\n\n".join(["She left early."] * 20 + ["He stayed."] * 4))
    assert run_command(command, ["corpus", str(folder / "news.txt"), "--out", str(folder / "runs" / "news")]) == 0
    return folder / "runs"


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    return copied(made, tmp_path / "runs")


@pytest.fixture
def app(root: Path) -> ASGIApp:
    return application(root)


def corpus(root: Path) -> str:
    return Runs(root).id(root.resolve() / "news")


def test_corpora_are_listed_with_their_shares_and_opened(app: ASGIApp, root: Path) -> None:
    page = parsed(send(app, "/").text)
    (row,) = page.one("tbody").all("tr")
    text = " ".join(row.text.split())
    assert text.startswith("news.txtnews news.txt: 83.3 % [")
    assert "● more women, 24 documents" in text
    opened = send(app, f"/corpora/{corpus(root)}")
    assert opened.status == 200
    assert "It speaks more of women" in opened.text
    assert "All runs" in opened.text
    assert "sandbox allow-scripts" in opened.header("content-security-policy")
    assert send(app, "/corpora/none").status == 404


def test_a_page_that_could_do_something_is_not_shown(app: ASGIApp, root: Path) -> None:
    page = root / "news" / "report.html"
    page.write_text(page.read_text().replace("default-src ", "default-src * "))
    refused = send(app, f"/corpora/{corpus(root)}")
    assert refused.status == 422
    assert "has no page of this version" in refused.text
    page.unlink()
    assert send(app, f"/corpora/{corpus(root)}").status == 422


@pytest.mark.parametrize("text", ["", "{", "[]", '{"corpora": {"a": {}}, "counted": "x"}', '{"corpora": 3}'])
def test_damaged_counts_are_named_and_hurt_nothing_else(app: ASGIApp, root: Path, text: str) -> None:
    (root / "news" / "corpus.json").write_text(text)
    assert "corpus.json cannot be read" in send(app, "/").text


def test_a_number_of_documents_that_is_none_hurts_nothing_else(app: ASGIApp, root: Path) -> None:
    path = root / "news" / "corpus.json"
    data = json.loads(path.read_text())
    next(iter(data["corpora"].values()))["documents"] = math.inf
    path.write_text(json.dumps(data))
    assert "corpus.json cannot be read" in send(app, "/").text


def test_links_out_of_the_folder_are_not_followed(app: ASGIApp, root: Path) -> None:
    (root / "news" / "corpus.json").unlink()
    (root.parent / "secret.json").write_text('{"secret": 1}')
    (root / "news" / "corpus.json").symlink_to(root.parent / "secret.json")
    text = send(app, "/").text
    assert "outside the served folder" in text
    assert "secret" not in text
