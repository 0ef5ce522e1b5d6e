"""The notebooks in examples/ run from the first cell to the last, and show what they promise."""

import ast
import warnings
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


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What the cells of notebooks gave, run one after the other: a kernel for each would import torch again."""
    whole: Any = nbformat.v4.new_notebook()
    begins, ends = [], []
    for path in BOOKS:
        begins.append(len(whole.cells))
        folder = tmp_path_factory.mktemp(path.stem)
        whole.cells += [
            nbformat.v4.new_code_cell(f"%reset -f\n%cd -q {folder}"),
            *nbformat.read(path, as_version=4).cells,
        ]
        ends.append(len(whole.cells))
    with pytest.MonkeyPatch.context() as patch:  # the kernel uses this source and one thread, and looks for no network
        patch.setenv("PYTHONPATH", str(Path(evenhand.__file__).parents[1]))
        patch.setenv("OMP_NUM_THREADS", "1")
        with warnings.catch_warnings():  # of the libraries that run notebooks
            warnings.simplefilter("default")
            NotebookClient(whole, timeout=600).execute()
    return {
        path.stem: [output for cell in whole.cells[begin:end] for output in cell.get("outputs", ())]
        for path, begin, end in zip(BOOKS, begins, ends, strict=True)
    }


def check_shown(name: str, pages: list[str]) -> None:
    """Each of the words is in an output of ours, in this order."""
    texts = iter([parsed(html).text for html in pages])
    for words in SHOWN[name]:
        assert any(words in text for text in texts), words


# Two of them ask the whole doctor, or train: what they show is tested in tests/show/test_notebook.py.
@pytest.mark.proof
@pytest.mark.filterwarnings("default")  # of the libraries that run notebooks
@pytest.mark.parametrize("name", [path.stem for path in BOOKS])
def test_a_notebook_runs_and_shows_its_results(name: str, outputs: dict[str, list[Any]]) -> None:
    ours = [html for output in outputs[name] if "evenhand" in (html := output.get("data", {}).get("text/html", ""))]
    check_shown(name, ours)
    errors = [output for output in outputs[name] if output.output_type == "stream" and output.name == "stderr"]
    written = "".join(output.text for output in errors)
    bars = {line.partition(":")[0] for line in written.replace("\r", "\n").split("\n") if "/s]" in line}
    assert all(label.split()[0] in ("Examining", "Measuring", "Swapping", "Training") for label in bars), bars


def test_the_cells_of_a_notebook_run_without_a_kernel_and_give_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With neither doctor nor page, and no process that imports torch again."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("evenhand.auditing.measuring.preflight", lambda *_: ())
    monkeypatch.setattr("evenhand.show.page.runs.write", lambda runs, path: path.touch())
    name = "own_sentences_and_measure"
    names: dict[str, Any] = {"__name__": "__main__"}
    values = []
    for cell in nbformat.read(next(path for path in BOOKS if path.stem == name), as_version=4).cells:
        code = ast.parse(cell.source if cell.cell_type == "code" else "")
        last = code.body.pop() if code.body and isinstance(code.body[-1], ast.Expr) else None
        exec(compile(code, name, "exec"), names)
        if isinstance(last, ast.Expr):
            values.append(eval(compile(ast.Expression(last.value), name, "eval"), names))
    check_shown(name, [value._repr_html_() for value in values if isinstance(value, evenhand.Run)])
    gap, leans = (value for value in values if not isinstance(value, evenhand.Run) and value is not None)
    assert len(gap) == 16
    assert list(leans["about"].dropna()) == ["he", "she"]


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_its_outputs(path: Path) -> None:
    """They would not be those of the present version, and make the repository large."""
    book: Any = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    assert not [cell for cell in book.cells if cell.get("outputs") or cell.get("execution_count")]
