"""How the command line writes a parameter that the library names: `batch_size=1` is --batch-size 1 here."""

import re
from typing import Any

NAMED = re.compile(r"`([a-z_]+)(?:=['\"]?([^`'\"]*)['\"]?)?`")


def as_flags(message: str, command: Any) -> str:
    """A message of the library in which every `parameter` or `parameter=value` stands as the option a user types.

    The options are those of a click command and all its subcommands; a name that none of them has stays as it is.
    """
    names = dict(_options(command))

    def written(match: re.Match[str]) -> str:
        name, value = match.groups()
        if name not in names:
            return match[0]
        return names[name] if value in (None, "True") else f"{names[name]} {value}"

    return NAMED.sub(written, message)


def _options(command: Any) -> Any:
    """Pairs of a parameter's name and its option."""
    for parameter in command.params:
        if parameter.param_type_name == "option":
            yield parameter.name, next(option for option in parameter.opts if option.startswith("--"))
    for each in getattr(command, "commands", {}).values():
        yield from _options(each)
