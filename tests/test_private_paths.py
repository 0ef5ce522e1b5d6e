"""What people publish does not name their home folder, wherever their files are and however they are given."""

from pathlib import Path

import pytest

import evenhand
from evenhand import BadInput
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.core.files import public_path
from evenhand.formats import FORMATS
from evenhand.web.listing import Runs
from evenhand.web.server import application
from helpers import tiny
from helpers.audited_runs import audited, pairs
from helpers.served import send
from helpers.template_files import BLANKS, TEMPLATES

pytestmark = pytest.mark.usefixtures("without_pages")

USER = "jane-doe-of-hers"
EXTRA = {"every-eval-ever": "--organization me", "eval-results": "--hub mine=me/data"}
POLICY = '[[rule]]\nmeasure = "association"\ndataset = "mine"\nwithin = 9.0\n'


@pytest.fixture(params=["in the home folder", "elsewhere"])
def here(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, and a home folder with data."""
    home = tmp_path / "homes" / USER
    folder = home / "project" if request.param == "in the home folder" else tmp_path / "work"
    for made in (home / "data", folder):
        made.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(folder)
    data = home / "data"
    pairs(data, 30)
    (data / "mine.toml").write_text(TEMPLATES)
    (data / "jobs.toml").write_text(BLANKS)
    (data / "policy.toml").write_text(POLICY)
    (data / "corpus.txt").write_text("".join(f"He told her that his {i} hats were old.\n" for i in range(20)))
    (data / "words.txt").write_text("hats\n")
    tiny.save("roberta", data / "tiny")
    tiny.save("roberta", data / "later", layer_norm_eps=0.5)
    return folder


def leaks(folder: Path) -> list[str]:
    return [str(file) for file in folder.rglob("*") if file.is_file() and USER.encode() in file.read_bytes()]


@pytest.mark.usefixtures("log_as_before", "pages")
@pytest.mark.parametrize("here", ["in the home folder"], indirect=True)  # paths of outputs go through it, too
def test_no_output_names_the_home_folder(
    here: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = Path.home() / "data"
    model, policy = str(data / "tiny"), str(data / "policy.toml")

    def command(line: str, *more: str) -> int:
        return run_command(app, [*line.split(), *more])

    own = [
        "--templates",
        str(data / "mine.toml"),
        "--templates",
        str(data / "jobs.toml"),
        "--pairs",
        "~/data/pairs.csv",
    ]
    assert command("audit", model, *own, "--gate", policy, "--junit", "junit.xml") in (0, 1, 3)
    monkeypatch.setattr("evenhand.auditing.measuring.preflight", lambda *_: ())  # the same findings with each audit
    for to in FORMATS:
        assert command(f"export runs/tiny --as {to} --out exported-{to} {EXTRA.get(to, '')}") == 0
    assert command("gate runs/tiny --junit again.xml --policy", policy) in (0, 1, 3)
    files = [f"--file={data / name}" for name in ("mine.toml", "jobs.toml", "pairs.csv")]
    assert command("rescore runs/tiny", *files) == 0
    assert command("report --out page.html", str(here / "runs" / "tiny")) == 0
    assert command("show runs/tiny") == 0
    assert command("debias --out less --limit 10 --suite emotions", model, "--corpus", str(data / "corpus.txt")) == 0
    (data / "scores.txt").write_text("0.5\n" * 30)
    mine = ["--dataset", "pairs", "--measure", "likelihood-lean", "--option", f"file={data / 'pairs.csv'}"]
    assert command("import --out imported", str(data / "scores.txt"), *mine) == 0
    assert command("corpus --out counted", str(data / "corpus.txt"), "--words", str(data / "words.txt")) == 0
    assert command("track --out curve --limit 10", model, str(data / "later"), "--pairs", str(data / "pairs.csv")) == 0
    assert command("audit --suite emotions --limit 4 --out logged --verbose --log-file all.log", model) == 0
    printed = "".join(capfd.readouterr())
    assert "questions" in (here / "all.log").read_text()
    assert (here / "less" / "model" / "README.md").exists()
    assert [line for line in printed.splitlines() if USER in line] == []
    assert leaks(here) == []


@pytest.mark.usefixtures("pages")
def test_no_page_of_the_server_names_the_home_folder(here: Path) -> None:
    run = audited(here, "plain", 0.5, Path.home() / "data" / "pairs.csv")
    broken = here / "runs" / "broken"
    broken.mkdir()
    (broken / "run.json").write_text("{")
    app = application(run.path.parent)
    empty = application(Path.home() / "nothing")
    pages = [send(app, "/"), send(empty, "/"), *(send(app, f"/runs/{one.id}") for one in Runs(run.path.parent).all())]
    assert sorted(page.status for page in pages) == [200, 200, 200, 422]
    assert [line for page in pages for line in page.text.splitlines() if USER in line] == []
    assert leaks(run.path) == []


def test_a_run_is_scored_again_with_a_file_that_is_elsewhere(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = Path.home() / "data" / "pairs.csv"
    run = audited(here, "plain", 0.5, file)
    (tmp_path / "third").mkdir()
    monkeypatch.chdir(tmp_path / "third")
    found = evenhand.rescore(run.path, file=file)
    assert found.results == run.results
    assert found.record.tasks[0].dataset_options == run.record.tasks[0].dataset_options
    moved = file.rename(tmp_path / "third" / "moved.csv")
    with pytest.raises(BadInput, match="pairs.csv.*`file`"):
        evenhand.rescore(run.path)
    with pytest.raises(BadInput, match="pairs.csv"):  # of another name
        evenhand.rescore(run.path, file=moved)
    moved.rename(tmp_path / "third" / "pairs.csv")
    assert evenhand.rescore(run.path).results == run.results  # by its name, in the current folder


def test_a_run_made_with_a_relative_file_is_scored_again_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    pairs(tmp_path / "data", 30)
    monkeypatch.chdir(tmp_path)
    run = audited(Path(), "plain", 0.5, Path("data/pairs.csv"))
    assert run.record.tasks[0].dataset_options["file"] == "data/pairs.csv"
    results = run.results
    monkeypatch.chdir("/")
    assert evenhand.rescore(tmp_path / "runs" / "plain").results == results


def test_a_file_of_the_same_name_and_other_content_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("project", "other"):
        (tmp_path / folder).mkdir()
    pairs(tmp_path / "project", 30)
    pairs(tmp_path / "other", 10)
    monkeypatch.chdir(tmp_path / "project")
    results = audited(Path(), "plain", 0.5, Path("pairs.csv")).results
    monkeypatch.chdir(tmp_path / "other")
    assert evenhand.rescore(tmp_path / "project" / "runs" / "plain").results == results


@pytest.mark.parametrize(
    ("folder", "given", "shown"),
    [
        ("homes/me/project", "data/a.csv", "data/a.csv"),
        ("homes/me/project", "../a.csv", "../a.csv"),
        ("homes/me/project", "~/a.csv", "../a.csv"),
        ("homes/me/project", "{}/homes/me/project/data/a.csv", "data/a.csv"),
        ("homes/me/project", "{}/homes/me/data/a.csv", "../data/a.csv"),
        ("homes/me/project", "{}/homes/you/a.csv", "a.csv"),
        ("homes/me/project", "../../you/a.csv", "a.csv"),
        ("homes/me/project", "/data/a.csv", "a.csv"),
        ("homes/me/project", "balanced", "balanced"),
        ("work", "{}/homes/me/a.csv", "a.csv"),
        ("work", "../homes/me/a.csv", "a.csv"),
        ("work", "{}/work/a.csv", "a.csv"),
    ],
)
def test_a_path_is_relative_unless_it_goes_through_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, given: str, shown: str
) -> None:
    (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "homes" / "me"))
    monkeypatch.chdir(tmp_path / folder)
    assert public_path(given.format(tmp_path)) == shown
