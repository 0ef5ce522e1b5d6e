"""Load a model of whichever kind its checkpoint is."""

from collections.abc import Sequence

from evenhand.errors import BadInput
from evenhand.models import checkpoint
from evenhand.models.checkpoint import DTYPES
from evenhand.models.loading_masked import read_masked
from evenhand.models.loading_nli import read_nli
from evenhand.models.masked import MaskedLM
from evenhand.models.names import Found, is_adapter, is_classifier
from evenhand.models.nli import NliModel
from evenhand.models.room import check_room


def load(
    found: Found,
    *,
    revision: str | None = None,
    dtype: str = "float32",
    device: str | None = None,
    batch_size: int | str = "auto",
    trust_remote_code: bool = False,
    named: str | Sequence[str] = (),
) -> MaskedLM | NliModel:
    """The model, ready to answer. Weights are cast to `dtype`; `device` defaults to the GPU if there is one.

    `named` are the labels of a classifier that does not name them itself.
    """
    if dtype not in DTYPES:
        raise BadInput(f"dtype must be one of {', '.join(DTYPES)}. Got '{dtype}'.")
    place = checkpoint.device_of(device)
    with checkpoint.reading(found, revision, trust_remote_code) as options:
        check_room(found, DTYPES[dtype])
        if is_adapter(found):
            from evenhand.models.loading_adapter import read_adapter  # peft takes seconds to import

            read = read_adapter(found, DTYPES[dtype], named, options)
        else:
            config = checkpoint.configuration(found, options)
            if is_classifier(config.architectures):
                read = read_nli(found, config, DTYPES[dtype], named, options)
            elif named:
                raise BadInput(f"labels are those of a classifier. '{found.name}' is none: leave them out.")
            else:
                read = read_masked(found, config, DTYPES[dtype], options)
    placed = read.placed(dtype, place, batch_size)
    return NliModel(**placed, order=read.order) if read.order else MaskedLM(**placed)
