"""Checks that several datasets share: options, keys of a user's file, and that the file is unchanged."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evenhand.errors import BadInput, UnknownName


def check_choice(option: str, value: str, *allowed: str) -> None:
    """Raise an error unless `value` is one of those allowed."""
    if value not in allowed:
        raise BadInput(f"{option} must be {' or '.join(map(repr, allowed))}. Got {value!r}.")


def check_known(place: str, keys: Iterable[str], known: Sequence[str]) -> None:
    """Raise an error if one of the keys is unknown."""
    for key in keys:
        if key not in known:
            raise BadInput(f"{place}: {UnknownName('key', key, known)}")


def check_required(file: str, data: Mapping[str, Any], required: Sequence[str]) -> None:
    """Raise an error if a required key is missing or empty."""
    for key in required:
        if not data.get(key):
            raise BadInput(f"{file}: the key '{key}' is missing or empty. Such a file needs {', '.join(required)}.")


def check_unchanged(file: str, digest: str, recorded: str) -> None:
    """Raise an error if a run recorded another digest of the file."""
    if recorded and recorded != digest:
        raise BadInput(f"'{file}' has changed since the run was made. Restore it, or run the audit again.")
