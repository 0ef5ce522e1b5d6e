"""Checks that several datasets share: options, keys of a user's file, and that the file is unchanged."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from evenhand.core.files import public_path
from evenhand.errors import BadInput, UnknownName

TEXTS = ("name", "language", "about", "source", "licence")
"""The metadata that every template file may have."""


def texts_of(data: Mapping[str, Any], about: str = "") -> dict[str, Any]:
    """The metadata of a template file, as parameters of a Dataset."""
    return {key: data.get(key, about if key == "about" else "") for key in TEXTS}


def check_choice(option: str, value: str, *allowed: str) -> None:
    """Raise an error unless `value` is one of those allowed."""
    if value not in allowed:
        raise BadInput(f"{option} must be {' or '.join(map(repr, allowed))}. Got {value!r}.")


def check_keys(place: str, keys: Iterable[str], known: Sequence[str]) -> None:
    """Raise an error if one of the keys is unknown."""
    for key in keys:
        if key not in known:
            raise BadInput(f"{place}: {UnknownName('key', key, known)}")


def check_required(file: str, data: Mapping[str, Any], required: Sequence[str]) -> None:
    """Raise an error if a required key is missing or empty."""
    for key in required:
        if not data.get(key):
            raise BadInput(f"{file}: the key '{key}' is missing or empty. Such a file needs {', '.join(required)}.")


def check_words(place: str, key: str, words: object) -> None:
    """Raise an error unless the words of a key are a list of distinct texts, none of them empty."""
    if not isinstance(words, list) or not words or not all(isinstance(word, str) and word.strip() for word in words):
        raise BadInput(f"{place}: '{key}' must be a list of words, none of them empty. Got {words!r}.")
    if len(set(words)) < len(words):
        raise BadInput(f"{place}: '{key}' has {Counter(words).most_common(1)[0][0]!r} twice.")


def recorded_file(file: str, recorded: str, text: str | None = None) -> dict[str, str]:
    """Path and SHA-256 of a file (or of its `text`), as a run records them; an error if `recorded` is another."""
    path = Path(file).expanduser()
    with path.open("rb") if text is None else BytesIO(text.encode()) as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    if recorded and recorded != digest:
        raise BadInput(f"'{file}' has changed since the run was made. Restore it, or run the audit again.")
    return {"file": public_path(path), "sha256": digest}
