"""Options of a command from a TOML file."""

import tomllib
from pathlib import Path
from typing import Any

import typer

from evenhand.core.files import read_given
from evenhand.errors import BadInput, UnknownName


def from_config(context: typer.Context, path: Path | None) -> Path | None:
    """Make what the file says the default of the command's options, by their names: `batch-size = 8`.

    A list is an option that is repeated; the table `option` has options of datasets and measures.
    """
    if path is None or context.resilient_parsing:
        return path
    given = read_given(path.expanduser(), tomllib.loads, "--config", "It is a TOML file of options.")
    known = {_name(param): param for param in context.command.params if _name(param) not in ("config", "help")}
    defaults = {}
    for name, value in given.items():
        if name not in known:
            raise UnknownName(f"option in {path}", name, known)
        param = known[name]
        if isinstance(value, dict) and name == "option":
            value = [f"{key}={one}" for key, one in value.items()]
        several = getattr(param, "multiple", False) or param.nargs == -1
        values = value if isinstance(value, list) else [value]
        wrong = any(isinstance(one, dict | list) for one in values) or (isinstance(value, list) and not several)
        if wrong or isinstance(value, bool) != bool(getattr(param, "is_flag", False)):
            raise BadInput(f"{path}: '{name}' has a value of the wrong kind. Got {value!r}.")
        default = value if isinstance(value, bool) else [*map(str, values)] if several else str(value)
        try:
            if param.callback is None:  # which would act on the value, not only look at it
                param.process_value(context, default)
        except typer.BadParameter as error:
            raise BadInput(f"{path}: '{name}' has a value that cannot be used. {error.message}") from error
        defaults[str(param.name)] = default
    context.default_map = {**(context.default_map or {}), **defaults}
    return path


def _name(param: Any) -> str:
    """An option as it is typed, without dashes; an argument by its name."""
    return str(max(param.opts, key=len)).lstrip("-")
