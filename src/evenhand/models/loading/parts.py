"""Whether a checkpoint and its network have the same parts: weights that are missing are random, others are dropped."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from evenhand.errors import UnfitModel
from evenhand.models.loading.names import Found

LAYER = re.compile(r"\.\d+\.")
CONSTANTS = ("position_ids", "token_type_ids", "masked_bias", "inv_freq", "causal_mask", "version")
"""What older releases of transformers saved besides weights, and newer ones compute."""


def check_parts(
    found: Found,
    network: Any,
    missing: Iterable[str],
    unused: Iterable[str],
    head: str,
    how: str,
    architecture: str = "it",
) -> None:
    """Refuse a checkpoint that lacks weights of the network, or has weights of its body that the network has not.

    `missing` and `unused` are transformers' lists. Weights of other heads and of a pooler, which stand beside what
    the answers come from, may be unused. `how` says how a checkpoint with the `head` was made.
    """
    missing = sorted(missing)
    if any(LAYER.search(name) for name in missing):
        raise UnfitModel(
            f"The weights of '{found.name}' lack {len(missing)} tensors that its config.json asks for: "
            f"{_some(missing)}. They would be random. Correct config.json (num_hidden_layers, for example), or copy "
            "the weights again.",
            check="weights",
        )
    if missing:
        raise UnfitModel(
            f"Model '{found.name}' has no trained {head}: {architecture} lacks {_some(missing)}, which would be "
            f"random. Its numbers would mean nothing. Use a checkpoint that was {how}.",
            check="head",
        )
    if dropped := sorted(_of_body(network, unused)):
        raise UnfitModel(
            f"{len(dropped)} tensors in the weights of '{found.name}' have no place in the network that its "
            f"config.json describes, and would be dropped: {_some(dropped)}. Correct config.json (num_hidden_layers, "
            "for example); if a smaller network is meant, save that one with save_pretrained.",
            check="weights",
        )


def check_adapter(found: Found, missing: Iterable[str], unused: Iterable[str]) -> None:
    """Refuse an adapter without some of the tensors that its configuration asks for, or with others."""
    for names, what in ((missing, "are not in its file"), (unused, "have no place in its base")):
        if lost := sorted(names):
            raise UnfitModel(
                f"{len(lost)} tensors of the adapter '{found.name}' {what}: {_some(lost)}. It would be half an "
                "adapter. Copy it again, with the adapter_config.json and the base model that it was trained with.",
                check="weights",
            )


def _of_body(network: Any, unused: Iterable[str]) -> Iterator[str]:
    """The weights that would stand in a part of the body that the network has."""
    body, prefix = network.base_model, f"{network.base_model_prefix}."
    parts, constants = dict(body.named_children()), dict(body.named_buffers())
    for name in unused:
        inside = name.removeprefix(prefix)
        if inside in constants or name.rpartition(".")[2] in CONSTANTS:
            continue
        # A network that does not set its body apart has its heads among the parts: only layers are told from them.
        if inside.partition(".")[0] in parts and (body is not network or LAYER.search(name)):
            yield name


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
