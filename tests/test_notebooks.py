"""The notebooks in examples/ run from the first cell to the last, and show what they promise."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import evenhand
from helpers.document import parsed

BOOKS = sorted((Path(__file__).parents[1] / "examples").glob("*.ipynb"))
SHOWN = {
    "audit_and_compare": ["verdict", "value on its scale", "rows moved towards", "gate policy"],
    "own_sentences_and_measure": ["value on its scale", "value on its scale"],
    "swap_and_debias": ["rows moved towards", "value on its scale"],
}
"""What the outputs of ours have, in order."""


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels use this source and one thread each, and look for no network."""
    monkeypatch.setenv("PYTHONPATH", str(Path(evenhand.__file__).parents[1]))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@pytest.mark.usefixtures("quick")
@pytest.mark.filterwarnings("default")  # of the libraries that run notebooks
@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_its_results(path: Path, tmp_path: Path) -> None:
    book: Any = nbformat.read(path, as_version=4)
    NotebookClient(book, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in book.cells for output in cell.get("outputs", ())]
    ours = [html for output in outputs if "evenhand" in (html := output.get("data", {}).get("text/html", ""))]
    told = iter([parsed(html).text for html in ours])
    for words in SHOWN[path.stem]:
        assert any(words in text for text in told), words
    written = "".join(output.text for output in outputs if output.output_type == "stream" and output.name == "stderr")
    bars = {line.partition(":")[0] for line in written.replace("\r", "\n").split("\n") if "/s]" in line}
    assert all(label.split()[0] in ("Examining", "Measuring", "Swapping", "Training") for label in bars), bars


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_its_outputs(path: Path) -> None:
    """They would not be those of the present version, and make the repository large."""
    book: Any = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    assert not [cell for cell in book.cells if cell.get("outputs") or cell.get("execution_count")]
