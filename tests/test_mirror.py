"""Each module has tests: in the file of its name, in files that import it, or in one that `THROUGH` names."""

import ast
from functools import cache
from pathlib import Path

import pytest

import evenhand

SOURCE, TESTS = Path(evenhand.__file__).parent, Path(__file__).parent
THROUGH = {
    "auditing/test_importing.py": "auditing.importing.row_scores",
    "auditing/test_audit.py": "auditing.askable run",
    "auditing/test_merging.py": "auditing.outcomes auditing.rescoring",
    "calls/test_train_and_measure.py": "training.recipes",
    "datasets/released/test_winobias.py": "datasets.released.blanks",
    "formats/test_export.py": "cli.show",
    "measures/test_weat.py": "measures.directions",
    "measures/test_tpr_gap.py": "auditing.importing.predictions measures.score_gap",
    "models/networks/test_masked.py": "models.networks.mini_en models.planning.masking models.planning.tokens",
    "papers/test_bartl2020.py": "cli.study",
    "runs/test_older_runs.py": "runs.migration",
    "show/page/test_page.py": "show.page",
    "calls/test_corpus.py": "show.corpus",
    "test_own_mitigations.py": "mitigation.base",
    "test_public_names.py": "core.lazy",
    "test_docs.py": "_version",
    "text/test_swap.py": "text.asking",
    "text/test_swap_file.py": "cli.change",
}
"""Modules and folders that a file tests through others. A module with tests of its own needs no row."""


def modules() -> list[str]:
    paths = (path.relative_to(SOURCE) for path in sorted(SOURCE.rglob("*.py")))
    return [".".join(path.with_suffix("").parts) for path in paths if not path.stem.startswith("__")]


@cache
def imported() -> frozenset[str]:
    """What test files import, or name in full in a text, such as what they replace."""
    found = set()
    for file in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
            elif isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.Constant) and str(node.value).startswith("evenhand."):
                found.add(str(node.value).rpartition(".")[0])
    return frozenset(found)


def begins(name: str, module: str) -> bool:
    return name == module or name.startswith(f"{module}.")


def has_tests(module: str) -> bool:
    """By a file of its name, or one that imports it."""
    *folders, name = module.split(".")
    return TESTS.joinpath(*folders, f"test_{name}.py").is_file() or f"evenhand.{module}" in imported()


@pytest.mark.parametrize("module", modules())
def test_each_module_has_tests(module: str) -> None:
    through = (one for listed in THROUGH.values() for one in listed.split())
    assert has_tests(module) or any(begins(module, one) for one in through), (
        f"write tests/{module.replace('.', '/test_')}.py, or add the file that tests {module} to THROUGH"
    )


@pytest.mark.parametrize("file", THROUGH)
def test_each_row_names_a_file_of_tests_and_modules_that_need_it(file: str) -> None:
    assert (TESTS / file).is_file()
    for one in THROUGH[file].split():
        of = [module for module in modules() if begins(module, one)]
        assert of, f"there is no {one}"
        assert not all(map(has_tests, of)), f"{one} has tests of its own: it needs no row"


def test_a_folder_of_tests_has_the_name_of_one_of_the_package() -> None:
    ours = {path.name for path in SOURCE.iterdir() if path.is_dir()}
    assert {path.parent.relative_to(TESTS).parts[0] for path in TESTS.glob("*/**/test_*.py")} - ours == {
        "browser",  # pages in Chromium
        "fuzz",
    }
