"""Read an adapter (peft): a few weights that make another model an NLI classifier."""

import json
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import torch
from peft import PeftConfig, PeftModel, get_peft_model_state_dict
from peft.utils import load_peft_weights
from transformers import AutoConfig, AutoModelForSequenceClassification

from evenhand.errors import UnfitModel
from evenhand.models.loading.checkpoint import Checkpoint, read_network, read_tokenizer
from evenhand.models.loading.files import check_adapter, check_files, check_parts
from evenhand.models.loading.labels import LABELS, NLI_HEAD, Labels, order
from evenhand.models.loading.names import ADAPTER, Found, find
from evenhand.models.networks.nli import NliModel

WRAPPED = "base_model.model."  # what an adapter's names of weights begin with


def read_adapter(found: Found, dtype: torch.dtype, labels: Labels, options: dict[str, Any]) -> Checkpoint:
    """The base model with the adapter merged into it, if its classifier is trained and its labels are known.

    A config.json in the folder is that of the whole model; without one, the base's is used, with unnamed labels. The
    fingerprint is of base and adapter, not of the merged weights, which can differ between machines in the last bit.
    """
    adapter = PeftConfig.from_pretrained(found.source)
    if adapter.task_type not in (None, "SEQ_CLS"):
        raise UnfitModel(
            f"'{found.name}' is an adapter for {adapter.task_type}. Only adapters of classifiers (SEQ_CLS) can be read "
            "as they are. Merge others into their base (merge_and_unload, then save_pretrained), and give that folder.",
            check="kind of model",
        )
    base = find(str(adapter.base_model_name_or_path))
    check_files(base, options)
    own = (Path(found.source) / "config.json").is_file()
    config = AutoConfig.from_pretrained(found.source if own else base.source, **options)
    if not own:
        config.num_labels = len(LABELS)
    outputs = order(found.name, config.id2label, labels)
    # Merged in float32: in half precision the adapter's small changes would be lost.
    network, report = read_network(AutoModelForSequenceClassification, base.source, config, torch.float32, options)
    missing = set(report["missing_keys"])
    added = load_peft_weights(found.source, device="cpu")
    untrained = missing - {name.removeprefix(WRAPPED) for name in added}
    check_parts(found, network, untrained, report["unexpected_keys"], *NLI_HEAD)
    weights = {name: value for name, value in network.state_dict().items() if name not in missing}
    whole = {WRAPPED + name for name in network.state_dict()}  # an adapter may bring embeddings as they are
    with warnings.catch_warnings(action="ignore"):  # peft's, of what is refused below
        model = PeftModel.from_pretrained(network, found.source, config=adapter)
    wanted = get_peft_model_state_dict(model, save_embedding_layers=False).keys()
    check_adapter(found, wanted - added.keys(), added.keys() - wanted - whole)
    merged = model.merge_and_unload()
    has_tokenizer = (Path(found.source) / "tokenizer_config.json").is_file()
    tokenizer = read_tokenizer(found.source if has_tokenizer else base.source, options)
    settings = json.loads((Path(found.source) / ADAPTER).read_text(encoding="utf-8"))
    settings.pop("base_model_name_or_path")  # wherever that is
    also = f"{dtype} {json.dumps(settings, sort_keys=True)}"
    made = partial(NliModel, order=outputs)
    return Checkpoint(found, merged.to(dtype), tokenizer, weights | added, made, outputs, also)
