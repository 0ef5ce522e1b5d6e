"""Load a model of whichever kind its checkpoint is."""

from collections.abc import Sequence
from typing import Any

from evenhand.errors import BadInput
from evenhand.models.loading import checkpoint
from evenhand.models.loading.causal import is_causal, label_words, read_causal, start_of
from evenhand.models.loading.checkpoint import DTYPES
from evenhand.models.loading.masked import read_masked
from evenhand.models.loading.memory import check_memory
from evenhand.models.loading.names import Found, is_adapter, is_classifier
from evenhand.models.loading.nli import read_nli
from evenhand.models.networks.causal import CausalLM
from evenhand.models.networks.masked import MaskedLM
from evenhand.models.networks.nli import NliModel


def load(
    found: Found,
    *,
    revision: str | None = None,
    dtype: str = "float32",
    device: str | None = None,
    batch_size: int | str = "auto",
    trust_remote_code: bool = False,
    named: str | Sequence[str] = (),
) -> MaskedLM | CausalLM | NliModel:
    """The model, ready to answer. Weights are cast to `dtype`; `device` defaults to the GPU if there is one.

    `named` are the labels of a classifier that does not name them itself, or a causal model's words for them.
    """
    place = checkpoint.device_of(device)
    asked, dtype = dtype, checkpoint.chosen_dtype(dtype, place)
    causal: dict[str, Any] = {}
    with checkpoint.reading(found, revision, trust_remote_code) as options:
        check_memory(found, DTYPES[dtype])
        if is_adapter(found):
            from evenhand.models.loading.adapter import read_adapter  # peft takes seconds to import

            read = read_adapter(found, DTYPES[dtype], named, options)
        else:
            config = checkpoint.configuration(found, options)
            if is_classifier(config.architectures):
                read = read_nli(found, config, DTYPES[dtype], named, options)
            elif is_causal(config):
                causal = {"words": label_words(named)}
                read = read_causal(found, config, DTYPES[dtype], options)
                causal["start"] = start_of(read)
            elif named:
                raise BadInput(f"labels are those of a classifier. '{found.name}' is none: leave them out.")
            else:
                read = read_masked(found, config, DTYPES[dtype], options)
    placed = read.placed(dtype, place, batch_size)
    placed["about"]["dtype_asked"] = asked
    if causal:
        return CausalLM(**placed, **causal)
    return NliModel(**placed, order=read.order) if read.order else MaskedLM(**placed)
