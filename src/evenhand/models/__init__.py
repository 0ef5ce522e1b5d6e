"""Models: what answers questions. The rest of the package knows them by `core.model` alone."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from evenhand.errors import UnfitModel
from evenhand.models.loading.names import DEFAULT, find

if TYPE_CHECKING:
    from evenhand.models.networks.causal import CausalLM
    from evenhand.models.networks.masked import MaskedLM
    from evenhand.models.networks.nli import NliModel


def load(
    name: str = DEFAULT,
    *,
    revision: str | None = None,
    dtype: str = "float32",
    device: str | None = None,
    batch_size: int | str = "auto",
    trust_remote_code: bool = False,
    labels: str | Sequence[str] = (),
) -> "MaskedLM | CausalLM | NliModel":
    """A model by bundled name, folder, .gguf file or Hub id: a masked or causal language model, or one of inference.

    `dtype` is float32, bfloat16, float16 or auto: bfloat16 where the device computes in it natively, else float32.
    `labels` says what the three outputs of a classifier stand for, in their order, where its configuration does not.
    A causal model answers questions of inference only with `labels`: its words for entailment, neutral, contradiction.
    """
    found = find(name)
    from evenhand.models.loading.load import load as load_found

    return load_found(
        found,
        revision=revision,
        dtype=dtype,
        device=device,
        batch_size=batch_size,
        trust_remote_code=trust_remote_code,
        named=labels,
    )


def load_masked(name: str = DEFAULT, **options: Any) -> "MaskedLM":
    """The same for what is done with masked language models alone; an error where it is of another kind."""
    model = load(name, **options)
    if model.kind != "masked":
        other = {"causal": "a causal one", "nli": "one of natural language inference"}[model.kind]
        raise UnfitModel(f"This takes a masked language model. '{model.name}' is {other}.")
    return cast("MaskedLM", model)
