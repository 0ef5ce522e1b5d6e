"""The tasks of an audit: which datasets and measures it runs."""

import dataclasses
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from evenhand import datasets, measures
from evenhand.core.dataset import Dataset, base_name
from evenhand.core.items import Item
from evenhand.core.loop import Task
from evenhand.core.measure import Measure, Traits
from evenhand.core.way import PLAIN, UNASKED, Way
from evenhand.datasets.files import read_toml
from evenhand.errors import BadInput, DataNotFound, UnfitModel, UnknownName, check_known
from evenhand.runs.record import TaskRecord

log = logging.getLogger(__name__)

Pairs = list[tuple[str, str]]  # datasets and measures
Source = tuple[str | Dataset, Mapping[str, Any]]
"""A dataset, or its name, and options of its own: the file of `templates` or `pairs`."""


def _by_language(tables: Mapping[str, Mapping[str, Sequence[str]]]) -> dict[str, Pairs]:
    return {
        language: [(dataset, measure) for dataset, measures in table.items() for measure in measures]
        for language, table in tables.items()
    }


_TABLES = read_toml("suites.toml", "evenhand")
BY_KIND: dict[str, dict[str, dict[str, Pairs]]] = {
    suite: {kind: _by_language(tables) for kind, tables in _TABLES[suite].items()} for suite in ("known", "vectors")
}
"""Suites that differ by kind of model: by suite, kind and language."""
SUITES = {name: BY_KIND[name]["masked"] if name in BY_KIND else _by_language(of) for name, of in _TABLES.items()}
"""By suite and language: (dataset, measure)."""
ASKED: dict[str, dict[str, Any]] = {"becpro-de": {"forms": "crossed"}}
"""Options that suites set: in German, both forms of each profession, which tell grammar and bias apart."""
LANGUAGE_MODELS = ("becpro", "emotions", "gbef")
ALL = {"masked": LANGUAGE_MODELS, "causal": LANGUAGE_MODELS, "nli": ("nli",), "vectors": ("vectors",)}
ALL |= {"chat": ("choices",), "server": ("choices", *LANGUAGE_MODELS)}
"""The suites of an audit with suite="all", by kind of model; chat models and servers are causal ones."""
FETCHED = ("known", "choices")
"""Suites with datasets that may not be on this machine. Only the datasets that are there are measured."""
DEFAULTS: dict[str, dict[str, Any]] = {"causal": {"among": "candidates", "asks": "likelihood", "pooling": "last"}}
"""Default options of datasets and measures, by kind of model."""
LONGEST_VALUE = 24
"""The most characters of an option's value in a dataset's name. A longer value is cut, and a hash tells it apart."""
LATER = ("formula", "distance")
"""Options that were added to measures later. Their defaults are not recorded, so that older runs stay comparable."""


def tasks(
    suite: str | Sequence[str] = "all",
    language: str | Sequence[str] = "en",
    options: Mapping[str, Any] | None = None,
    kind: str = "masked",
    *,
    asked: str = "",
    defaults: Mapping[str, Any] | None = None,
    quiet: bool = False,
) -> list[Task]:
    """The tasks of suites, or of all suites for that kind of model, in one language or several.

    An option goes to every dataset and measure that has it; `defaults` replace their own. `asked` is "chat" for a
    causal model that is asked in chats and "server" for one behind a server. Datasets that are not on this machine are
    logged unless `quiet`.
    """
    suites = [suite] if isinstance(suite, str) else list(dict.fromkeys(suite))
    languages = [language] if isinstance(language, str) else list(dict.fromkeys(language))
    check_known("suite", suites, ["all", *SUITES])
    names = dict.fromkeys(name for given in suites for name in (ALL[asked or kind] if given == "all" else (given,)))
    chosen = {name: SUITES[name] for name in names}
    for name in BY_KIND.keys() & chosen:
        if kind not in BY_KIND[name]:
            kinds = ", ".join(BY_KIND[name])
            raise UnfitModel(f"The suite '{name}' is for models of the kinds {kinds}. Got a model of kind '{kind}'.")
        chosen[name] = BY_KIND[name][kind]
    chosen |= {name: _available_pairs(chosen[name], languages, quiet) for name in FETCHED if name in chosen}
    check_known(f"language of the suites {', '.join(chosen)}:", languages, set().union(*chosen.values()))
    for name, by_language in chosen.items():
        if name in suites and not set(languages) & set(by_language):
            raise UnknownName(f"language of suite '{name}'", languages[0], by_language)
    pairs = [pair for code in languages for by_language in chosen.values() for pair in by_language.get(code, [])]
    of_suites = {name: value for dataset, _ in pairs for name, value in ASKED.get(dataset, {}).items()}
    resolved = {**(defaults or {}), **_resolve_options({**of_suites, **(options or {})}, pairs, kind)}
    loaded = {name: _load_dataset(name, resolved) for name in dict.fromkeys(dataset for dataset, _ in pairs)}
    return [_task(loaded[dataset], measure, resolved, kind) for dataset, measure in dict.fromkeys(pairs)]


def _available_pairs(by_language: dict[str, Pairs], languages: Sequence[str], quiet: bool) -> dict[str, Pairs]:
    """The datasets whose files are on this machine. Raise an error if there are none in these languages."""
    missing = dict[str, str]()
    for dataset in dict.fromkeys(name for language in languages for name, _ in by_language.get(language, [])):
        try:
            datasets.load(dataset)
        except DataNotFound as error:
            missing[dataset] = str(error)
    available = {
        language: [pair for pair in pairs if pair[0] not in missing] for language, pairs in by_language.items()
    }
    if missing and not any(available.get(language) for language in languages):
        raise DataNotFound(f"None of {', '.join(missing)} is on this machine. {next(iter(missing.values()))}")
    if missing and not quiet:
        log.info(f"Not measured, since they were not fetched: {', '.join(missing)}.")
    return available


def tasks_on(
    datasets: str | Sequence[Source],
    which: Sequence[str | Measure[Any]] = (),
    options: Mapping[str, Any] | None = None,
    kind: str = "masked",
    defaults: Mapping[str, Any] | None = None,
) -> list[Task]:
    """The tasks for these datasets: with the named measures, or with all that suit their items."""
    sources: Sequence[Source] = [(datasets, {})] if isinstance(datasets, str) else datasets
    pairs: list[tuple[str | Dataset, Dataset, str | Measure[Any]]] = []
    for source, own in sources:
        defaults_and_own = {**(defaults or {}), **(options or {}), **own}
        dataset = source if isinstance(source, Dataset) else _load_dataset(source, defaults_and_own)
        pairs += [(source, dataset, measure) for measure in _suitable_measures(dataset, which)]
    by_user = dict(options or {}) | {option: value for _, own in sources for option, value in own.items()}
    known = _resolve_options(by_user, [(source, measure) for source, _, measure in pairs], kind)
    resolved = {**(defaults or {}), **known}
    chosen = [
        _task(dataset, measure, resolved, kind) if isinstance(measure, str) else _labelled_task(dataset, measure, kind)
        for _, dataset, measure in pairs
    ]
    for (name, _), count in Counter((task.dataset.name, task.measure.name) for task in chosen).items():
        if count > 1:
            raise BadInput(f"Two datasets have the name '{name}'. Rename one, or measure it in another run.")
    for task in chosen:
        undirected = Traits.of(task.measure).favours in ("item", "other") and not task.dataset.partners
        if undirected and task.dataset.kinds and task.measure.name not in measures.OURS:
            log.warning(
                f"'{task.measure.name}' has no stereotype and default on '{task.dataset.name}', since it does not say "
                "whom a higher score favours: set its `favours` to 'stereotype', 'men' or 'women', or to 'none'."
            )
    return chosen


def _suitable_measures(dataset: Dataset, which: Sequence[str | Measure[Any]]) -> list[str | Measure[Any]]:
    """The measures asked for, or all that suit the dataset. Raise an error if a named one does not."""
    kind = type(dataset.items[0])
    every = {name: Traits.of(how) for name, how in measures.MEASURES.items()}
    suitable = {name: traits for name, traits in every.items() if traits.items in (kind, None)}
    chosen = list(dict.fromkeys(which)) or [
        name
        for name, traits in suitable.items()
        if traits.items and not traits.on_request
        if all(_has(item, need) for item in dataset.items for need in traits.needs)
    ]
    of_type = f"'{dataset.name}', whose items are of type {kind.__name__}"
    for measure in chosen:
        name = measure if isinstance(measure, str) else measure.name
        check_known("measure", [name], measures.MEASURES)
        if name not in suitable:
            raise BadInput(f"'{name}' cannot measure {of_type}. Measures that can: {', '.join(suitable)}.")
    if not chosen:
        raise BadInput(f"No measure suits {of_type}. Give a `measure`.")
    return chosen


def _has(item: Item, need: str) -> bool:
    """Whether the item has a value for this field, or if items of its kind have no such field, for this group."""
    return (getattr(item, need) if hasattr(item, need) else item.groups.get(need)) not in (None, "", ())


def _resolve_options(
    options: Mapping[str, Any], pairs: Sequence[tuple[str | Dataset, str | Measure[Any]]], kind: str
) -> dict[str, Any]:
    """The options, over the defaults for the kind of model. Raise an error for one that no dataset or measure has."""
    known = {name for dataset, _ in pairs if isinstance(dataset, str) for name in datasets.options_of(dataset)}
    known |= {name for _, measure in pairs if isinstance(measure, str) for name in measures.options_of(measure)}
    check_known("option", options, known)
    if kind == "vectors" and (vain := [name for name in ("layer", "pooling") if name in options]):
        raise BadInput(f"A file of vectors has neither layers nor tokens: leave out {' and '.join(vain)}.")
    return DEFAULTS.get(kind, {}) | dict(options)


def _load_dataset(dataset: str, options: Mapping[str, Any]) -> Dataset:
    return datasets.load(dataset, **{k: v for k, v in options.items() if k in datasets.options_of(dataset)})


def _task(dataset: Dataset, measure: str, options: Mapping[str, Any], kind: str) -> Task:
    its_own = {k: v for k, v in options.items() if k in measures.options_of(measure)}
    traits = Traits.of(measures.MEASURES[measure])
    for only, wanted in (("masked", traits.masked_only), ("causal", traits.causal_only)):
        if wanted and kind != only:
            other = {"nli": "an NLI classifier"}.get(kind, f"a {kind} language model")
            raise UnfitModel(f"'{measure}' is for {only} language models. This one is {other}: leave the measure out.")
    return _labelled_task(dataset, measures.load(measure, **its_own), kind)


def _labelled_task(dataset: Dataset, measure: Measure[Any], kind: str) -> Task:
    """The task, with all options that are not defaults in the dataset's name, so that results are not mixed.

    How the model is asked is not in the name, since it is part of the model. Nor is the path of a user's file: a file
    that was moved or edited is still the same dataset.
    """
    changed: dict[str, Any] = {}
    if not dataset.builder and dataset.name in datasets.BUILDERS:
        changed |= {k: v for k, v in dataset.options.items() if v != datasets.defaults_of(dataset.name).get(k, v)}
    defaults = measures.defaults_of(measure) | DEFAULTS.get(kind, {})
    changed |= {k: v for k, v in _options(measure).items() if v != defaults.get(k, v)}
    texts = {option: str(value) for option, value in changed.items() if option not in PLAIN}
    named = ", ".join(f"{option}={_shorten_value(text)}" for option, text in texts.items())
    return Task(dataclasses.replace(dataset, name=f"{dataset.name} ({named})") if named else dataset, measure)


def _shorten_value(text: str) -> str:
    """The value, or its beginning and four digits of its hash: story,news,persona,…6d9f."""
    cut = text[: LONGEST_VALUE - 5]
    start = cut[: cut.rfind(",") + 1] or cut
    return text if len(text) <= LONGEST_VALUE else f"{start}…{sha256(text.encode()).hexdigest()[:4]}"


def _options(measure: Any) -> dict[str, Any]:
    fields = dataclasses.fields(measure) if dataclasses.is_dataclass(measure) else ()
    return {field.name: getattr(measure, field.name) for field in fields}


def way_of(tasks: Sequence[Task], file: str = "") -> Way:
    """How these tasks ask a model; `file` is that of their system prompt. Raise an error if they differ in it."""
    way = UNASKED
    for options in (of for task in tasks for of in (task.dataset.options, _options(task.measure))):
        other = Way(**{name: options[name] for name in PLAIN if name in options})
        if apart := way.differences(other):
            raise BadInput(
                f"A run is asked in one way. Some of its tasks would be asked {way.description(*apart)}, others "
                f"{other.description(*apart)}. Give all the same `{apart[0]}`, or measure them in two runs."
            )
        way = way.join(other)
    return dataclasses.replace(way, file=file if way.system else "")


def record(task: Task, *, seed: int = 0, limit: int | None = None, partial: bool = False) -> TaskRecord:
    """The record of a task, from which its results can be read and the task rebuilt."""
    data, how = task.dataset, task.measure
    same = ("within", "cluster", "crossed", "partners", "kinds", "flaws", "about", "language", "source", "licence")
    return TaskRecord(
        dataset=data.name,
        dataset_builder=data.builder or base_name(data.name),
        dataset_version=data.version,
        dataset_options={k: v for k, v in data.options.items() if k not in PLAIN},
        by=tuple(data.by),
        **{name: getattr(data, name) for name in same},
        measure=how.name,
        measure_version=how.version,
        measure_options={
            k: v
            for k, v in _options(how).items()
            if k not in PLAIN and (k not in LATER or v != _options(type(how)())[k])
        },
        reading=how.reading,
        asks=str(how.__doc__ or "").partition("\n")[0],
        **Traits.of(how).recorded,
        seed=seed,
        limit=limit,
        partial=partial,
    )


def rebuild(recorded: Sequence[TaskRecord], kind: str, way: Way, places: Sequence[Path] = ()) -> list[Task]:
    """The tasks of these records, for that kind of model. Raise an error if the version of a dataset has changed.

    A user's file is looked for at its recorded path, then in `places`: folders, or files themselves.
    """
    by_name = {task.dataset: task for task in recorded}
    rebuilt = {name: _rebuild_dataset(task, places, way) for name, task in by_name.items()}
    known = {t.name: way.select(measures.options_of(t.measure)) | dict(t.measure_options) for t in recorded}
    return [_labelled_task(rebuilt[t.dataset], measures.load(t.measure, **known[t.name]), kind) for t in recorded]


def _rebuild_dataset(recorded: TaskRecord, places: Sequence[Path], way: Way) -> Dataset:
    if recorded.dataset_builder not in datasets.BUILDERS:
        raise BadInput(
            f"'{recorded.dataset}' is not a built-in dataset. It was given in Python or by a plugin. Load the plugin, "
            "or run the audit again, which uses the kept answers."
        )
    options = way.select(datasets.options_of(recorded.dataset_builder)) | dict(recorded.dataset_options)
    if "file" in options:
        dataset = _from_file(recorded, Path(str(options["file"])), places)
    else:
        dataset = datasets.load(recorded.dataset_builder, **options)
    if dataset.version != recorded.dataset_version:
        raise BadInput(
            f"The run has version {recorded.dataset_version} of dataset '{dataset.name}', this evenhand has "
            f"version {dataset.version}. Run the audit again, or use the evenhand that made the run."
        )
    return dataset


def _from_file(recorded: TaskRecord, file: Path, places: Sequence[Path]) -> Dataset:
    """The dataset of a user's file: of several candidates, the first with the recorded content."""
    within = [place / name for name in (file, file.name) for place in (Path(), *places)]
    candidates = [file.expanduser(), *(place for place in places if place.name == file.name), *within]
    paths = [path for path in dict.fromkeys(candidates) if path.is_file()]
    if not paths:
        raise BadInput(
            f"The run was made with the file '{file}', which was not found, neither there nor near the run. Give its "
            f"path, which ends in {file.name}, as `file`."
        )
    for path in paths:
        try:
            dataset = datasets.load(recorded.dataset_builder, **{**recorded.dataset_options, "file": str(path)})
            break
        except BadInput:
            if path == paths[-1]:
                raise
    recorded_path = {} if file.is_absolute() else {"file": str(file)}  # wherever it is now
    return dataclasses.replace(dataset, options={**dataset.options, **recorded_path})
