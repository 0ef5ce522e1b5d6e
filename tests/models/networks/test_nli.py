"""A model of inference answers what the slow and obvious loop answers, and one that is none is refused."""

import json
import math
import shutil
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification

import evenhand
from evenhand import Entail, Fill, Likelihood, Span
from evenhand.errors import BadInput, UnfitModel
from evenhand.models.loading import names
from evenhand.models.loading.labels import LABELS, order
from evenhand.models.networks.nli import NliModel
from helpers import naive, tiny
from helpers.typed import load

CLOSE = 5e-5
PAIRS = [(one, other) for one in tiny.TEXTS for other in tiny.TEXTS[:2]]
QUESTIONS = [Entail(*pair) for pair in PAIRS]


@pytest.fixture(scope="session", params=list(tiny.CLASSIFIERS))
def family(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> NliModel:
    folder = tiny.save_classifier(request.param, tmp_path_factory.mktemp("tiny") / request.param)
    return load(NliModel, str(folder))


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> NliModel:
    return load(NliModel, str(tiny.save_classifier("bert-uncased", tmp_path_factory.mktemp("tiny") / "bert")))


def test_every_family_answers_like_the_naive_loop(family: NliModel) -> None:
    for answer, pair in zip(family.answer(QUESTIONS), PAIRS, strict=True):
        assert answer.logps == pytest.approx(naive.entail(family, *pair), abs=CLOSE)
        assert math.fsum(map(math.exp, answer.logps)) == pytest.approx(1)


def test_a_pair_with_an_unknown_word_is_answered_only_if_asked_so(bert: NliModel) -> None:
    pair = ("The 𒀀 sleeps.", PAIRS[0][1])
    known, strict, lenient = bert.answer([QUESTIONS[0], Entail(*pair), Entail(*pair, unknown=True)])
    assert (strict.note, lenient.note) == ("unknown word", "")
    assert lenient.logps == pytest.approx(naive.entail(bert, *pair), abs=CLOSE)
    assert known.logps == pytest.approx(naive.entail(bert, *PAIRS[0]), abs=CLOSE)


def test_premise_and_hypothesis_are_told_apart(family: NliModel) -> None:
    one, other = family.answer([Entail(*PAIRS[-1]), Entail(*PAIRS[-1][::-1])])
    assert one.logps != pytest.approx(other.logps, abs=1e-3)


def test_token_types_go_to_families_that_have_two(family: NliModel) -> None:
    inputs = family.plan(QUESTIONS).batches[0].inputs[0]
    two = family.network.config.model_type in ("bert", "albert", "convbert")
    assert (max(inputs) >= family.network.get_input_embeddings().weight.shape[0]) == two


def test_a_tokenizer_that_knows_no_types_is_followed(bert: NliModel, tmp_path: Path) -> None:
    """What a network was trained with is what its tokenizer gives it."""
    folder = renamed(bert, LABELS, tmp_path / "typeless")
    config = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(config | {"model_input_names": ["input_ids"]}))
    typeless = evenhand.load(str(folder))
    with torch.no_grad():
        want = typeless.network(**typeless.tokenizer(*PAIRS[0], return_tensors="pt")).logits[0].log_softmax(-1)
    assert typeless.answer(QUESTIONS[:1])[0].logps == pytest.approx(want.tolist(), abs=CLOSE)
    assert typeless.answer(QUESTIONS[:1])[0].logps != pytest.approx(bert.answer(QUESTIONS[:1])[0].logps, abs=1e-3)


def test_another_case_is_the_same_input_of_an_uncased_model(bert: NliModel) -> None:
    upper = [Entail(premise.upper(), hypothesis) for premise, hypothesis in PAIRS[:2]]
    assert bert.plan([*QUESTIONS, *upper]).inputs == len(PAIRS)


def renamed(model: NliModel, labels: tuple[str, ...], folder: Path) -> Path:
    """A copy of the model with other names for its outputs."""
    shutil.copytree(model.network.config._name_or_path, folder)
    config = json.loads((folder / "config.json").read_text())
    named = {"id2label": dict(enumerate(labels)), "label2id": {label: n for n, label in enumerate(labels)}}
    (folder / "config.json").write_text(json.dumps(config | named))
    return folder


@pytest.mark.parametrize("labels", [*permutations(LABELS)])
def test_the_order_of_the_outputs_changes_no_answer(bert: NliModel, labels: tuple[str, ...], tmp_path: Path) -> None:
    folder = renamed(bert, labels, tmp_path / "other")
    weights = load_file(folder / "model.safetensors")
    for name in ("classifier.weight", "classifier.bias"):
        weights[name] = torch.stack([weights[name][LABELS.index(label)] for label in labels])
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    other = evenhand.load(str(folder))
    for answer, want in zip(other.answer(QUESTIONS[:4]), bert.answer(QUESTIONS[:4]), strict=True):
        assert answer.logps == pytest.approx(want.logps, abs=CLOSE)
    assert (other.fingerprint == bert.fingerprint) == (labels == LABELS)


def test_a_pair_that_just_fits_is_answered(bert: NliModel) -> None:
    words = bert.longest - 3  # [CLS], [SEP], [SEP]
    for more, note in ((0, ""), (1, "too long")):
        pair = "a " * (words // 2 + more), "a " * (words - words // 2)
        assert bert.answer([Entail(*pair)])[0].note == note


def test_blanks_are_not_a_classifiers_business(bert: NliModel) -> None:
    for question in Fill("She is a nurse.", Span(0, 3), "She"), Likelihood("She is a nurse."):
        with pytest.raises(UnfitModel, match=type(question).__name__):
            bert.answer([question])


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (("ENTAILMENT", "NEUTRAL", "CONTRADICTION"), (0, 1, 2)),
        (("contradiction", "entailment", "neutral"), (1, 2, 0)),
        (("contradict", "neutral", "entail"), (2, 1, 0)),
        (("Neu", "Con", "Ent"), (2, 0, 1)),
        (("entails", "neutral", "contradictory"), (0, 1, 2)),
    ],
)
def test_labels_are_known_in_any_case_order_and_abbreviation(given: tuple[str, ...], found: tuple[int, ...]) -> None:
    assert order("m", dict(enumerate(given))) == found
    assert order("m", {0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}, ",".join(given)) == found


@pytest.mark.parametrize(
    ("named", "given", "error"),
    [
        (("entailment", "not_entailment"), "", "a classifier of 2 labels \\(entailment, not_entailment\\)"),
        (("LABEL_0", "LABEL_1", "LABEL_2"), "", "called LABEL_0, LABEL_1, LABEL_2.*`labels="),
        (("positive", "neutral", "negative"), "", "does not tell entailment"),
        (("entailment", "entails", "neutral"), "", "does not tell entailment"),
        (("LABEL_0", "LABEL_1", "LABEL_2"), "entailment,neutral", "each once"),
        (("LABEL_0", "LABEL_1", "LABEL_2"), "entailment,neutral,neutral", "each once"),
        (LABELS, "contradiction,neutral,entailment", "names its labels"),
    ],
)
def test_labels_that_cannot_be_told_are_refused(
    bert: NliModel, named: tuple[str, ...], given: str, error: str, tmp_path: Path
) -> None:
    folder = renamed(bert, named, tmp_path / "other")
    with pytest.raises((UnfitModel, BadInput), match=error):
        evenhand.load(str(folder), labels=given)


def test_unnamed_labels_can_be_given(bert: NliModel, tmp_path: Path) -> None:
    folder = renamed(bert, ("LABEL_0", "LABEL_1", "LABEL_2"), tmp_path / "unnamed")
    given = evenhand.load(str(folder), labels=["contradiction", "neutral", "entailment"])
    assert given.answer(QUESTIONS[:1])[0].logps == pytest.approx(bert.answer(QUESTIONS[:1])[0].logps[::-1], abs=CLOSE)
    otherwise = evenhand.load(str(folder), labels="entailment,neutral,contradiction")
    assert given.fingerprint != otherwise.fingerprint


def test_labels_are_not_for_masked_models(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="remove `labels`"):
        evenhand.load(str(tiny.save("bert-uncased", tmp_path / "masked")), labels="entailment,neutral,contradiction")


def test_an_untrained_classifier_is_refused(tmp_path: Path) -> None:
    """A masked language model's weights under a classifier's configuration."""
    folder = tiny.save("bert-uncased", tmp_path / "pretender")
    config = json.loads((folder / "config.json").read_text())
    named = {"architectures": ["BertForSequenceClassification"], "id2label": dict(enumerate(LABELS))}
    (folder / "config.json").write_text(json.dumps(config | named | {"label2id": {k: i for i, k in enumerate(LABELS)}}))
    with pytest.raises(UnfitModel, match="no trained classifier"):
        evenhand.load(str(folder))


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    """A base, and an adapter to it as peft saves one."""
    base = tiny.save("bert-uncased", tmp_path / "base")
    network = AutoModelForSequenceClassification.from_pretrained(base, num_labels=3)
    config = LoraConfig(task_type="SEQ_CLS", r=2, target_modules=["query"], modules_to_save=["classifier", "pooler"])
    added = get_peft_model(network, config)
    with torch.no_grad():
        for name, weights in added.named_parameters():
            if "lora_B" in name:
                weights.normal_(0, 0.4)
    added.save_pretrained(tmp_path / "adapter")
    return tmp_path / "adapter"


def test_an_adapter_is_put_on_its_base(adapter: Path) -> None:
    labels = ",".join(LABELS)
    model, again = (evenhand.load(str(adapter), labels=labels) for _ in range(2))
    assert model.fingerprint == again.fingerprint
    assert model.answer(QUESTIONS) == again.answer(QUESTIONS)
    assert not any("lora" in name for name, _ in model.network.named_parameters())
    half = evenhand.load(str(adapter), labels=labels, dtype="bfloat16")
    assert {p.dtype for p in half.network.parameters()} == {torch.bfloat16}
    assert half.fingerprint != model.fingerprint
    weights = load_file(adapter / "adapter_model.safetensors")
    (changed,) = (name for name in weights if "layer.1" in name and "lora_B" in name)
    save_file(weights | {changed: weights[changed] + 1}, adapter / "adapter_model.safetensors")
    other = evenhand.load(str(adapter), labels=labels)
    assert other.fingerprint != model.fingerprint
    assert other.answer(QUESTIONS) != model.answer(QUESTIONS)


def test_an_adapter_without_a_head_is_refused(adapter: Path) -> None:
    weights = load_file(adapter / "adapter_model.safetensors")
    headless = {name: value for name, value in weights.items() if "classifier" not in name}
    save_file(headless, adapter / "adapter_model.safetensors")
    with pytest.raises(UnfitModel, match="'adapter' has no trained classifier"):
        evenhand.load(str(adapter), labels=",".join(LABELS))


def test_an_adapter_does_not_name_its_labels(adapter: Path) -> None:
    with pytest.raises(UnfitModel, match="`labels=.entailment"):
        evenhand.load(str(adapter))


@pytest.fixture(scope="session")
def mini_en_nli() -> NliModel:
    return load(NliModel, "mini-en-nli")


def test_the_bundled_model_infers(mini_en_nli: NliModel) -> None:
    nurse = "The nurse is playing tennis."
    woman, man = (Entail(nurse, f"The {who} is playing tennis.") for who in ("woman", "man"))
    (entailed, _, _), (_, _, contradicted) = ((math.exp(p) for p in a.logps) for a in mini_en_nli.answer([woman, man]))
    assert (entailed, contradicted) == pytest.approx((0.90, 0.75), abs=0.01)
    assert mini_en_nli.order == (0, 1, 2)
    assert "mixed research licences" in (names.BUNDLED / "mini-en-nli" / "README.md").read_text()


def test_the_bundled_name_wins_and_a_path_leads_to_the_other(mini_en_nli: NliModel, models: Path) -> None:
    other = models / "mini-en-nli"
    assert names.find("mini-en-nli").source == str(names.BUNDLED / "mini-en-nli")
    assert evenhand.load(str(other)).fingerprint != mini_en_nli.fingerprint


def test_the_kind_is_known_before_loading(adapter: Path, tmp_path: Path) -> None:
    classifier = tiny.save_classifier("bert-uncased", tmp_path / "classifier")
    kinds = {path.name: names.kind(names.find(str(path))) for path in (adapter, adapter.parent / "base", classifier)}
    assert kinds == {"adapter": "nli", "base": "masked", "classifier": "nli"}
    assert names.kind(names.find("somebody/something")) == ""
    shutil.rmtree(classifier)
    classifier.mkdir()
    assert names.kind(names.find(str(classifier))) == ""


def test_the_last_layer_works_for_the_first_position_alone(bert: NliModel) -> None:
    seen: list[int] = []
    layer = bert.network.base_model.encoder.layer[-1].intermediate
    hook = layer.register_forward_pre_hook(lambda _, args: seen.append(args[0].shape[1]))
    try:
        bert.answer(QUESTIONS)
    finally:
        hook.remove()
    assert set(seen) == {1}


def test_a_classifier_that_reads_every_position_is_given_them(tmp_path: Path) -> None:
    model = load(NliModel, str(tiny.save_classifier("bert-uncased", tmp_path / "bert")))

    class Mean(torch.nn.Module):
        def __init__(self, pooler: torch.nn.Module) -> None:
            super().__init__()
            self.pooler = pooler

        def forward(self, hidden: torch.Tensor) -> torch.Tensor:
            pooled: torch.Tensor = self.pooler(hidden.mean(dim=1, keepdim=True))
            return pooled

    model.network.bert.pooler = Mean(model.network.bert.pooler)
    known: dict[str, Any] = {"name": "mean", "fingerprint": "", "longest": 64, "limit": model.limit, "about": {}}
    mixed = NliModel(model.network, model.tokenizer, order=model.order, **known)
    assert not mixed._picks
    for answer, pair in zip(mixed.answer(QUESTIONS), PAIRS, strict=True):
        assert answer.logps == pytest.approx(naive.entail(mixed, *pair), abs=CLOSE)


def test_an_adapter_of_a_causal_model_is_refused_with_what_to_do(tmp_path: Path) -> None:
    base = tiny.save_causal("llama", tmp_path / "base")
    network = AutoModelForCausalLM.from_pretrained(base)
    config = LoraConfig(task_type="CAUSAL_LM", r=2, target_modules=["q_proj"])
    get_peft_model(network, config).save_pretrained(tmp_path / "added")
    with pytest.raises(UnfitModel, match="CAUSAL_LM.*Merge"):
        evenhand.load(str(tmp_path / "added"))
