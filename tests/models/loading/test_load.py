"""Models are found by name, and refused with a sentence where their numbers would mean nothing."""

import json
import re
import shutil
import weakref
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import normalizers

import evenhand
from evenhand import Likelihood
from evenhand.errors import BadInput, ModelError, ModelNotFound, UnfitModel
from evenhand.models.loading import checkpoint, names
from evenhand.models.networks.masked import MaskedLM
from helpers import tiny


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tiny.save("bert-uncased", tmp_path / "tiny-bert")


def test_the_bundled_model_is_the_default_and_runs_in_float32(mini_en: MaskedLM) -> None:
    assert mini_en.name == "mini-en"
    assert {p.dtype for p in mini_en.network.parameters()} == {torch.float32}
    assert mini_en.longest == 128
    assert (names.BUNDLED / "mini-en" / "README.md").is_file()


def test_one_model_is_read_at_a_time(folder: Path) -> None:
    """transformers replaces methods of its classes while it reads; two threads at once would leave them replaced."""
    entered = Event()

    def read() -> None:
        with checkpoint.reading(names.find(str(folder)), None, False):
            entered.set()

    with checkpoint.reading(names.find(str(folder)), None, False):
        thread = Thread(target=read)
        thread.start()
        assert not entered.wait(0.2)
    thread.join()
    assert entered.is_set()


def test_a_folder_works_in_its_place(folder: Path) -> None:
    model = evenhand.load(str(folder))
    assert model.name == "tiny-bert"
    assert model.answer([Likelihood("She is a nurse.")])[0].logp < 0


def test_folders_of_evenhand_models_have_names(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENHAND_MODELS", str(folder.parent))
    assert names.find("tiny-bert").source == str(folder)
    assert set(names.known_models()) == {"mini-en", "mini-en-nli", "tiny-bert"}


@pytest.mark.filterwarnings("ignore:mkldnn_matmul failed")  # a CPU without bfloat16 of its own
def test_half_precision_and_batch_size_are_options(folder: Path) -> None:
    model = evenhand.load(str(folder), dtype="bfloat16", batch_size=3, device="cpu")
    assert model.about["dtype"] == "bfloat16"
    assert {p.dtype for p in model.network.parameters()} == {torch.bfloat16}
    plan = model.plan([Likelihood(text) for text in tiny.TEXTS])
    assert max(len(batch.inputs) for batch in plan.batches) == 3
    assert all(answer.logp < 0 for answer in model.answer([Likelihood(text) for text in tiny.TEXTS]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dtype": "float8"}, "`dtype` must be one of float32, bfloat16, float16 and auto. Got 'float8'"),
        ({"device": "gpu7"}, "Device 'gpu7' cannot be used here"),
        ({"device": "meta"}, "Device 'meta' cannot be used here"),
        ({"revision": "v2"}, "`revision` applies only to models on the Hub"),
        ({"batch_size": 0}, "`batch_size` must be 'auto' or a whole number of at least 1. Got 0"),
    ],
)
def test_bad_options_say_what_is_allowed(folder: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=re.escape(message)):
        evenhand.load(str(folder), **options)


def test_the_fingerprint_follows_weights_tokenizer_and_dtype(folder: Path, tmp_path: Path) -> None:
    same, half = evenhand.load(str(folder)), evenhand.load(str(folder), dtype="float16")
    moved = shutil.copytree(folder, tmp_path / "moved")
    assert evenhand.load(str(moved)).fingerprint == same.fingerprint
    weights = load_file(moved / "model.safetensors")
    weights["bert.embeddings.word_embeddings.weight"][7, 7] += 1e-3
    save_file(weights, moved / "model.safetensors", metadata={"format": "pt"})
    retrained = evenhand.load(str(moved))
    other_words = tiny.wordpiece(lower=True)
    other_words.backend_tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    other_words.save_pretrained(moved)
    retokenized = evenhand.load(str(moved))
    settings = json.loads((moved / "tokenizer_config.json").read_text())
    (moved / "tokenizer_config.json").write_text(json.dumps(settings | {"model_max_length": 20}))
    shorter = evenhand.load(str(moved))
    (moved / "tokenizer_config.json").write_text(json.dumps(settings | {"mask_token": "[UNK]"}))
    otherwise = evenhand.load(str(moved))
    assert len({m.fingerprint for m in (same, half, retrained, retokenized, shorter, otherwise)}) == 6


def test_a_dropped_model_leaves_memory(folder: Path) -> None:
    network = weakref.ref(evenhand.load(str(folder)).network)
    assert network() is None


def test_debertas_first_checkpoints_have_their_head(tmp_path: Path) -> None:
    folder = tiny.save("deberta-v2", tmp_path / "deberta", legacy=False)
    config = json.loads((folder / "config.json").read_text())
    want = evenhand.load(str(folder)).answer([Likelihood("She is a nurse.")])
    del config["legacy"]  # the library then takes the head to be elsewhere
    (folder / "config.json").write_text(json.dumps(config))
    assert evenhand.load(str(folder)).answer([Likelihood("She is a nurse.")]) == want


def configured(folder: Path, **settings: object) -> Path:
    (folder / "config.json").write_text(json.dumps(settings))
    return folder


UNFIT: dict[str, tuple[Callable[[Path], Path], str]] = {
    "a BERT without its head": (
        lambda to: tiny.save("bert-uncased", to, head="BertModel"),
        r"'model' has no trained masked-language-model head: BertModel lacks cls\.",
    ),
    "a DeBERTa without its head": (
        lambda to: tiny.save("deberta-v2", to, head="DebertaV2Model"),
        "no trained masked-language-model head: DebertaV2Model",
    ),
    "a Llama without its head": (
        lambda to: tiny.save_causal("llama", to, head="LlamaModel", tie_word_embeddings=False),
        "no trained causal-language-model head",
    ),
    "a causal model without a causal mask": (
        lambda to: tiny.save("bert-uncased", to, head="BertLMHeadModel", bos_token_id=2),
        "looks ahead",
    ),
    "a classifier with a causal mask": (
        lambda to: tiny.save_classifier("bert-uncased", to, is_decoder=True),
        'the same answer to every question.* Set "is_decoder" to false',
    ),
    "an encoder-decoder": (
        lambda to: configured(
            tiny.save_causal("gpt2", to),
            model_type="t5",
            architectures=["T5ForConditionalGeneration"],
            is_encoder_decoder=True,
        ),
        "'t5', an encoder-decoder",
    ),
    "a model of pictures": (
        lambda to: configured(tiny.save("bert-uncased", to), model_type="vit", architectures=["ViTModel"]),
        "'vit'",
    ),
}


@pytest.mark.parametrize(("save", "says"), UNFIT.values(), ids=UNFIT)
def test_a_checkpoint_that_can_give_no_meaningful_number_is_refused(
    save: Callable[[Path], Path], says: str, tmp_path: Path
) -> None:
    folder = save(tmp_path / "model")
    with pytest.raises(UnfitModel, match=says):
        evenhand.load(str(folder))


@pytest.mark.parametrize("family", ["bert-uncased", "roberta", "xlm-roberta"])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_a_masked_model_with_a_causal_mask_is_refused(family: str, dtype: str, tmp_path: Path) -> None:
    folder = tiny.save(family, tmp_path / "one-sided", is_decoder=True)
    with pytest.raises(UnfitModel, match='changes nothing.* Set "is_decoder" to false in its config.json'):
        evenhand.load(str(folder), dtype=dtype)


def test_is_decoder_is_no_fault_where_it_makes_no_mask(tmp_path: Path) -> None:
    evenhand.load(str(tiny.save("distilbert", tmp_path / "both-sided", is_decoder=True)))


def test_a_checkpoint_of_older_transformers_has_its_head(folder: Path) -> None:
    """Theirs store the tied bias once, under its old name alone."""
    want = evenhand.load(str(folder)).answer([Likelihood("She is a nurse.")])
    weights = load_file(folder / "model.safetensors")
    for tied in ("cls.predictions.decoder.weight", "cls.predictions.decoder.bias"):
        weights.pop(tied, None)
    assert "cls.predictions.bias" in weights
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    assert evenhand.load(str(folder)).answer([Likelihood("She is a nurse.")]) == want


@pytest.mark.parametrize("foreign", ["another tokenizer", "one token without a row"])
def test_a_tokenizer_that_is_not_the_networks_is_refused(folder: Path, foreign: str) -> None:
    config = json.loads((folder / "tokenizer.json").read_text())
    vocabulary = config["model"]["vocab"]
    if foreign == "another tokenizer":
        vocabulary |= {f"more{i}": len(vocabulary) + i for i in range(50)}
    else:
        vocabulary[next(reversed(vocabulary))] = 5 + max(vocabulary.values())  # as many tokens as before
    (folder / "tokenizer.json").write_text(json.dumps(config))
    with pytest.raises(UnfitModel, match="do not belong together"):
        evenhand.load(str(folder))


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
@pytest.mark.parametrize("damage", ["missing", "cut"])
def test_a_folder_with_missing_or_corrupt_files_is_an_error(folder: Path, name: str, damage: str) -> None:
    if damage == "cut":
        (folder / name).write_bytes((folder / name).read_bytes()[: (folder / name).stat().st_size // 2])
    else:
        (folder / name).unlink()
    says = "A model folder holds" if (name, damage) == ("tokenizer.json", "missing") else "copy or download it again"
    with pytest.raises(ModelError, match=rf"'tiny-bert' in .* cannot be loaded: .*{says}"):
        evenhand.load(str(folder))


def test_the_folder_of_a_run_is_not_called_damaged(tmp_path: Path) -> None:
    (tmp_path / "run.json").touch()
    with pytest.raises(ModelError, match="holds the run of an audit: give the model"):
        evenhand.load(str(tmp_path))


def test_a_name_may_end_with_a_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is loaded from the Hub's cache by its branch or commit, as with the option `revision`."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    here = tmp_path / "models--owner--name"
    for place, branch in enumerate(("step1", "step2")):
        folder = tiny.save("bert-uncased", here / "snapshots" / (f"{place}" * 40), hidden_dropout_prob=0.1 * place)
        (here / "refs").mkdir(exist_ok=True)
        (here / "refs" / branch).write_text(folder.name)
    first, second, commit = (evenhand.load(f"owner/name@{end}").fingerprint for end in ("step1", "step2", "1" * 40))
    assert first != second == commit == evenhand.load("owner/name", revision="step2").fingerprint


def test_a_revision_that_is_not_there_is_named_in_what_to_do() -> None:
    with pytest.raises(ModelNotFound, match="hf download owner/name --revision step1"):
        evenhand.load("owner/name@step1")
    with pytest.raises(BadInput, match="`revision` is 'step2'"):
        evenhand.load("owner/name@step1", revision="step2")


def test_a_hub_that_answers_is_asked_and_its_no_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "_hub_within_reach", lambda: True)
    with pytest.raises(ModelNotFound, match="could not be loaded from the Hub"):
        evenhand.load("nobody/nothing")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        *((name, "no folder") for name in ("./nowhere", "/no/such/folder", "a/b/c", "", "bad name", "~nobody-here/x")),
        ("x" * 300, "cannot be accessed"),
        ("mini-em", r"Did you mean 'mini-en'\?"),
        ("google-bert/bert-base-uncased", "'google-bert/bert-base-uncased' .*not in the local Hub cache.*HF_HOME"),
        ("google-bert/bert-base-uncased", "cannot be reached"),
    ],
)
def test_a_name_that_leads_to_no_model_says_what_to_do(name: str, says: str) -> None:
    with pytest.raises(ModelNotFound, match=says):
        evenhand.load(name)


def test_a_file_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "weights.pt").write_bytes(b"")
    with pytest.raises(ModelNotFound, match="A model must be a folder"):
        names.find(str(tmp_path / "weights.pt"))


def test_loading_leaves_the_users_logging_alone(folder: Path) -> None:
    from transformers.utils import logging as theirs

    before = theirs.get_verbosity(), theirs.is_progress_bar_enabled()
    evenhand.load(str(folder))
    assert (theirs.get_verbosity(), theirs.is_progress_bar_enabled()) == before
