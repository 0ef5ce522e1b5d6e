"""Read inspect_ai's logs of evenhand's tasks: .eval files, which are zip archives of JSON, and .json files.

The metadata of a sample's score has the answer that `evenhand.integrations.inspect_ai` stored: the log-probabilities of
the options, or a note why there are none.
"""

import hashlib
import json
import math
import sys
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.auditing.importing.row_scores import Foreign, Scored, ScoredRow, match, numbers, same_questions, scores_of
from evenhand.auditing.spec import PlannedTask, caveats
from evenhand.checks.fit import flaw_warnings
from evenhand.core.dataset import Dataset
from evenhand.core.files import LARGEST, from_json, read_parsed
from evenhand.core.foreign import need
from evenhand.core.measure import Traits
from evenhand.core.questions import countable_text
from evenhand.core.way import Way
from evenhand.errors import BadInput, shorten
from evenhand.models.planning.sequences import USUAL
from evenhand.runs.record import Imported

TASKS = "evenhand/choices, evenhand/stories, evenhand/bbq, evenhand/nli and evenhand/nli_coal"
SCORERS = ("nli_labels", "chosen_options", "shares_of_options")
ZSTANDARD = 93
HEADER = "header.json"
WHOLE = 2**30
"""The most bytes that the contents of an archive may have after decompression."""
NOT_SCORED = "not scored"
MODEL_ARGS = "model_args"
OPERATION = (
    *("max_retries", "timeout", "attempt_timeout", "stream_idle_timeout", "max_connections", "adaptive_connections"),
    *("cache", "cache_prompt", "batch", "extra_headers", "max_tool_output", "parallel_tool_calls", "internal_tools"),
)
"""Settings of generation that change no answer."""
Answers = list[tuple[str, Mapping[str, Any]]]
"""The answers about an item, one for each epoch: the place in the log, and the logged answer."""
REPLIES = (
    "Asked by inspect_ai: an answer is the option that a reply names, not the likeliest one. Values are not comparable "
    "with those of log-probabilities, or with an NLI classifier's."
)


@dataclass(frozen=True)
class Log:
    """A log: the model, how it was asked, the datasets, and the answers."""

    path: Path
    model: str
    datasets: Mapping[str, Mapping[str, Any]]
    """The version and the options of each dataset, by its name."""
    labels: tuple[str, ...]
    """The words for entailment, neutral and contradiction; empty unless the task is NLI."""
    settings: Mapping[str, Any]
    """Arguments of the model, and settings of generation that may change an answer."""
    rows: Mapping[str, list[ScoredRow]]
    """The answer about each item, by dataset."""
    probable: frozenset[str]
    """The ids of items with log-probabilities from the model. Those of other items only encode the chosen option."""
    epochs: int


def read(path: Path) -> Log | None:
    """The log in this file; None if it is of another format. Raise an error if the log cannot be imported."""
    if path.suffix not in (".eval", ".json") or not path.is_file():
        return None
    with _open_samples(path) as (header, samples):
        return None if header is None else _parse_log(path, header, samples)


@contextmanager
def _open_samples(path: Path) -> Iterator[tuple[Any, Iterable[Mapping[str, Any]]]]:
    """The header and the samples of a log; (None, ()) for other JSON files. Raise an error if the log is damaged."""
    try:
        if path.suffix == ".eval":
            with zipfile.ZipFile(path) as archive:
                yield _read_archive(path, archive)
        else:
            header = _read_json(path)
            yield header, (header or {}).get("samples") or ()
    except BadInput:
        raise
    except Exception as error:  # the decompressor of a damaged archive can raise anything
        why = f"no {error}" if isinstance(error, KeyError) else str(error) or type(error).__name__
        raise BadInput(
            f"'{path}' cannot be read as a log of inspect_ai: {shorten(why, 100)}. Check it with `inspect view`."
        ) from error


def _ours(path: Path, header: Mapping[str, Any]) -> Mapping[str, Any]:
    """What our task has put into its log. Raise an error for a log of another task, or of an unfinished evaluation."""
    ours = (header["eval"].get("metadata") or {}).get("evenhand")
    if not isinstance(ours, dict):
        task = header["eval"]["task"]
        raise BadInput(f"'{path}' is a log of the task '{task}', which is not evenhand's. Choose {TASKS}.")
    if header["status"] != "success":
        why = (header.get("error") or {}).get("message", "")
        raise _unfinished_error(path, f"{header['status']}{f', {shorten(why, 100)!r}' if why else ''}")
    return ours


def _parse_log(path: Path, header: Mapping[str, Any], samples: Iterable[Mapping[str, Any]]) -> Log:
    spec, ours = header["eval"], _ours(path, header)
    datasets = {n: {"version": d["version"], "options": dict(d["options"])} for n, d in ours["datasets"].items()}
    answers: dict[str, dict[str, Answers]] = {name: {} for name in datasets}
    for sample in samples:
        where = f"{path}, sample {sample['id']} of epoch {sample['epoch']}"
        about = sample["metadata"]
        id = about.get("item", sample)["id"]
        answers[about["dataset"]].setdefault(str(id), []).append((where, _answer(sample)))
    epochs = [several for by_item in answers.values() for several in by_item.values()]
    if all(answer.get("note") == NOT_SCORED for several in epochs for _, answer in several):
        lacks, do = ("scores", "Score it with inspect score") if epochs else ("samples", "Leave out --no-log-samples")
        raise BadInput(f"'{path}' has none of the {lacks} that evenhand's tasks log. {do}.")
    return Log(
        path,
        str(spec["model"]),
        datasets,
        tuple(map(str, ours.get("labels", ()))),
        {MODEL_ARGS: spec.get(MODEL_ARGS) or {}, **_generation(header)},
        {name: [_row(id, several) for id, several in by_item.items()] for name, by_item in answers.items()},
        frozenset(id for by_item in answers.values() for id, several in by_item.items() if _has_probabilities(several)),
        max(map(len, epochs)),
    )


def _generation(header: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of generation that may change an answer."""
    settings = {**(header["eval"].get("model_generate_config") or {}), **(header.get("plan") or {}).get("config", {})}
    return {name: value for name, value in settings.items() if value is not None and name not in OPERATION}


def _way(settings: Mapping[str, Any]) -> Way:
    """How the model was asked, by these settings of its generation: inspect asks in chats."""
    system, temperature = str(settings.get("system_message", "")), settings.get("temperature")
    return Way.of({"chat": True, "system": system, "temperature": temperature})


def _answer(sample: Mapping[str, Any]) -> Mapping[str, Any]:
    scores = sample.get("scores") or {}
    logged: Any = next((scores[name].get("metadata") for name in SCORERS if name in scores), None)
    return logged or {"note": "the sample failed" if sample.get("error") else NOT_SCORED}


def _has_probabilities(several: Answers) -> bool:
    given = [answer for _, answer in several if "logps" in answer]
    return bool(given) and all(answer.get("probabilities") for answer in given)


def _row(id: str, several: Answers) -> ScoredRow:
    """One row for all epochs: the mean probabilities, or no numbers and the usual note if most epochs have none."""
    where = several[0][0]
    logged = [(place, answer["logps"]) for place, answer in several if answer.get("logps")]
    given = [numbers(place, ["a log-probability"] * len(logps), logps) for place, logps in logged]
    if len(given) * 2 < len(several) or not given:
        notes = Counter(str(answer["note"]) for _, answer in several if "logps" not in answer)
        return ScoredRow(where, (), id, note=notes.most_common(1)[0][0])
    together = np.logaddexp.reduce(np.array(given), axis=0) - math.log(len(given))
    return ScoredRow(where, tuple(together.tolist()), id)


def _read_archive(path: Path, archive: zipfile.ZipFile) -> tuple[dict[str, Any], Iterator[Mapping[str, Any]]]:
    members = archive.infolist()
    if sys.version_info < (3, 14) and any(member.compress_type == ZSTANDARD for member in members):
        need("inspect", f"Reading '{path.name}', which is compressed by Zstandard,")
        import zipfile_zstd  # noqa: F401  (teaches zipfile; inspect_ai brings it along)
    names = dict.fromkeys(member.filename for member in members)
    if HEADER not in names:
        raise _unfinished_error(path, "there is no header in it")
    if (size := sum(member.file_size for member in members)) > WHOLE:
        raise ValueError(f"its contents have {size:,} bytes after decompression, more than the limit of {WHOLE:,}")
    samples = (name for name in names if name.startswith("samples/") and name.endswith(".json"))
    return _read_member(archive, HEADER), (_read_member(archive, name) for name in samples)


def _read_member(archive: zipfile.ZipFile, name: str) -> Any:
    if (size := archive.getinfo(name).file_size) > LARGEST:
        raise ValueError(f"{name} in it has {size:,} bytes, more than the limit of {LARGEST:,}")
    return from_json(archive.read(name).decode())


def _read_json(path: Path) -> dict[str, Any] | None:
    """A log in JSON; None if the file is of another format or damaged, which the reader of that format reports."""
    with suppress(OSError, ValueError):
        whole = read_parsed(path, from_json)
        if isinstance(whole, dict) and isinstance(whole.get("eval"), dict) and "status" in whole:
            return whole
    return None


def _unfinished_error(path: Path, why: str) -> BadInput:
    return BadInput(f"The evaluation in '{path}' did not finish: {why}. Finish it with: inspect eval-retry '{path}'.")


def model_of(path: Path) -> str:
    """The name of the model in a log, and how it was asked; empty if the file is not a log or is damaged."""
    if path.suffix in (".eval", ".json"):
        with suppress(BadInput), _open_samples(path) as (header, _):
            if header is not None:
                return f"{header['eval']['model']}{_way(_generation(header)).words(in_chats=True)}"
    return ""


def texts_task(path: Path) -> dict[str, Any] | None:
    """The dataset of a log of our task `stories`, and how its texts were drawn; None for any other file."""
    if path.suffix not in (".eval", ".json") or not path.is_file():
        return None
    with _open_samples(path) as (header, _):
        if header is None or not ((header["eval"].get("metadata") or {}).get("evenhand") or {}).get("texts"):
            return None
        ((name, dataset),) = _ours(path, header)["datasets"].items()
        settings = _generation(header)
        known = {"temperature": "temperature", "max_tokens": "longest", "system_message": "system"}
        drawn = {option: settings[name] for name, option in known.items() if name in settings}
        return {"dataset": name, "version": dataset["version"], "options": {**dataset["options"], **drawn}}


def read_texts(path: Path) -> Iterator[tuple[str, str, str, list[str]]]:
    """Yield the place, id, prompt and replies of each sample of a log, whatever its task."""
    with _open_samples(path) as (_, samples):
        for sample in samples:
            prompt = sample.get("input")
            if isinstance(prompt, list):
                prompt = next((m.get("content") for m in reversed(prompt) if m.get("role") == "user"), "")
            choices = (sample.get("output") or {}).get("choices") or ()
            replies = [choice for choice in choices if choice["message"]["content"] is not None]
            texts = [_message_text(reply["message"]["content"]) for reply in replies]
            cut = [reply.get("stop_reason") == "max_tokens" for reply in replies]
            where = f"{path}, sample {sample['id']}"
            counted = [countable_text(text, cut=ends) for text, ends in zip(texts, cut, strict=True)]
            yield where, str(sample["id"]), _message_text(prompt or ""), counted


def _message_text(content: Any) -> str:
    """The text of a message, whose content is a text or a list of parts."""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def score_log(log: Log, foreign: Foreign) -> Scored:
    """Score the answers in a log, for each of its datasets or for those that `foreign.dataset` names.

    Measures that need probabilities are excluded if the log has no probabilities.
    """
    file, kind, dataset = log.path.name, foreign.kind or "causal", foreign.dataset
    if foreign.columns or foreign.options:
        raise BadInput(f"`columns` and `option` do not apply to {file}, a log of inspect_ai. Leave them out.")
    chosen = {str(name) for name in ([dataset] if isinstance(dataset, str | Path | Dataset) else dataset or ())}
    if chosen - log.datasets.keys():
        raise BadInput(f"{file} is a log of {' and '.join(log.datasets)}. Got `dataset` {', '.join(sorted(chosen))}.")
    names = ("log-probabilities",) if log.probable else ("answers",)
    planned_tasks, scores, warnings, rows, matched = list[PlannedTask](), [], list[str](), 0, 0
    for name in (name for name in log.datasets if (name in chosen if chosen else log.rows[name])):
        tasks = _tasks(log, name, foreign, kind)
        whole = tasks[0].whole.dataset
        of_items = match(log.rows[name], whole, file)
        for planned, logged in map(of_items.of, tasks):
            planned_tasks.append(planned)
            answers = [row and _row_for(log, planned, row) for row in logged]
            scores.append(scores_of(planned.task, answers, file, names))
        warnings += flaw_warnings(whole)
        rows += len(log.rows[name])
        matched += len(log.rows[name]) - len(of_items.unmatched)
    sha256 = hashlib.sha256(log.path.read_bytes()).hexdigest()
    notes = caveats(kind, [planned.task for planned in planned_tasks]) if log.probable else [REPLIES]
    if log.epochs > 1:
        how = "the mean of its probabilities" if log.probable else "the most frequent one"
        notes.append(f"Each item was asked {log.epochs} times. Its answer is {how}.")
    origin = Imported(file, sha256, "log of inspect_ai", names, rows, matched)
    words = () if log.labels == USUAL else log.labels  # so that NLI and BBQ can be in one run
    identity = json.dumps([log.model, words, log.settings], sort_keys=True, default=str)
    # Arguments of the model are not stored, since they may contain paths.
    settings = [f"{name}={value}" for name, value in log.settings.items() if name != MODEL_ARGS]
    settings += [f"labels={','.join(log.labels)}"] if log.labels else []
    how_asked = ", ".join(settings) or "the provider's own"
    return Scored(planned_tasks, scores, origin, identity, kind, warnings, notes, how_asked, _way(log.settings))


def _tasks(log: Log, name: str, foreign: Foreign, kind: str) -> list[PlannedTask]:
    """The tasks on one dataset of the log, for the measures that its answers are enough for."""
    logged = log.datasets[name]
    options = dict(logged["options"])
    if not log.labels:
        options |= {"chat": True, "system": _way(log.settings).system}
    spec = foreign.spec(name, options)
    tasks = spec.tasks_for(kind)
    if (ours := tasks[0].task.dataset.version) != logged["version"]:
        raise BadInput(
            f"{log.path.name} was made with version {logged['version']} of dataset '{name}'. This evenhand has version "
            f"{ours}. Run inspect again, or import the log with the evenhand that made it."
        )
    possible = [planned for planned in same_questions(tasks) if log.probable or not _needs_probabilities(planned)]
    if spec.measures and (lost := [planned.task.measure.name for planned in tasks if planned not in possible]):
        raise BadInput(
            f"Probabilities are needed for {', '.join(lost)}, and {log.path.name} has replies only. Use a provider "
            "that gives log-probabilities: inspect eval ... --logprobs --top-logprobs 20."
        )
    return possible


def _needs_probabilities(planned: PlannedTask) -> bool:
    measure = planned.task.measure
    return Traits.of(measure).unit == "probability" or bool(getattr(measure, "exact", False))


def _row_for(log: Log, planned: PlannedTask, row: ScoredRow) -> ScoredRow:
    """The row; without its numbers if the measure needs probabilities and the numbers only encode a choice."""
    if row.id in log.probable or not _needs_probabilities(planned):
        return row
    return replace(row, numbers=(), note=row.note or "no log-probabilities in the log")
