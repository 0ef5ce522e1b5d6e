"""Import texts that were generated elsewhere: by vLLM, a batch API, lm-evaluation-harness or inspect, or in a table."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand.auditing.importing import inspect_log
from evenhand.auditing.importing.row_scores import (
    EXPORTED,
    Foreign,
    Matched,
    Scored,
    ScoredRow,
    check_template,
    has_all,
)
from evenhand.auditing.spec import PlannedTask
from evenhand.core.dataset import Dataset
from evenhand.core.files import json_lines
from evenhand.core.items import Prompt
from evenhand.core.loop import score
from evenhand.core.measure import Traits
from evenhand.core.questions import SURROGATE, Answer, countable_text
from evenhand.core.way import Way
from evenhand.datasets import BUILDERS, load, needed_by, options_of
from evenhand.datasets.files.language import not_english
from evenhand.datasets.files.rows import SUFFIXES, check_type, rows
from evenhand.errors import BadInput, check_known
from evenhand.runs.record import Imported

TEXT = ("written", "completion", "response", "output", "generated_text", "text")
"""Names that the column of the generated texts may have; the first that a row has is used."""
PROMPT, ID = ("prompt", "input", "instruction"), ("id", "custom_id")
TextRow = tuple[str, str, str, list[str]]
"""The place in the file, for messages; the id of the item; the prompt; and the texts."""


def is_of_prompts(foreign: Foreign) -> bool:
    """Whether the items of the user's dataset are prompts, so that the file must have texts."""
    if foreign.dataset is None:
        return False
    for dataset, _ in foreign.spec(foreign.dataset, foreign.options).sources:
        if isinstance(dataset, str):
            check_known("dataset", [dataset], BUILDERS)
            if needed_by(dataset):
                return False
            dataset = load(dataset, **{k: v for k, v in foreign.options.items() if k in options_of(dataset)})
        if isinstance(dataset.items[0], Prompt):
            return True
    return False


def score_texts(source: pd.DataFrame | Path, foreign: Foreign) -> Scored:
    """Score texts by the measures that the user named, or by all measures of texts that need no model."""
    check_known("column", foreign.columns, ("id", "prompt", "written"))
    listed = list(_read(source, foreign.columns))
    for where, *_, texts in listed:
        if any(SURROGATE.search(text) for text in texts):
            raise BadInput(f"{where}: a text has half of a surrogate pair, which is not a character. Correct the file.")
    file = "the data frame" if isinstance(source, pd.DataFrame) else source.name
    if not any(texts for *_, texts in listed):
        raise BadInput(f"{file} has no texts.")
    if why := not_english(countable_text(text) for *_, texts in listed for text in texts):
        raise BadInput(
            f"{file}: {why} The prompts of {foreign.dataset} and the gendered words that are counted are English."
        )
    spec, way = foreign.spec(foreign.dataset, foreign.options), Way.of(foreign.options)
    if "chat" not in foreign.options:  # recognise chats by their prompts
        chat = foreign.spec(foreign.dataset, {**foreign.options, "chat": True})
        asked_in_chats = {
            item.text for item in chat.tasks_for("causal")[0].task.dataset.items if isinstance(item, Prompt)
        }
        if any(prompt.strip() in asked_in_chats for _, _, prompt, _ in listed):
            spec, way = chat, replace(way, chat=True)
    asked = [
        _without_unknown_options(planned, foreign.options)
        for planned in spec.tasks_for("causal")
        if Traits.of(planned.task.measure).takes_missing
    ]
    if not asked:
        raise BadInput(
            "`measure` must be written-share or written-undetected for imported texts. First mentions need the model."
        )
    dataset = asked[0].task.dataset
    if foreign.version not in (None, dataset.version):
        raise BadInput(f"{file} is of version {foreign.version} of '{dataset.name}', not {dataset.version}.")
    matched = _match(listed, dataset, file)
    scores, missing = [], Answer.none(f"not in {file}")
    each = [matched.of(planned) for planned in asked]
    for planned, of_task in each:
        answers = [
            [Answer(text=countable_text(text)) for text in row.texts] if row and row.texts else [missing]
            for row in of_task
        ]
        both = zip(planned.task.dataset.items, answers, strict=True)
        scores.append([score(item, texts, planned.task.measure) for item, texts in both])
    digest = digest_of(source)
    origin = Imported(file, digest, "texts", ("texts",), len(listed), len(listed) - len(matched.unmatched))
    unknown = "Texts that were written elsewhere: how they were drawn, and how long they could be, is not known here."
    caveats = [] if {"temperature", "longest"} <= foreign.options.keys() else [unknown]
    asked, warnings = [planned for planned, _ in each], matched.warnings(dataset, file)
    return Scored(asked, scores, origin, foreign.identity or digest, "causal", warnings, caveats, way=way)


def _without_unknown_options(planned: PlannedTask, given: Mapping[str, Any]) -> PlannedTask:
    """The task, without the length of the texts in its record unless the user gave it."""
    known = {k: v for k, v in planned.record.measure_options.items() if k in given or k != "longest"}
    return replace(planned, record=replace(planned.record, measure_options=known))


def _match(listed: Iterable[TextRow], dataset: Dataset, file: str) -> Matched:
    """Match texts with items, by id or by prompt."""
    known = {item.text: item.id for item in dataset.items if isinstance(item, Prompt)}
    known |= {item.id: item.id for item in dataset.items}
    texts: dict[str, list[str]] = {}
    unmatched = []
    for where, id, prompt, some in listed:
        if (item := known.get(id) or known.get(prompt) or known.get(prompt.strip())) is None:
            unmatched.append(ScoredRow(where, (), id, (prompt,) if prompt else ()))
        else:
            texts.setdefault(item, []).extend(some)
    if not texts:
        raise BadInput(
            f"No row of {file} is of a prompt of '{dataset.name}'. The first row is {unmatched[0].what}; the first "
            f"item is {dataset.items[0].id!r}. Get the prompts by: evenhand datasets export {dataset.name}"
        )
    by_item = [
        ScoredRow(file, (), item.id, tuple(texts[item.id])) if item.id in texts else None for item in dataset.items
    ]
    return Matched(by_item, unmatched, sum(map(len, texts.values())) + len(unmatched))


def _read(source: pd.DataFrame | Path, columns: Mapping[str, str]) -> Iterator[TextRow]:
    if isinstance(source, pd.DataFrame):
        frame = source.reset_index() if source.index.name else source
        yield from _from_table(((f"row {n}", row) for n, row in enumerate(frame.to_dict("records"), 1)), columns)
    elif source.suffix in (".eval", ".json"):
        yield from inspect_log.read_texts(source)
    elif source.suffix not in SUFFIXES:
        raise BadInput(f"Texts come in {', '.join((*SUFFIXES, '.eval', '.json'))} files. Got '{source}'.")
    elif source.suffix == ".jsonl":
        for line, row in json_lines(source):
            if not isinstance(row, dict):
                raise BadInput(f"{source}, line {line}: a row must be an object. Got {str(row)[:60]!r}.")
            where = f"{source}, line {line}"
            yield from (
                [_harness_row(where, row) or _batch_row(where, row)]
                if "doc" in row or ("custom_id" in row and not {*TEXT[:2], *TEXT[3:]} & set(row))
                else (_from_table([(where, row)], columns))
            )
    else:
        unit = "row" if source.suffix == ".parquet" else "line"
        numbered = rows(source, (), as_is=True)  # in a parquet file a cell may be a list of texts, or no text
        yield from _from_table(((f"{source}, {unit} {number}", row) for number, row in numbered), columns)


def _from_table(records: Iterable[tuple[str, Mapping[Any, Any]]], columns: Mapping[str, str]) -> Iterator[TextRow]:
    for where, row in records:
        text = next((n for n in ([columns["written"]] if "written" in columns else TEXT) if n in row), None)
        keys = [next((n for n in ([columns[w]] if w in columns else names) if n in row), None) for w, names in
              (("id", ID), ("prompt", PROMPT))]  # fmt: skip
        if text is None or keys == [None, None]:
            raise BadInput(
                f"{where} needs a column 'written' with the text, and 'id' or 'prompt' to identify its item. Its "
                f"columns are: {', '.join(map(str, row))}. Name yours with `columns`, as in written=COLUMN."
            )
        id, prompt = (str(row[name]) if name is not None else "" for name in keys)
        several = row[text] if isinstance(row[text], list | tuple) else [row[text]]
        texts = [given for given in several if not (pd.api.types.is_scalar(given) and pd.isna(given))]
        for given in texts:
            check_type(given, f"{where}: '{text}'")
        yield where, id, prompt, texts


def _harness_row(where: str, row: Mapping[str, Any]) -> TextRow | None:
    """A sample of lm-evaluation-harness: the prompt in `arguments`, texts in `resps`; None if the row is not one."""
    if not isinstance(row.get("doc"), dict) or "resps" not in row:
        return None
    arguments, texts = row.get("arguments"), row["resps"]
    while isinstance(arguments, dict | list) and arguments:
        arguments = next(iter(arguments.values() if isinstance(arguments, dict) else arguments))
    flat = [text for reply in texts for text in (reply if isinstance(reply, list) else [reply])]
    if not all(isinstance(text, str) for text in flat):
        raise BadInput(f"{where}: the `resps` of a sample must be texts. Got {str(texts)[:60]!r}.")
    if has_all(row["doc"], EXPORTED):
        check_template(where, row["doc"], str(arguments))
    return where, str(row["doc"].get("id", "")), str(arguments or ""), flat


def _batch_row(where: str, row: Mapping[str, Any]) -> TextRow:
    """A line of a batch API's output; its `custom_id` is the item's id."""
    response = row.get("response") if isinstance(row.get("response"), dict) else row
    body = response.get("body", response) if isinstance(response, dict) else {}
    choices = body.get("choices") if isinstance(body, dict) else None
    if not isinstance(choices, list):
        return where, str(row.get("custom_id", "")), "", []  # the API returned an error: no text
    texts = []
    for choice in choices:
        if not isinstance(choice, dict):
            raise BadInput(f"{where}: a choice must be an object. Got {choice!r}.")
        message = choice.get("message")
        text = message.get("content") if isinstance(message, dict) else choice.get("text")
        cut = choice.get("finish_reason") == "length"
        texts += [countable_text(text, cut=cut)] if isinstance(text, str) else []
    return where, str(row.get("custom_id", "")), "", texts


def digest_of(source: pd.DataFrame | Path) -> str:
    """The SHA-256 of a file, or of a data frame as csv."""
    if isinstance(source, pd.DataFrame):
        return hashlib.sha256(source.to_csv(index=False).encode("utf-8", "surrogatepass")).hexdigest()
    with source.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
