"""Released corpora are fetched by one command alone, whole and with the right checksum, or not at all."""

import hashlib
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from evenhand import BadInput, datasets
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.datasets.corpora import texts
from evenhand.datasets.files import releases
from evenhand.errors import DataNotFound, UnknownName

TEXT = b"ID\tText\n1\tHello.\n"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """A web server with one file of a release, and its address."""
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "gap-test.tsv").write_bytes(TEXT)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path / "web")) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{serving.server_port}"
        serving.shutdown()
        thread.join()


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing at hand: no EVENHAND_DATA, and an empty cache."""
    monkeypatch.delenv("EVENHAND_DATA", raising=False)
    monkeypatch.setattr(releases, "cache", lambda: tmp_path / "cache")
    return tmp_path / "cache"


def released(base: str, sha256: str) -> releases.Release:
    return releases.Release("gap", base, {"gap-test.tsv": sha256}, "none", "Nobody 2020")


def test_a_fetched_corpus_is_found_where_it_was_put(
    server: str, bare: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(releases.RELEASES, "gap", released(server, hashlib.sha256(TEXT).hexdigest()))
    monkeypatch.setitem(texts.RELEASED, "gap", (Path("gap"), ("gap-test.tsv",), "the release"))
    with pytest.raises(BadInput, match="fetch gap"):
        list(texts.documents("gap"))
    assert run_command(app, ["datasets", "fetch", "gap"]) == 0
    assert "Nobody 2020" in capsys.readouterr().out
    assert list(texts.documents("gap")) == ["Hello."]


def test_a_file_with_another_checksum_is_refused_and_not_kept(
    server: str, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(releases.RELEASES, "gap", released(server, "0" * 64))
    with pytest.raises(BadInput, match="checksum"):
        releases.fetch("gap")
    assert not [path for path in bare.rglob("*") if path.is_file()]


def test_a_file_that_is_not_there_is_said_to_be_missing(
    server: str, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(releases.RELEASES, "gap", released(f"{server}/nowhere", "0" * 64))
    with pytest.raises(BadInput, match="404"):
        releases.fetch("gap")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        *((name, rf"fetch {name}\. .*DATA/{name}/") for name in ("gest", "winobias", "winogender", "stereoset")),
        *((f"crows-pairs{end}", rf"fetch crows-pairs{end}\. .*DATA/crows-pairs/") for end in ("", "-fr", "-nl")),
        *((name, rf"fetch {name}\. Or put .*weat6.jsonl under EVENHAND_DATA/seat/") for name in ("weat", "seat")),
        ("bbq-ambiguous", "fetch bbq"),
        ("bbq-ambiguous-ca", r"fetch cabbq\. .*data_ca/Gender.full.csv under EVENHAND_DATA/cabbq"),
        ("bbq-disambiguated-ko", "fetch kobbq"),
        ("mbbq-ambiguous-tr", "no licence.*Gender_identity_tr.jsonl under EVENHAND_DATA/mbbq"),
        ("mbbq-control-disambiguated-es", "Gender_identity_control_es.jsonl"),
        ("gerbbq-ambiguous", "no licence.*GerBBQ.csv"),
        ("nli-coal-zh", "fetch nli-coal-zh.*EVENHAND_DATA/nli-coal"),
    ],
)
def test_loading_never_downloads_but_says_how_to(name: str, says: str, shelf: Path) -> None:
    with pytest.raises(DataNotFound, match=says):
        datasets.load(name)


def test_a_slip_in_the_name_of_a_release_gets_a_suggestion(bare: Path) -> None:
    with pytest.raises(UnknownName, match="'nli-coal-en'"):
        releases.fetch("nli-coal-eng")


def test_what_states_no_licence_is_never_downloaded(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(releases.RELEASES, "gap", released("", hashlib.sha256(TEXT).hexdigest()))
    with pytest.raises(BadInput, match="no licence.*EVENHAND_DATA/gap/ yourself"):
        releases.fetch("gap")
    with pytest.raises(BadInput, match="no licence.*EVENHAND_DATA/gap/"):
        releases.find_release("gap", "test")


def test_checksums_are_those_of_the_released_files(data: Path) -> None:
    at_hand = [release for release in releases.RELEASES.values() if (data / release.folder).is_dir()]
    assert len(at_hand) >= 17
    for release in at_hand:
        for path, sha256 in release.files.items():
            content = (data / release.folder / path).read_bytes()
            copies = content, content.replace(b"\r\n", b"\n")  # a copy may have other ends of lines
            assert sha256 in [hashlib.sha256(copy).hexdigest() for copy in copies]
