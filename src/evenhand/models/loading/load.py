"""Load a model from a checkpoint, or wrap a network in memory. Raises an error if its answers would be meaningless."""

import copy
import json
import warnings
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch.nn import Parameter
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForSequenceClassification,
    BertForNextSentencePrediction,
)
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING, MODEL_FOR_MASKED_LM_MAPPING

from evenhand.errors import BadInput, UnfitModel
from evenhand.models.loading import checkpoint
from evenhand.models.loading.checkpoint import DTYPES, Checkpoint, read_network, read_tokenizer
from evenhand.models.loading.files import check_adapter, check_files, check_memory, check_parts
from evenhand.models.loading.labels import LABELS, NLI_HEAD, Labels, order
from evenhand.models.loading.names import ADAPTER, ModelPlace, find, is_adapter, kind_of_architectures
from evenhand.models.networks.causal import CausalLM
from evenhand.models.networks.japanese import as_fast
from evenhand.models.networks.masked import MaskedLM
from evenhand.models.networks.nli import NliModel
from evenhand.models.planning.sequences import label_words

WRAPPED = "base_model.model."  # the prefix of weights in an adapter file
TURN, BETWEEN = "<|im_start|>", "<|endoftext|>"
"""The token that begins a turn in chat models, and the token between the texts of their pretraining."""


def load(
    place: ModelPlace,
    revision: str | None,
    dtype: str,
    device: str | None,
    batch_size: int | str,
    trust_remote_code: bool,
    labels: Labels,
) -> MaskedLM | CausalLM | NliModel:
    """The model on its device. For the parameters, see `evenhand.load`."""
    torch_device = checkpoint.device_of(device)
    used = checkpoint.chosen_dtype(dtype, torch_device)
    with checkpoint.reading(place, revision, trust_remote_code) as options:
        check_memory(place, DTYPES[used])
        read = _read(place, DTYPES[used], labels, options)
        model: MaskedLM | CausalLM | NliModel = read.make_model(dtype, used, torch_device, batch_size)
    return model


def _read(place: ModelPlace, dtype: torch.dtype, labels: Labels, options: dict[str, Any]) -> Checkpoint:
    if is_adapter(place):
        return _read_adapter(place, dtype, labels, options)
    config = AutoConfig.from_pretrained(place.source, **options)
    kind = kind_of_architectures(config.architectures)
    if kind == "nli":
        outputs = order(place.name, config.id2label, labels)
        network, report = read_network(AutoModelForSequenceClassification, place.source, config, dtype, options)
        check_parts(place, network, report, *NLI_HEAD)
        tokenizer = read_tokenizer(place.source, options)
        return Checkpoint(place, network, tokenizer, network.state_dict(), partial(NliModel, order=outputs), outputs)
    alone = type(config) in MODEL_FOR_CAUSAL_LM_MAPPING and type(config) not in MODEL_FOR_MASKED_LM_MAPPING
    if (kind == "causal" or alone) and not getattr(config, "is_encoder_decoder", False):
        words = label_words(labels)
        tokenizer = read_tokenizer(place.source, options)
        network, report = read_network(AutoModelForCausalLM, place.source, config, dtype, options)
        head = "causal-language-model head", "saved as a causal language model"
        check_parts(place, network, report, *head, type(network).__name__)
        model = partial(CausalLM, start=start(place, network, tokenizer), words=words)
        return Checkpoint(place, network, tokenizer, network.state_dict(), model)
    if labels:
        raise BadInput(f"`labels` are for classifiers and causal models. '{place.name}' is neither: remove `labels`.")
    return _read_masked(place, config, dtype, options)


def _read_masked(place: ModelPlace, config: Any, dtype: torch.dtype, options: dict[str, Any]) -> Checkpoint:
    named = "AutoModelForMaskedLM" in (getattr(config, "auto_map", None) or {})
    if type(config) not in MODEL_FOR_MASKED_LM_MAPPING and not named:
        why = "neither a masked nor a causal language model"
        if getattr(config, "is_encoder_decoder", False):
            why = "an encoder-decoder, which reads one text, writes another, and gives no probability of a single text"
        raise UnfitModel(
            f"Model '{place.name}' is of the kind '{config.model_type}', {why}. Use a masked language model, such as "
            "BERT, RoBERTa, ALBERT, DeBERTa or ModernBERT, or a causal one, such as GPT-2 or Llama."
        )
    tokenizer = read_tokenizer(place.source, options)
    network, report = read_network(AutoModelForMaskedLM, place.source, config, dtype, options)
    if any(key.startswith("lm_predictions.") for key in report["unexpected_keys"]) and getattr(config, "legacy", False):
        # DeBERTa's first checkpoints store their trained head under a name that transformers reads only on request.
        config.legacy = False
        network, report = read_network(AutoModelForMaskedLM, place.source, config, dtype, options)
    head = "masked-language-model head", "saved as a masked language model"
    saved = ", ".join(config.architectures or ())
    check_parts(place, network, report, *head, saved)
    check_mask(place, tokenizer)
    follows = _next_sentence_head(place, config, report["unexpected_keys"], options)
    weights = network.state_dict() | ({} if follows is None else follows.state_dict(prefix="next_sentence."))
    return Checkpoint(place, network, tokenizer, weights, partial(MaskedLM, next_sentence=follows))


def _read_adapter(place: ModelPlace, dtype: torch.dtype, labels: Labels, options: dict[str, Any]) -> Checkpoint:
    """The base model with the adapter merged into it. Raises an error if its classifier is untrained.

    A config.json in the adapter's folder describes the merged model. Without it, the configuration of the base is used,
    without label names. The fingerprint is of base and adapter: merged weights differ between machines in the last bit.
    """
    from peft import PeftConfig, PeftModel, get_peft_model_state_dict  # takes seconds to import
    from peft.utils import load_peft_weights

    adapter = PeftConfig.from_pretrained(place.source)
    if adapter.task_type not in (None, "SEQ_CLS"):
        raise UnfitModel(
            f"'{place.name}' is an adapter for {adapter.task_type}. Only adapters of classifiers (SEQ_CLS) can be "
            "loaded. Merge the adapter into its base (merge_and_unload, then save_pretrained), and load that folder."
        )
    base = find(str(adapter.base_model_name_or_path))
    check_files(base, options)
    has_config = (Path(place.source) / "config.json").is_file()
    config = AutoConfig.from_pretrained(place.source if has_config else base.source, **options)
    if not has_config:
        config.num_labels = len(LABELS)
    outputs = order(place.name, config.id2label, labels)
    # Merged in float32, since half precision would lose the adapter's small changes.
    network, report = read_network(AutoModelForSequenceClassification, base.source, config, torch.float32, options)
    missing = set(report["missing_keys"])
    added = load_peft_weights(place.source, device="cpu")
    untrained = missing - {name.removeprefix(WRAPPED) for name in added}
    check_parts(place, network, {**report, "missing_keys": untrained}, *NLI_HEAD)
    weights = {name: value for name, value in network.state_dict().items() if name not in missing}
    whole = {WRAPPED + name for name in network.state_dict()}  # an adapter may contain whole embeddings
    with warnings.catch_warnings(action="ignore"):  # peft warns of tensors that `check_adapter` refuses below
        model = PeftModel.from_pretrained(network, place.source, config=adapter)
    wanted = get_peft_model_state_dict(model, save_embedding_layers=False).keys()
    check_adapter(place, wanted - added.keys(), added.keys() - wanted - whole)
    merged = model.merge_and_unload()
    has_tokenizer = (Path(place.source) / "tokenizer_config.json").is_file()
    tokenizer = read_tokenizer(place.source if has_tokenizer else base.source, options)
    settings = json.loads((Path(place.source) / ADAPTER).read_text(encoding="utf-8"))
    settings.pop("base_model_name_or_path")  # the folder does not change the answers
    also = f"{dtype} {json.dumps(settings, sort_keys=True)}"
    made = partial(NliModel, order=outputs)
    return Checkpoint(place, merged.to(dtype), tokenizer, weights | added, made, outputs, also)


def check_mask(place: ModelPlace, tokenizer: Any) -> None:
    """Raise an error if the tokenizer has no mask token."""
    if tokenizer.mask_token_id is None:
        message = f"The tokenizer of '{place.name}' has no mask token. Use the tokenizer of a masked language model."
        raise UnfitModel(message, check="mask token")


def _next_sentence_head(place: ModelPlace, config: Any, unused: Iterable[str], options: dict[str, Any]) -> Any:
    """BERT's next-sentence head in float32; None if the checkpoint has none."""
    if config.model_type != "bert" or "cls.seq_relationship.weight" not in unused:
        return None
    whole, report = read_network(BertForNextSentencePrediction, place.source, config, torch.float32, options)
    if report["missing_keys"]:
        return None
    return torch.nn.Sequential(whole.bert.pooler.dense, whole.bert.pooler.activation, whole.cls.seq_relationship)


def start(place: ModelPlace, network: Any, tokenizer: Any) -> int:
    """The id of the token before every text: the token that begins texts, else the token that ends them.

    Models without a token for the beginning, such as GPT-2, were trained on texts separated by the token for the end. A
    token that begins a turn of a chat is not used, since a role follows it, not a text.
    """
    vocabulary = tokenizer.get_vocab()
    if tokenizer.bos_token == TURN and BETWEEN in vocabulary:
        return int(vocabulary[BETWEEN])
    for name in ("bos_token_id", "eos_token_id"):
        for owner in (tokenizer, network.config):
            token = getattr(owner, name, None)
            token = token[0] if isinstance(token, list) and token else token
            if isinstance(token, int):
                return token
    raise UnfitModel(
        f"Neither the tokenizer nor the configuration of '{place.name}' names a token that begins or ends a text "
        "(bos_token, eos_token), so the token before a sentence is unknown. Name one in tokenizer_config.json."
    )


def wrap(
    network: Any, tokenizer: Any, name: str, *, batch_size: int | str = "auto", labels: Labels = ()
) -> MaskedLM | CausalLM | NliModel:
    """A model made from a network of transformers in memory, with or without an adapter, and its tokenizer.

    It answers with the weights that the network has now, in their precision and on their device, and with the same
    numbers as after saving and loading. The network is not changed: see `_twin`.
    """
    if hasattr(network, "peft_config"):
        if network.active_peft_config.is_prompt_learning:
            raise UnfitModel(
                f"The adapter of '{name}' puts learned tokens before every text (prompt learning), which cannot be "
                "measured. Use an adapter that changes weights, such as LoRA."
            )
        network = network.get_base_model()  # its layers contain the weights of the adapter
    if (backend := getattr(tokenizer, "backend_tokenizer", None)) is not None:
        backend.no_truncation()  # these settings remain from earlier calls, and would change the fingerprint
        backend.no_padding()
    architecture, place = type(network).__name__, ModelPlace(name, "memory", on_hub=False)
    kind = kind_of_architectures([architecture])
    tokenizer = as_fast(tokenizer)
    outputs: tuple[int, int, int] | None = None
    made: Any
    if kind == "nli":
        outputs = order(name, network.config.id2label, labels)
        made = partial(NliModel, order=outputs)
    elif kind == "causal":
        made = partial(CausalLM, start=start(place, network, tokenizer), words=label_words(labels))
    elif kind == "masked" or type(network) in MODEL_FOR_MASKED_LM_MAPPING.values():
        if labels:
            raise BadInput(f"`labels` are for classifiers and causal models. '{name}' is neither: remove `labels`.")
        check_mask(place, tokenizer)
        made = MaskedLM
    else:
        raise UnfitModel(
            f"{architecture} has no head that gives probabilities of words or NLI labels. Use ...ForMaskedLM, "
            "...ForCausalLM or ...ForSequenceClassification of its family."
        )
    twin = _twin(network)
    dtype = str(twin.dtype).removeprefix("torch.")
    read = Checkpoint(place, twin, tokenizer, twin.state_dict(), made, outputs)
    model: MaskedLM | CausalLM | NliModel = read.make_model(dtype, dtype, twin.device, batch_size)
    return model


def _twin(network: Any) -> Any:
    """A copy of the modules that shares the weights. Hooks, modes and casts of the copy do not affect the network."""
    tensors = {id(buffer): buffer.detach() for buffer in network.buffers()}
    # Weights of other classes, such as quantized ones, may hold more than numbers.
    tensors |= {id(each): Parameter(each.detach(), False) for each in network.parameters() if type(each) is Parameter}
    twin = copy.deepcopy(network, tensors)
    if "_original_forward" in vars(twin):  # undo accelerate's mixed precision, which a loaded checkpoint would not have
        twin.forward = twin._original_forward
    return twin
