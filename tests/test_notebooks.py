"""The notebooks in examples/ run from the first cell to the last, and show what they promise."""

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
LONG = dict.fromkeys(("audit_and_compare", "swap_and_debias"), pytest.mark.slow)
"""They ask the whole doctor, or train: half a minute. What they show is tested in tests/show/test_notebook.py."""


def _runs(item: pytest.Item) -> bool:
    """Whether it is a test of these notebooks' outputs that is not skipped."""
    return (
        item.path == Path(__file__) and "outputs" in getattr(item, "fixturenames", ()) and "skip" not in item.keywords
    )


@pytest.fixture(scope="module")
def outputs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What the cells of notebooks gave, run one after the other: a kernel for each would import torch again."""
    whole: Any = nbformat.v4.new_notebook()
    ends: dict[str, int] = {}
    wanted = {item.callspec.params.get("name") for item in request.session.items if _runs(item)}  # type: ignore[attr-defined]
    for path in (path for path in BOOKS if path.stem in wanted):
        folder = tmp_path_factory.mktemp(path.stem)
        whole.cells += [
            nbformat.v4.new_code_cell(f"%reset -f\n%cd -q {folder}"),
            *nbformat.read(path, as_version=4).cells,
        ]
        ends[path.stem] = len(whole.cells)
    with pytest.MonkeyPatch.context() as patch:  # the kernel uses this source and one thread, and looks for no network
        patch.setenv("PYTHONPATH", str(Path(evenhand.__file__).parents[1]))
        patch.setenv("OMP_NUM_THREADS", "1")
        with warnings.catch_warnings():  # of the libraries that run notebooks
            warnings.simplefilter("default")
            NotebookClient(whole, timeout=600).execute()
    begins = [0, *ends.values()]
    return {
        name: [output for cell in whole.cells[begin:end] for output in cell.get("outputs", ())]
        for begin, (name, end) in zip(begins, ends.items(), strict=False)
    }


@pytest.mark.filterwarnings("default")  # of the libraries that run notebooks
@pytest.mark.parametrize("name", [pytest.param(path.stem, marks=LONG.get(path.stem, ())) for path in BOOKS])
def test_a_notebook_runs_and_shows_its_results(name: str, outputs: dict[str, list[Any]]) -> None:
    mine = outputs[name]
    ours = [html for output in mine if "evenhand" in (html := output.get("data", {}).get("text/html", ""))]
    told = iter([parsed(html).text for html in ours])
    for words in SHOWN[name]:
        assert any(words in text for text in told), words
    written = "".join(output.text for output in mine if output.output_type == "stream" and output.name == "stderr")
    bars = {line.partition(":")[0] for line in written.replace("\r", "\n").split("\n") if "/s]" in line}
    assert all(label.split()[0] in ("Examining", "Measuring", "Swapping", "Training") for label in bars), bars


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_its_outputs(path: Path) -> None:
    """They would not be those of the present version, and make the repository large."""
    book: Any = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    assert not [cell for cell in book.cells if cell.get("outputs") or cell.get("execution_count")]
