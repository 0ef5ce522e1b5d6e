"""Imports go down only, folders do not circle, and torch stays where models are."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import evenhand

SOURCE = Path(evenhand.__file__).parent
RANKS = [  # low to high; what stands in a row may import from lower rows only
    {"errors", "stats"},
    {"core"},
    {"measures", "models"},
    {"datasets", "distributed"},
    {"runs"},
    {"analysis", "formats", "mitigation", "plugins", "suites", "training"},
    {"checks", "gate"},
    {"report"},
    {"auditing", "web"},
    {"integrations", "studies", "testing"},
    {"cli"},
    {"__main__"},
]
RANK = {name: rank for rank, row in enumerate(RANKS) for name in row}
HEAVY = {"torch", "transformers", "tokenizers", "safetensors", "huggingface_hub", "accelerate", "peft", "ray"}
MAY_IMPORT_HEAVY = {
    "distributed",
    "formats.eval_results",  # the Hub's own classes
    "integrations.trainer",  # a callback of transformers
    "models.loading",
    "models.networks",
    "training",
}
BEHIND_A_RUN = {"auditing", "checks", "datasets", "measures", "models", "suites"}
"""What the report and the exports must not see: whatever they show is in the run folder."""


@cache
def modules() -> dict[str, frozenset[str]]:
    """Every module, by its name within the package, and what it imports: inside functions, too."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name:  # the package itself lists everything, lazily
            found[name] = frozenset(_imported(ast.parse(path.read_text(encoding="utf-8"))))
    return found


def _imported(tree: ast.Module) -> Iterator[str]:
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def own(name: str) -> str | None:
    """The module of ours that an imported name belongs to."""
    parts = name.split(".")
    if parts.pop(0) != "evenhand":
        return None
    while parts and ".".join(parts) not in modules():
        parts.pop()
    return ".".join(parts) or None


def below(module: str) -> set[str]:
    return {found for name in modules()[module] if (found := own(name)) and found != module}


def children(folder: tuple[str, ...]) -> dict[str, set[str]]:
    """The files and folders in a folder, and which of the others each of them imports from."""
    depth = len(folder)
    found: dict[str, set[str]] = {}
    for module in modules():
        parts = tuple(module.split("."))
        if parts[:depth] != folder or len(parts) == depth:
            continue
        targets = [tuple(other.split(".")) for other in below(module)]
        inside = {target[depth] for target in targets if target[:depth] == folder and len(target) > depth}
        found.setdefault(parts[depth], set()).update(inside - {parts[depth]})
    return found


FOLDERS = sorted({tuple(name.split(".")[:depth]) for name in modules() for depth in range(name.count(".") + 1)})


def test_the_top_level_is_ranked_and_small() -> None:
    top = {path for path in SOURCE.iterdir() if path.is_dir() and (path / "__init__.py").exists()}
    loose = set(SOURCE.glob("*.py"))
    assert {path.stem for path in top | loose} - {"__init__"} == set(RANK)
    assert len(loose) <= 6
    assert len(RANKS) <= 12


def test_the_design_has_a_row_for_each_folder_with_its_rank() -> None:
    page = (Path(__file__).parents[1] / "docs" / "design.md").read_text(encoding="utf-8")
    rows = {name: int(rank) for rank, name in re.findall(r"^\| (\d+) \| `(\w+)(?:/|\.py)`", page, re.M)}
    assert rows == {name: rank for name, rank in RANK.items() if name != "__main__"}


def test_the_idea_and_the_tree_fit_on_a_screen() -> None:
    page = (Path(__file__).parents[1] / "docs" / "design.md").read_text(encoding="utf-8")
    screen = page.partition("### Where new things go")[0].splitlines()
    assert len(screen) <= 60
    assert max(map(len, screen)) <= 150


@pytest.mark.parametrize("name", sorted(RANK))
def test_imports_go_down_only(name: str) -> None:
    for other in children(())[name]:
        assert RANK[other] < RANK[name], f"{name} may not import {other}"


@pytest.mark.parametrize("folder", FOLDERS, ids=".".join)
def test_what_is_in_a_folder_does_not_import_in_circles(folder: tuple[str, ...]) -> None:
    left = children(folder)
    while free := [name for name, needs in left.items() if not needs & set(left)]:
        for name in free:
            del left[name]
    assert not left


def test_inner_imports_are_seen() -> None:
    """An import inside a function counts: most heavy ones are there."""
    tree = ast.parse("def f():\n    from evenhand.models import load\nif TYPE_CHECKING:\n    import torch")
    assert list(_imported(tree)) == ["evenhand.models.load"]


@pytest.mark.parametrize("module", sorted(modules()))
def test_torch_stays_where_models_are(module: str) -> None:
    if not any(module == name or module.startswith(f"{name}.") for name in MAY_IMPORT_HEAVY):
        assert not {name.split(".")[0] for name in modules()[module]} & HEAVY


@pytest.mark.parametrize("folder", ["report", "formats"])
def test_what_shows_a_run_reads_the_folder_and_nothing_behind_it(folder: str) -> None:
    assert not children(())[folder] & BEHIND_A_RUN


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_files_are_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 320


@pytest.mark.parametrize(
    "code", ["import evenhand", "import evenhand.cli.app", "from evenhand.models.loading.names import find"]
)
def test_light_imports_load_nothing_heavy(code: str) -> None:
    heavy = HEAVY | {"pandas", "scipy"}
    check = f"{code}; import sys; loaded = set(sys.modules) & {heavy!r}; sys.exit(str(loaded) if loaded else 0)"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_one_module_alone_reaches_upwards_by_name() -> None:
    """`core.shown` finds what draws an object; elsewhere, an import that is a string would go unseen here."""
    paths = [path for path in SOURCE.rglob("*.py") if 'import_module(f"evenhand' in path.read_text(encoding="utf-8")]
    assert {str(path.relative_to(SOURCE)) for path in paths} == {"__init__.py", "core/shown.py"}
    asking = {name for name, imported in modules().items() if "evenhand.core.shown.from_above" in imported}
    assert asking == {"runs.folder"}
