"""The model to measure: what its name was resolved to, and how it is loaded; or an object of the user's."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

from evenhand import models
from evenhand.core.model import Model, check_model, kind_of
from evenhand.models.base import Elsewhere
from evenhand.models.loading.names import Found, find, kind

LOADING = tuple(signature(models.load).parameters)[1:]
"""The parameters of `evenhand.load` other than the name."""


@dataclass(frozen=True)
class ModelSource:
    """A model that is loaded from a `place`, or `given` as an object."""

    place: Found
    kind: str
    """masked, causal or nli; empty where only loading can tell."""
    given: Model | None = None
    loading: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, model: "str | Path | Model | ModelSource", loading: Mapping[str, Any] | None = None) -> "ModelSource":
        """The source of a model that a user names or gives; `loading` goes to `evenhand.load`, if it is a name."""
        if isinstance(model, ModelSource):
            return model
        given: Any = str(model) if isinstance(model, Path) else model
        if isinstance(given, str):
            given = models.own(given) or given
        if unknown := set(loading or ()) - set(LOADING if isinstance(given, str) else ()):
            raise TypeError(f"audit() got an unexpected keyword argument '{min(unknown)}'")
        if isinstance(given, str):
            place = find(given)
            return cls(place, kind(place), loading=dict(loading or {}))
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
        return None if self.place.served else partial(models.load, self._name, **{**self.loading, "dtype": "float32"})

    @property
    def _name(self) -> Any:
        """What `models.load` takes for a name, so that it need not be resolved again."""
        return self.place
