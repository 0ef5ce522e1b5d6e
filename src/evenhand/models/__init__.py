"""Models, which answer questions. Other folders know only their interface, `core.model`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast, overload

from evenhand.core.model import Model, check_model, kind_of
from evenhand.core.parameters import CheckpointOptions, Loading, describe
from evenhand.core.way import UNASKED, Way
from evenhand.errors import BadInput, UnfitModel, check_known
from evenhand.models.base import Recognisable
from evenhand.models.engines import ENGINES, OPENAI, OURS
from evenhand.models.engines import add as add
from evenhand.models.loading.names import DEFAULT, ModelPlace, kind
from evenhand.models.loading.names import find as find
from evenhand.models.vectors import load as load_vectors

if TYPE_CHECKING:
    from evenhand.models.networks.causal import CausalLM
    from evenhand.models.networks.masked import MaskedLM
    from evenhand.models.networks.nli import NliModel
    from evenhand.models.served.model import ServedModel


@overload
def load(name: str = DEFAULT, *, base_url: str, concurrency: int = ..., samples: int = ...) -> "ServedModel": ...


@overload
def load(
    name: str = DEFAULT, *, revision: str | None = ..., **checkpoint: Unpack[CheckpointOptions]
) -> "MaskedLM | CausalLM | NliModel": ...


@overload
def load(name: str, **options: Any) -> Model: ...


@describe(Loading)
def load(
    name: str = DEFAULT,
    *,
    revision: str | None = None,
    dtype: str = "float32",
    device: str | None = None,
    batch_size: int | str = "auto",
    trust_remote_code: bool = False,
    labels: str | Sequence[str] = (),
    base_url: str | None = None,
    concurrency: int = 8,
    samples: int = 20,
    **options: Any,
) -> Model:
    """Load a masked or causal language model or an NLI classifier by bundled name, folder, .gguf file or Hub id.

    A file of static vectors (.bin, .txt, .tsv, .vec, .npz, .safetensors, .gz) is also a model, which no option changes.
    A causal model answers NLI questions only with `labels`: its words for entailment, neutral, contradiction.
    "openai:NAME" is a model behind a server at `base_url` (docs/served-models.md). Of the other options, only
    `concurrency`, `samples` and `labels` apply to it. "PREFIX:NAME" is loaded by the function of a plugin, with the
    `options` that are parameters of that function.
    """
    source: Any = name  # `ModelSource` gives a ModelPlace
    place = source if isinstance(source, ModelPlace) else find(source)  # a wrong name fails before torch is imported
    checkpoint: dict[str, Any] = {"revision": revision, "dtype": dtype, "device": device, "batch_size": batch_size}
    checkpoint |= {"trust_remote_code": trust_remote_code, "labels": labels}
    if place.engine:
        served = {"base_url": base_url, "concurrency": concurrency, "samples": samples}
        taken = applicable_options(place, {**checkpoint, **served, **options})
        return ENGINES[place.engine].load(place.source, taken)
    check_keywords("load", options)
    if base_url is not None:
        raise BadInput(f"`base_url` is only for models behind a server, openai:NAME. Got '{place.name}': leave it out.")
    if place.holds_vectors:
        return load_vectors(Path(place.source) / place.file)
    from evenhand.models.loading.load import load as load_checkpoint

    return load_checkpoint(place, **checkpoint)


LOADING = {each.name: each.default for each in signature(load).parameters.values() if each.kind is each.KEYWORD_ONLY}
"""The keyword parameters of `load`, with their defaults."""


def check_keywords(function: str, given: Mapping[str, Any]) -> None:
    """Raise the error that Python raises for an unknown keyword argument, if `load` lacks one of these."""
    if unknown := given.keys() - LOADING:
        raise TypeError(f"{function}() got an unexpected keyword argument '{min(unknown)}'")


def options_of(place: ModelPlace) -> Sequence[str]:
    """The loading options that apply to the model."""
    if place.holds_vectors:
        return ()
    return ENGINES[place.engine].options if place.engine else list(LOADING)


def applicable_options(place: ModelPlace, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of `given` that the model's loader gets.

    Parameters of `load` that do not apply to the model are removed. For a plugin's engine, only those at the default of
    `load` are, since the engine may have other defaults. Raises an error for any other option that the model lacks.
    """
    known = options_of(place)
    excluded = LOADING.keys() - set(known)
    if place.engine and place.engine not in OURS:
        excluded = {name for name, default in LOADING.items() if (given.get(name) or None) == (default or None)}
    taken = {name: value for name, value in given.items() if name not in excluded}
    check_known(f"option of '{place.engine}:'" if place.engine else f"option of '{place.name}'", taken, known)
    return taken


def load_masked(name: str = DEFAULT, **options: Any) -> "MaskedLM":
    """Load a masked language model. Raises an error if it is of another kind."""
    model = load(name, **options)
    check_masked(model)
    return cast("MaskedLM", model)


def check_masked(model: Model) -> None:
    """Raise an error if the model is not a masked language model."""
    if (kind := kind_of(model)) != "masked":
        other = {"causal": "a causal one", "nli": "an NLI classifier", "vectors": "a file of vectors"}[kind]
        raise UnfitModel(f"A masked language model is needed. '{model.name}' is {other}.")


@dataclass(frozen=True)
class ModelSource:
    """A model that is loaded from a `place`, or `given` as an object, or both if workers have loaded it.

    The same model asked in another `way` is another source.
    """

    place: ModelPlace
    kind: str
    """masked, causal, nli or vectors; empty if only loading the model can tell."""
    given: Model | None = None
    loading: Mapping[str, Any] = field(default_factory=dict)
    way: Way = UNASKED

    @classmethod
    def of(
        cls,
        model: "str | Path | ModelPlace | Model | ModelSource",
        loading: Mapping[str, Any] | None = None,
        caller: str = "audit",
    ) -> "ModelSource":
        """The source of a model that a user names or gives; for a name, `loading` are options of `evenhand.load`."""
        if isinstance(model, ModelSource):
            return model
        given: Any = find(str(model)) if isinstance(model, str | Path) else model
        if isinstance(given, ModelPlace):
            options, its_kind = applicable_options(given, loading or {}), kind(given)
            if its_kind or not given.engine:
                return cls(given, its_kind, loading=options)
            given = ENGINES[given.engine].load(given.source, options)
        elif loading:
            raise TypeError(f"{caller}() got an unexpected keyword argument '{min(loading)}'")
        check_model(given)
        return cls(ModelPlace(given.name, "", on_hub=False), kind_of(given), given)

    @property
    def served(self) -> bool:
        """Whether the model is behind a server."""
        return self.place.engine == OPENAI or isinstance(self.given, Recognisable)

    @property
    def name(self) -> str:
        """The name that tables and run folders show: the model's, and how it is asked, if that is not the usual way."""
        return self.place.name + self.way.words(in_chats=self.served)

    def load(self) -> Model:
        return self.given if self.given is not None else self._load_here()

    def _load_here(self, **other: Any) -> Model:
        resolved: Any = self.place  # so that the name is not resolved again
        model: Model = load(resolved, **{**self.loading, **other})
        return model

    @property
    def exact(self) -> Callable[[], Model] | None:
        """Loads the same model in float32, to check half precision; None if it cannot be loaded again."""
        return None if self.place.engine or not self.place.source else partial(self._load_here, dtype="float32")
