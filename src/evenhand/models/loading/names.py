"""Find a model by name: a bundled model, a folder, a file, or a model on the Hub."""

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from evenhand.core.files import CHECKPOINT, from_json, read_parsed, real_path
from evenhand.errors import ModelNotFound
from evenhand.models.engines import ENGINES, prefix_of

BUNDLED = Path(__file__).parent.parent / "bundled"
DEFAULT = "mini-en"
ADAPTER = "adapter_config.json"
"""The file that marks a folder as a peft adapter for another model."""
GGUF = ".gguf"
"""The suffix of a file that holds a whole causal model, with configuration and tokenizer."""
VECTORS = (".bin", ".txt", ".tsv", ".vec", ".npz", ".safetensors", ".gz")
"""The suffixes of files of static vectors, which `models.vectors` reads."""
ENDS = {"nli": "ForSequenceClassification", "causal": "ForCausalLM|(?<!With)LMHeadModel", "masked": "ForMaskedLM"}
"""By kind of model, the suffixes of architectures: GPT2LMHeadModel is causal, XLMWithLMHeadModel is not."""
HUB_ID = re.compile(r"(?P<id>[\w.-]+(/[\w.-]+)?)(@(?P<revision>\w[\w./-]*))?")
"""A model on the Hub, optionally with a branch, tag or commit: "owner/name@step1000"."""


@dataclass(frozen=True, slots=True)
class ModelPlace:
    """A model's name, and the folder or Hub id to load it from. `file` is a .gguf file or file of vectors in it."""

    name: str
    source: str
    on_hub: bool
    file: str = ""
    engine: str = ""
    """The prefix of the engine that loads the model. With a prefix, `source` is the whole name."""
    revision: str = ""
    """The branch, tag or commit in the name of a model on the Hub."""

    @property
    def holds_vectors(self) -> bool:
        return self.file.lower().endswith(VECTORS)

    @property
    def format_hint(self) -> str:
        if self.file:
            return f"A {GGUF} file must be complete and of an architecture that transformers can read."
        if (Path(self.source) / "run.json").is_file():
            return "This folder holds the run of an audit: give the model, or show the run with `evenhand show`."
        needed = "config.json, model.safetensors and the tokenizer's files"
        return f"A model folder holds {needed}, all of them complete: copy or download it again."


def find(name: str) -> ModelPlace:
    """The place of a bundled model, a model in EVENHAND_MODELS, a folder or file, or, if there is none, a Hub id.

    "PREFIX:NAME" is a model of an engine. "owner/name@REVISION" is a branch, tag or commit of a model on the Hub.
    """
    if prefix := prefix_of(name):
        return ModelPlace(name.removeprefix(f"{prefix}:") or name, name, on_hub=False, engine=prefix)
    if name in known_models():
        return ModelPlace(name, str(known_models()[name]), on_hub=False)
    folder = Path(name)
    with suppress(RuntimeError):  # ~name, if no user has this name
        folder = folder.expanduser()
    try:
        is_folder, is_file = bool(name) and folder.is_dir(), folder.is_file()
    except OSError as error:
        raise ModelNotFound(f"'{name}' cannot be accessed: {error.strerror}. Give a folder or a Hub id.") from error
    if is_folder:
        resolved = real_path(folder)
        name = with_parent(resolved) if CHECKPOINT.fullmatch(resolved.name) else resolved.name  # "run-7/checkpoint-500"
        return ModelPlace(name, str(folder), on_hub=False)
    if is_file and folder.suffix.lower() in (GGUF, *VECTORS):
        return ModelPlace(folder.stem, str(folder.parent), on_hub=False, file=folder.name)
    if is_file:
        raise ModelNotFound(
            f"A model must be a folder with config.json, weights and tokenizer, a {GGUF} file, or a file of vectors "
            f"({', '.join(VECTORS)}). Got the file '{name}'. Of gensim's KeyedVectors, give what "
            "save_word2vec_format('NAME.bin', binary=True) writes: to read a pickle could run any code."
        )
    if folder.suffix.lower() in (GGUF, *VECTORS):
        raise ModelNotFound(f"There is no file '{name}'. Check the spelling and the current folder.")
    match = HUB_ID.fullmatch(name)
    if not match or name.startswith("."):
        raise ModelNotFound(
            f"There is no folder '{name}', and this name is not a Hub id (owner/name). "
            f"Give a folder, a Hub id, or one of: {', '.join(known_models())}."
        )
    return ModelPlace(name, match["id"], on_hub=True, revision=match["revision"] or "")


def with_parent(folder: Path) -> str:
    """The folder's name with that of its parent: "run-7/checkpoint-500"."""
    return "/".join(filter(None, (folder.parent.name, folder.name)))


def known_models() -> dict[str, Path]:
    """The models known by name: the bundled ones, and the folders in EVENHAND_MODELS."""
    roots = [BUNDLED]
    if extra := os.environ.get("EVENHAND_MODELS"):
        roots.append(Path(extra).expanduser())
    folders: dict[str, Path] = {}
    for root in roots:
        for folder in sorted({config.parent for name in ("config.json", ADAPTER) for config in root.glob(f"*/{name}")}):
            folders.setdefault(folder.name, folder)
    return folders


def kind(place: ModelPlace) -> str:
    """The kind of model: "masked", "causal", "nli" or "vectors"; "" if only loading the model can tell."""
    if place.on_hub:
        return ""
    if place.engine:
        return ENGINES[place.engine].kind
    if place.file:
        return "vectors" if place.holds_vectors else "causal"
    if is_adapter(place):
        return "nli"
    try:
        return kind_of_architectures(read_parsed(Path(place.source) / "config.json", from_json).get("architectures"))
    except (OSError, ValueError, AttributeError, TypeError):  # the folder is broken, and loading it raises the error
        return ""


def is_adapter(place: ModelPlace) -> bool:
    """Whether the folder holds an adapter for another model."""
    return not (place.on_hub or place.file or place.engine) and (Path(place.source) / ADAPTER).is_file()


def kind_of_architectures(architectures: Sequence[str] | None) -> str:
    """The kind of model that a checkpoint with these architectures was saved as; "" if it is another kind."""
    return next((kind for kind, end in ENDS.items() if any(re.search(f"({end})$", a) for a in architectures or ())), "")
