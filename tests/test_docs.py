"""What the docs show is true."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
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
        assert f"evenhand {command.name or command.callback.__name__}" in readme
    for group in app.registered_groups:
        assert f"evenhand {group.name}" in readme


def test_constraints_pin_everything_exactly_torch_too() -> None:
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert re.search(r"^torch==2\.13\.0$", constraints, re.M)
    for line in constraints.splitlines():
        assert line.startswith("#") or re.fullmatch(r"[\w.-]+==[\w.+]+", line), line
