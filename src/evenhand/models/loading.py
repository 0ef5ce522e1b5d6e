"""Load a masked language model, and refuse one whose numbers would mean nothing."""

import hashlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

import huggingface_hub
import torch
from transformers import AutoConfig, AutoModelForMaskedLM, AutoTokenizer
from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING
from transformers.utils import logging as transformers_logging

from evenhand.errors import BadInput, ModelError, ModelNotFound, UnfitModel
from evenhand.models.batching import Limit
from evenhand.models.masked import MaskedLM
from evenhand.models.names import Found, out_of_reach

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
CPU_TOKENS = 2048  # throughput is flat from 512 on; larger batches would only lose more when a run is stopped
ENOUGH = {"cpu": 512, "cuda": 2**15}  # tokens that keep a device busy: from there on rather another batch than padding
READING = 1  # raised whenever evenhand makes other inputs from the same question: kept answers are then asked again
LEAST = 0.75  # share of a model's embeddings that its tokenizer uses at the least; some are padded
PROJECTED = 2**26  # numbers a batch may project onto the vocabulary: 256 MiB in float32


def load_masked(
    found: Found,
    *,
    revision: str | None = None,
    dtype: str = "float32",
    device: str | None = None,
    batch_size: int | str = "auto",
    trust_remote_code: bool = False,
) -> MaskedLM:
    """The model, ready to answer. Weights are cast to `dtype`; `device` defaults to the GPU if there is one."""
    if dtype not in DTYPES:
        raise BadInput(f"dtype must be one of {', '.join(DTYPES)}. Got '{dtype}'.")
    if revision and not found.on_hub:
        raise BadInput(
            f"A revision is one of a Hub model. '{found.name}' is in a folder, {found.source}: leave it out."
        )
    place = _device(device)
    network, tokenizer, commit = _load(found, revision, DTYPES[dtype], trust_remote_code)
    _check_tokenizer(found, tokenizer, network)
    fingerprint = _fingerprint(network, tokenizer)
    try:
        network.to(place)
    except torch.OutOfMemoryError as error:
        size = sum(p.numel() * p.element_size() for p in network.parameters()) / 2**30
        raise ModelError(f"'{found.name}' ({size:.1f} GiB) does not fit on {place}. Use another --device.") from error
    if place.type == "cpu":
        _lay_out(network)
    return MaskedLM(
        network,
        tokenizer,
        name=found.name,
        fingerprint=fingerprint,
        longest=_longest(network, tokenizer),
        limit=_limit(network, batch_size),
        about={
            "source": found.source if found.on_hub else "folder",
            "revision": commit,
            "architecture": type(network).__name__,
            "parameters": sum(p.numel() for p in network.parameters()),
            "dtype": dtype,
            "device": str(place),
            "attention": network.config._attn_implementation,
            "batch_size": batch_size,
            "threads": torch.get_num_threads(),
            "torch": version("torch"),
            "transformers": version("transformers"),
        },
    )


def _lay_out(network: Any) -> None:
    """Keep each weight matrix as multiplication reads it: a tenth faster with some libraries, never slower."""
    tied = network.get_output_embeddings()
    for module in network.modules():
        if isinstance(module, torch.nn.Linear) and module is not tied:
            module.weight.data = module.weight.data.t().contiguous().t()


def _load(found: Found, revision: str | None, dtype: torch.dtype, trust: bool) -> tuple[Any, Any, str | None]:
    options: dict[str, Any] = {"trust_remote_code": trust}
    if found.on_hub:
        options |= {"revision": revision or "main", "local_files_only": not _hub_within_reach()}
    try:
        with quiet():
            config = AutoConfig.from_pretrained(found.source, **options)
            if not _is_masked(config):
                raise _another_kind(found, config)
            tokenizer = AutoTokenizer.from_pretrained(found.source, **options)
            network, report = _weights(found, config, dtype, options)
    except UnfitModel:
        raise
    except Exception as error:  # the loaders raise whatever the reader of a broken file raised
        if found.on_hub and options["local_files_only"] and isinstance(error, OSError):
            raise out_of_reach(found, "the Hub cannot be reached") from error
        if found.on_hub and isinstance(error, OSError):
            raise ModelNotFound(f"Model '{found.name}' could not be had from the Hub: {_first(error)}") from error
        raise ModelError(
            f"Model '{found.name}' in {found.source} cannot be loaded: {_first(error)} A model folder holds "
            "config.json, model.safetensors and the tokenizer's files, whole: copy or download it again."
        ) from error
    if report["missing_keys"]:
        raise UnfitModel(
            f"Model '{found.name}' has no trained masked-language-model head: {', '.join(config.architectures or ())}"
            f" lacks {_some(report['missing_keys'])}, which would be random. Its numbers would mean nothing. "
            "Use a checkpoint that was saved as a masked language model."
        )
    return network, tokenizer, getattr(network.config, "_commit_hash", None)


def _weights(found: Found, config: Any, dtype: torch.dtype, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The network, and the loader's report of what was missing."""
    settings = {"dtype": dtype, "output_loading_info": True, **options}
    network, report = AutoModelForMaskedLM.from_pretrained(found.source, config=config, **settings)
    if any(key.startswith("lm_predictions.") for key in report["unexpected_keys"]) and getattr(config, "legacy", False):
        # DeBERTa's first checkpoints have their trained head under a name that the library reads only when told so.
        config.legacy = False
        network, report = AutoModelForMaskedLM.from_pretrained(found.source, config=config, **settings)
    return network, report


def _is_masked(config: Any) -> bool:
    return type(config) in MODEL_FOR_MASKED_LM_MAPPING or "AutoModelForMaskedLM" in (
        getattr(config, "auto_map", None) or {}
    )


def _another_kind(found: Found, config: Any) -> UnfitModel:
    return UnfitModel(
        f"Model '{found.name}' is of the kind '{config.model_type}', which is no masked language model. "
        "Use one that is: BERT, DistilBERT, RoBERTa, XLM-R, ALBERT, DeBERTa, ModernBERT and the like."
    )


def _check_tokenizer(found: Found, tokenizer: Any, network: Any) -> None:
    if not tokenizer.is_fast:
        raise UnfitModel(
            f"The tokenizer of '{found.name}' ({type(tokenizer).__name__}) does not say which characters a piece "
            "stands for. Use a checkpoint with a tokenizer.json."
        )
    if tokenizer.mask_token_id is None:
        raise UnfitModel(f"The tokenizer of '{found.name}' has no mask token. Use a masked language model's own.")
    rows = network.get_input_embeddings().weight.shape[0]
    if not LEAST * rows <= len(tokenizer) <= rows:
        raise UnfitModel(
            f"The tokenizer of '{found.name}' has {len(tokenizer)} pieces, its model knows {rows}: its files are "
            "missing, or they do not belong together. A model folder holds both, whole."
        )


def _longest(network: Any, tokenizer: Any) -> int:
    """How many pieces an input may have, special tokens included."""
    limits = [int(tokenizer.model_max_length)]
    for name, module in network.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, torch.nn.Embedding):
            # RoBERTa's kin count positions from behind the padding index.
            first = 0 if module.padding_idx is None else module.padding_idx + 1
            limits.append(module.num_embeddings - first)
    if len(limits) == 1 and (most := getattr(network.config, "max_position_embeddings", None)):
        limits.append(most)
    return min(limits)


def _limit(network: Any, batch_size: int | str) -> Limit:
    """`auto`: as many tokens as suit the device; a number: so many inputs, whatever their length."""
    positions = max(1, PROJECTED // network.get_input_embeddings().weight.shape[0])
    if batch_size == "auto":
        enough = ENOUGH.get(network.device.type, 2**31)
        return Limit(tokens=_tokens(network), inputs=2**31, positions=positions, enough=enough)
    if not isinstance(batch_size, int) or batch_size < 1:
        raise BadInput(f"batch size must be 'auto' or a whole number from 1. Got {batch_size!r}.")
    return Limit(tokens=2**31, inputs=batch_size, positions=positions)


def _tokens(network: Any) -> int:
    if network.device.type != "cuda":
        return CPU_TOKENS
    config = network.config
    width = config.hidden_size
    inner = getattr(config, "intermediate_size", None) or 4 * width
    a_token = network.dtype.itemsize * (8 * width + 2 * inner)  # activations alive at once in a layer
    # By the whole memory, not by what is free just now, and to a power of two: a resumed run plans the same batches.
    fit = int(torch.cuda.get_device_properties(network.device).total_memory // 4 // a_token)
    return min(2**18, max(CPU_TOKENS, 1 << (fit.bit_length() - 1)))


def _device(device: str | None) -> torch.device:
    try:
        place = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        torch.empty(1, device=place).tolist()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise BadInput(f"Device '{device}' cannot be used here: {_first(error)} Try 'cpu'.") from error
    return place


def _fingerprint(network: Any, tokenizer: Any) -> str:
    """A hash of all that makes the answers: weights, dtype, configuration, tokenizer."""
    digest = hashlib.sha256()
    settings = network.config.to_dict()
    for incidental in ("_name_or_path", "transformers_version", "dtype", "architectures"):
        settings.pop(incidental, None)
    digest.update(repr(sorted(settings.items(), key=lambda kv: kv[0])).encode())
    digest.update(tokenizer.backend_tokenizer.to_str().encode())
    special = sorted(tokenizer.special_tokens_map.items()), _longest(network, tokenizer), READING
    digest.update(repr(special).encode())
    for name, weights in sorted(network.state_dict().items()):
        digest.update(f"{name} {weights.dtype} {tuple(weights.shape)}".encode())
        digest.update(weights.detach().reshape(-1).view(torch.uint8).numpy())
    return digest.hexdigest()[:32]


def _hub_within_reach() -> bool:
    """One short try, so that somebody offline waits seconds, not minutes, for the cache or the error."""
    if huggingface_hub.constants.HF_HUB_OFFLINE:
        return False
    try:
        huggingface_hub.get_session().head(huggingface_hub.constants.ENDPOINT, timeout=5)
    except Exception:  # whatever the transport raises, there is no Hub for us
        return False
    return True


@contextmanager
def quiet() -> Iterator[None]:
    """Without the library's own bars and reports: what matters of them becomes an error of ours."""
    verbosity = transformers_logging.get_verbosity()
    bars = transformers_logging.is_progress_bar_enabled()
    transformers_logging.set_verbosity(logging.CRITICAL)
    transformers_logging.disable_progress_bar()
    try:
        yield
    finally:
        transformers_logging.set_verbosity(verbosity)
        if bars:
            transformers_logging.enable_progress_bar()


def _first(error: BaseException) -> str:
    """The first line of a foreign message, as a sentence."""
    line = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
    return f"{line}."


def _some(keys: set[str]) -> str:
    shown = sorted(keys)[:3]
    return ", ".join(shown) + (f" and {len(keys) - 3} more" if len(keys) > 3 else "")
