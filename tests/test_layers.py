"""Imports go down only, folders do not circle, and torch stays where models are."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import evenhand
from evenhand import measures

SOURCE = Path(evenhand.__file__).parent
RANKS = [  # low to high; what stands in a row may import from lower rows only
    {"_version", "errors", "stats"},
    {"core"},
    {"measures", "models"},
    {"datasets", "distributed"},
    {"runs"},
    {"analysis", "formats", "suites", "text", "training"},
    {"checks", "gate", "mitigation"},
    {"plugins", "show"},
    {"auditing", "run", "web"},
    {"calls"},
    {"integrations", "papers", "testing"},
    {"cli"},
    {"__main__"},
]
MEASURING = {"auditing", "checks", "distributed", "mitigation", "models", "plugins", "suites", "training"}
"""The wing that writes runs."""
READING = {"analysis", "formats", "gate", "show"}
"""The wing that turns their rows into words. What ranks below the wall, `runs`, and is in no wing serves both."""
RANK = {name: rank for rank, row in enumerate(RANKS) for name in row}
HEAVY = {"torch", "transformers", "tokenizers", "safetensors", "huggingface_hub", "accelerate", "peft", "ray"}
MAY_IMPORT_HEAVY = {
    "distributed",
    "formats.eval_results",  # the Hub's own classes
    "integrations.trainer",  # a callback of transformers
    "models.loading",
    "models.networks",
    "models.vectors",  # safetensors' reader of numpy arrays, which needs no torch
    "training",
}
BEHIND_A_RUN = {"datasets", "measures"}
"""What the report and the exports must not see, either: whatever they show is in the run folder."""


def paths() -> dict[str, Path]:
    """The file of every module, by its name within the package; the package itself, which lists everything, is none."""
    files = {path.relative_to(SOURCE).with_suffix(""): path for path in sorted(SOURCE.rglob("*.py"))}
    named = {".".join(file.parent.parts if file.name == "__init__" else file.parts): files[file] for file in files}
    return {name: path for name, path in named.items() if name}


@cache
def modules() -> dict[str, frozenset[str]]:
    """What every module imports: inside functions, too."""
    return {name: frozenset(_imported(ast.parse(path.read_text(encoding="utf-8")))) for name, path in paths().items()}


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "import_module":
            yield from (
                part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)
            )


ROOF = "calls"
"""Where a public name is taken to be from, as `evenhand.audit`: the package loads it from there, or from below."""


def own(name: str) -> str | None:
    """The module of ours that an imported name belongs to."""
    parts = name.split(".")
    if parts.pop(0) != "evenhand":
        return None
    while parts and ".".join(parts) not in modules():
        parts.pop()
    return ".".join(parts) or ROOF


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


FOLDERS = sorted({tuple(name.split(".")[:depth]) for name in paths() for depth in range(name.count(".") + 1)})


def test_the_top_level_is_ranked_and_small() -> None:
    top = {path for path in SOURCE.iterdir() if path.is_dir() and (path / "__init__.py").exists()}
    loose = set(SOURCE.glob("*.py"))
    assert {path.stem for path in top | loose} - {"__init__"} == set(RANK)
    assert len(loose) <= 9
    assert len(RANKS) <= 13


def test_the_design_has_a_row_for_each_folder_with_its_rank() -> None:
    page = (Path(__file__).parents[1] / "docs" / "design.md").read_text(encoding="utf-8")
    found = re.findall(r"^\| (\d+) \| (M|R|) ?\| `(\w+)(?:/|\.py)`", page, re.M)
    assert {name: int(rank) for rank, _, name in found} == {n: rank for n, rank in RANK.items() if n != "__main__"}
    assert {name for _, wing, name in found if wing == "M"} == MEASURING
    assert {name for _, wing, name in found if wing == "R"} == READING


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


@pytest.mark.parametrize("folder", sorted(MEASURING | READING))
def test_a_wing_does_not_import_the_other(folder: str) -> None:
    assert not children(())[folder] & (READING if folder in MEASURING else MEASURING)


@pytest.mark.parametrize(
    "code",
    [
        "def f():\n    from evenhand.models import load",
        "if TYPE_CHECKING:\n    import evenhand.models",
        'import_module("evenhand.models")',
        'importlib.import_module(f"evenhand.models{name}")',
    ],
)
def test_late_imports_are_seen(code: str) -> None:
    """Inside a function, for types alone, by a string: each would hide a circle."""
    assert [own(name) for name in _imported(ast.parse(code))] == ["models"]


@pytest.mark.parametrize("module", sorted(paths()))
def test_torch_stays_where_models_are(module: str) -> None:
    if not any(module == name or module.startswith(f"{name}.") for name in MAY_IMPORT_HEAVY):
        assert not {name.split(".")[0] for name in modules()[module]} & HEAVY


@pytest.mark.parametrize("folder", ["show", "formats"])
def test_what_shows_a_run_reads_the_folder_and_nothing_behind_it(folder: str) -> None:
    assert not children(())[folder] & BEHIND_A_RUN


@pytest.mark.parametrize("folder", sorted(READING))
def test_what_reads_runs_knows_no_measure_by_name(folder: str) -> None:
    """Their words are beside them, and what datasets add to a page comes through `Sections`."""
    names = rf"""["'`]({"|".join(map(re.escape, measures.OURS))})\b"""
    for path in sorted((SOURCE / folder).rglob("*")):
        if path.suffix in (".py", ".toml", ".j2", ".js"):
            code = path.read_text(encoding="utf-8")
            code = re.sub(r"#.*", "", re.sub(r'""".*?"""', "", code, flags=re.S))
            assert not re.findall(names, code), path


def documented() -> dict[str, list[str]]:
    """The modules of docs/extend.md that stay put, and their names."""
    page = (Path(__file__).parents[1] / "docs" / "extend.md").read_text(encoding="utf-8")
    table = page.partition("## Modules that stay put")[2]
    rows = re.findall(r"^\| `evenhand\.(\S+)` \| (.+) \|$", table, re.M)
    return {module: re.findall(r"`(\w+)`", names) for module, names in rows}


@pytest.mark.parametrize("module", sorted(name for name in paths() if name.split(".")[0] == "papers"))
def test_papers_use_what_users_can(module: str) -> None:
    """Public names, the names of modules that stay put, and other papers: no inside of ours."""
    stays, public = documented(), {f"evenhand.{name}" for name in evenhand.__all__}
    allowed = public | {f"evenhand.{name}" for name in stays} | {f"evenhand.{m}.{n}" for m in stays for n in stays[m]}
    for name in modules()[module]:
        home = own(name)
        if home and home.split(".")[0] != "papers":
            assert name in allowed, f"{module} imports {name}"


def test_modules_that_stay_put_have_their_names() -> None:
    for module, names in documented().items():
        for name in names:
            assert hasattr(import_module(f"evenhand.{module}"), name), f"evenhand.{module} has no {name}"


def test_no_module_has_the_name_of_what_its_package_loads_late() -> None:
    """Importing the module would put it in the other's place."""
    for listed in SOURCE.rglob("__init__.pyi"):
        names = set(re.findall(r" as (\w+)$", listed.read_text(encoding="utf-8"), re.M))
        assert not names & {path.stem for path in listed.parent.iterdir()}


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_files_are_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 450


def test_the_whole_is_within_its_budget() -> None:
    """What is new asks first what it can replace: the budget is raised by nothing but a decision in docs/design.md."""
    assert len(list(SOURCE.rglob("*.py"))) <= 253
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCE.rglob("*.py")) <= 41_600


@pytest.mark.parametrize(
    "code", ["import evenhand", "import evenhand.cli.app", "from evenhand.models.loading.names import find"]
)
def test_light_imports_load_nothing_heavy(code: str) -> None:
    heavy = HEAVY | {"pandas", "scipy"}
    check = f"{code}; import sys; loaded = set(sys.modules) & {heavy!r}; sys.exit(str(loaded) if loaded else 0)"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
