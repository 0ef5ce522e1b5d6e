"""Parameters that the library names, as options of the command line: `batch_size=1` is --batch-size 1."""

import re
from typing import Any

NAMED = re.compile(r"`([a-z_]+)(?:=['\"]?([^`'\"]*)['\"]?)?`")


def as_flags(message: str, command: Any, invoked: str = "") -> str:
    """A message of the library with every `parameter` or `parameter=value` written as the option that a user types.

    The options are those of a click command and its subcommands; `invoked` is the subcommand whose options go first.
    Other names stay as they are.
    """
    names = dict(_options(command))
    if invoked in getattr(command, "commands", {}):
        names |= dict(_options(command.commands[invoked]))

    def written(match: re.Match[str]) -> str:
        name, value = match.groups()
        if name not in names:
            return match[0]
        return names[name] if value in (None, "True") else f"{names[name]} {value}"

    return NAMED.sub(written, message)


def _options(command: Any) -> Any:
    for parameter in command.params:
        if parameter.param_type_name == "option":
            yield parameter.name, next(option for option in parameter.opts if option.startswith("--"))
    for each in getattr(command, "commands", {}).values():
        yield from _options(each)
