"""What the docs show is true. Of what commands print, the audit of README is run here, and the rest in the proof."""

import json
import re
import sys
import tomllib
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import evenhand
from evenhand.analysis.change import COLUMNS
from evenhand.cli.app import app
from evenhand.cli.terminal import run
from evenhand.models import engines
from helpers import scripts
from helpers.blocks import EXTEND, assert_shows, blocks

sys.path.insert(0, str(Path(__file__).parent.parent))

from tools import printed

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
EXAMPLES = sorted((ROOT / "examples").glob("0[13]_*.py"))
"""The second is a block of docs/extend.md, whose test runs it. Others train models for a minute: the tests of the
callback and of `track` run them."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert "://" in target or (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.fixture
def values_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No doctor before an audit, no page after it, no perplexity of a debiasing: slow, and no block shows them."""
    monkeypatch.setattr("evenhand.auditing.measuring.preflight", lambda *_: ())
    monkeypatch.setattr("evenhand.show.page.runs.write", lambda runs, path: path.touch())
    monkeypatch.setattr("evenhand.calls.debias._held_out_answers", lambda *_: [])


@pytest.mark.proof
@pytest.mark.usefixtures("values_alone")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_examples_run_offline(example: Path, tmp_path: Path) -> None:
    assert scripts.script(example, tmp_path)


@pytest.mark.proof
@pytest.mark.usefixtures("values_alone")
@pytest.mark.parametrize("number", range(6))
def test_the_code_of_extending_runs_and_prints_what_it_says(number: int, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "extend.md").read_text(encoding="utf-8")
    blocks = list(EXTEND.finditer(page))
    assert len(blocks) == 6
    if number == 2:
        assert blocks[2]["code"] == (ROOT / "examples" / "02_own_measure.py").read_text(encoding="utf-8")
    shown, now = blocks[number]["printed"].split(), scripts.code(blocks[number]["code"], tmp_path).split()
    assert len(shown) == len(now)
    for word, other in zip(shown, now, strict=True):
        assert word == other or float(word) == pytest.approx(float(other), abs=0.011)


@pytest.mark.usefixtures("values_alone")
def test_the_code_of_contributing_is_short_and_runs_and_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(engines.ENGINES, "letters", engines.ENGINES["openai"])  # it adds this one: gone after the test
    blocks = list(EXTEND.finditer((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")))
    assert len(blocks) == 5
    for block in blocks:
        lines = [line for line in block["code"].splitlines() if line and not line.startswith(("import ", "from "))]
        assert len(lines) <= 11
    whole = "print()\n".join(block["code"] for block in blocks)
    shown = [block["printed"].split() for block in blocks]
    assert [part.split() for part in scripts.code(whole, tmp_path).split("\n\n")] == shown


def test_the_page_of_comparisons_explains_every_column() -> None:
    columns = section("compare.md", "## Columns", "## Up, down")
    assert [name for name in ("run", *COLUMNS) if f"`{name}`" not in columns] == []


def test_the_page_of_commands_names_each_of_them() -> None:
    commands = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    for command in app.registered_commands:
        assert command.callback
        assert f"evenhand {command.name or command.callback.__name__}" in commands
    for group in app.registered_groups:
        assert f"evenhand {group.name}" in commands


def test_the_readme_installs_the_pinned_torch_and_names_every_extra() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pin = re.search(r"^torch==\S+", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.M)
    assert pin is not None
    assert f"pip install {pin[0]} --index-url" in readme  # with another version, the next line would replace it
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    named = re.findall(r"`([\w-]+)`", readme[readme.index("Extras for") :].partition("\n")[0])
    assert sorted(named) == sorted(set(extras) - {"bench", "check", "docs", "test"})


def test_every_python_of_the_classifiers_is_checked_and_tested_with_the_cpu_build_of_torch() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [line.rpartition(" ")[2] for line in project["classifiers"] if "Python :: 3." in line]
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert re.findall(r"python: (\[.*\])", workflow) == [json.dumps(named)]
    assert re.findall(r"- run: make (\w+)", workflow) == ["check", "browser", "test", "proof"]
    assert re.search(r"^  PIP_EXTRA_INDEX_URL: \S+/whl/cpu$", workflow, re.M)


@dataclass(frozen=True)
class Audited:
    """What an audit printed, and its numbers: values with their intervals."""

    printed: str
    folder: Path

    def has(self, value: float, low: float, high: float) -> bool:
        """Whether it printed these, up to their two decimals."""
        return any(np.allclose((value, low, high), found, rtol=0, atol=0.0076) for found in estimates(self.printed))


def estimates(text: str) -> list[tuple[float, ...]]:
    """Every value that stands before its interval, "-0.26 [-0.53, -0.04]", or before the ends of it in columns."""
    number = r"([+-]\d+\.\d+)"
    found = re.findall(rf"{number}\s+\[{number}, {number}\]|{number} +{number} +{number}\b", text)
    return [tuple(float(part) for part in parts if part) for parts in found]


@pytest.fixture(scope="module")
def becpro(tmp_path_factory: pytest.TempPathFactory) -> Audited:
    folder = tmp_path_factory.mktemp("audited")
    short = scripts.command("COLUMNS=100 evenhand audit mini-en --suite becpro", folder)
    return Audited(f"{short}\n\n{scripts.command('evenhand show runs/mini-en --full', folder)}", folder)


def test_the_readme_shows_what_an_audit_prints(becpro: Audited) -> None:
    block = printed.BLOCK.search((ROOT / "README.md").read_text(encoding="utf-8"))
    assert block is not None
    assert block["command"] == "COLUMNS=100 evenhand audit mini-en --suite becpro"
    assert_shows(block["text"], becpro.printed)


@pytest.mark.proof
@pytest.mark.usefixtures("data")
def test_the_readme_shows_the_papers_numbers_as_the_commands_print_them(tmp_path: Path) -> None:
    block = list(printed.BLOCK.finditer((ROOT / "README.md").read_text(encoding="utf-8")))[1]
    assert printed.part(printed.printed(block["command"], tmp_path), block["text"]) == block["text"]


@pytest.mark.proof
@pytest.mark.usefixtures("values_alone")
def test_the_page_of_the_gate_shows_that_the_bundled_model_passes_the_example_policy(tmp_path: Path) -> None:
    block = printed.BLOCK.search((ROOT / "docs" / "gate.md").read_text(encoding="utf-8"))
    assert block is not None
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    audit, gate = re.split(" > audit.txt && ", block["command"])
    scripts.command(audit, tmp_path)
    assert_shows(block["text"], scripts.command(gate, tmp_path))


@pytest.mark.proof
@pytest.mark.usefixtures("values_alone")
@pytest.mark.parametrize("number", range(2))
def test_the_page_of_vectors_shows_what_an_audit_prints(number: int, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "vectors.md").read_text(encoding="utf-8")
    block = list(printed.BLOCK.finditer(page))[number]
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    assert_shows(block["text"], scripts.command(block["command"], tmp_path))


def test_the_page_of_vectors_shows_the_file_of_the_example() -> None:
    page = (ROOT / "docs" / "vectors.md").read_text(encoding="utf-8")
    shown = page.partition("```toml\n")[2].partition("```")[0]
    assert tomllib.loads(shown) == tomllib.loads((ROOT / "examples" / "interests.toml").read_text(encoding="utf-8"))


@pytest.mark.proof
def test_the_table_for_a_paper_is_what_is_exported(becpro: Audited) -> None:
    now = scripts.command("evenhand export runs/mini-en --as latex", becpro.folder)
    (shown,) = blocks("tutorials/paper.md")
    assert_shows(shown, now)
    kept = (ROOT / "docs" / "gallery" / "table.tex").read_text(encoding="utf-8")
    assert kept.endswith(f"{shown}\n")


@pytest.mark.proof
def test_the_page_in_the_gallery_is_one_that_an_audit_leaves(becpro: Audited) -> None:
    """If this fails, run `python -m tools.gallery`."""
    pages = [becpro.folder / "runs" / "mini-en" / "report.html", ROOT / "docs" / "gallery" / "audit.html"]
    now, kept = (page.read_text(encoding="utf-8") for page in pages)
    for part in (r' id="([^"]+)"', r"<h[1-4][^>]*>(.*?)</h[1-4]>"):
        assert re.findall(part, kept, re.S) == re.findall(part, now, re.S)


@pytest.mark.proof
@pytest.mark.parametrize(
    ("page", "begin", "end", "n"),
    [
        ("talking-about-scores.md", "Say the interval", "Say the version", 1),
        ("reproduce.md", "### Before fine-tuning", "### After fine-tuning", 9),
    ],
)
def test_what_docs_say_of_the_bundled_model_is_what_an_audit_prints(
    becpro: Audited, page: str, begin: str, end: str, n: int
) -> None:
    said = estimates(section(page, begin, end))
    assert len(said) == n
    assert [found for found in said if not becpro.has(*found)] == []


def section(page: str, begin: str, end: str) -> str:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return text[text.index(begin) : text.index(end)]


@pytest.mark.proof
def test_what_docs_say_of_german_is_what_an_audit_prints(models: Path, tmp_path: Path) -> None:
    text = section("reproduce.md", "    evenhand audit mini-de", "### Known departures")
    command = text.splitlines()[0].strip().replace("mini-de", str(models / "mini-de"))
    printed.printed(command, tmp_path)
    audited = Audited(printed.printed("evenhand show runs/mini-de --full", tmp_path), tmp_path)
    said = estimates(text)
    assert len(said) == 14
    assert [found for found in said if not audited.has(*found)] == []


def test_the_lines_that_docs_show_of_the_doctor_are_printed_by_it(
    models: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run(app, ["doctor", str(models / "mini-de"), "--lang", "en"]) == 1
    printed_lines = {line.strip() for line in capsys.readouterr().out.splitlines()}
    shown = section("doctor.md", " check  ", "```\n\n(a part").splitlines()
    assert [line for line in shown if line.strip() not in printed_lines] == []


@pytest.mark.proof
@pytest.mark.parametrize("number", [0, 1])  # the third takes minutes
def test_replications_are_what_the_command_prints(data: Path, number: int, tmp_path: Path) -> None:
    block = list(printed.BLOCK.finditer((ROOT / "docs" / "replications.md").read_text(encoding="utf-8")))[number]
    assert printed.part(printed.printed(block["command"], tmp_path), block["text"]) == block["text"]


def test_two_pages_tell_of_the_same_debiasing() -> None:
    block = printed.BLOCK.search((ROOT / "docs" / "compare.md").read_text(encoding="utf-8"))
    assert block is not None
    table = (ROOT / "docs" / "mitigation.md").read_text(encoding="utf-8")
    for kind in ("occupation", "hostile", "benevolent"):
        numbers = re.findall(rf"^ {kind} +(\S+) +(\S+) +(\S+) +\[(\S+), (\S+)\]", block["text"], re.M)[0]
        row = re.findall(rf"^\| ASLD, {kind} \| (\S+) \| (\S+) \| (\S+) \[(\S+), (\S+)\]", table, re.M)[0]
        assert [float(shown) for shown in row] == pytest.approx([float(number) for number in numbers], abs=0.0051)


def test_a_block_is_written_again_with_what_its_command_prints_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    block = "<!-- printed by: evenhand x -->\n```\na b c 1\n\nd 1\n```\n"
    page.write_text(f"Before.\n\n{block}\nAfter, a b c 1.\n{block.replace(' x ', ' y ')}")
    monkeypatch.setattr(sys, "argv", ["printed.py", str(page)])

    def now(command: str, folder: Path) -> str:
        assert (folder / "examples" / "policy.toml").is_file()
        return f"{command}\n\na b c {command[-1]}  \n   \nd 2\n\ne 2\n"

    monkeypatch.setattr(printed, "printed", now)
    printed.main()
    block = block.replace("d 1", "d 2")
    one, other = (block.replace(" x ", f" {name} ").replace("c 1", f"c {name}") for name in "xy")
    assert page.read_text() == f"Before.\n\n{one}\nAfter, a b c 1.\n{other}"


OLD_WORDS = re.compile(r"\b(alike|pieces?|portions?|trail)\b", re.I)
"""Words of ours where the field has others: equal or the same, token, chunk, edit log."""
QUOTED = re.compile(r"```.*?```|<!-- written by .*?<!-- to here -->|^    .*?$|`[^`\n]*`", re.S | re.M)
"""Code, and what a benchmark wrote at its time."""


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=lambda page: page.name)
def test_docs_use_the_words_of_the_field(page: Path) -> None:
    prose = QUOTED.sub("", page.read_text(encoding="utf-8"))
    assert OLD_WORDS.findall(prose) == []


def test_the_table_of_the_meta_evaluation_is_what_scorecards_say_of_measures() -> None:
    lines = (ROOT / "docs" / "metaeval.md").read_text(encoding="utf-8").splitlines()
    kept = ROOT / "src" / "evenhand" / "analysis" / "data" / "followed.tsv"
    for row in pd.read_csv(kept, sep="\t", comment="#").itertuples():
        (line,) = [line for line in lines if re.match(rf"\| {row.measure}( \||, towards| \(mean| \(ASLD| \(d,)", line)]
        pearson, spearman = line.split(" | ")[1:3]
        assert estimates(pearson) == [(row.pearson, row.pearson_low, row.pearson_high)]
        assert float(spearman.split()[0]) == row.spearman


def pins() -> list[Requirement]:
    """The lines of constraints.txt, in their order."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


PINNED = {canonicalize_name(pin.name): pin for pin in pins()}


def version_of(pin: Requirement) -> str:
    (one,) = pin.specifier
    return one.version


def requirements() -> list[Requirement]:
    """Everything that pyproject.toml asks for, whether always or in an extra; not our own extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    found = [Requirement(line) for line in [*project["dependencies"], *extras]]
    return [requirement for requirement in found if canonicalize_name(requirement.name) != project["name"]]


def test_every_pin_is_exact_and_there_is_one_for_each_package() -> None:
    for pin in pins():
        assert [one.operator for one in pin.specifier] == ["=="], str(pin)
        assert not version_of(pin).endswith("*"), str(pin)
    assert len(PINNED) == len(pins())


@pytest.mark.parametrize("requirement", requirements(), ids=str)
def test_what_is_required_is_pinned_to_a_version_that_will_do(requirement: Requirement) -> None:
    pin = PINNED[canonicalize_name(requirement.name)]
    assert requirement.specifier.contains(version_of(pin), prereleases=True), f"{pin} is not {requirement}"


def test_what_is_installed_here_is_what_is_pinned() -> None:
    """Otherwise these tests are of another set than the one that a fresh machine gets."""
    here = {canonicalize_name(found.name): found.version for found in distributions()}
    assert len(set(here) & set(PINNED)) > len(PINNED) / 2
    for name in set(here) & set(PINNED):  # a build of the pinned version, as 2.13.0+cpu, is that version
        assert PINNED[name].specifier.contains(here[name], prereleases=True), f"{PINNED[name]}, but here {here[name]}"


def test_torch_is_pinned_first_since_it_decides_the_build() -> None:
    assert pins()[0].name == "torch"


def test_the_version_is_the_same_wherever_it_stands() -> None:
    base = evenhand.__version__.partition(".dev")[0]
    assert f"version: {evenhand.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    first = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert first is not None
    assert first[1] == base
