"""A network that is in memory already, such as one in training, as a model that answers."""

import copy
from functools import partial
from typing import Any

from torch.nn import Parameter
from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING

from evenhand.errors import BadInput, UnfitModel
from evenhand.models.loading.checkpoint import Checkpoint
from evenhand.models.loading.labels import Labels, order
from evenhand.models.loading.load import check_mask, start
from evenhand.models.loading.names import Found, is_classifier, names_causal
from evenhand.models.networks import japanese
from evenhand.models.networks.causal import CausalLM
from evenhand.models.networks.japanese import JapaneseTokenizer
from evenhand.models.networks.masked import MaskedLM
from evenhand.models.networks.nli import NliModel
from evenhand.models.planning.sequences import label_words


def wrap(
    network: Any, tokenizer: Any, name: str, *, batch_size: int | str = "auto", labels: Labels = ()
) -> MaskedLM | CausalLM | NliModel:
    """The model of a network of transformers, with or without an adapter, and its tokenizer, where they are.

    It answers with the weights that the network has now, in their precision and on their device, as the same network
    would after saving and loading. The network itself is left alone: see `_twin`.
    """
    network = _without_adapter(network, name)
    if (backend := getattr(tokenizer, "backend_tokenizer", None)) is not None:
        backend.no_truncation()  # as whoever tokenized last has left them; they would be part of the fingerprint
        backend.no_padding()
    kind, found = type(network).__name__, Found(name, "memory", on_hub=False)
    tokenizer = JapaneseTokenizer(tokenizer) if japanese.known(tokenizer) else tokenizer
    outputs: tuple[int, int, int] | None = None
    made: Any
    if is_classifier([kind]):
        outputs = order(name, network.config.id2label, labels)
        made = partial(NliModel, order=outputs)
    elif names_causal([kind]):
        made = partial(CausalLM, start=start(found, network, tokenizer), words=label_words(labels))
    elif type(network) in MODEL_FOR_MASKED_LM_MAPPING.values() or kind.endswith("ForMaskedLM"):
        if labels:
            raise BadInput(f"`labels` are those of a classifier. '{name}' is not one: leave them out.")
        check_mask(found, tokenizer)
        made = MaskedLM
    else:
        raise UnfitModel(
            f"A {kind} has no head that gives probabilities of words or NLI labels. Use the class ...ForMaskedLM, "
            "...ForCausalLM or ...ForSequenceClassification of its family."
        )
    twin = _twin(network)
    dtype = str(twin.dtype).removeprefix("torch.")
    read = Checkpoint(found, twin, tokenizer, twin.state_dict(), made, outputs)
    model: MaskedLM | CausalLM | NliModel = read.placed(dtype, dtype, twin.device, batch_size)
    return model


def _without_adapter(network: Any, name: str) -> Any:
    """The network that an adapter (peft) works in; its weights are among the network's."""
    if not hasattr(network, "peft_config"):
        return network
    if network.active_peft_config.is_prompt_learning:
        raise UnfitModel(
            f"The adapter of '{name}' puts learned tokens before every text (prompt learning), and such models cannot "
            "be measured. Use an adapter that changes weights, such as LoRA."
        )
    return network.get_base_model()


def _twin(network: Any) -> Any:
    """Modules of their own around the same weights: hooks, modes and another precision do not reach the network."""
    tensors = {id(one): one.detach() for one in network.buffers()}
    # A class of its own, such as a quantized weight's, may hold more than numbers.
    tensors |= {id(one): Parameter(one.detach(), False) for one in network.parameters() if type(one) is Parameter}
    twin = copy.deepcopy(network, tensors)
    if "_original_forward" in vars(twin):  # accelerate's mixed precision: a loaded checkpoint would not have it
        twin.forward = twin._original_forward
    return twin
