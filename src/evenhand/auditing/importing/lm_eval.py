"""Samples of lm-evaluation-harness: the jsonl files that it writes with --log_samples.

Each line has the requests of a document as `arguments`, a context and its continuation each, and as `resps` the
log-likelihoods of the continuations (natural logarithms), in the same order. Since 0.4 the numbers are strings.
Documents of tasks that `evenhand datasets export` wrote name their dataset and item.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from evenhand.auditing.importing.row_scores import ScoredRow, numbers
from evenhand.core.dataset import Dataset, base_name
from evenhand.core.files import from_json, json_lines
from evenhand.core.items import Pair
from evenhand.errors import BadInput

NAMES = ("arguments", "doc", "resps")
OURS = ("id", "dataset", "version", "choices")
"""What a document of an exported task has."""
UNTOLD = (OSError, ValueError, LookupError, TypeError)
"""Errors of files that are of another kind."""


def is_samples(row: object) -> bool:
    """Whether a line of a jsonl file is a sample."""
    return isinstance(row, dict) and all(name in row for name in NAMES)


def kind_and_dataset(path: Path) -> tuple[str, str]:
    """The kind of model, which is causal unless the samples are from our backend for masked ones; and the dataset.

    The dataset is the one that the first sample names, if it is of a task that evenhand exported; else empty.
    """
    dataset = ""
    with suppress(*UNTOLD), path.open(encoding="utf-8") as file:
        doc = from_json(file.readline())["doc"]
        dataset = str(doc["dataset"]) if all(name in doc for name in OURS) else ""
    return _backend(path) or "causal", dataset


def _backend(path: Path) -> str:
    """What our backend says of its model, in the results beside the samples; empty where it was another one."""
    date = path.stem.rpartition("_")[2]
    with suppress(*UNTOLD):
        results = from_json(path.with_name(f"results_{date}.json").read_text(encoding="utf-8"))
        return str(results["config"]["model_kind"])
    return ""


def read(path: Path, dataset: Dataset) -> Iterator[ScoredRow]:
    """Each sample: its texts, context and continuation together, and the log-likelihood of each."""
    filters: set[str] = set()
    may_lack = bool(_backend(path))  # NaN of our backend is an item without a score; elsewhere something went wrong
    for line, sample in json_lines(path):
        where = f"{path}, line {line}"
        if not is_samples(sample):
            raise BadInput(f"{where} is not a sample of lm-evaluation-harness: {', '.join(NAMES)} are needed.")
        filters.add(str(sample.get("filter", "none")))
        if len(filters) > 1:
            several = ", ".join(sorted(filters))
            raise BadInput(f"{where}: the file has samples of several filters, {several}. Keep those of one.")
        yield _row(where, sample, dataset, may_lack)


def _row(where: str, sample: dict[str, Any], dataset: Dataset, may_lack: bool) -> ScoredRow:
    id = _own(where, sample["doc"], dataset)
    asked = [_request(where, one) for one in _in_order(sample["arguments"])]
    answered = [_first(one) for one in _in_order(sample["resps"])]
    if len(asked) != len(answered) or not asked:
        raise BadInput(f"{where}: a response is needed for each request. Got {len(answered)} for {len(asked)}.")
    names = [f"the log-likelihood of {text[:40]!r}" for text in asked]
    found = () if may_lack and "nan" in answered else numbers(where, names, answered)
    known_by_text = not id or isinstance(dataset.items[0], Pair)
    return ScoredRow(where, found, id, tuple(asked) if known_by_text else ())


def _own(where: str, doc: Any, dataset: Dataset) -> str:
    """The id of the item, if it is the document of a task that evenhand exported; it must be of this dataset."""
    if not isinstance(doc, dict) or not all(name in doc for name in OURS):
        return ""
    if not isinstance(options := doc.get("options", {}), dict):
        raise BadInput(f"{where}: the document's options must be an object. Got {str(options)[:40]!r}.")
    told, wanted = (doc["dataset"], doc["version"]), (base_name(dataset.name), dataset.version)
    if told != wanted:
        one, other = (f"'{name}', version {version}" for name, version in (told, wanted))
        raise BadInput(f"{where} is of the dataset {one}, not {other}. Name its own: `dataset`.")
    for name, value in options.items():
        if (here := str(dataset.options.get(name))) != value:
            raise BadInput(f"{where}: the task was exported with {name}={value}, not {here}. Give it: `option`.")
    return str(doc["id"])


def _in_order(given: Any) -> list[Any]:
    """A list, or the values of an object whose keys number them: `gen_args_0`, `gen_args_1`, ..."""
    if isinstance(given, dict):
        return [given[key] for key in sorted(given, key=lambda key: (len(key), key))]
    return given if isinstance(given, list) else []


def _request(where: str, request: Any) -> str:
    parts = _in_order(request)
    if len(parts) < 2 or not all(isinstance(part, str) for part in parts[:2]):
        raise BadInput(
            f"{where}: a request must be a context and a continuation. Got {str(request)[:60]!r}: samples of generated "
            "text have no likelihoods."
        )
    return f"{parts[0]}{parts[1]}"


def _first(response: Any) -> Any:
    """The log-likelihood in a response, which is nested: [["-57.3", "False"]]."""
    while isinstance(response, list) and response:
        response = response[0]
    return response
