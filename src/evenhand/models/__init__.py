"""Models, which answer questions. The rest of the package knows only their interface, `core.model`."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast, overload

from evenhand.core.foreign import foreign
from evenhand.core.model import Model, check_model
from evenhand.errors import BadInput, UnfitModel
from evenhand.models.loading.names import DEFAULT, Found
from evenhand.models.loading.names import find as find

if TYPE_CHECKING:
    from evenhand.models.networks.causal import CausalLM
    from evenhand.models.networks.masked import MaskedLM
    from evenhand.models.networks.nli import NliModel
    from evenhand.models.served.model import ServedModel


LOADERS: dict[str, Callable[[str], Any]] = {}
"""Functions of plugins that load a model, by prefix: "mine:large" is loaded by LOADERS["mine"]("large")."""


@overload
def load(name: str = DEFAULT, *, base_url: str, concurrency: int = ..., samples: int = ...) -> "ServedModel": ...


@overload
def load(
    name: str = DEFAULT,
    *,
    revision: str | None = ...,
    dtype: str = ...,
    device: str | None = ...,
    batch_size: int | str = ...,
    trust_remote_code: bool = ...,
    labels: str | Sequence[str] = ...,
) -> "MaskedLM | CausalLM | NliModel": ...


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
) -> "MaskedLM | CausalLM | NliModel | ServedModel":
    """Load a masked or causal language model or an NLI classifier by bundled name, folder, .gguf file or Hub id.

    `dtype` is float32, bfloat16, float16 or auto: bfloat16 where the device computes in it natively, else float32.
    `device` defaults to the GPU if there is one. `labels` says what the three outputs of a classifier mean, in order,
    where its configuration does not. A causal model answers NLI questions only with `labels`: its words for
    entailment, neutral and contradiction.

    "openai:NAME" is a model behind a server at `base_url` (docs/served-models.md), which gets at most `concurrency`
    requests at once. Where it gives text only, a question is asked `samples` times. The others do not apply to it.
    """
    given: Any = name  # or what `ModelSource` has found by it
    found = given if isinstance(given, Found) else find(given)  # a wrong name is an error before torch is imported
    if found.served:
        from evenhand.models.served.connection import Address
        from evenhand.models.served.model import ServedModel

        address = Address.of(found.source, base_url)
        return ServedModel(address, concurrency=concurrency, samples=samples, labels=labels)
    if base_url is not None:
        raise BadInput(f"`base_url` is for a model behind a server, openai:NAME. Got '{found.name}': leave it out.")
    from evenhand.models.loading.load import load as load_found

    return load_found(found, revision, dtype, device, batch_size, trust_remote_code, labels)


def own(name: str) -> Model | None:
    """The model of a plugin, by "prefix:rest"; None where no plugin has that prefix."""
    prefix, colon, rest = name.partition(":")
    if not colon or prefix not in LOADERS:
        return None
    with foreign(f"The plugin behind '{prefix}:' failed to return a model"):
        model: Model = LOADERS[prefix](rest)
        check_model(model)
    return model


def load_masked(name: str = DEFAULT, **options: Any) -> "MaskedLM":
    """Load a masked language model; an error where it is of another kind."""
    model = load(name, **options)
    if model.kind != "masked":
        other = {"causal": "a causal one", "nli": "an NLI classifier"}[model.kind]
        raise UnfitModel(f"This takes a masked language model. '{model.name}' is {other}.")
    return cast("MaskedLM", model)
