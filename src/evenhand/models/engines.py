"""Engines, which load models by names of the form "prefix:rest". Plugins and installed packages can add engines."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

from evenhand.core.foreign import foreign, load_entry
from evenhand.core.model import Model, check_model
from evenhand.errors import BadInput

OPENAI = "openai"
"""The prefix of models that are behind a server."""


@dataclass(frozen=True)
class Engine:
    """Loads "prefix:rest" by `function(rest)`. The function's other parameters are the engine's loading options."""

    function: Callable[..., Any]
    kind: str = ""
    """The kind of all models of the engine, whose name is then `rest`; empty if both are known only after loading."""

    @property
    def options(self) -> list[str]:
        try:
            parameters = list(signature(self.function).parameters.values())[1:]
        except ValueError:  # built-in classes have no signature
            return []
        return [each.name for each in parameters if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)]

    def load(self, name: str, options: Mapping[str, Any]) -> Model:
        """The model with the name "prefix:rest"."""
        prefix, _, rest = name.partition(":")
        with foreign(f"The plugin behind '{prefix}:' failed to return a model", self.function):
            model: Model = self.function(rest, **options)
            check_model(model)
        return model


def _load_served(
    name: str, *, base_url: str | None = None, concurrency: int = 8, samples: int = 20, labels: str | Sequence[str] = ()
) -> Model:
    from evenhand.models.served.connection import Address
    from evenhand.models.served.model import ServedModel

    address = Address.of(f"{OPENAI}:{name}", base_url)
    return ServedModel(address, concurrency=concurrency, samples=samples, labels=labels)


ENGINES = {OPENAI: Engine(_load_served, kind="causal")}
"""The engines by prefix."""
OURS = tuple(ENGINES)


def add(prefix: str, function: Callable[..., Any]) -> None:
    """Register an engine. `function` gets the part of the name after "prefix:", and returns the model."""
    if prefix in OURS:
        raise BadInput(f"The prefix '{prefix}:' is reserved for models behind a server. Choose another prefix.")
    if not callable(function):
        raise BadInput(f"The engine of '{prefix}' must be a function that returns a model. Got {function!r}.")
    ENGINES[prefix] = Engine(function)


def prefix_of(name: str) -> str:
    """The prefix of a name that an engine loads; empty for other names. Imports the package that has the engine."""
    prefix, colon, _ = name.partition(":")
    if not colon:
        return ""
    if prefix not in ENGINES:
        from importlib.metadata import entry_points

        for entry in entry_points(group="evenhand.models", name=prefix):
            load_entry(entry, add)
    return prefix if prefix in ENGINES else ""
