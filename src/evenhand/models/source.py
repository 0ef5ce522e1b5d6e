"""The model to measure: what its name was resolved to, and how it is loaded; or an object of the user's."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from evenhand import models
from evenhand.core.model import Model, check_model, kind_of
from evenhand.models.engines import ENGINES
from evenhand.models.loading.names import ModelPlace, find, kind


@dataclass(frozen=True)
class ModelSource:
    """A model that is loaded from a `place`, or `given` as an object; or both, if workers have loaded it from there."""

    place: ModelPlace
    kind: str
    """masked, causal or nli; empty where only loading can tell."""
    given: Model | None = None
    loading: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        model: "str | Path | ModelPlace | Model | ModelSource",
        loading: Mapping[str, Any] | None = None,
        caller: str = "audit",
    ) -> "ModelSource":
        """The source of a model that a user names or gives; `loading` goes to `evenhand.load`, if it is a name."""
        if isinstance(model, ModelSource):
            return model
        given: Any = find(str(model)) if isinstance(model, str | Path) else model
        if isinstance(given, ModelPlace):
            options, its_kind = models.applicable_options(given, loading or {}), kind(given)
            if its_kind or not given.engine:
                return cls(given, its_kind, loading=options)
            given = ENGINES[given.engine].load(given.source, options)
        elif loading:
            raise TypeError(f"{caller}() got an unexpected keyword argument '{min(loading)}'")
        check_model(given)
        return cls(ModelPlace(given.name, "", on_hub=False), kind_of(given), given)

    @property
    def name(self) -> str:
        return self.place.name

    def load(self) -> Model:
        return self.given if self.given is not None else self._load_here()

    def _load_here(self, **other: Any) -> Model:
        resolved: Any = self.place  # in place of a name, which need not be resolved again
        model: Model = models.load(resolved, **{**self.loading, **other})
        return model

    @property
    def exact(self) -> Callable[[], Model] | None:
        """Loads the same model in float32, to compare half precision with; None if it cannot be loaded again."""
        return None if self.place.engine or not self.place.source else partial(self._load_here, dtype="float32")
