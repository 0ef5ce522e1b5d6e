"""The contents of run.json: typed, frozen, and checked when it is read."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

from evenhand.core.dataset import Kinds, Partners
from evenhand.core.files import write_whole
from evenhand.core.measure import LAST, Better, Favours
from evenhand.core.model import NOT_EXAMINED, UNCHECKED, Finding, Work
from evenhand.core.way import UNASKED, Way
from evenhand.errors import BadInput, NewerRun, RunError
from evenhand.runs.files import RESTORE, describe_error, plain_json, read_json, recover, validate
from evenhand.runs.migration import SAMPLE as SAMPLE
from evenhand.runs.migration import migrate
from evenhand.stats.verdict import Objection

Finite = Annotated[float, Field(allow_inf_nan=False, ge=-1e100, le=1e100)]
"""A finite number, small enough that sums and products of a few are finite, too. Answers are at most 1e60."""


@dataclass(frozen=True, slots=True)
class Deviation:
    """How scores in half precision differ from those in float32.

    `shift` is the mean of (half precision - float32), `low` and `high` are its 95 % interval, and `largest` is the
    largest difference of one item, all in the measure's unit. `doubtful` are the groups whose interval could lie on
    another side of the neutral value, or include it, if the value moved by as much as the interval of `shift` allows.
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
    """How a run in half precision compares with float32, or `why` not; `overflowed` inputs were redone in float32."""

    asked: str | None = None
    overflowed: int | None = None
    deviations: tuple[Deviation, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class Imported:
    """The file that scores were imported from. Of its `rows`, `matched` are about an item of the dataset.

    `numbers` are the names of the numbers in each row: `score`, or the answers from which the measure computes it.
    """

    file: str
    sha256: str
    format: str
    numbers: tuple[str, ...]
    rows: int
    matched: int

    @property
    def description(self) -> str:
        details = f"{self.format}, {' and '.join(self.numbers)}, SHA-256 {self.sha256[:12]}"
        return f"imported from {self.file} ({details}), {self.matched:,} of its {self.rows:,} rows"


Kind = TypeVar("Kind")

SCHEMA = 4
"""See runs.migration for what older schemas lack."""
DESCRIPTIVE = (
    *("about", "asks", "flaws", "language", "licence", "reading", "source", "title", "leans", "unit"),
    *("better", "bounds", "rank", "favours", "family", "partners", "kinds"),
)
"""Fields of a task that are for readers: runs that differ in them can still be compared."""


def _check_finite(data: Kind) -> Kind:
    """The data. Raises an error for NaN and infinities, which Python reads although JSON does not have them."""
    try:
        json.dumps(data, allow_nan=False)
    except ValueError as error:
        raise ValueError("should have finite numbers only") from error
    return data


Options = Annotated[Mapping[str, Any], AfterValidator(_check_finite)]


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
    title: str = ""
    leans: tuple[str, str] = ("below neutral", "above neutral")
    unit: str = ""
    better: Better = "closer"
    bounds: tuple[float | None, float | None] = (None, None)
    favours: Favours = "item"
    family: str = ""
    rank: int = LAST  # `title` to `rank` are fields of core.measure.Traits
    partners: Partners | None = None
    kinds: Kinds | None = None
    seed: Annotated[int, Field(ge=0)] = field(kw_only=True)
    limit: Annotated[int, Field(ge=1)] | None = field(kw_only=True)
    partial: bool = False  # whether the results are of a sample of at most `limit` items
    budget: Annotated[int, Field(ge=1)] | None = None  # for all tasks together; this one then has `limit` items

    @property
    def draw(self) -> str:
        """The limit, budget and seed that a sample was drawn with."""
        return f"limit {self.limit}, {f'budget {self.budget}, ' if self.budget else ''}seed {self.seed}"

    @property
    def identity(self) -> dict[str, Any]:
        """The fields that must be equal for two runs to be compared."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in (*DESCRIPTIVE, *SAMPLE)}

    @property
    def signed(self) -> bool:
        return self.bounds[0] is None or self.bounds[0] < 0

    @property
    def genders(self) -> bool:
        """Whether the scores of women are compared with those of men, partner by partner."""
        group = self.partners.group if self.partners else ""
        return group == "gender" and self.favours in ("item", "other")

    @property
    def by_gender(self) -> bool:
        """Whether women are compared with men, and partners have the same labels in all groups of `by`."""
        return self.genders and not set(self.partners.differ if self.partners else ()) & set(self.by)

    @property
    def name(self) -> tuple[str, str]:
        """Dataset and measure."""
        return self.dataset, self.measure


@dataclass(frozen=True, kw_only=True)
class AuditRecord:
    """One audit of a model: its tasks, the doctor's findings, the versions, and the cost."""

    evenhand: str = "unknown"
    kind: str = "masked"
    """The kind of model: masked, causal, nli or vectors; "unknown" if scores were imported without a kind."""
    loaded: Options = field(default_factory=dict)
    """The model's description of itself: source, revision, dtype, device, ..."""
    tasks: Annotated[tuple[TaskRecord, ...], Field(min_length=1)]
    work: Work
    suite: str | None = None
    tokens: Annotated[Mapping[str, Mapping[str, Finite]], Field(alias="pieces")]
    """By dataset, the mean number of tokens of each attribute."""
    warnings: tuple[str, ...]
    excluded: tuple[str, ...] = ()
    """Datasets that were asked for, but not measured, since the model cannot answer their questions."""
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
    imported: Imported | None = None
    """The origin of scores that were computed elsewhere; then no model was asked or checked."""

    @property
    def served(self) -> bool:
        """Whether the model was behind a server, which we or another program asked."""
        return "server" in self.loaded or "settings" in self.loaded

    @property
    def examined(self) -> bool:
        """Whether the doctor was not left out."""
        return all(finding.check != NOT_EXAMINED.check for finding in self.doctor)

    def objection(self, task: TaskRecord) -> Objection:
        """Why a number of the task has no verdict, as far as the doctor knows."""
        unfit = any(finding.verdict == "unfit" and finding.about(task.dataset) for finding in self.doctor)
        return "unfit" if unfit else "" if self.examined else "not examined"

    @property
    def diagnosis(self) -> str:
        """The doctor's worst verdict, and the checks that gave it: "fine", "careful: casing", "not checked"."""
        if self.imported:
            return f"not checked: scores {self.imported.description}"
        if not self.examined:
            return f"{UNCHECKED}: the doctor was left out"
        for verdict in ("unfit", "careful"):
            if checks := [finding.check for finding in self.doctor if finding.verdict == verdict]:
                return f"{verdict}: {', '.join(dict.fromkeys(checks))}"
        return "fine" if self.doctor else UNCHECKED


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """The provenance of a run's numbers: the audits of one model whose results are in the folder."""

    model: str
    fingerprint: str
    audits: Annotated[tuple[AuditRecord, ...], Field(min_length=1)]
    """The latest is the last. A task that was measured again is only in its latest audit."""
    sha256: Mapping[str, str]
    """The hashes of the result files."""
    schema: int = SCHEMA  # the schema of the file that the record was read from
    asked: Way = UNASKED
    """How the model was asked choices and texts."""
    weights: str = ""
    """The fingerprint of the model however it is asked, which its answers are kept under. Default: `fingerprint`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", self.weights or self.fingerprint)

    @property
    def model_alone(self) -> str:
        """The model's name, without how it was asked."""
        return self.model.removesuffix(self.asked.words(in_chats=self.audits[-1].served))

    @property
    def tasks(self) -> tuple[TaskRecord, ...]:
        return tuple(task for audit in self.audits for task in audit.tasks)

    def audit_of(self, task: TaskRecord) -> AuditRecord:
        return next(audit for audit in self.audits if any(known.name == task.name for known in audit.tasks))

    @property
    def loaded(self) -> Mapping[str, Any]:
        return self.audits[-1].loaded

    @property
    def evenhand(self) -> str:
        return ", ".join(dict.fromkeys(audit.evenhand for audit in self.audits))

    @property
    def started(self) -> str:
        """When the latest audit began."""
        return max(audit.started for audit in self.audits)

    @property
    def tokens(self) -> dict[str, Mapping[str, float]]:
        return {dataset: counts for audit in self.audits for dataset, counts in audit.tokens.items()}

    @property
    def unscored(self) -> dict[str, Mapping[str, int]]:
        return {task: reasons for audit in self.audits for task, reasons in audit.unscored.items()}

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(line for audit in self.audits for line in audit.warnings))

    @property
    def doctor(self) -> tuple[Finding, ...]:
        return tuple(dict.fromkeys(finding for audit in self.audits for finding in audit.doctor))

    @property
    def concerns(self) -> list[Finding]:
        """The doctor's findings that are not "fine", except those on vocabulary that repeat a warning."""
        concerns = [finding for finding in self.doctor if finding.verdict != "fine"]
        return [f for f in concerns if f.check != "vocabulary" or not f.says.startswith(self.warnings)]

    @property
    def caveats(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(line for audit in self.audits for line in audit.caveats))

    @property
    def causal(self) -> bool:
        """Whether the model is causal: its values are not the same quantity as those of other models."""
        return bool(self.caveats)

    @property
    def partial(self) -> bool:
        return any(task.partial for task in self.tasks)

    @property
    def sample(self) -> str:
        """A sentence that says which datasets were sampled; empty if all items of all datasets were measured."""
        limits: dict[str, dict[str, None]] = {}
        for task in self.tasks:
            if task.partial:
                most = f"what a budget of {task.budget:,} allows" if task.budget else f"at most {task.limit} items"
                if origin := self.audit_of(task).imported:
                    most = f"{task.limit} items, those in {origin.file},"
                limits.setdefault(most, {})[task.dataset] = None
        everything = len(limits) == 1 and all(task.partial for task in self.tasks)
        samples = [
            f"{most} of {'each dataset' if everything else ', '.join(datasets)}" for most, datasets in limits.items()
        ]
        return f"Partial: a sample of {'; of '.join(samples)}." if samples else ""

    def write(self, path: Path) -> None:
        write_whole(path / "run.json", lambda file: file.write(plain_json(as_plain(self))))


RUN = TypeAdapter(RunRecord)
TASK = TypeAdapter(TaskRecord)


def check_recordable(whose: str, kind: TypeAdapter[Kind], record: Kind) -> Kind:
    """The record, as it is read again. Raises an error if what is a user's, such as a measure, has wrong attributes."""
    try:
        plain = plain_json(kind.dump_python(record, mode="json", by_alias=True, warnings=False))
        return kind.validate_json(plain, strict=True)
    except ValueError as error:  # also of what JSON does not have: an object, or half of a surrogate pair
        where, says = describe_error(error) if isinstance(error, ValidationError) else ("text", str(error))
        raise BadInput(f"{whose} cannot be recorded: its {where} {says}. Correct its class.") from error


def as_plain(record: RunRecord) -> dict[str, Any]:
    """The record as plain data, as in run.json."""
    plain: dict[str, Any] = RUN.dump_python(record, mode="json", by_alias=True, warnings=False)
    return plain


def read_record(path: Path) -> RunRecord | None:
    """Read the record of the run in this folder, after `recover`; None if unfinished. Raises NewerRun if too new."""
    file = path / "run.json"
    recover(path)
    if not file.exists():
        return None
    data = read_json(file)
    if not isinstance(data, dict) or "schema" not in data:
        raise RunError(f"'{file}' is not the record of a run. Give the folder that an audit wrote.")
    schema = data["schema"]
    if type(schema) is not int or schema < 1:  # a bool is an int, too
        raise RunError(f"'{file}' is damaged: schema should be an integer of at least 1, got {schema!r}. {RESTORE}")
    if schema > SCHEMA:
        raise NewerRun(
            f"A newer evenhand wrote the run in '{path}': it has schema {schema}, and this version reads schemas up "
            f"to {SCHEMA}. Upgrade evenhand."
        )
    record = validate(RUN, migrate(data, schema), file)
    for task in record.tasks:
        if task.partial and task.limit is None:
            raise RunError(f"'{file}' is damaged: limit should be the size of the sample, got null. {RESTORE}")
    return record
