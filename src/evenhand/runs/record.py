"""The contents of run.json and results.json: typed, frozen, and checked when they are read."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

from evenhand.core.files import write_whole
from evenhand.core.measure import LAST, Better, Traits
from evenhand.core.model import Work
from evenhand.errors import BadInput, NewerRun, RunError
from evenhand.measures import MEASURES

Kind = TypeVar("Kind")

SCHEMA = 2
"""Schema 1 has `partial` for the whole run alone; it is read as if each task had it."""
DESCRIPTIVE = (
    *("about", "asks", "flaws", "language", "licence", "reading", "source"),
    *("unit", "better", "bounds", "rank", "ranks_models"),
)
"""Fields of a task that are for readers: runs that differ in them can still be compared."""
RESULT = ("partial", "contrasts")
"""Fields of a task that are about its results."""


def _finite(data: Kind) -> Kind:
    """The data, unless it has NaN or infinities: Python reads them from JSON, but JSON does not have them."""
    try:
        json.dumps(data, allow_nan=False)
    except ValueError as error:
        raise ValueError("should have finite numbers only") from error
    return data


Finite = Annotated[float, Field(allow_inf_nan=False)]
Options = Annotated[Mapping[str, Any], AfterValidator(_finite)]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one of the doctor's checks, and what to do if it is not fine."""

    check: str
    verdict: Literal["fine", "careful", "unfit"]
    says: str
    do: str = ""


@dataclass(frozen=True, slots=True)
class Deviation:
    """How scores in half precision differ from those in float32.

    `shift` is the mean of half - float32 with its 95 % interval, `largest` the largest difference of one item, in the
    measure's unit. `doubtful` are the groups whose interval could lie on another side of the neutral value, or include
    it, if the value moved by as much as the interval of `shift` allows.
    """

    dataset: str
    measure: str
    items: int
    shift: Finite
    low: Finite | None
    high: Finite | None
    largest: Finite
    doubtful: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Precision:
    """How a run in half precision compares with float32, or `why` it was not compared."""

    asked: str | None = None
    overflowed: int | None = None
    deviations: tuple[Deviation, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """A dataset and a measure as they were run: all that is needed to read the results and rebuild the task."""

    dataset: str
    dataset_version: int
    measure: str
    measure_version: int
    by: tuple[str, ...]
    cluster: str
    reading: str
    dataset_builder: str = ""
    dataset_options: Options = field(default_factory=dict)
    measure_options: Options = field(default_factory=dict)
    within: str = ""
    crossed: str = ""
    flaws: str = ""
    about: str = ""
    language: str = ""
    source: str = ""
    licence: str = ""
    asks: str = ""
    unit: str = ""
    better: Better = "closer"
    bounds: tuple[float | None, float | None] = (None, None)
    ranks_models: bool = False
    rank: int = LAST
    """This and the four fields above are those of core.measure.Traits."""
    partial: bool = False
    """Whether the results are of a sample of the items."""
    contrasts: Annotated[tuple[Any, ...], AfterValidator(_finite)] = ()

    @property
    def what(self) -> dict[str, Any]:
        """The fields that must be equal for two runs to be compared."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in (*DESCRIPTIVE, *RESULT)}

    @property
    def signed(self) -> bool:
        """Whether values can be negative."""
        return self.bounds[0] is None or self.bounds[0] < 0

    @property
    def name(self) -> tuple[str, str]:
        """Dataset and measure."""
        return self.dataset, self.measure


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """The provenance of a run's numbers."""

    evenhand: str = "unknown"
    model: str
    fingerprint: str
    loaded: Options = field(default_factory=dict)
    """The model's description of itself: source, revision, dtype, device, ..."""
    languages: tuple[str, ...] = ()
    seed: Annotated[int, Field(ge=0)]
    limit: Annotated[int, Field(ge=1)] | None
    partial: bool
    tasks: tuple[TaskRecord, ...]
    work: Work
    suite: str | None = None
    tokens: Annotated[Mapping[str, Mapping[str, Finite]], Field(alias="pieces")]
    """By dataset, the mean number of tokens of each attribute."""
    warnings: tuple[str, ...]
    doctor: tuple[Finding, ...] = ()
    caveats: Annotated[tuple[str, ...], Field(alias="apart")] = ()
    """How a causal model's values must be read."""
    started: str = ""
    seconds: Finite
    rescored: str | None = None
    unscored: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """By "dataset/measure", the number of items without a score, by reason."""
    versions: Mapping[str, str] = field(default_factory=dict)
    precision: Precision | None = None
    sha256: Mapping[str, str]
    """The hashes of the result files."""

    @property
    def sample(self) -> str:
        """A sentence that says that the results are of a sample; empty if they are of all items."""
        return f"Partial: a sample of {self.limit} items of each dataset." if self.partial else ""

    @property
    def unfit(self) -> bool:
        """Whether the doctor found the model unfit to be measured: its numbers allow no verdict."""
        return any(finding.verdict == "unfit" for finding in self.doctor)

    @property
    def concerns(self) -> list[Finding]:
        """The doctor's findings that are not fine, without one on vocabulary that repeats a warning."""
        concerns = [found for found in self.doctor if found.verdict != "fine"]
        return [f for f in concerns if f.check != "vocabulary" or not f.says.startswith(self.warnings)]

    @property
    def causal(self) -> bool:
        """Whether the model is causal: its values are not the same quantity as those of other models."""
        return bool(self.caveats)

    def write(self, path: Path) -> None:
        """Write run.json to the folder."""
        write_whole(path / "run.json", lambda file: file.write(plain_json({"schema": SCHEMA, **as_plain(self)})))


RUN = TypeAdapter(RunRecord)
TASK = TypeAdapter(TaskRecord)
WORDS = {
    "Input should be": "should be",
    "Field required": "is missing",
    "Value error, ": "",
    "Invalid JSON:": "cannot be read:",
}
"""Replacements that turn a message of Pydantic into a sentence that begins with the field's name."""
RESTORE = "Restore the file, or delete it and run the audit again."


def valid(task: TaskRecord) -> TaskRecord:
    """The record, if it could be read again; a user's measure or dataset may have attributes of wrong types."""
    try:
        return TASK.validate_json(TASK.dump_json(task, warnings=False), strict=True)
    except ValidationError as error:
        where, says = _told(error)
        raise BadInput(
            f"{task.measure} on {task.dataset} cannot be recorded: its {where} {says}. Change the class."
        ) from error


def as_plain(record: RunRecord) -> dict[str, Any]:
    """The record as plain data, as in run.json."""
    plain: dict[str, Any] = RUN.dump_python(record, mode="json", by_alias=True)
    return plain


def read_record(path: Path) -> RunRecord | None:
    """The record of the run in this folder, None if it is not finished; an error if a newer evenhand wrote it."""
    file = path / "run.json"
    if not file.exists():
        return None
    data = read_json(file)
    if not isinstance(data, dict) or "schema" not in data:
        raise RunError(f"'{file}' is not the record of a run. Give the folder that an audit wrote.")
    schema = data["schema"]
    if type(schema) is not int or schema < 1:  # a bool is an int, too
        raise RunError(f"'{file}' is damaged: schema should be a whole number from 1, got {schema!r}. {RESTORE}")
    if schema > SCHEMA:
        raise NewerRun(
            f"The run in '{path}' has schema {schema}, this evenhand reads up to {SCHEMA}: "
            "a newer one wrote it. Upgrade evenhand."
        )
    if schema == 1 and isinstance(tasks := data.get("tasks"), list):
        data["tasks"] = [_migrated(task, data) if isinstance(task, dict) else task for task in tasks]
    record = checked(RUN, data, file)
    if record.partial and record.limit is None:
        raise RunError(f"'{file}' is damaged: limit should be the size of the samples, got null. {RESTORE}")
    return record


def _migrated(task: dict[str, Any], run: Mapping[str, Any]) -> dict[str, Any]:
    """A task of schema 1 with the fields on its measure and its sample, which schema 1 lacks."""
    known = MEASURES.get(str(task.get("measure")))
    told = {"dataset_builder": task.get("dataset"), **(traits(known) if known else {})}
    return {**told, **task, "partial": run.get("partial", False)}


def traits(measure: Any) -> dict[str, Any]:
    """The traits of a measure, for a task's record."""
    found = Traits.of(measure)
    low, high = (end if math.isfinite(end) else None for end in found.bounds)
    return {name: getattr(found, name) for name in ("unit", "better", "rank", "ranks_models")} | {"bounds": (low, high)}


def rescore(path: Path) -> str:
    """What to do about results that are damaged or do not belong to the run."""
    return f"Put it right with: evenhand rescore {path}"


def checked(kind: TypeAdapter[Kind], data: object, file: Path, advice: str = RESTORE) -> Kind:
    """The data as that kind of record; an error that names the first field that is wrong."""
    try:
        return kind.validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        where, says = _told(error)
        raise RunError(f"'{file}' is damaged, or not evenhand's: {where or 'it'} {says}. {advice}") from error


def _told(error: ValidationError) -> tuple[str, str]:
    """The first invalid field, and what is wrong with it."""
    first = error.errors(include_url=False)[0]
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(".")
    says = first["msg"]
    for theirs, ours in WORDS.items():
        says = says.replace(theirs, ours)
    got = "" if first["type"] in ("missing", "json_invalid") else f", got {str(first['input'])[:60]!r}"
    return where, says + got


def read_json(file: Path, advice: str = RESTORE) -> Any:
    """The contents of a JSON file."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(f"'{file}' cannot be read: {error}. {advice}") from error


def plain_json(data: object) -> bytes:
    """The data as JSON, for a file."""
    return (json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()
