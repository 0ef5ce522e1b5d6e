"""Each module has tests: in the file of its name, in files that import it, or in one that `THROUGH` names."""

import ast
from functools import cache
from pathlib import Path

import pytest

import evenhand

SOURCE, TESTS = Path(evenhand.__file__).parent, Path(__file__).parent
THROUGH = {
    "auditing/test_importing.py": "auditing.importing.row_scores auditing.importing.scores",
    "auditing/test_audit.py": "cli.measure run",
    "auditing/test_merging.py": "runs.json_files",
    "calls/test_train_and_measure.py": "papers.barza2023.training training.recipes",
    "datasets/released/test_winobias.py": "datasets.released.blanks",
    "datasets/test_choices.py": "datasets.kinds",
    "formats/test_export.py": "cli.show",
    "measures/test_weat.py": "measures.directions",
    "models/networks/test_first_mention.py": "models.networks.drawing",
    "models/networks/test_masked.py": "models.networks.mini_en models.planning.masking models.planning.tokens",
    "models/networks/test_causal.py": "models.planning.sequences",
    "papers/test_bartl2020.py": "papers.base cli.study",
    "papers/test_nli_labels.py": "papers.sections",
    "papers/test_predictions.py": "papers.nadeem2021 papers.pikuliak2024",
    "runs/test_older_runs.py": "runs.migration",
    "show/page/test_page.py": "show.page",
    "auditing/test_track.py": "show.track",
    "calls/test_corpus.py": "show.corpus show.page.corpus",
    "test_foreign_code.py": "core.foreign",
    "test_own_mitigations.py": "mitigation.base",
    "test_own_sections.py": "core.shown",
    "test_public_names.py": "core.lazy",
    "test_docs.py": "_version",
    "text/test_swap.py": "text.asking",
    "text/test_swap_file.py": "cli.change text.text_files",
    "measures/test_written.py": "papers.written",
    "web/test_app.py": "web.pages",
}
"""Modules and folders that a file tests through others. A module that was joined with another needs no line."""


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


@pytest.mark.parametrize("module", modules())
def test_each_module_has_tests(module: str) -> None:
    *folders, name = module.split(".")
    named = TESTS.joinpath(*folders, f"test_{name}.py").is_file()
    through = (one for listed in THROUGH.values() for one in listed.split())
    assert named or f"evenhand.{module}" in imported() or any(begins(module, one) for one in through), (
        f"write tests/{'/'.join(folders)}/test_{name}.py, or add the file that tests {module} to THROUGH"
    )


@pytest.mark.parametrize("file", THROUGH)
def test_files_of_the_list_are_there(file: str) -> None:
    assert (TESTS / file).is_file()


def test_a_folder_of_tests_has_the_name_of_one_of_the_package() -> None:
    ours = {path.name for path in SOURCE.iterdir() if path.is_dir()}
    assert {path.parent.relative_to(TESTS).parts[0] for path in TESTS.glob("*/**/test_*.py")} - ours == {
        "browser",  # pages in Chromium
        "fuzz",
    }
