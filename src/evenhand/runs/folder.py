"""The run folder, which an audit writes and everything else reads.

    run.json         provenance: model, tasks, seed, versions, times; written last, with hashes of the results
    results.json     every value, with its interval, n and unscored
    scores.parquet   one row for each item and measure
    items.parquet    the text of each item; both texts of a pair
    answers.sqlite   the model's answers, by question
    gate.json        the verdict of a policy, if there is one
    report.html      the page for people, made from the other files

Files are replaced atomically: if the process is killed, each is either the old or the new file, never a part of one.
"""

import hashlib
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn, Self
from warnings import warn

import pandas as pd

from evenhand.core.dataset import base_name, without_direction
from evenhand.core.files import write_whole
from evenhand.core.items import Item, texts
from evenhand.core.measure import LAST
from evenhand.core.model import Finding
from evenhand.core.scores import Result
from evenhand.core.shown import Shown
from evenhand.errors import BadInput, RunError
from evenhand.runs.files import GATE, NEXT, PAGE, RESTORE, VOUCHED, plain_json, read_typed, replace_files, rescore_hint
from evenhand.runs.record import RUN, SCHEMA, RunRecord, TaskRecord, as_plain, check_recordable, read_record
from evenhand.runs.rows import Row, dataset_words, headline, make_rows, unmeasured, unmeasured_in_words
from evenhand.runs.values import VALUES, ValueRecord, complete_values, value_record, with_families

ANSWERS = "answers.sqlite"
OF_A_RUN = (*VOUCHED, "run.json", ANSWERS, GATE, PAGE)
ITEMS = ("dataset", "id", "text", "other")


@dataclass(frozen=True)
class StoredRun(Shown):
    """A finished run: its folder, its record, its values and scores as data frames. Users get an `evenhand.Run`."""

    path: Path
    record: RunRecord = field(repr=False)

    @classmethod
    def load(cls, path: "StoredRun | str | Path", *, checked: bool = True) -> Self:
        """Load the run in this folder. With `checked`, raise an error if its files do not match their hashes."""
        if isinstance(path, StoredRun):
            if isinstance(path, cls):
                return path
            run = cls(path.path, path.record)
            run.__dict__.update(path.__dict__)  # the frames that were already read from its files
            return run
        if not isinstance(path, str | Path):
            raise BadInput(f"A run must be given as a `Run` or as the path of its folder. Got {path!r}.")
        path, advice = Path(path), "Give the folder that an audit wrote."
        if not path.is_dir():
            if (near := Path("runs") / path).joinpath("run.json").is_file():
                advice = f"Did you mean '{near}'?"
            raise RunError(f"There is no run folder '{path}'. {advice}")
        record = read_record(path)
        if record is None:
            if (path / ANSWERS).exists():
                advice = "The run is not finished: run the audit again to continue it."
            elif any(file for depth in ("*", "*/*") for file in path.glob(f"{depth}/run.json")):
                advice = f"It contains runs: list them with `evenhand runs {path}`."
            raise RunError(f"'{path}' has no run.json. {advice}")
        if checked and record.sha256 != _hashes(path, record.sha256):
            raise RunError(
                f"The result files in '{path}' do not match the hashes in its run.json: writing was interrupted, or a "
                f"file was changed. {rescore_hint(path)}"
            )
        return cls(path, record)

    @property
    def about(self) -> dict[str, Any]:
        """The record as plain data; deprecated, to be removed in 0.3.0."""
        warn("run.about is deprecated: use run.record, which is typed.", DeprecationWarning, stacklevel=2)
        plain = as_plain(self.record)
        audits = plain.pop("audits")
        sample = {name: getattr(self.record.tasks[-1], name) for name in ("seed", "limit")}
        tasks = [task for audit in audits for task in audit["tasks"]]
        return {"schema": SCHEMA, **plain, **audits[-1], **sample, "partial": self.record.partial, "tasks": tasks}

    def task(self, dataset: str, measure: str) -> TaskRecord:
        """The task with this dataset and measure. Raises an error if the run does not have it."""
        task = next((task for task in self.record.tasks if task.name == (dataset, measure)), None)
        if task is None:
            near = [name for name in self.datasets if name != dataset and base_name(name) == base_name(dataset)]
            other = f"; it has {', '.join(near)}" if near else ""
            raise BadInput(f"'{self.path}' has no {measure} on {dataset}{other}. Audit all models in the same way.")
        return task

    def tasks_on(self, dataset: str) -> list[TaskRecord]:
        return [task for task in self.record.tasks if task.dataset == dataset]

    @property
    def datasets(self) -> list[str]:
        """The names of the datasets, in order."""
        return list(dict.fromkeys(task.dataset for task in self.record.tasks))

    def scores_of(self, dataset: str, measure: str = "association") -> pd.DataFrame:
        """The scores of one dataset by one measure, without the group columns of other tasks."""
        scores = self._by_task.get((dataset, measure))
        return self.scores.iloc[:0] if scores is None else scores.copy(deep=False)

    @cached_property
    def rows(self) -> list[Row]:
        """Every number of the run, with its verdict."""
        return list(make_rows(self._values, self.record, self.headline_task))

    @cached_property
    def unmeasured(self) -> dict[str, str]:
        """By dataset, why it could not be measured and what to try."""
        return unmeasured(self.rows)

    def could_not(self, datasets: Collection[str] = ()) -> str:
        """`unmeasured` as the end of a sentence, of these datasets or of all; empty if all could be measured."""
        return unmeasured_in_words([row for row in self.rows if row.dataset in (datasets or self.datasets)])

    @property
    def concerns(self) -> list[Finding]:
        """The doctor's concerns that `unmeasured` does not say."""
        return [each for each in self.record.concerns if f"{each.says} {each.do}" not in self.unmeasured.values()]

    def values_of(self, dataset: str, measure: str = "") -> list[Row]:
        """The measures' own values on a dataset, by one measure or by all: of all items first, then by group."""
        return [row for row in self.rows if row.dataset == dataset and measure in ("", row.measure) and not row.judged]

    def rows_of(self, dataset: str, measure: str) -> list[Row]:
        """The rows of core.estimands: stereotype and default of all items and by group, women minus men by kind."""
        return [row for row in self.rows if row.task.name == (dataset, measure) and row.judged]

    def contrasts_of(self, dataset: str, measure: str) -> list[Row]:
        """The mean differences between partners, by group; empty if the dataset has no partners."""
        return [row for row in self.rows_of(dataset, measure) if row.contrast]

    def main_rows(self, dataset: str, measure: str) -> list[Row]:
        """The rows that a task is judged by: see `Row.main`."""
        return [row for row in self.rows if row.main and row.task.name == (dataset, measure)]

    def headline_task(self, dataset: str) -> TaskRecord:
        """The task that a dataset is judged by: of measures with a direction, its own, or that of the lowest rank."""
        own = dataset_words(dataset).get("judged_by")

        def rank(task: TaskRecord) -> int:
            if without_direction(self.scores_of(*task.name), task.better):
                return LAST
            return -1 if task.measure == own else task.rank

        return min(self.tasks_on(dataset), key=rank)

    def headlines(self) -> list[Row]:
        """One number for each dataset, in order: see runs.rows.headline."""
        headlines = []
        for dataset in self.datasets:
            rows = [row for row in self.rows if row.headline and row.dataset == dataset]
            if not rows:
                measure = self.headline_task(dataset).measure
                raise RunError(f"'{self.path}' has no value of {measure} on {dataset}. {rescore_hint(self.path)}")
            headlines.append(headline(rows))
        return headlines

    @cached_property
    def results(self) -> list[dict[str, Any]]:
        """The values as in results.json, each with `lean`: its side of neutral, by the rule of stats.verdict."""
        return [{**v.row(), "lean": row.verdict.word} for v, row in zip(self._values, self.rows, strict=True)]

    @cached_property
    def values(self) -> pd.DataFrame:
        """One row for each value and contrast, with a column for each group, which is empty in the row of all items."""
        rows = [{**{k: v for k, v in row.items() if k != "groups"}, **row["groups"]} for row in self.results]
        return pd.DataFrame(rows)

    @property
    def differences(self) -> pd.DataFrame:
        """The rows of `values` that are contrasts: the mean differences between partners, such as female - male."""
        return self.values[self.values["contrast"] != ""].dropna(axis="columns", how="all")

    @cached_property
    def scores(self) -> pd.DataFrame:
        """One row for each item and measure: dataset, measure, id, score, the groups, and what the measure keeps."""
        scores = self._read("scores.parquet")
        labelled = scores.groupby(["dataset", "measure"]).count()
        for number, task in enumerate(self.record.tasks):
            groups = [*(("by", group) for group in task.by), ("cluster", task.cluster), ("crossed", task.crossed)]
            for key, group in groups if task.name in labelled.index else ():
                if group and not (group in labelled and labelled[group][task.name]):
                    self._fail(f"tasks[{number}].{key} names '{group}', which is not a group of its scores")
        return scores

    @cached_property
    def _by_task(self) -> dict[Any, pd.DataFrame]:
        parts = self.scores.groupby(["dataset", "measure"], sort=False)
        counts: Any = parts.count().drop(columns="score")
        return {name: part.drop(columns=counts.columns[counts.loc[name] == 0]) for name, part in parts}

    @cached_property
    def items(self) -> pd.DataFrame:
        """One row for each item: dataset, id, text, other; empty for runs older than items.parquet."""
        if not (self.path / "items.parquet").exists():
            return pd.DataFrame(columns=list(ITEMS))
        return self._read("items.parquet")

    @cached_property
    def _values(self) -> list[ValueRecord]:
        self._check("results.json")
        file, advice = self.path / "results.json", rescore_hint(self.path)
        values = read_typed(VALUES, file, advice)
        by_task: dict[tuple[str, str], list[ValueRecord]] = {task.name: [] for task in self.record.tasks}
        for value in values:
            if value.task not in by_task:
                other = f"a value of {value.measure} on {value.dataset}, which is not a task of this run"
                raise RunError(f"'{file}' has {other}. {advice}")
            by_task[value.task].append(value)
        whole: list[ValueRecord] = []
        for number, task in enumerate(self.record.tasks):
            of_kinds = (task.kinds.group, *(task.kinds.only or ())) if task.kinds else ()
            groups = dict.fromkeys(group for value in by_task[task.name] for group in value.groups)
            if lacking := [group for group in groups if group not in (*task.by, task.within, *of_kinds)]:
                self._fail(f"tasks[{number}].by lacks the group '{lacking[0]}', which its values have")
            whole += self._complete(by_task[task.name], task)
        return whole if self.record.schema == SCHEMA else with_families(whole, self.record.tasks)

    def _complete(self, values: list[ValueRecord], task: TaskRecord) -> list[ValueRecord]:
        """The values of a task; for runs of older versions, with the tests and rows that they lack on disk."""
        values = [replace(v, dataset_version=task.dataset_version, partial=task.partial) for v in values]
        if self.record.schema == SCHEMA:
            return values
        return complete_values(values, self.scores_of(*task.name), task, self.record.model, self.record.fingerprint)

    def _fail(self, fault: str) -> NoReturn:
        raise RunError(f"'{self.path / 'run.json'}' is damaged: {fault}. {RESTORE}")

    def _read(self, name: str) -> pd.DataFrame:
        from pyarrow.parquet import ParquetFile  # pandas.read_parquet would import pyarrow.dataset, which takes longer

        self._check(name)
        try:
            with ParquetFile(self.path / name) as file:
                table: Any = file.read()
            table.validate(full=True)  # finds texts that are not UTF-8
            return pd.DataFrame(table.to_pandas())
        except (OSError, ValueError) as error:
            raise RunError(f"'{self.path / name}' cannot be read: {error}. {rescore_hint(self.path)}") from error

    def _check(self, name: str) -> None:
        """Raise an error if another audit has written this file since the run was loaded."""
        stamp = _stamp(self.path)
        if stamp is not None and stamp == self.__dict__.get("_stamp"):
            return
        now = read_record(self.path)
        if now is not None and now.sha256.get(name) != self.record.sha256.get(name):
            raise RunError(
                f"'{self.path}' has been overwritten by another run since it was loaded. Load the folder again. To "
                "keep both runs, give each audit its own folder with `out`."
            )
        if now is not None and now.sha256 == self.record.sha256:
            self.__dict__["_stamp"] = stamp


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """The modification time, size and inode of run.json, which change when the file is replaced."""
    with suppress(OSError):
        file = (path / "run.json").stat()
        return file.st_mtime_ns, file.st_size, file.st_ino
    return None


@contextmanager
def lock_folder(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on the run folder: two audits at once would mix their results."""
    from filelock import FileLock, Timeout  # imported late: reading a run does not need it

    if other := [name for name in OF_A_RUN if (path / name).is_dir()]:
        raise RunError(f"'{path / other[0]}' is a folder, and a run has a file there. Move the folder elsewhere.")
    lock = FileLock(path / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise RunError(f"Another audit is writing to '{path}'. Wait for it, or choose another `out`.") from error
    except (OSError, NotImplementedError) as error:  # the file system is read-only, or has no locks
        raise RunError(f"The folder '{path}' cannot be written: {error}. Copy it to a writable place.") from error
    try:
        yield
    finally:
        (path / ".lock").unlink(missing_ok=True)
        lock.release()


def clear(path: Path) -> None:
    """Delete the files of the run in this folder, including the model's answers; files that are not evenhand's stay."""
    for name in OF_A_RUN:
        (path / name).unlink(missing_ok=True)
    shutil.rmtree(path / NEXT, ignore_errors=True)


def write(
    path: Path,
    record: RunRecord,
    results: Sequence[Result],
    items: Mapping[str, Sequence[Item]],
    kept: StoredRun | None = None,
) -> StoredRun:
    """Write results and items (by dataset), then the record with the hashes of their files; give the run.

    Tasks of the record that have no result must be tasks of the run `kept`: its values, scores and items are copied.
    """
    fresh = {(result.dataset, result.measure): result for result in results}
    stay = {task.name for task in record.tasks if task.name not in fresh}
    rows: list[ValueRecord] = []
    for task in record.tasks:
        if result := fresh.get(task.name):
            source = (record.model, record.fingerprint, result.neutral)
            rows += [value_record(value, *source, task) for value in (*result.estimates, *result.rows)]
        elif kept is not None:
            stayed = [value for value in kept._values if value.task == task.name]
            rows += [replace(value, model=record.model, fingerprint=record.fingerprint) for value in stayed]
    rows = with_families(rows, record.tasks)
    record = replace(record, schema=SCHEMA)
    check_recordable(f"The run of '{record.model}'", RUN, record)
    check_recordable(f"A value of {' or '.join(dict.fromkeys(result.measure for result in results))}", VALUES, rows)
    frame = pd.DataFrame(
        {"dataset": result.dataset, "measure": result.measure, "id": s.id, "score": s.value, **s.groups, **s.kept}
        for result in results
        for s in result.scores
    )
    read = pd.DataFrame(
        [(name, item.id, *texts(item)) for name, each in items.items() for item in each], columns=list(ITEMS)
    )
    if kept is not None and stay:
        before = kept.scores
        old = [name in stay for name in zip(before["dataset"], before["measure"], strict=True)]
        frame = pd.concat([before[old], frame], ignore_index=True)
        texts_before = kept.items[kept.items["dataset"].isin([dataset for dataset, _ in stay])]
        read = pd.concat([texts_before, read]).drop_duplicates(["dataset", "id"], keep="last", ignore_index=True)
    try:
        scores = frame.to_parquet(index=False)
    except (TypeError, ValueError) as error:  # of two types in a column
        raise BadInput(f"{error}. A group, and what `keep` gives by one name, is all texts or all numbers.") from error
    with replace_files(path) as staged:
        write_whole(staged / "results.json", lambda file: file.write(plain_json([value.row() for value in rows])))
        write_whole(staged / "scores.parquet", lambda file: file.write(scores))
        write_whole(staged / "items.parquet", lambda file: read.to_parquet(file, index=False))
        record = replace(record, sha256=_hashes(staged, VOUCHED))
        record.write(staged)
    run = StoredRun(path, record)
    run.__dict__["_stamp"] = _stamp(path)
    return run


def _hashes(path: Path, names: Iterable[str]) -> dict[str, str]:
    """The SHA-256 of each of these files, by name; a missing file counts as an empty one."""
    try:
        contents = {name: (path / name).read_bytes() if (path / name).is_file() else b"" for name in names}
    except OSError as error:
        raise RunError(f"The files listed in '{path / 'run.json'}' cannot be read: {error}.") from error
    return {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
