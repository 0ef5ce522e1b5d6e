"""Checkpoints that somebody altered or that lost a part: measured with finite numbers, or refused with a sentence."""

import json
import shutil
import signal
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import tiny
from helpers.fuzzing import Json, Text, command, contents, fuzzed, places, replaced

pytestmark = pytest.mark.usefixtures("without_pages", "soon")

FAMILIES = ("bert-uncased", "roberta", "gpt2")
SECONDS = 300.0
"""Of the processor, for a checkpoint to be refused or measured; most take one."""
SETTINGS = (
    *("architectures", "auto_map", "dtype", "hidden_act", "hidden_size", "id2label", "initializer_range", "is_decoder"),
    *("is_encoder_decoder", "layer_norm_eps", "max_position_embeddings", "model_type", "num_attention_heads"),
    *("num_hidden_layers", "pad_token_id", "quantization_config", "tie_word_embeddings", "type_vocab_size"),
    *("vocab_size", "attn_implementation", "_attn_implementation", "transformers_version", "n_layer", "n_head"),
)
TOKENS = (
    *(
        "add_prefix_space",
        "added_tokens_decoder",
        "auto_map",
        "bos_token",
        "chat_template",
        "clean_up_tokenization_spaces",
    ),
    *("extra_special_tokens", "mask_token", "model_max_length", "padding_side", "tokenizer_class", "unk_token"),
    *("model_input_names", "truncation_side", "vocab_file"),
)
HEADER = st.sampled_from(["dtype", "shape", "data_offsets"])
SHARDS = st.sampled_from(["model.safetensors", "../model.safetensors", "/etc/passwd", "", ".", "config.json", "a\0b"])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model of each family, and pairs to measure it on."""
    folder = tmp_path_factory.mktemp("made")
    for family in FAMILIES:
        (tiny.save_causal if family in tiny.CAUSAL else tiny.save)(family, folder / family)
    (folder / "pairs.csv").write_text("stereotype,counterpart\nHe is a man.,She is a man.\nHe is.,She is.\n")
    return folder


@pytest.fixture
def folder(made: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@pytest.fixture
def soon() -> Iterator[None]:
    """What hangs fails, before it fills the memory."""

    def late(signal: int, frame: FrameType | None) -> None:
        raise AssertionError(f"not done after {SECONDS} seconds")

    before = signal.signal(signal.SIGPROF, late)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)


def copied(made: Path, folder: Path, family: str) -> Path:
    """The model as it was made, to be altered."""
    shutil.rmtree(folder / "model", ignore_errors=True)
    return Path(shutil.copytree(made / family, folder / "model"))


def measured(made: Path, folder: Path) -> None:
    """Audit the model; a run with finite numbers, or a sentence, the model as it was and no trace of a run."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    asked = ("--pairs", made / "pairs.csv", "--out", folder / "runs", "--fresh", "--json")
    before = contents(folder / "model")
    command("audit", folder / "model", *asked, watched=folder)
    assert contents(folder / "model") == before
    signal.setitimer(signal.ITIMER_PROF, 0)
    shutil.rmtree(folder / "runs", ignore_errors=True)


@fuzzed
@given(
    family=st.sampled_from(FAMILIES), values=st.dictionaries(st.sampled_from(SETTINGS), Json, min_size=1, max_size=2)
)
def test_settings(made: Path, folder: Path, family: str, values: dict[str, Any]) -> None:
    file = copied(made, folder, family) / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | values))
    measured(made, folder)


@fuzzed
@given(
    data=st.data(),
    family=st.sampled_from(FAMILIES),
    name=st.sampled_from(["tokenizer.json", "tokenizer_config.json"]),
    value=Json,
    more=st.dictionaries(st.sampled_from(TOKENS), Json, max_size=1),
)
def test_tokenizers(
    made: Path, folder: Path, data: st.DataObject, family: str, name: str, value: Any, more: dict[str, Any]
) -> None:
    file = copied(made, folder, family) / name
    content = json.loads(file.read_text())
    place = data.draw(st.sampled_from(sorted(places(content), key=repr)))
    changed = replaced(content, place, value)
    file.write_text(json.dumps(changed | more if isinstance(changed, dict) else changed))
    measured(made, folder)


@fuzzed
@given(data=st.data(), family=st.sampled_from(FAMILIES), field=HEADER, value=Json | st.just([0, 2**62]))
def test_headers_of_weights(made: Path, folder: Path, data: st.DataObject, family: str, field: str, value: Any) -> None:
    file = copied(made, folder, family) / "model.safetensors"
    content = file.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    name = data.draw(st.sampled_from(sorted(header)))
    header[name] = data.draw(st.sampled_from([{**header[name], field: value}, value]))
    packed = json.dumps(header).encode()
    file.write_bytes(struct.pack("<Q", len(packed)) + packed + content[8 + length :])
    measured(made, folder)


@fuzzed
@given(
    family=st.sampled_from(FAMILIES),
    index=st.dictionaries(st.sampled_from(["metadata", "weight_map"]), Json, max_size=2),
    weights=st.dictionaries(
        st.sampled_from(["bert.embeddings.word_embeddings.weight"]) | Text, SHARDS | Json, max_size=2
    ),
    alone=st.booleans(),
)
def test_indexes(
    made: Path, folder: Path, family: str, index: dict[str, Any], weights: dict[str, Any], alone: bool
) -> None:
    model = copied(made, folder, family)
    if alone:
        (model / "model.safetensors").rename(folder / "model.safetensors")
    (model / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weights, **index}))
    measured(made, folder)


@fuzzed
@given(
    data=st.data(),
    family=st.sampled_from(FAMILIES),
    at=st.floats(0, 1, exclude_max=True),
    byte=st.integers(0, 255),
    cut=st.booleans(),
)
def test_a_damaged_file(
    made: Path, folder: Path, data: st.DataObject, family: str, at: float, byte: int, cut: bool
) -> None:
    model = copied(made, folder, family)
    file = data.draw(st.sampled_from(sorted(model.iterdir())))
    content = bytearray(file.read_bytes())
    place = int(at * len(content))
    content[place:] = b"" if cut else bytes([byte]) + content[place + 1 :]
    file.write_bytes(content)
    measured(made, folder)
