"""Load a checkpoint into memory: the code that all kinds of models share."""

import hashlib
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from threading import RLock
from typing import Any

import huggingface_hub
import torch
from transformers import AutoTokenizer
from transformers.utils import logging as transformers_logging

from evenhand.core.foreign import need
from evenhand.errors import BadInput, EvenhandError, ModelError, ModelNotFound, UnfitModel, UnknownName
from evenhand.models.loading.files import check_files
from evenhand.models.loading.names import ModelPlace, known_models
from evenhand.models.networks.japanese import as_fast
from evenhand.models.networks.network import is_native, without_onednn
from evenhand.models.planning.plan import Limit

log = logging.getLogger(__name__)

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
CPU_TOKENS = 2048  # throughput is constant from 512 on; larger batches lose more work when a run is stopped
ENOUGH = {"cpu": 512, "cuda": 2**15}
"""By device, the number of tokens in a batch from which another batch costs less than padding."""
READING = 1
"""Increase this number when the same question becomes other inputs, so that cached answers are not used."""
LEAST = 0.75  # the share of a model's embeddings that its tokenizer must use; the others are padding
PROJECTED = {"cpu": 2**26, "cuda": 2**28}  # logits in a batch: 256 MiB in float32, and 1 GiB
OWN: dict[str, None] = {"attn_implementation": None, "experts_implementation": None}
"""Options that override a configuration, which could name a kernel on the Hub that would be downloaded and run."""
REWORDED = {
    "weights_only": "Its weights are a pickle file that is damaged, or contains something other than weights, which "
    "could be malicious code. Get them as safetensors.",
    "look at the above report": "The shapes of its weights are not those that config.json describes.",
}
"""Our text for messages that contain these words. The first would tell users to run untrusted code, the second refers
to a log that we silence."""


@dataclass(frozen=True)
class Checkpoint:
    """A network and its tokenizer, read from files but not moved to a device."""

    place: ModelPlace
    network: Any
    tokenizer: Any
    weights: Mapping[str, Any]
    """The weights that go into the fingerprint."""
    model: Callable[..., Any]
    """Makes the model; called with the keyword arguments of `NetworkModel`."""
    order: tuple[int, int, int] | None = None
    """For an NLI classifier, the indices of its outputs for entailment, neutral and contradiction."""
    also: str = ""
    """Other settings that change the answers, for the fingerprint."""

    def make_model(self, asked: str, dtype: str, device: torch.device, batch_size: int | str) -> Any:
        """Move the network to the device, and make the model. `asked` is the dtype that the user asked for."""
        _check_tokenizer(self.place, self.tokenizer, self.network)
        fingerprint = self._fingerprint()
        network = self.network
        try:
            network.to(device)
        except torch.OutOfMemoryError as error:
            size = sum(p.numel() * p.element_size() for p in network.parameters()) / 2**30
            free, total = (n / 2**30 for n in torch.cuda.mem_get_info(device)) if device.type == "cuda" else (0, 0)
            memory = f", which has {free:.1f} of {total:.1f} GiB free" if total else ""
            raise ModelError(
                f"'{self.place.name}' takes {size:.1f} GiB in {dtype} and does not fit on {device}{memory}. Use "
                "another `device`, or `dtype='bfloat16'` for half the size."
            ) from error
        if device.type == "cpu":
            if network.dtype == torch.float32:
                _lay_out(network)
            if not is_native(network.dtype, device):
                without_onednn(network)
        return self.model(
            network=network,
            tokenizer=self.tokenizer,
            name=self.place.name,
            fingerprint=fingerprint,
            longest=_longest(network, self.tokenizer),
            limit=_limit(network, batch_size),
            about={
                "source": self.place.source if self.place.on_hub else "folder",
                "revision": getattr(network.config, "_commit_hash", None),
                "architecture": type(network).__name__,
                "parameters": sum(p.numel() for p in network.parameters()),
                "dtype": dtype,
                "device": str(device),
                "attention": network.config._attn_implementation,
                "batch_size": batch_size,
                "threads": torch.get_num_threads(),
                "float32_matmul": torch.get_float32_matmul_precision(),
                "torch": version("torch"),
                "transformers": version("transformers"),
                "dtype_asked": asked,
            },
        )

    def _fingerprint(self) -> str:
        """A hash of everything that determines the answers: weights, dtype, configuration and tokenizer."""
        digest = hashlib.sha256()
        settings = self.network.config.to_dict()
        # Names of labels affect the answers only through `order`.
        names = ("id2label", "label2id") if self.order else ()
        for incidental in ("_name_or_path", "transformers_version", "dtype", "architectures", *names):
            settings.pop(incidental, None)
        digest.update(repr(sorted(settings.items(), key=lambda kv: kv[0])).encode())
        digest.update(self.tokenizer.backend_tokenizer.to_str().encode())
        special = sorted(self.tokenizer.special_tokens_map.items()), _longest(self.network, self.tokenizer), READING
        digest.update(repr(special).encode())
        digest.update(f"{self.order} {self.also}".encode() if self.order else b"")
        if (shortened := torch.get_float32_matmul_precision()) != "highest":  # the user has turned on TF32 in torch
            digest.update(shortened.encode())
        for name, weights in sorted(self.weights.items()):
            digest.update(f"{name} {weights.dtype} {tuple(weights.shape)}".encode())
            digest.update(weights.detach().reshape(-1).view(torch.uint8).cpu().numpy())
        return digest.hexdigest()[:32]


ALONE = RLock()
"""Held while a model is read. transformers replaces methods of its classes meanwhile, and if two threads read at once,
these methods would stay replaced."""


@contextmanager
def reading(place: ModelPlace, revision: str | None, trust: bool) -> Iterator[dict[str, Any]]:
    """Yields options for transformers' loaders, after `check_files`. Errors in the block become errors of evenhand."""
    if revision and place.revision not in ("", revision):
        raise BadInput(f"The name '{place.name}' has a revision, but `revision` is '{revision}'. Remove one.")
    if revision and not place.on_hub:
        raise BadInput(
            f"`revision` applies only to models on the Hub. '{place.name}' is in {place.source}: leave it out."
        )
    if place.file:
        need("gguf", "A .gguf file")
    options: dict[str, Any] = {"trust_remote_code": trust} | ({"gguf_file": place.file} if place.file else {})
    if place.on_hub:
        options |= {"revision": revision or place.revision or "main", "local_files_only": not _hub_within_reach()}
    try:
        with ALONE, quiet():
            check_files(place, options)
            yield options
    except EvenhandError:
        raise
    except Exception as error:  # the loaders pass on any error of the libraries that read a broken file
        if place.on_hub and options["local_files_only"] and isinstance(error, OSError):
            near = str(UnknownName("model", place.name, known_models())).partition(". ")[2]
            at = f" --revision {place.revision}" if place.revision else ""
            raise ModelNotFound(
                f"Model '{place.name}' is not bundled, not a folder, and not in the local Hub cache, and the Hub "
                "cannot be reached. Check the spelling, or download the model on a machine with a network (hf download "
                f"{place.source}{at}) and set HF_HOME to that cache, or give a folder that holds the model. {near}"
            ) from error
        if place.on_hub and isinstance(error, OSError):
            raise ModelNotFound(f"Model '{place.name}' could not be loaded from the Hub: {_reason(error)}") from error
        raise ModelError(
            f"Model '{place.name}' in {place.source} cannot be loaded: {_reason(error)} {place.format_hint}"
        ) from error


def read_network(auto: Any, source: str, config: Any, dtype: torch.dtype, options: Mapping[str, Any]) -> Any:
    """The network, read by a class of transformers, and the report on missing and unexpected weights."""
    return auto.from_pretrained(source, config=config, dtype=dtype, output_loading_info=True, **OWN, **options)


def read_tokenizer(source: str, options: Mapping[str, Any]) -> Any:
    """The checkpoint's tokenizer. If it splits Japanese into words first, it is wrapped as a fast tokenizer."""
    return as_fast(AutoTokenizer.from_pretrained(source, **options))


def _lay_out(network: Any) -> None:
    """Store weight matrices in the order multiplication reads them: 10 % faster with OpenBLAS, as fast with MKL."""
    tied = network.get_output_embeddings()
    for module in network.modules():
        if isinstance(module, torch.nn.Linear) and module is not tied:
            module.weight.data = module.weight.data.t().contiguous().t()


def _check_tokenizer(place: ModelPlace, tokenizer: Any, network: Any) -> None:
    if not tokenizer.is_fast:
        raise UnfitModel(
            f"The tokenizer of '{place.name}' ({type(tokenizer).__name__}) does not say which characters a token "
            "stands for. Use a checkpoint with a tokenizer.json.",
            check="tokenizer",
        )
    rows = network.get_input_embeddings().weight.shape[0]
    most = max(len(tokenizer), 1 + max(tokenizer.get_vocab().values(), default=0))  # token ids may have gaps
    if not LEAST * rows <= len(tokenizer) <= most <= rows:
        raise UnfitModel(
            f"The tokenizer of '{place.name}' has {most} tokens, but its model {rows}: files are missing, or do not "
            "belong together. Copy the complete files of the model and its tokenizer into the folder.",
            check="tokenizer",
        )


def _longest(network: Any, tokenizer: Any) -> int:
    limits = [int(tokenizer.model_max_length)]
    for name, module in network.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, torch.nn.Embedding):
            # RoBERTa and similar models number positions from the padding index + 1.
            first = 0 if module.padding_idx is None else module.padding_idx + 1
            limits.append(module.num_embeddings - first)
    if len(limits) == 1 and (most := getattr(network.config, "max_position_embeddings", None)):
        limits.append(most)
    return min(limits)


def _limit(network: Any, batch_size: int | str) -> Limit:
    """The maximum size of a batch: with "auto", as many tokens as suit the device, else `batch_size` inputs."""
    projected = PROJECTED.get(network.device.type, PROJECTED["cpu"])
    positions = max(1, projected // network.get_input_embeddings().weight.shape[0])
    if batch_size != "auto":
        if not isinstance(batch_size, int) or batch_size < 1:
            raise BadInput(f"`batch_size` must be 'auto' or a whole number of at least 1. Got {batch_size!r}.")
        return Limit(tokens=2**31, inputs=batch_size, positions=positions)
    tokens = CPU_TOKENS
    if network.device.type == "cuda":
        width = network.config.hidden_size
        inner = getattr(network.config, "intermediate_size", None) or 4 * width
        a_token = network.dtype.itemsize * (8 * width + 2 * inner)  # bytes of activations in a layer at one time
        # A power of two, from the total memory and not the free memory, so that a resumed run plans the same batches.
        fit = int(torch.cuda.get_device_properties(network.device).total_memory // 4 // a_token)
        tokens = min(2**18, max(CPU_TOKENS, 1 << (fit.bit_length() - 1)))
    return Limit(tokens, inputs=2**31, positions=positions, enough=ENOUGH.get(network.device.type, 2**31))


def chosen_dtype(asked: str, device: torch.device) -> str:
    """The name of the dtype. "auto" is bfloat16 if the device computes in it natively, else float32."""
    if asked == "auto":
        return "bfloat16" if is_native(torch.bfloat16, device) else "float32"
    if asked not in DTYPES:
        raise BadInput(f"`dtype` must be one of {', '.join(DTYPES)} and auto. Got '{asked}'.")
    if asked == "bfloat16" and device.type == "cpu" and not is_native(torch.bfloat16, device):
        log.warning("This processor only emulates bfloat16, which is slower than computing in float32.")
    if asked == "float16" and device.type == "cpu":
        log.warning("float16 is slower than float32 on most CPUs. Use it on GPUs.")
    return asked


def device_of(device: str | None) -> torch.device:
    """The device of that name; without a name, the GPU if there is one, else the CPU."""
    try:
        usable = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        torch.empty(1, device=usable).tolist()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise BadInput(f"Device '{device}' cannot be used here: {_reason(error)} Try `device='cpu'`.") from error
    return usable


def _hub_within_reach() -> bool:
    """Whether the Hub answers a short request. Without this check, users who are offline would wait minutes."""
    if huggingface_hub.constants.HF_HUB_OFFLINE:
        return False
    try:
        huggingface_hub.get_session().head(huggingface_hub.constants.ENDPOINT, timeout=5)
    except Exception:  # whatever the transport raises, the Hub cannot be reached
        return False
    return True


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the progress bars and reports of transformers. We raise errors for what matters in them."""
    with ExitStack() as before:
        before.callback(transformers_logging.set_verbosity, transformers_logging.get_verbosity())
        if transformers_logging.is_progress_bar_enabled():
            before.callback(transformers_logging.enable_progress_bar)
        transformers_logging.set_verbosity(logging.CRITICAL)
        transformers_logging.disable_progress_bar()
        yield


def _reason(error: BaseException) -> str:
    """The first line of another library's message as a sentence, or our text for it in `REWORDED`."""
    for theirs, ours in REWORDED.items():
        if theirs in str(error):
            return ours
    line = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
    return f"{line}."
