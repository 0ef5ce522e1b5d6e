"""Models, which answer questions. The rest of the package knows only their interface, `core.model`."""

from collections.abc import Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast, overload

from evenhand.core.described import describe
from evenhand.core.model import Model, kind_of
from evenhand.core.parameters import Checkpoint, Loading
from evenhand.errors import BadInput, UnfitModel, check_known
from evenhand.models.engines import ENGINES, OURS
from evenhand.models.engines import add as add
from evenhand.models.loading.names import DEFAULT, ModelPlace
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
    name: str = DEFAULT, *, revision: str | None = ..., **checkpoint: Unpack[Checkpoint]
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

    A file of static vectors (.bin, .txt, .vec, .npz, .safetensors) is a model, too, which none of the options change.
    A causal model answers NLI questions only with `labels`: its words for entailment, neutral and contradiction.
    "openai:NAME" is a model behind a server at `base_url` (docs/served-models.md); of the others, only `concurrency`
    and `samples` apply to it. "PREFIX:NAME" is loaded by a plugin's function, with those `options` that are its
    parameters.
    """
    given: Any = name  # or what `ModelSource` has resolved it to
    found = given if isinstance(given, ModelPlace) else find(given)  # a wrong name fails before torch is imported
    here: dict[str, Any] = {"revision": revision, "dtype": dtype, "device": device, "batch_size": batch_size}
    here |= {"trust_remote_code": trust_remote_code, "labels": labels}
    if found.engine:
        served = {"base_url": base_url, "concurrency": concurrency, "samples": samples}
        taken = applicable_options(found, {**here, **served, **options})
        return ENGINES[found.engine].load(found.source, taken)
    check_keywords("load", options)
    if base_url is not None:
        raise BadInput(f"`base_url` is for a model behind a server, openai:NAME. Got '{found.name}': leave it out.")
    if found.holds_vectors:
        return load_vectors(Path(found.source) / found.file)
    from evenhand.models.loading.load import load as load_found

    return load_found(found, **here)


LOADING = {one.name: one.default for one in signature(load).parameters.values() if one.kind is one.KEYWORD_ONLY}
"""The parameters of `load` other than the name, with their defaults."""


def check_keywords(function: str, given: Mapping[str, Any]) -> None:
    """Raise what Python raises for a keyword argument that `load` does not have."""
    if unknown := given.keys() - LOADING:
        raise TypeError(f"{function}() got an unexpected keyword argument '{min(unknown)}'")


def options_of(found: ModelPlace) -> Sequence[str]:
    """The loading options that apply to the model."""
    if found.holds_vectors:
        return ()
    return ENGINES[found.engine].options if found.engine else list(LOADING)


def applicable_options(found: ModelPlace, given: Mapping[str, Any]) -> dict[str, Any]:
    """These loading options, without parameters of `load` that are at their default or do not apply to a server.

    Raises an error for any other option that the model does not have.
    """
    known = options_of(found)
    left_out = LOADING.keys() - set(known)  # none of them, unless it has an engine
    if found.engine and found.engine not in OURS:  # its own defaults count
        left_out = {name for name, default in LOADING.items() if (given.get(name) or None) == (default or None)}
    taken = {name: value for name, value in given.items() if name not in left_out}
    check_known(f"option of '{found.engine}:'" if found.engine else f"option of '{found.name}'", taken, known)
    return taken


def load_masked(name: str = DEFAULT, **options: Any) -> "MaskedLM":
    """Load a masked language model; an error where it is of another kind."""
    model = load(name, **options)
    check_masked(model)
    return cast("MaskedLM", model)


def check_masked(model: Model) -> None:
    """Raise an error unless it is a masked language model."""
    if (kind := kind_of(model)) != "masked":
        other = {"causal": "a causal one", "nli": "an NLI classifier", "vectors": "a file of vectors"}[kind]
        raise UnfitModel(f"This takes a masked language model. '{model.name}' is {other}.")
