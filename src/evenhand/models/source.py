"""The model to measure: what its name was resolved to, and how it is loaded; or an object of the user's."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from evenhand import models
from evenhand.core.model import Model, check_model, kind_of
from evenhand.models.base import Elsewhere
from evenhand.models.engines import ENGINES
from evenhand.models.loading.names import Found, find, kind


@dataclass(frozen=True)
class ModelSource:
    """A model that is loaded from a `place`, or `given` as an object."""

    place: Found
    kind: str
    """masked, causal or nli; empty where only loading can tell."""
    given: Model | None = None
    loading: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        model: "str | Path | Found | Model | ModelSource",
        loading: Mapping[str, Any] | None = None,
        caller: str = "audit",
    ) -> "ModelSource":
        """The source of a model that a user names or gives; `loading` goes to `evenhand.load`, if it is a name."""
        if isinstance(model, ModelSource):
            return model
        given: Any = find(str(model)) if isinstance(model, str | Path) else model
        if isinstance(given, Found):
            options, its_kind = models.taken_options(given, loading or {}), kind(given)
            if its_kind or not given.engine:
                return cls(given, its_kind, loading=options)
            given = ENGINES[given.engine].load(given.source, options)
        elif loading:
            raise TypeError(f"{caller}() got an unexpected keyword argument '{min(loading)}'")
        check_model(given)
        return cls(Found(given.name, "", on_hub=False), kind_of(given), given)

    @property
    def name(self) -> str:
        return self.place.name

    def load(self) -> Model:
        return self.given if self.given is not None else models.load(self._name, **self.loading)

    @property
    def exact(self) -> Callable[[], Model] | None:
        """Loads the same model in float32, to compare answers in half precision with; None where nobody can."""
        if self.given is not None:
            return self.given.exact if isinstance(self.given, Elsewhere) else None
        return None if self.place.engine else partial(models.load, self._name, **{**self.loading, "dtype": "float32"})

    @property
    def _name(self) -> Any:
        """What `models.load` takes for a name, so that it need not be resolved again."""
        return self.place
