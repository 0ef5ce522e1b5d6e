"""Where a model of a given name is: bundled, in a folder, or on the Hub."""

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.errors import ModelNotFound, UnknownName

BUNDLED = Path(__file__).parent.parent / "bundled"
DEFAULT = "mini-en"
ADAPTER = "adapter_config.json"
"""What a folder holds, beside the weights, that is an adapter (peft) to another model."""
GGUF = ".gguf"
"""How a file ends that is a whole model: causal, with its configuration and tokenizer."""
HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")


@dataclass(frozen=True, slots=True)
class Found:
    """A model's name, and the folder or Hub id to load it from; `file` names the one in it that is all of the model."""

    name: str
    source: str
    on_hub: bool
    file: str = ""

    @property
    def whole(self) -> str:
        """What is needed to load it, for those who cannot."""
        if self.file:
            return f"A {GGUF} file must be whole, of a kind that transformers reads, and needs the package gguf."
        return (
            "A model folder holds config.json, model.safetensors and the tokenizer's files, whole: copy or download it "
            "again."
        )


def find(name: str) -> Found:
    """Look among the bundled models, then for a folder, then in EVENHAND_MODELS; else take it for a Hub id."""
    if name in named():
        return Found(name, str(named()[name]), on_hub=False)
    folder = _expanded(name)
    try:
        is_folder, is_file = bool(name) and folder.is_dir(), folder.is_file()
    except OSError as error:
        raise ModelNotFound(f"'{name}' cannot be looked at: {error.strerror}. Give a folder or a Hub id.") from error
    if is_folder:
        return Found(folder.resolve().name, str(folder), on_hub=False)
    if is_file and folder.suffix.lower() == GGUF:
        return Found(folder.stem, str(folder.parent), on_hub=False, file=folder.name)
    if is_file:
        raise ModelNotFound(
            f"A model is a folder with config.json, weights and tokenizer, or a {GGUF} file. Got the file '{name}'."
        )
    if not HUB_ID.fullmatch(name) or name.startswith("."):
        raise ModelNotFound(
            f"There is no folder '{name}', and it cannot be a Hub id (owner/name). "
            f"Give a folder, a Hub id, or one of: {', '.join(named())}."
        )
    return Found(name, name, on_hub=True)


def _expanded(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError:  # a home of nobody's
        return Path(name)


def named() -> dict[str, Path]:
    """The models that have a name here: the bundled ones, and the folders in EVENHAND_MODELS."""
    roots = [BUNDLED]
    if extra := os.environ.get("EVENHAND_MODELS"):
        roots.append(Path(extra).expanduser())
    folders: dict[str, Path] = {}
    for root in roots:
        for folder in sorted({config.parent for name in ("config.json", ADAPTER) for config in root.glob(f"*/{name}")}):
            folders.setdefault(folder.name, folder)
    return folders


def kind(found: Found) -> str:
    """What an audit of it runs, "masked", "causal" or "nli"; "" where loading alone can tell."""
    if found.on_hub:
        return ""
    if found.file:
        return "causal"
    if is_adapter(found):
        return "nli"
    try:
        config = json.loads((Path(found.source) / "config.json").read_text(encoding="utf-8"))
        architectures = config.get("architectures")
        if is_classifier(architectures):
            return "nli"
        if names_causal(architectures):
            return "causal"
        return "masked" if any(name.endswith("ForMaskedLM") for name in architectures or ()) else ""
    except (OSError, ValueError, AttributeError):  # broken: the loader says so
        return ""


def is_adapter(found: Found) -> bool:
    """Does the folder hold an adapter to another model?"""
    return not (found.on_hub or found.file) and (Path(found.source) / ADAPTER).is_file()


def is_classifier(architectures: Sequence[str] | None) -> bool:
    """Was the checkpoint saved as a classifier of texts?"""
    return any(name.endswith("ForSequenceClassification") for name in architectures or ())


def names_causal(architectures: Sequence[str] | None) -> bool:
    """Was the checkpoint saved as a causal language model? (GPT2LMHeadModel is one, XLMWithLMHeadModel is not.)"""
    return any(re.search(r"(ForCausalLM|(?<!With)LMHeadModel)$", name) for name in architectures or ())


def out_of_reach(found: Found, why: str) -> ModelNotFound:
    """The sentence for a Hub model that could not be had."""
    near = str(UnknownName("model", found.name, named())).partition(". ")[2]
    return ModelNotFound(
        f"Model '{found.name}' is not bundled, not a folder, and not in the local Hub cache, and {why}. "
        f"Check the spelling; or download it where there is a network (hf download {found.name}) and set HF_HOME "
        f"to that cache; or give a folder that holds it. {near}"
    )
