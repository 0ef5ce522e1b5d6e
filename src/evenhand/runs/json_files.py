"""The JSON files of a run folder: read, checked as typed records, and written."""

import json
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from evenhand.core.files import read_parsed
from evenhand.errors import RunError

Kind = TypeVar("Kind")

WORDS = {
    "Input should be": "should be",
    "String should": "should",
    "Field required": "is missing",
    "Value error, ": "",
    "Invalid JSON:": "cannot be read:",
}
"""Replacements that turn a message of Pydantic into a sentence that begins with the field's name."""
RESTORE = "Restore the file, or delete it and run the audit again."


def rescore(path: Path) -> str:
    """What to do about results that are damaged or do not belong to the run."""
    return f"Put it right with: evenhand rescore {path}"


def checked(kind: TypeAdapter[Kind], data: object, file: Path, advice: str = RESTORE) -> Kind:
    """The data as that kind of record; an error that names the first field that is wrong."""
    try:
        return kind.validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        where, says = told(error)
        raise RunError(f"'{file}' is damaged, or not evenhand's: {where or 'it'} {says}. {advice}") from error


def told(error: ValidationError) -> tuple[str, str]:
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
        return read_parsed(file, json.loads)
    except (OSError, ValueError) as error:
        raise RunError(f"'{file}' cannot be read: {error}. {advice}") from error


def plain_json(data: object) -> bytes:
    """The data as JSON, for a file."""
    return (json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()
