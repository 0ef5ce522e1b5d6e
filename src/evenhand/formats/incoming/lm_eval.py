"""Samples of lm-evaluation-harness: the jsonl files that it writes with --log_samples.

Each line has the requests of a document as `arguments`, a context and its continuation each, and as `resps` the
log-likelihoods of the continuations (natural logarithms), in the same order. Since 0.4 the numbers are strings.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evenhand.core.files import parsed
from evenhand.errors import BadInput
from evenhand.formats.incoming.rows import ScoredRow, numbers

NAMES = ("arguments", "doc", "resps")


def is_samples(row: object) -> bool:
    """Whether a line of a jsonl file is a sample."""
    return isinstance(row, dict) and all(name in row for name in NAMES)


def read(path: Path) -> Iterator[ScoredRow]:
    """Each sample: its texts, context and continuation together, and the log-likelihood of each."""
    filters: set[str] = set()
    with path.open(encoding="utf-8") as file:
        for line, text in enumerate(file, start=1):
            if not text.strip():
                continue
            where = f"{path}, line {line}"
            try:
                sample = parsed(text, json.loads)
            except ValueError as error:
                raise BadInput(f"{where}: not JSON: {error}.") from error
            if not is_samples(sample):
                raise BadInput(f"{where} is not a sample of lm-evaluation-harness: {', '.join(NAMES)} are needed.")
            filters.add(str(sample.get("filter", "none")))
            if len(filters) > 1:
                several = ", ".join(sorted(filters))
                raise BadInput(f"{where}: the file has samples of several filters, {several}. Keep those of one.")
            yield _row(where, sample)


def _row(where: str, sample: dict[str, Any]) -> ScoredRow:
    asked = [_request(where, one) for one in _in_order(sample["arguments"])]
    answered = [_first(one) for one in _in_order(sample["resps"])]
    if len(asked) != len(answered) or not asked:
        raise BadInput(f"{where}: a response is needed for each request. Got {len(answered)} for {len(asked)}.")
    names = [f"the log-likelihood of {text[:40]!r}" for text in asked]
    return ScoredRow(where, numbers(where, names, answered), texts=tuple(asked))


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
