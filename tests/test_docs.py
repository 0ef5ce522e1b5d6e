"""What the docs show is true."""

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import evenhand

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert "://" in target or (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_examples_run_offline(example: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(example)], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_example_in_the_docs_is_the_file_and_prints_what_it_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "extend.md").read_text(encoding="utf-8")
    example = ROOT / "examples" / "02_own_measure.py"
    code, printed = re.findall(r"```(?:python)?\n(.*?)```", page, re.S)
    assert code == example.read_text(encoding="utf-8")
    done = subprocess.run([sys.executable, str(example)], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == printed


def test_the_readme_names_every_command() -> None:
    from evenhand.cli.app import app

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for command in app.registered_commands:
        assert command.callback
        assert f"evenhand {command.name or command.callback.__name__}" in readme
    for group in app.registered_groups:
        assert f"evenhand {group.name}" in readme


def test_every_python_of_the_classifiers_is_tested_with_the_cpu_build_of_torch() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [line.rpartition(" ")[2] for line in project["classifiers"] if "Python :: 3." in line]
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert f"python: {json.dumps(named)}\n" in workflow
    assert re.search(r"^  PIP_EXTRA_INDEX_URL: \S+/whl/cpu$", workflow, re.M)


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
