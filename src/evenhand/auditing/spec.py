"""What an audit is asked to measure, the tasks that follow for a kind of model, caveats, and the commands of a run."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from evenhand import datasets, measures, suites
from evenhand.auditing.budget import Affordable, Asking, affordable_tasks
from evenhand.auditing.sampling import sampled_tasks
from evenhand.core.dataset import Dataset, Datasets
from evenhand.core.items import Choice, Item, NliPair, Prompt, Target, TargetSentence
from evenhand.core.loop import Task
from evenhand.core.measure import Measure, Measures
from evenhand.core.questions import LISTED
from evenhand.core.typed import Named
from evenhand.core.way import PLAIN, Way
from evenhand.errors import BadInput
from evenhand.models.loading.names import known_models
from evenhand.plugins import load_installed
from evenhand.runs.folder import StoredRun
from evenhand.runs.record import TASK, AuditRecord, RunRecord, TaskRecord, check_recordable

MOST_LABELS = 12
"""The most labels of the group that values are shown by, if the user names no group."""
FILES = ("templates", "pairs")
"""Datasets that are made from a user's file."""
CAUSAL = [
    "A causal model: association and pronouns compare whole sentences among candidates, and a likelihood is that of "
    "each word after those before it. Its values are not comparable with a masked model's.",
    "Not measured: log-probability-bias where the attribute precedes the blank, as in tbd; inference, unless words for "
    "its labels are given: `suite='nli'` with `labels='True,Neither,False'`",
]
CAUSAL_BY_ITEM: dict[type, str] = {
    NliPair: "A causal model: a label is the likeliest of three words after a question. Its values are not comparable "
    "with an NLI classifier's.",
    Choice: "A causal model: an answer is the likeliest of a question's options, by their letters unless an option "
    "says so.",
    Prompt: "A causal model: texts are drawn from all tokens, at temperature 1 unless an option says so.",
    Target: "A causal model: the vector of a word is the mean of those that its tokens have in the table of embeddings "
    "unless an option says so. Its values are not comparable with a masked model's.",
    TargetSentence: "A causal model: a token has seen nothing but what stands before it, so the vector of a text, or "
    "of a word of several tokens, is that of its last one unless an option says so. Its values are not comparable with "
    "a masked model's.",
}


@dataclass(frozen=True)
class PlannedTask:
    """A task with its record. With a limit or a budget, `task` is on a sample; `whole` is on all items."""

    task: Task
    record: TaskRecord
    whole: Task
    too_few: int = 0
    """The least budget that could lead to a verdict on its dataset; 0 if this one could."""


class Reader(Protocol):
    """Reads a run when it is written, while its folder is locked, to judge it and to write its page."""

    def check(self, tasks: Sequence[PlannedTask], path: Path, existing: RunRecord | None) -> None:
        """Raise an error, before anything is measured, if `read` would fail on a run of these tasks."""

    def read(self, run: StoredRun) -> None: ...


@dataclass(frozen=True)
class AuditSpec:
    """What to measure: `sources` (datasets, users' files), or if there are none, suites, in English by default."""

    suite_names: list[str]
    languages: list[str]
    sources: list[suites.Source]
    measures: list[str | Measure[Any]]
    options: Mapping[str, Any]
    limit: int | None
    seed: int
    server: bool = False
    """Whether the model is behind a server."""
    chats: bool = False
    """Whether the server has chats, in which questions are then asked unless an option says otherwise."""
    budget: int | None = None
    """The most requests of all tasks together; without `asking`, the most distinct questions."""
    asking: Asking | None = None

    @classmethod
    def of(
        cls,
        suite: Named = "all",
        lang: Named = None,
        dataset: Datasets = None,
        measure: Measures = None,
        templates: Named = None,
        pairs: Named = None,
        options: Mapping[str, Any] | None = None,
        limit: int | None = None,
        budget: int | None = None,
        seed: int = 0,
    ) -> "AuditSpec":
        """What the parameters of `evenhand.audit` say. Raise an error if they contradict one another."""
        for name, most in (("limit", limit), ("budget", budget)):
            if most is not None and (not isinstance(most, int) or most < 1):
                raise BadInput(f"`{name}` must be a whole number, at least 1. Got {most!r}.")
        if limit is not None and budget is not None:
            raise BadInput(f"Give `limit` or `budget`, not both. Got `limit` {limit} and `budget` {budget}.")
        if seed < 0:
            raise BadInput(f"`seed` must not be negative. Got {seed}.")
        load_installed()
        sources: list[suites.Source] = [(source, {}) for source in _datasets(dataset)]
        languages = _name_list(lang, "lang")
        language = {"language": languages[0]} if languages else {}
        sources += [("templates", {"file": file}) for file in _name_list(templates, "templates")]
        sources += [("pairs", {"file": file, **language}) for file in _name_list(pairs, "pairs")]
        how = _measures(measure)
        if how and not sources:
            raise BadInput("`measure` needs `dataset`, `templates` or `pairs`, since a suite has its own measures.")
        if pairs and len(languages) > 1:
            raise BadInput(f"With `pairs`, `lang` must be one language. Got {', '.join(languages)}.")
        suite_names = _name_list(suite, "suite")
        return cls(suite_names, languages, sources, how, dict(options or {}), limit, seed, budget=budget)

    def in_way(self, way: Way) -> "AuditSpec":
        """The same, of a model that is asked in this way."""
        return replace(self, options={**self.options, **way.options})

    @property
    def needs_kind(self) -> bool:
        """Whether the tasks depend on the kind of model."""
        return not self.sources and "all" in self.suite_names

    @property
    def suite(self) -> str | None:
        """The names of the suites; None for datasets."""
        return None if self.sources else ", ".join(self.suite_names)

    def tasks_for(self, kind: str, *, quiet: bool = False) -> list[PlannedTask]:
        """The tasks for that kind of model. Datasets that are not on this machine are logged unless `quiet`."""
        defaults = {"chat": True} if self.chats and self.options.get("by", "letters") in LISTED else {}
        if self.sources:
            whole = suites.tasks_on(self.sources, self.measures, self.options, kind, defaults)
            for dataset in (task.dataset for task in whole):
                if self.languages and dataset.language not in self.languages:
                    got = f"Got `lang` '{', '.join(self.languages)}'"
                    raise BadInput(f"'{dataset.name}' is in '{dataset.language}'. {got}. Leave `lang` out.")
        else:
            chat = kind == "causal" and str(self.options.get("chat")).lower() == "true"
            asked = "server" if self.server else "chat" if chat else ""
            how: dict[str, Any] = {"asked": asked, "defaults": defaults, "quiet": quiet}
            whole = suites.tasks(self.suite_names, self.languages or ["en"], self.options, kind, **how)
        drawn = Affordable(whole if self.limit is None else sampled_tasks(whole, self.limit, self.seed))
        if self.budget is not None:
            drawn = affordable_tasks(whole, self.budget, self.seed, self.asking)
        planned = []
        for task, on_all in zip(drawn.tasks, whole, strict=True):
            part = len(task.dataset.items) if task != on_all else None
            record = suites.record(task, seed=self.seed, limit=self.limit or part, partial=bool(part))
            whose = f"{record.measure} on {record.dataset}"
            record = check_recordable(whose, TASK, replace(record, budget=self.budget))
            planned.append(PlannedTask(task, record, on_all, drawn.too_few.get(record.dataset, 0)))
        return planned


def _datasets(given: Datasets) -> list[str | Dataset]:
    """Names and objects as a list; a list of items is one dataset."""
    many: list[Any] = list(given) if isinstance(given, list | tuple) else [given] * (given is not None)
    if many and all(hasattr(each, "id") and hasattr(each, "groups") for each in many):
        return [Dataset(name="items", items=many, by=_default_groups(many))]
    if any(isinstance(each, Dataset) for each in many):
        return [each if isinstance(each, Dataset) else str(each) for each in many]
    return [*_name_list(many, "dataset")]


def _default_groups(items: Sequence[Item]) -> tuple[str, ...]:
    """The first group that every item has and that has 2 to 12 labels; none if there is no such group."""
    for group in items[0].groups:
        labels = {item.groups.get(group) for item in items}
        if None not in labels and 1 < len(labels) <= MOST_LABELS:
            return (group,)
    return ()


def _measures(given: Measures) -> list[str | Measure[Any]]:
    """The measures as a list of names and objects. The class of each object is registered, so that runs can name it."""
    many: list[Any] = list(given) if isinstance(given, list | tuple) else [given] * (given is not None)
    if all(isinstance(each, str | Path) for each in many):
        return [*_name_list(many, "measure")]
    for each in many:
        if not isinstance(each, str):
            measures.add(each if isinstance(each, type) else type(each))
    return [each() if isinstance(each, type) else each for each in many]


def _name_list(given: Named, parameter: str) -> list[str]:
    if given is None:
        return []
    names = [given] if isinstance(given, str | Path) else given
    if not isinstance(names, list | tuple) or not all(isinstance(name, str | Path) for name in names):
        raise BadInput(f"`{parameter}` must be a name or a list of names. Got {given!r}.")
    return list(dict.fromkeys(map(str, names)))


def caveats(kind: str, measured: Sequence[Task]) -> list[str]:
    """Sentences on how to read a causal model's values for these tasks; none for other models."""
    if kind != "causal":
        return []
    kinds = {type(task.dataset.items[0]) for task in measured}
    lines = [line for kind, line in CAUSAL_BY_ITEM.items() if kind in kinds]
    return lines + (CAUSAL if kinds - set(CAUSAL_BY_ITEM) else [])


def commands(record: RunRecord) -> list[str]:
    """The command of each audit of a run, the earliest first.

    A run records the name of a local model, not its folder: the command has PATH/TO/NAME. A task that was measured
    again is in the command of the later audit.
    """
    name = record.model_alone
    bundled = name if name in known_models() else f"PATH/TO/{name}"
    return list(dict.fromkeys(shlex.join(_argv(audit, bundled, record.asked)) for audit in record.audits))


def _argv(audit: AuditRecord, bundled: str, way: Way) -> list[str]:
    """The command of an audit, with the options that are not the defaults."""
    loaded, task = audit.loaded, audit.tasks[0]
    source = str(loaded.get("source", "folder"))
    defaults = {"lang": "en", "suite": "all", "seed": 0, "dtype": "float32", "batch-size": "auto", "samples": 20}
    defaults |= PLAIN
    given: list[tuple[str, Any]] = [("revision", loaded.get("revision") if source != "folder" else None)]
    if audit.suite is not None:
        given += [("suite", suite) for suite in audit.suite.split(", ")] + [("lang", t.language) for t in audit.tasks]
    else:
        for t in audit.tasks:
            from_file = t.dataset_builder in FILES
            option = (t.dataset_builder, t.dataset_options.get("file"))
            given.append(option if from_file else ("dataset", t.dataset_builder))
        given += [("measure", task.measure) for task in audit.tasks]
    known = {name for t in audit.tasks if t.measure in measures.MEASURES for name in measures.options_of(t.measure)}
    asked, in_chats = way.select(known), audit.served
    chat = [] if asked.get("chat", in_chats) == in_chats else ["--chat" if asked["chat"] else "--no-chat"]
    system = ("system", way.file) if way.file else ("option", f"system={way.system}")
    given += [system if asked.get("system") else ("system", None), ("temperature", asked.get("temperature"))]
    given += [("option", option) for option in _options(audit)]
    given += [
        ("base-url", loaded.get("server")),
        ("samples", loaded.get("samples")),
        ("budget", task.budget),
        ("limit", None if task.budget else task.limit),
        ("seed", task.seed),
    ]
    given += [("dtype", loaded.get("dtype_asked", loaded.get("dtype"))), ("batch-size", loaded.get("batch_size"))]
    changed = dict.fromkeys((name, str(value)) for name, value in given if value not in (None, "", defaults.get(name)))
    words = [*chat, *(word for name, value in changed for word in (f"--{name}", value))]
    return ["evenhand", "audit", bundled if source == "folder" else source, *words]


def _options(audit: AuditRecord) -> list[str]:
    """The options of datasets and measures that differ from their defaults, as name=value."""
    options: dict[str, Any] = {}
    for task in audit.tasks:
        defaults = datasets.defaults_of(task.dataset_builder) if task.dataset_builder in datasets.BUILDERS else {}
        given = {k: v for k, v in task.dataset_options.items() if k not in ("file", "sha256")}
        options |= {k: v for k, v in given.items() if v != defaults.get(k, v)}
        if task.measure in measures.MEASURES:
            defaults = measures.defaults_of(measures.MEASURES[task.measure]()) | suites.DEFAULTS.get(audit.kind, {})
            options |= {k: v for k, v in task.measure_options.items() if v != defaults.get(k, v)}
    return [f"{name}={value}" for name, value in options.items()]
