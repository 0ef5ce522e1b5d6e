"""A run folder: what an audit leaves on disk, and everything after it reads.

    run.json         provenance: model, tasks, seed, versions, times; written last, so it vouches for the rest
    results.json     every value, with its interval, n and unscored
    scores.parquet   one row for each item and measure
    items.parquet    how each item reads: its text, and the other one of a pair
    answers.sqlite   the model's answers, by question
    gate.json        what a policy says of the results, where there is one
    report.html      the page, for people; made from the others, which are whole without it

A kill at any moment leaves each file either as it was or new and whole.
"""

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
from filelock import FileLock, Timeout

from evenhand.core.files import write_whole
from evenhand.core.items import Item, texts
from evenhand.core.scores import Result
from evenhand.errors import NewerRun, RunError

SCHEMA = 1
ANSWERS = "answers.sqlite"
GATE = "gate.json"
PAGE = "report.html"
ABOUT = ("model", "fingerprint", "tasks", "seed", "limit", "partial", "work", "seconds", "warnings", "pieces", "sha256")
"""What run.json must have for its run to be read."""
VOUCHED = ("results.json", "scores.parquet", "items.parquet")
"""What a run writes, and its run.json vouches for; older runs have less."""
ITEMS = ("dataset", "id", "text", "other")


@dataclass(frozen=True)
class Run:
    """A finished run: the folder, its provenance, and its values and scores as data frames."""

    path: Path
    about: Mapping[str, Any] = field(repr=False)

    @classmethod
    def load(cls, path: str | Path, *, checked: bool = True) -> "Run":
        """The run in this folder; an error if its results are not those it was finished with, unless not `checked`."""
        path = Path(path)
        if not path.is_dir():
            raise RunError(f"There is no run folder '{path}'. Give the folder that an audit wrote.")
        about = read_about(path)
        if about is None:
            hint = "The run was not finished: run the audit again, it goes on." if (path / ANSWERS).exists() else ""
            raise RunError(f"'{path}' holds no run.json. {hint or 'Give the folder that an audit wrote.'}")
        if checked and about["sha256"] != _hashes(path, about["sha256"]):
            raise RunError(
                f"The results in '{path}' are not those of its run.json: writing was interrupted, or they changed. "
                f"Put them right with: evenhand rescore {path}"
            )
        return cls(path, about)

    @cached_property
    def results(self) -> list[dict[str, Any]]:
        """The values as in results.json."""
        self._check("results.json")
        found = _read_json(self.path / "results.json")
        if not isinstance(found, list):
            raise RunError(f"'{self.path / 'results.json'}' must hold a list. Run the audit or the rescoring again.")
        return found

    @cached_property
    def values(self) -> pd.DataFrame:
        """One row for each value; a column for each group, empty in the row of all items."""
        rows = [{**{k: v for k, v in row.items() if k != "groups"}, **row["groups"]} for row in self.results]
        return pd.DataFrame(rows)

    @cached_property
    def scores(self) -> pd.DataFrame:
        """One row for each item: dataset, measure, id, score, and a column for each group."""
        self._check("scores.parquet")
        try:
            return pd.read_parquet(self.path / "scores.parquet")
        except (OSError, ValueError) as error:
            raise RunError(f"'{self.path / 'scores.parquet'}' cannot be read: {error}. Rescore the run.") from error

    @cached_property
    def items(self) -> pd.DataFrame:
        """One row for each item: dataset, id, text, other; none where the run is older than this file."""
        path = self.path / "items.parquet"
        if not path.exists():
            return pd.DataFrame(columns=list(ITEMS))
        self._check("items.parquet")
        try:
            return pd.read_parquet(path)
        except (OSError, ValueError) as error:
            raise RunError(f"'{path}' cannot be read: {error}. Rescore the run.") from error

    def _check(self, name: str) -> None:
        """Another audit may have written to the folder since: its numbers would be taken for this run's."""
        now = read_about(self.path)
        if now is not None and now["sha256"].get(name) != self.about["sha256"].get(name):
            raise RunError(
                f"'{self.path}' holds another run by now than the one that this object is of. Load the folder again, "
                "or give each audit an --out of its own."
            )


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Nobody else's while it lasts: two audits at once would mix their results. A process that dies lets it go."""
    lock = FileLock(path / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise RunError(f"Another audit is at work in '{path}'. Wait for it, or choose another --out.") from error
    try:
        yield
    finally:
        (path / ".lock").unlink(missing_ok=True)
        lock.release()


def write(path: Path, about: Mapping[str, Any], results: Sequence[Result], items: Mapping[str, Sequence[Item]]) -> Run:
    """Save the results and, by dataset, the items; then the provenance that vouches for them."""
    rows = [row for result in results for row in _rows(result)]
    for stale in (GATE, PAGE):  # a verdict on what was there before, and its page
        (path / stale).unlink(missing_ok=True)
    write_whole(path / "results.json", lambda file: file.write(_json(rows)))
    frame = _frame(results)
    write_whole(path / "scores.parquet", lambda file: frame.to_parquet(file, index=False))
    read = pd.DataFrame([(name, i.id, *texts(i)) for name, of in items.items() for i in of], columns=list(ITEMS))
    write_whole(path / "items.parquet", lambda file: read.to_parquet(file, index=False))
    whole = {"schema": SCHEMA, **about, "sha256": _hashes(path, VOUCHED)}
    write_whole(path / "run.json", lambda file: file.write(_json(whole)))
    return Run(path, whole)


def read_about(path: Path) -> dict[str, Any] | None:
    """The provenance of the run in this folder, if it is finished; refused if a newer evenhand wrote it."""
    if not (path / "run.json").exists():
        return None
    about = _read_json(path / "run.json")
    if not isinstance(about, dict) or not isinstance(about.get("schema"), int):
        raise RunError(f"'{path / 'run.json'}' is no run's record. Give the folder that an audit wrote.")
    if about["schema"] > SCHEMA:
        raise NewerRun(
            f"The run in '{path}' has schema {about['schema']}, this evenhand reads up to {SCHEMA}: "
            "a newer one wrote it. Upgrade evenhand."
        )
    if missing := [key for key in ABOUT if key not in about]:
        raise RunError(f"'{path / 'run.json'}' lacks {', '.join(missing)}. Delete it and run the audit again.")
    return about


def _hashes(path: Path, names: Iterable[str]) -> dict[str, str]:
    """What these files hold, by name; a missing one has the hash of nothing."""
    contents = {name: (path / name).read_bytes() if (path / name).is_file() else b"" for name in names}
    return {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}


def _rows(result: Result) -> list[dict[str, Any]]:
    return [
        {
            "model": result.model,
            "fingerprint": result.fingerprint,
            "dataset": result.dataset,
            "measure": result.measure,
            "version": result.version,
            "groups": dict(value.groups),
            "value": _number(value.value),
            "low": _number(value.low),
            "high": _number(value.high),
            "n": value.n,
            "unscored": value.unscored,
            "neutral": _number(result.neutral),
            **({"note": value.note} if value.note else {}),
        }
        for value in result.values
    ]


def _frame(results: Sequence[Result]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"dataset": result.dataset, "measure": result.measure, "id": s.id, "score": s.value, **s.groups}
            for result in results
            for s in result.scores
        ]
    )


def _number(value: float) -> float | None:
    """JSON has no NaN: "no value" is null."""
    return None if math.isnan(value) else value


def _json(data: object) -> bytes:
    return (json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RunError(f"'{path}' cannot be read: {error}. Run the audit again, or restore the file.") from error
