"""Engines load models by names of the form "prefix:rest". Plugins and installed packages add theirs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

from evenhand.core.foreign import foreign, load_entry
from evenhand.core.model import Model, check_model
from evenhand.errors import BadInput

OPENAI = "openai"
"""The prefix of models behind a server."""


@dataclass(frozen=True)
class Engine:
    """Loads "prefix:rest" by a function of `rest`, whose other parameters are its loading options."""

    function: Callable[..., Any]
    kind: str = ""
    """The kind of all its models, which are then named `rest`; empty if kind and name are known only after loading."""

    @property
    def options(self) -> list[str]:
        try:
            parameters = list(signature(self.function).parameters.values())[1:]
        except ValueError:  # of a class that is built in
            return []
        return [one.name for one in parameters if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)]

    def load(self, name: str, options: Mapping[str, Any]) -> Model:
        """The model of that name, "prefix:rest"."""
        prefix, _, rest = name.partition(":")
        with foreign(f"The plugin behind '{prefix}:' failed to return a model", self.function):
            model: Model = self.function(rest, **options)
            check_model(model)
        return model


def _load_served(
    name: str,
    *,
    base_url: str | None = None,
    concurrency: int = 8,
    samples: int = 20,
    labels: str | Sequence[str] = (),
) -> Model:
    from evenhand.models.served.connection import Address
    from evenhand.models.served.model import ServedModel

    address = Address.of(f"{OPENAI}:{name}", base_url)
    return ServedModel(address, concurrency=concurrency, samples=samples, labels=labels)


ENGINES = {OPENAI: Engine(_load_served, kind="causal")}
"""By prefix."""
OURS = tuple(ENGINES)


def add(prefix: str, function: Callable[..., Any]) -> None:
    """Register an engine; `function` loads a model by what comes after the prefix and its colon."""
    if prefix in OURS:
        raise BadInput(f"'{prefix}:' is for models behind a server, and their key. Choose another prefix.")
    if not callable(function):
        raise BadInput(f"A model is added by a function that returns it. Got {function!r} for '{prefix}'.")
    ENGINES[prefix] = Engine(function)


def prefix_of(name: str) -> str:
    """The prefix of a name that an engine loads, which may be an installed package's; empty for other names."""
    prefix, colon, _ = name.partition(":")
    if not colon:
        return ""
    if prefix not in ENGINES:
        from importlib.metadata import entry_points

        for entry in entry_points(group="evenhand.models", name=prefix):
            load_entry(entry, add)
    return prefix if prefix in ENGINES else ""
