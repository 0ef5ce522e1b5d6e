"""StereoSet (Nadeem et al. 2021): a stereotype, an anti-stereotype and an unrelated sentence for each context."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal

from evenhand.core.dataset import Dataset
from evenhand.core.files import from_json, read_parsed
from evenhand.core.items import BLANK, Triple
from evenhand.datasets.files.releases import RELEASES, find_release
from evenhand.datasets.gendered import gender
from evenhand.datasets.kinds import kinds_of
from evenhand.datasets.pairs import table_of
from evenhand.errors import BadInput

Bias = Literal["all", "gender", "profession", "race", "religion"]
TASKS = ("intersentence", "intrasentence")
"""The tasks in the order of the release."""
LABELS = ("stereotype", "anti-stereotype", "unrelated")
COLUMNS = ("id", "target", "bias_type", "context")
ABOUT = {
    "intrasentence": "Sentences with a blank, and three words for it",
    "intersentence": "Sentences, and three that could come next",
}
BLANKS = "In three contexts the blank is joined to another word, in two it is there twice."


def load(name: str, bias: Bias = "all") -> Dataset:
    """The items of the task that `name` says or of both tasks; of one type of bias or all."""
    tasks = [task for task in TASKS if name in ("stereoset", f"stereoset-{task}")]
    path = find_release("stereoset", "dev.json")
    rows = [row for task in tasks for row in _rows(path, task) if bias in ("all", row["bias_type"])]
    if not rows:
        raise BadInput(f"'{path}' has no items of the type {bias}. Fetch it again, or copy the release's file.")
    texts = RELEASES["stereoset"].texts
    texts["flaws"] += BLANKS if "intrasentence" in tasks else ""
    return Dataset(
        name=name,
        about="; ".join(ABOUT[task] for task in tasks) + ": a stereotype, an anti-stereotype, something unrelated.",
        **texts,
        items=[_item(row) for row in rows],
        by=("bias_type",) if bias == "all" else (),
        within="task" if len(tasks) > 1 else "",
        cluster="target",
        kinds=kinds_of(name),
        table=partial(table_of, rows, "id"),
        options={"bias": bias},
    )


def _item(row: Mapping[str, str]) -> Triple:
    stereotype, anti_stereotype, unrelated = sentences = [row[label] for label in LABELS]
    groups = {name: row[name] for name in ("bias_type", "target", "task")}
    if row["bias_type"] == "gender" and (side := gender(row["target"])):
        groups["term"] = {"female": "women", "male": "men"}[side]
    fillers = tuple(_filler(row, text) for text in sentences) if row["task"] == "intrasentence" else ()
    return Triple(row["id"], stereotype, anti_stereotype, unrelated, row["context"], groups, fillers)


def _filler(row: Mapping[str, str], sentence: str) -> str:
    """The word in the blank. Sentence and context must be the same around it, except for capital letters."""
    parts = row["context"].split(BLANK)
    length, rest = divmod(len(sentence) - sum(map(len, parts)), max(1, len(parts) - 1))
    word = sentence[len(parts[0]) :][: max(0, length)]
    if rest or not word or word.join(parts).lower() != sentence.lower():
        raise BadInput(
            f"StereoSet's item '{row['id']}': the sentence must be its context with a word for {BLANK}. Got "
            f"{sentence!r} for {row['context']!r}."
        )
    return word


def _rows(path: Path, task: str) -> Iterator[dict[str, str]]:
    """The items of a task as rows: COLUMNS, task, the sentence of each label, and its id."""
    again = f"'{path}' cannot be read as StereoSet's dev.json: {{}}. Fetch it again, or copy the release's file."
    try:
        items = read_parsed(path, from_json)["data"][task]
        if not isinstance(items, list):
            raise TypeError(f"{task} must be a list")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(again.format(f"{type(error).__name__}: {error}")) from error
    for number, item in enumerate(items, start=1):
        try:
            yield {name: _text(item, name) for name in COLUMNS} | {"task": task} | _sentences(item)
        except ValueError as error:
            raise BadInput(again.format(f"item {number} of {task}, {error}")) from error


def _sentences(item: Any) -> dict[str, str]:
    sentences = item.get("sentences")
    if not isinstance(sentences, list):
        raise ValueError(f"sentences must be a list, got {sentences!r}")
    by_label = {_text(sentence, "gold_label"): sentence for sentence in sentences}
    if missing := [label for label in LABELS if label not in by_label]:
        raise ValueError(f"'{item['id']}', has no sentence labelled {' or '.join(missing)}")
    if len(sentences) > len(LABELS):
        raise ValueError(f"'{item['id']}', has {len(sentences)} sentences instead of {len(LABELS)}")
    texts = {label: _text(by_label[label], "sentence") for label in LABELS}
    return texts | {f"{label} id": _text(by_label[label], "id") for label in LABELS}


def _text(row: Any, name: str) -> str:
    text = row.get(name) if isinstance(row, dict) else None
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"{name} must be a text, got {text!r}")
    return text
